"""Tight gates of the memory path: queue, dispatch, shared memory, shuffles, L1, constants, to the cycle.

The trace's memory records give the cycle at which the shared pipe took an instruction.
"""

from __future__ import annotations

import itertools

import pytest
from helpers.bench import bench
from helpers.launch import Outcome, run

SHARED = ".kernel k(first: u64)\n.shared s: u32[2048]\n.arg first = 1\nmov.u32 t, %tid.x\n"


def shared(body: str, changes: dict[str, int] | None = None, block: int = 32) -> Outcome:
    """Run a body with `t` = thread number and a shared array `s` of 8192 bytes."""
    return run(SHARED + body + "\nexit", bench(changes), block=block)


def dispatches(outcome: Outcome, label: str) -> list[int]:
    """When the SM-wide pipe took the instruction after a label, over all warps, in order of time."""
    rows = outcome.trace.memory
    return sorted(int(e["dispatched"]) for e in rows if e["pc"] == outcome.program.labels[label])


@pytest.mark.parametrize("cycles", [1, 6, 7])
def test_an_instruction_stays_in_the_queue_for_entry_cycles(cycles: int) -> None:
    outcome = shared("a: ld.shared.u32 x, [s]", {"lsu.entry_cycles": cycles})
    assert dispatches(outcome, "a") == [outcome.cycle("a") + cycles]


@pytest.mark.parametrize("entries", [1, 2, 4, 5, 8])
def test_a_full_queue_throttles_its_sub_core(entries: int) -> None:
    """Entry takes 6 cycles and dispatch goes on every 4: place k + entries is free at 6 + 4 k."""
    body = "\n".join(f"a{i}: ld.shared.u32 %r{10 + i}, [s]" for i in range(10))
    outcome = shared(body, {"lsu.queue_entries": entries})
    first = outcome.cycle("a0")
    expected = [0]
    dispatched: list[int] = []
    for i in range(10):
        at = expected[-1] + 1 if i else 0
        if i >= entries:
            at = max(at, dispatched[i - entries])
        expected.append(at)
        dispatched.append(max(at + 6, dispatched[-1] + 4 if dispatched else 0))
    assert [outcome.cycle(f"a{i}") - first for i in range(10)] == expected[1:]
    assert [dispatches(outcome, f"a{i}")[0] - first for i in range(10)] == dispatched
    if entries == 4:  # the same by hand
        assert expected[1:] == [0, 1, 2, 3, 6, 10, 14, 18, 22, 26]
        assert outcome.waits("a4") == {"mio_throttle": 2, "selected": 1}


@pytest.mark.parametrize("cycles", [1, 4, 5])
def test_a_sub_core_hands_over_every_dispatch_cycles(cycles: int) -> None:
    body = "\n".join(f"a{i}: ld.shared.u32 %r{10 + i}, [s]" for i in range(3))
    outcome = shared(body, {"lsu.dispatch_cycles": cycles})
    times = [dispatches(outcome, f"a{i}")[0] - outcome.cycle("a0") for i in range(3)]
    assert times == [6, 6 + cycles, 6 + 2 * cycles]


@pytest.mark.parametrize(("instruction", "wavefront"), [(1, 1), (2, 1), (3, 1), (1, 2), (1, 3), (3, 2)])
def test_sub_cores_share_one_pipe(instruction: int, wavefront: int) -> None:
    """Four sub-cores issue in one cycle; the pipe takes one instruction after another."""
    changes = {"lsu.instruction_cycles": instruction, "lsu.wavefront_cycles": wavefront}
    outcome = shared("a: ld.shared.u32 x, [s]", changes, block=128)
    (issued,) = {outcome.cycle("a", warp) for warp in range(4)}
    step = max(instruction, wavefront)
    assert dispatches(outcome, "a") == [issued + 6 + step * i for i in range(4)]
    assert outcome.counters["lsu_busy_quarters"] == 4 * 4 * step


@pytest.mark.parametrize(("width", "wavefronts"), [("u32", 1), ("v2.u32", 2), ("v4.u32", 4)])
def test_the_pipe_is_taken_for_every_wavefront(width: str, wavefronts: int) -> None:
    names = {"u32": "x", "v2.u32": "{x, y}", "v4.u32": "{x, y, z, w}"}[width]
    scale = {"u32": 2, "v2.u32": 3, "v4.u32": 4}[width]
    outcome = shared(
        f"shl.b32 t, t, {scale}\nand.b32 t, t, 511\na: ld.shared.{width} {names}, [s + t]", block=128
    )
    times = dispatches(outcome, "a")
    assert [b - a for a, b in itertools.pairwise(times)] == [wavefronts] * 3
    assert outcome.counters["shared_load_wavefronts"] == 4 * wavefronts
    assert outcome.counters["shared_load_conflicts"] == 0


@pytest.mark.parametrize("cycles", [8, 23, 24])
def test_a_shared_load_is_there_after_load_cycles(cycles: int) -> None:
    outcome = shared("a: ld.shared.u32 x, [s]\nb: add.u32 y, x, x", {"shared.load_cycles": cycles})
    assert outcome.gap("a", "b") == cycles
    assert outcome.waits("b") == {"short_scoreboard": cycles - 1, "selected": 1}


@pytest.mark.parametrize("word", [0, 3, 4])
@pytest.mark.parametrize(("width", "words"), [("u8", 1), ("s16", 1), ("u32", 1), ("u64", 2), ("b128", 4)])
def test_each_further_word_of_a_lane_takes_word_cycles(width: str, words: int, word: int) -> None:
    """A broadcast has no conflict: what is left is the width."""
    read = "add.u32 y, x, 1" if words == 1 else "mov.u32 y, x.lo" if words == 2 else "mov.u32 y, x.x"
    outcome = shared(f"a: ld.shared.{width} x, [s]\nb: {read}", {"shared.word_cycles": word})
    assert outcome.gap("a", "b") == 23 + (words - 1) * word


@pytest.mark.parametrize("cycles", [0, 2, 3])
@pytest.mark.parametrize("ways", [1, 2, 8, 32])
def test_each_further_wavefront_of_a_conflict_takes_conflict_cycles(ways: int, cycles: int) -> None:
    """A stride of `ways` words puts `ways` lanes into each bank that is touched."""
    body = f"mul.lo.u32 t, t, {4 * ways}\na: ld.shared.u32 x, [s + t]\nb: add.u32 y, x, x"
    outcome = shared(body, {"shared.conflict_cycles": cycles})
    assert outcome.gap("a", "b") == 23 + (ways - 1) * cycles
    assert outcome.counters["shared_load_conflicts"] == ways - 1


@pytest.mark.parametrize("cycles", [10, 31, 32])
def test_a_shared_atomic_answers_after_atomic_cycles(cycles: int) -> None:
    body = "shl.b32 t, t, 2\na: atom.shared.add.u32 x, [s + t], 1\nb: add.u32 y, x, x"
    assert shared(body, {"shared.atomic_cycles": cycles}).gap("a", "b") == cycles


@pytest.mark.parametrize("lanes", [1, 2, 5, 32])
def test_lanes_of_an_atomic_that_meet_in_a_bank_take_turns(lanes: int) -> None:
    body = f"setp.lt.u32 p, t, {lanes}\na: @p atom.shared.add.u32 x, [s], 1\nb: add.u32 y, x, x"
    outcome = shared(body)
    assert outcome.gap("a", "b") == 31 + 2 * (lanes - 1)
    assert outcome.counters["shared_atomic_wavefronts"] == lanes


@pytest.mark.parametrize("cycles", [10, 25, 26])
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_a_shuffle_answers_after_shuffle_cycles(mode: str, cycles: int) -> None:
    limit = 0 if mode == "up" else 31
    body = f"a: shfl.sync.{mode}.b32 x, t, 1, {limit}, 0xffffffff\nb: add.u32 y, x, x"
    outcome = shared(body, {"shared.shuffle_cycles": cycles})
    assert outcome.gap("a", "b") == cycles
    assert outcome.waits("b") == {"short_scoreboard": cycles - 1, "selected": 1}


@pytest.mark.parametrize("cycles", [10, 25, 26])
def test_a_shuffle_s_predicate_comes_with_its_word(cycles: int) -> None:
    body = "a: shfl.sync.down.b32 x|p, t, 1, 31, 0xffffffff\nb: @p add.u32 y, t, t"
    outcome = shared(body, {"shared.shuffle_cycles": cycles})
    assert outcome.gap("a", "b") == cycles
    assert outcome.waits("b") == {"short_scoreboard": cycles - 1, "selected": 1}


def test_a_shuffle_s_predicate_may_not_be_overwritten_before_it_comes() -> None:
    body = "a: shfl.sync.down.b32 x|%p3, t, 1, 31, 0xffffffff\nb: setp.eq.u32 %p3, t, t"
    assert shared(body).gap("a", "b") == 25 - 10 + 1


@pytest.mark.parametrize("cycles", [1, 27, 28])
def test_a_parameter_load_answers_after_constant_cycles(cycles: int) -> None:
    outcome = shared("a: ld.param.u32 %r20, [0]\nb: add.u32 %r21, %r20, %r20", {"l1.constant_cycles": cycles})
    assert outcome.gap("a", "b") == cycles
    assert outcome.counters["constant_requests"] == 1


GLOBAL = """
    .kernel k(A: ptr.u32)
    .arg A = zeros(1024)
    mov.u32 t, %tid.x
    mad.wide.u32 p, t, 16, A
    w: ld.global.u32 warm, [A]
    ld.global.u32 more, [A + 128]
    ld.global.u32 more2, [A + 256]
    ld.global.u32 more3, [A + 384]
    add.u32 warm, warm, more
    add.u32 warm, warm, more2
    add.u32 warm, warm, more3
    nanosleep 1000
    """


@pytest.mark.parametrize("cycles", [7, 33, 34])
def test_an_l1_hit_is_there_after_hit_cycles(cycles: int) -> None:
    outcome = run(
        GLOBAL + "a: ld.global.u32 x, [A]\nb: add.u32 y, x, x\nexit", bench({"l1.hit_cycles": cycles})
    )
    assert outcome.gap("a", "b") == cycles
    assert outcome.counters["l1_hits"] == 1
    assert outcome.waits("b") == {"long_scoreboard": cycles - 1, "selected": 1}


@pytest.mark.parametrize("word", [0, 2, 3])
@pytest.mark.parametrize(("width", "words"), [("u8", 1), ("u32", 1), ("u64", 2), ("b128", 4)])
def test_a_wide_l1_hit_takes_word_cycles_more(width: str, words: int, word: int) -> None:
    read = "add.u32 y, x, 1" if words == 1 else "mov.u32 y, x.lo" if words == 2 else "mov.u32 y, x.x"
    text = GLOBAL + f"a: ld.global.{width} x, [A]\nb: {read}\nexit"
    assert run(text, bench({"l1.word_cycles": word})).gap("a", "b") == 33 + (words - 1) * word


@pytest.mark.parametrize(
    ("scale", "base", "line", "busy"),
    [
        (0, 4, 1, 5),  # a broadcast: one wavefront of 4 quarters, tags 4 + 1
        (4, 4, 1, 5),  # one line
        (4, 0, 0, 4),  # the wavefront alone
        (16, 4, 1, 16),  # 32 words in four lines, four to a bank: 4 wavefronts of 4 quarters, tags 4 + 4
        (16, 16, 4, 32),
        (128, 4, 1, 128),  # 32 lines, all words in one bank
    ],
)
def test_the_pipe_is_taken_for_wavefronts_or_tags(scale: int, base: int, line: int, busy: int) -> None:
    """Four warps follow one another through the pipe; quarters of a cycle add up."""
    text = f"""
        .kernel k(A: ptr.u32)
        .arg A = zeros(1024)
        mov.u32 t, %laneid
        mad.wide.u32 p, t, {scale}, A
        a: ld.global.u32 x, [p]
        exit"""
    outcome = run(text, bench({"l1.tag_base_quarters": base, "l1.tag_line_quarters": line}), block=128)
    assert outcome.counters["lsu_busy_quarters"] == 4 * busy
    times = dispatches(outcome, "a")
    assert times == [times[0] + -(-busy * i // 4) for i in range(4)]


def test_a_store_frees_its_registers_when_it_is_dispatched() -> None:
    """Write after read: the data register of a queued store is held until the pipe has read it."""
    outcome = shared("a: st.shared.u32 [s], t\nb: add.u32 t, t, 1")
    assert outcome.gap("a", "b") == 6
    assert outcome.waits("b") == {"short_scoreboard": 5, "selected": 1}


def test_an_address_register_is_held_too() -> None:
    outcome = shared("shl.b32 o, t, 2\na: ld.shared.u32 x, [s + o]\nb: add.u32 o, o, 1")
    assert outcome.gap("a", "b") == 6


def test_a_load_s_destination_may_not_be_overwritten_before_it_comes() -> None:
    outcome = shared("a: ld.shared.u32 %r20, [s]\nb: add.u32 %r20, t, 1")
    assert outcome.gap("a", "b") == 23 - 5 + 1


@pytest.mark.parametrize("pending", [1, 2, 3])
def test_an_sm_has_no_more_instructions_out_than_pending(pending: int) -> None:
    """Three sub-cores with one load each: the next begins when one has been handed over."""
    outcome = shared("a: ld.shared.u32 x, [s]", {"lsu.pending": pending}, block=96)
    times = sorted(outcome.cycle("a", warp) for warp in range(3))
    assert [t - times[0] for t in times] == {1: [0, 6, 12], 2: [0, 0, 6], 3: [0, 0, 0]}[pending]


@pytest.mark.parametrize("cycles", [1, 2, 3])
def test_a_sub_core_rests_after_its_wavefronts(cycles: int) -> None:
    """Two loads of 8 wavefronts from one sub-core: the second goes 8 * cycles after the first."""
    text = """
    .shared buffer: u32[256]
    mov.u32 i, %laneid
    shl.b32 at, i, 5
    ld.shared.u32 x, [buffer + at]
    ld.shared.u32 %r40, [buffer + at]
    exit
    """
    outcome = run(text, bench(lsu__subcore_wavefront_cycles=cycles))
    first, second = sorted(int(e["dispatched"]) for e in outcome.trace.memory)
    assert second - first == 8 * cycles
