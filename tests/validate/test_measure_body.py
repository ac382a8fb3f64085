"""The PTX of the benchmarks: stamps in place, names declared, operations counted, digests that differ."""

import re

import pytest

from tinygpu.isa.errors import InputError
from tinygpu.validate.measure import arithmetic, control, global_memory, shared_memory
from tinygpu.validate.measure.body import OPERANDS, Body, loop, masked, repeated
from tinygpu.validate.measure.experiments import GROUPS, experiments
from tinygpu.validate.measure.units import UNITS

ALL = experiments()


def test_a_body_reads_the_clock_before_each_part_and_after_the_last():
    body = Body(
        "two", ("add.u32 x0, x0, 1;", "add.u32 x0, x0, 2;"), (1, 1), start="mov.u32 x0, after;", sink=("x0",)
    )
    lines = body.text().splitlines()
    clocks = [i for i, line in enumerate(lines) if line.endswith("%clock;") and line.startswith("mov.u32 s")]
    assert [lines[i] for i in clocks] == [f"mov.u32 s{k}, %clock;" for k in range(3)]
    assert lines.index("add.u32 x0, x0, 1;") in range(clocks[0], clocks[1])
    assert lines.index("add.u32 x0, x0, 2;") in range(clocks[1], clocks[2])
    assert lines.index("mov.u32 x0, after;") > clocks[0]


def test_the_barrier_before_the_first_stamp_stands_there_twice():
    text = Body("b", ("",), (1,)).text()
    assert text.index("bar.sync 0;\nbar.sync 0;\nmov.u32 s0, %clock;") > 0
    assert "bar.sync" not in Body("b", ("",), (1,), align=False).text()


def test_a_row_holds_the_stamps_the_sm_and_the_value():
    body = Body("b", ("", ""), (1, 1), extra_stamps=2)
    assert (body.stamps, body.columns) == (5, 7)
    assert "@first st.global.u32 [outp+20], w1;" in body.text()
    assert "@first st.global.u32 [outp+24], w0;" in body.text()
    assert "@first" not in Body("b", ("",), (1,), every_lane=True).text()


def test_every_operand_is_used_in_the_order_of_its_constraint():
    text = Body("b", ("",), (1,)).text()
    found = re.findall(r"mov\.u(?:32|64) (\w+), \$(\d);", text)
    assert found == [(name, str(i)) for i, name in enumerate(OPERANDS)]


def test_digest_changes_with_the_text_only():
    one, same, other = Body("a", ("x",), (1,)), Body("b", ("x",), (1,)), Body("a", ("y",), (1,))
    assert one.digest() == same.digest() != other.digest()
    assert len(one.digest()) == 64


def test_loops_are_not_unrolled_and_masks_skip():
    assert loop("BODY").splitlines()[1:4] == ["LOOP:", '.pragma "nounroll";', "BODY"]
    assert masked("BODY", 3).splitlines()[:3] == ["@!on bra OFF3;", "BODY", "OFF3:"]
    assert repeated(["a{i}", "b{i}"], 2) == "a0\nb1\na2\nb3"


def test_experiments_have_unique_names_and_known_groups():
    assert len({e.name for e in ALL}) == len(ALL)
    assert {e.group for e in ALL} <= {*GROUPS, "l2"}


def test_bodies_of_one_name_are_one_body():
    texts = {}
    for e in ALL:
        assert texts.setdefault(e.body.name, e.body.digest()) == e.body.digest(), e.body.name


@pytest.mark.parametrize("group", GROUPS)
def test_every_body_declares_what_it_uses(group):
    for e in experiments((group,)):
        text = e.body.text()
        for letter, limit in (("x", 80), ("y", 8), ("d", 32), ("e", 8), ("s", 40), ("p", 8)):
            used = [int(n) for n in re.findall(rf"(?<![\w%.]){letter}(\d+)\b", text)]
            assert max(used, default=0) < limit, (e.name, letter)
        labels = re.findall(r"^(\w+):$", text, re.M)
        assert len(set(labels)) == len(labels), e.name
        for target in re.findall(r"bra (\w+);", text):
            assert target in labels, (e.name, target)
        assert len(e.body.parts) == len(e.body.counts)


@pytest.mark.parametrize("group", GROUPS)
def test_points_fit_their_kind(group):
    for e in experiments((group,)):
        assert e.points, e.name
        for point in e.points:
            assert 1 <= point.warps <= 32
            assert len(point.iters) == (2 if e.kind == "slope" else 1), e.name
            if point.table is not None:
                assert len(point.table) == 32
            if e.kind == "latency":
                assert e.body.counts[-1] > e.body.counts[-2]


def test_unknown_group_is_an_input_error():
    with pytest.raises(InputError, match="unknown group 'nope'"):
        experiments(("nope",))


def test_latency_body_holds_its_counts_of_the_operation():
    for name, first, per_line in (("ffma", "fma.rn", 1), ("sel", "selp", 2), ("imnmx", "min.s32", 1)):
        body = arithmetic.latency(UNITS[name])
        assert [part.count(first) for part in body.parts] == [8 * per_line, 16 * per_line, 48 * per_line]
        assert body.counts == (8, 16, 48)


def test_chains_do_not_share_registers():
    text = arithmetic.throughput(UNITS["ffma"], 4).parts[0]
    rows = [line for line in text.splitlines() if line.startswith("fma")]
    assert len(rows) == 64
    assert [rows[i] for i in range(4)] == [f"fma.rn.f32 x{c}, x{c}, y0, y1;" for c in range(4)]


def test_shared_loads_of_128_bits_have_sixteen_in_flight():
    text = shared_memory.loads(128).parts[0]
    firsts = re.findall(r"\{x(\d+),", text)
    assert len(firsts) == 32
    assert [int(n) for n in firsts[:16]] == [4 * i for i in range(16)]


def test_pattern_loads_stand_4096_bytes_apart():
    text = global_memory.pattern_loads(32, "ca").parts[0]
    assert re.findall(r"\[d0\+(\d+)\]", text) == [str(4096 * i) for i in range(8)]


def test_divergence_stamps_both_sides():
    body = control.divergence(8)
    assert body.stamps == 6
    assert body.every_lane
    assert body.parts[0].count("fma.rn.f32 x0") == body.parts[0].count("fma.rn.f32 x1") == 8


def test_bursts_are_one_part_of_that_many():
    assert control.burst("sts", 5).parts[0].count("st.volatile.shared") == 5
    assert control.issue("sts").counts == (1,) * 20
