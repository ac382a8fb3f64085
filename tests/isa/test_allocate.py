"""Liveness and the allocation of registers: exact places, and that no value is ever lost."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.isa.allocate import Group, Groups, PlacementError, allocate, overlaps, pressure
from tinygpu.isa.assembler import assemble
from tinygpu.isa.errors import SourceError
from tinygpu.isa.flow import Step, blocks, successors
from tinygpu.isa.liveness import Effect, bits, interference, lives
from tinygpu.isa.program import Instruction, Predicate, Program, Register
from tinygpu.isa.table import Behaviour

PLAIN, EXIT = Step(Behaviour.COMPUTE), Step(Behaviour.EXIT)


def define(value: int, *uses: int) -> Effect:
    """value = f(uses)."""
    return Effect(sum(1 << u for u in uses), 1 << value, 1 << value)


def use(*uses: int) -> Effect:
    """An instruction that only reads."""
    return Effect(sum(1 << u for u in uses), 0, 0)


# Liveness


def test_bits() -> None:
    assert bits(0) == []
    assert bits(0b101001) == [0, 3, 5]


def test_a_value_lives_from_its_assignment_to_its_last_use() -> None:
    effects = [define(0), define(1), use(0), use(1)]
    found = lives(effects, blocks([PLAIN, PLAIN, PLAIN, EXIT]))
    assert found.live_out == [0b01, 0b11, 0b10, 0]
    assert found.unassigned == [0, 0, 0, 0]


def test_a_loop_keeps_its_inputs_alive() -> None:
    # 0: x = ; 1: use x; 2: branch 1; 3: exit
    steps = [PLAIN, PLAIN, Step(Behaviour.BRANCH, True, 1), EXIT]
    found = lives([define(0), use(0), use(), use()], blocks(steps))
    assert found.live_out == [1, 1, 1, 0]


def test_a_guarded_assignment_does_not_end_the_old_life() -> None:
    effects = [define(0), Effect(0, 1, 0), use(0)]
    assert lives(effects, blocks([PLAIN, PLAIN, EXIT])).live_out == [1, 1, 0]


def test_a_guarded_first_assignment_does_not_reach_back_to_the_entry() -> None:
    effects = [define(1), Effect(0, 1, 0), use(0, 1)]
    assert lives(effects, blocks([PLAIN, PLAIN, EXIT])).live_out == [0b10, 0b11, 0]


def test_reading_before_any_assignment_is_found() -> None:
    found = lives([use(0), define(0), use(0)], blocks([PLAIN, PLAIN, EXIT]))
    assert found.unassigned == [1, 0, 0]


def test_an_assignment_on_one_path_is_enough() -> None:
    steps = [Step(Behaviour.BRANCH, True, 2), PLAIN, EXIT]
    assert lives([use(), define(0), use(0)], blocks(steps)).unassigned == [0, 0, 0]


def test_code_that_cannot_run_assigns_nothing() -> None:
    # 0: branch 2; 1: x = (unreachable); 2: use x
    steps = [Step(Behaviour.BRANCH, False, 2), PLAIN, EXIT]
    assert lives([use(), define(0), use(0)], blocks(steps)).unassigned == [0, 0, 1]


def test_code_that_cannot_run_may_read_what_is_assigned_elsewhere() -> None:
    steps = [PLAIN, EXIT, PLAIN, EXIT]
    assert lives([define(0), use(), use(0), use(1)], blocks(steps)).unassigned == [0, 0, 0, 0b10]


def test_inputs_count_as_assigned() -> None:
    found = lives([use(0)], blocks([EXIT]), inputs=1)
    assert found.unassigned == [0]


def test_interference_is_symmetric_and_spares_dying_sources() -> None:
    # 1 = f(0): 0 dies there, so they may share; 2 lives across.
    effects = [define(2), define(0), define(1, 0), use(1, 2)]
    live_out = lives(effects, blocks([PLAIN, PLAIN, PLAIN, EXIT])).live_out
    graph = interference(effects, live_out, 3)
    assert graph == [0b100, 0b100, 0b011]


def test_two_destinations_of_one_instruction_conflict() -> None:
    effects = [Effect(0, 0b11, 0b11), use()]
    assert interference(effects, [0, 0], 2) == [0b10, 0b01]


# Groups and places


def test_lowest_free_first() -> None:
    groups = Groups({0: 1, 1: 1, 2: 1})
    for value in range(3):
        groups.of(value)
    found = allocate(groups.all(), groups.words, [0b110, 0b101, 0b011])
    assert (found.positions, found.used) == ({0: 0, 1: 1, 2: 2}, 3)


def test_values_that_never_meet_share() -> None:
    groups = Groups({0: 1, 1: 1})
    groups.of(0), groups.of(1)
    assert allocate(groups.all(), groups.words, [0, 0]).positions == {0: 0, 1: 0}


def test_pairs_and_quads_are_aligned() -> None:
    groups = Groups({0: 1, 1: 2, 2: 4})
    for value in range(3):
        groups.of(value)
    everything = [0b110, 0b101, 0b011]
    found = allocate([groups.of(0), groups.of(1), groups.of(2)], groups.words, everything)
    # Large first needs 7 registers: quad 0-3, pair 4-5, single 6; as written it needs 8.
    assert (found.positions, found.used) == ({2: 0, 1: 4, 0: 6}, 7)


def test_reserved_registers_are_avoided() -> None:
    groups = Groups({0: 2})
    groups.of(0)
    assert allocate(groups.all(), groups.words, [0], reserved=0b0110).positions == {0: 4}


def test_a_vector_is_consecutive() -> None:
    groups = Groups({0: 1, 1: 1, 2: 1, 3: 1})
    groups.place_together([2, 0, 3, 1], 4)
    found = allocate(groups.all(), groups.words, [0b1110, 0b1101, 0b1011, 0b0111], reserved=1)
    assert found.positions == {2: 4, 0: 5, 3: 6, 1: 7}


def test_vectors_that_agree_share_one_group() -> None:
    groups = Groups({0: 1, 1: 1, 2: 1, 3: 1})
    groups.place_together([0, 1], 2)
    groups.place_together([2, 3], 2)
    groups.place_together([0, 1, 2, 3], 4)
    assert groups.of(0) is groups.of(3)
    assert (groups.of(0).modulus, groups.of(0).residue) == (4, 0)


def test_the_second_half_of_a_quad_may_come_first() -> None:
    groups = Groups({0: 1, 1: 1, 2: 1, 3: 1})
    groups.place_together([2, 3], 2)
    groups.place_together([0, 1, 2, 3], 4)
    found = allocate(groups.all(), groups.words, [0] * 4)
    assert found.positions == {0: 0, 1: 1, 2: 2, 3: 3}


@pytest.mark.parametrize(
    "demands",
    [
        [([0, 1], 2), ([1, 0], 2)],  # two orders
        [([0, 1], 2), ([1, 2], 2)],  # 1 would stand at an odd place
        [([0, 1, 2, 3], 4), ([2, 3, 0, 1], 4)],
        [([0, 1, 2, 3], 4), ([0, 2], 2)],
    ],
)
def test_contradicting_vectors(demands: list[tuple[list[int], int]]) -> None:
    groups = Groups(dict.fromkeys(range(4), 1))
    groups.place_together(*demands[0])
    with pytest.raises(PlacementError):
        groups.place_together(*demands[1])


def test_a_fixed_register_decides_the_whole_group() -> None:
    groups = Groups({0: 1, 1: 1})
    groups.place_together([0, 1], 2)
    groups.fix(1, 9)
    assert allocate(groups.all(), groups.words, [2, 1]).positions == {0: 8, 1: 9}


@pytest.mark.parametrize("register", [0, 3, 8])
def test_a_fixed_register_must_fit_the_alignment(register: int) -> None:
    groups = Groups({0: 1, 1: 1})
    groups.place_together([0, 1], 2)
    with pytest.raises(PlacementError):
        groups.fix(1, register - 1 if register == 3 else register)


def test_overlaps_finds_values_in_one_register() -> None:
    assert overlaps({0: 4, 1: 5}, {0: 2, 1: 1}, [0b10, 0b01]) == [(0, 1)]
    assert overlaps({0: 4, 1: 6}, {0: 2, 1: 1}, [0b10, 0b01]) == []
    assert overlaps({0: 4, 1: 5}, {0: 2, 1: 1}, [0, 0]) == []


def test_pressure_counts_registers() -> None:
    assert pressure(0b1101, {0: 0b1000, 1: 0b10, 2: 0b1, 4: 0b100}) == 6


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_no_conflicting_values_ever_overlap(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 14)
    words = {v: rng.choice([1, 1, 1, 2, 4]) for v in range(count)}
    graph = [0] * count
    for a in range(count):
        for b in range(a):
            if rng.random() < 0.5:
                graph[a] |= 1 << b
                graph[b] |= 1 << a
    groups = Groups(words)
    for value in range(count):
        groups.of(value)
    singles = [v for v in range(count) if words[v] == 1]
    if len(singles) >= 2:
        pair = singles[:2]
        groups.place_together(pair, 2)
        graph[pair[0]] |= 1 << pair[1]
        graph[pair[1]] |= 1 << pair[0]
    reserved = rng.getrandbits(6)
    found = allocate(groups.all(), words, graph, reserved)
    assert overlaps(found.positions, words, graph) == []
    for value, place in found.positions.items():
        assert place % words[value] == 0
        assert not reserved >> place & ((1 << words[value]) - 1)
    if len(singles) >= 2:
        assert found.positions[singles[1]] == found.positions[singles[0]] + 1
        assert found.positions[singles[0]] % 2 == 0
    assert found.used == max(found.positions[v] + words[v] for v in range(count))


def test_group_defaults() -> None:
    assert Group({3: 0}) == Group({3: 0}, modulus=1, residue=0, fixed=None)


# Whole programs


def registers(program: Program) -> dict[str, int]:
    """The first register of every named value."""
    found: dict[str, int] = {}
    for instruction in program.instructions:
        for operand in (*instruction.dests, *instruction.sources):
            if isinstance(operand, (Register, Predicate)) and operand.name:
                found[operand.name] = operand.index
    return found


def test_a_dead_source_lends_its_register() -> None:
    program = assemble("mov.u32 a, 1\nadd.u32 b, a, 1\nadd.u32 c, b, b\nexit")
    assert registers(program) == {"a": 0, "b": 0, "c": 0}
    assert program.registers == 1


def test_wide_values_are_aligned_pairs() -> None:
    program = assemble(
        "mov.u32 a, 1\nmov.u64 w, 2\nmad.wide.u32 v, a, a, w\nadd.u64 v, v, w\n"
        "cvt.u32.u64 b, v\nadd.u32 b, b, a\nexit"
    )
    places = registers(program)
    assert places["w"] % 2 == 0 and places["v"] % 2 == 0
    assert len({places["w"], places["w"] + 1, places["v"], places["v"] + 1, places["a"]}) == 5


def test_vector_names_are_consecutive_and_aligned() -> None:
    program = assemble(
        ".kernel k(A: ptr.f32)\nld.global.v4.f32 {a, b, c, d}, [A]\nmov.f32 e, 1.0\n"
        "add.f32 a, a, e\nst.global.v2.f32 [A], {c, d}\nst.global.v4.f32 [A], {a, b, c, d}\nexit"
    )
    places = registers(program)
    assert program.instructions[0].dests == (Register(0, 4),)
    assert program.instructions[3].sources == (Register(2, 2),)
    assert places["e"] == 4 and program.registers == 5


def test_explicit_registers_are_avoided_and_counted() -> None:
    program = assemble("mov.u32 %r0, 1\nmov.u32 a, 2\nadd.u32 %r9, a, %r0\nexit")
    assert registers(program) == {"a": 1}
    assert program.registers == 10


def test_an_explicit_pair_reserves_both_registers() -> None:
    program = assemble("mov.u64 %r0, 1\nmov.u32 a, 2\nadd.u32 a, a, a\nexit")
    assert registers(program) == {"a": 2}


def test_explicit_registers_in_a_vector_place_the_others() -> None:
    program = assemble(".kernel k(A: ptr.f32)\nld.global.v2.f32 {%r4, x}, [A]\nadd.f32 x, x, %r4\nexit")
    assert program.instructions[0].dests == (Register(4, 2),)
    assert registers(program)["x"] == 5


def test_predicates_share_by_liveness() -> None:
    program = assemble(
        "mov.u32 i, %tid.x\nsetp.lt.u32 p, i, 1\nselp.u32 a, i, 2, p\n"
        "setp.lt.u32 q, a, 1\n@q add.u32 a, a, 1\nexit"
    )
    assert registers(program)["p"] == 0 and registers(program)["q"] == 0
    assert program.predicates == 1


def test_explicit_predicates_are_avoided() -> None:
    program = assemble("mov.u32 i, 1\nsetp.lt.u32 %p0, i, 1\nsetp.lt.u32 q, i, 2\n@%p0 nop\n@q nop\nexit")
    assert registers(program)["q"] == 1
    assert program.predicates == 2


def test_a_value_of_a_loop_keeps_its_register() -> None:
    program = assemble(
        "mov.u32 i, 0\nmov.u32 s, 0\nloop:\nadd.u32 t, i, 1\nadd.u32 s, s, t\nadd.u32 i, i, 1\n"
        "setp.lt.u32 p, i, 9\n@p bra loop\nadd.u32 s, s, 1\nexit"
    )
    places = registers(program)
    assert len({places["i"], places["s"], places["t"]}) == 3 and program.registers == 3


def test_a_guarded_write_keeps_the_old_value_apart() -> None:
    program = assemble(
        "mov.u32 a, 1\nsetp.lt.u32 p, a, 2\nmov.u32 b, 5\n@p mov.u32 b, 6\nadd.u32 c, a, b\nexit"
    )
    places = registers(program)
    assert places["a"] != places["b"]


def test_values_live_across_calls() -> None:
    program = assemble(
        "mov.u32 keep, 1\nmov.u32 x, 2\ncall back, twice\nadd.u32 x, x, keep\nexit\n"
        "twice:\nadd.u32 y, x, x\nmov.u32 x, y\nret back"
    )
    places = registers(program)
    assert len({places["keep"], places["x"], places["back"]}) == 3


def test_the_halves_of_a_pair() -> None:
    program = assemble("mov.u64 w, 7\nadd.u32 a, w.lo, w.hi\nmov.u32 w.hi, 3\nadd.u64 w, w, w\nexit")
    add = program.instructions[1]
    assert add.sources == (Register(0, 1), Register(1, 1))
    assert program.instructions[2].dests == (Register(1, 1),)


def test_the_words_of_a_quad() -> None:
    program = assemble(".kernel k(A: ptr.f32)\nld.global.b128 q, [A]\nadd.f32 s, q.x, q.w\nexit")
    assert program.instructions[0].dests == (Register(0, 4),)
    assert program.instructions[1].sources == (Register(0), Register(3))


def test_register_arrays_use_one_register_an_element() -> None:
    program = assemble(
        ".reg acc: f32[2][2]\n.repeat i, 2\n.repeat j, 2\nmov.f32 acc[i][j], i + j\n.end\n.end\n"
        "add.f32 s, acc[0][0], acc[0][1]\nadd.f32 s, s, acc[1][0]\nadd.f32 s, s, acc[1][1]\nexit"
    )
    assert len({registers(program)[f"acc[{i}][{j}]"] for i in range(2) for j in range(2)}) == 4
    assert program.registers == 4


def test_predicate_arrays() -> None:
    program = assemble(
        ".reg p: pred[3]\nmov.u32 i, %tid.x\n.repeat k, 3\nsetp.eq.u32 p[k], i, k\n.end\n"
        ".repeat k, 3\n@p[k] add.u32 i, i, 1\n.end\nexit"
    )
    assert {registers(program)[f"p[{k}]"] for k in range(3)} == {0, 1, 2}
    assert program.instructions[5].guard == Predicate(1)


def pressure_program(count: int, limit: str = "") -> str:
    """`count` values that are all alive at once."""
    rows = [f"mov.u32 v{i}, {i}" for i in range(count)]
    rows += ["mov.u32 s, 0"] + [f"add.u32 s, s, v{i}" for i in range(count)]
    return "\n".join([limit, *rows, "exit"])


def test_exactly_255_registers_fit() -> None:
    assert assemble(pressure_program(254)).registers == 255


def test_one_register_too_many_says_so_and_where() -> None:
    with pytest.raises(SourceError) as caught:
        assemble(pressure_program(255))
    (found,) = caught.value.diagnostics
    assert found.message == "the kernel needs 256 registers and may have 255: 1 is missing"
    assert found.text == "mov.u32 s, 0"
    assert found.line == 257


def test_hopeless_pressure_is_reported_without_trying_to_place() -> None:
    rows = ".reg v: u32[4000]\n.repeat k, 4000\nmov.u32 v[k], k\n.end\nmov.u32 s, 0\n"
    with pytest.raises(SourceError, match="needs 4001 registers and may have 255: 3746 are missing"):
        assemble(rows + ".repeat k, 4000\nadd.u32 s, s, v[k]\n.end\nexit")


def test_alignment_alone_can_make_registers_run_out() -> None:
    # %r1 is taken, so a pair and a single value fit into 4 registers only as (2-3) and 0.
    text = ".maxregs {}\nmov.u32 %r1, 1\nmov.u64 w, 1\nmov.u32 a, 2\nmad.wide.u32 w, a, %r1, w\nexit"
    assert assemble(text.format(4)).registers == 4
    with pytest.raises(SourceError, match="needs 4 registers and may have 3: 1 is missing"):
        assemble(text.format(3))


def test_maxregs_lowers_the_limit() -> None:
    assert assemble(pressure_program(3, ".maxregs 4")).registers == 4
    with pytest.raises(SourceError, match="needs 6 registers and may have 4: 2 are missing"):
        assemble(pressure_program(5, ".maxregs 4"))


def test_eight_predicates_are_one_too_many() -> None:
    rows = ["mov.u32 i, %tid.x"] + [f"setp.eq.u32 p{k}, i, {k}" for k in range(8)]
    rows += [f"@p{k} add.u32 i, i, 1" for k in range(8)]
    with pytest.raises(SourceError, match="needs 8 predicates and has 7: 1 is missing"):
        assemble("\n".join([*rows, "exit"]))


# No value is ever lost: follow paths and compare the names under which registers are used


def follow(program: Program, rng: random.Random, steps: int = 200) -> int:
    """Walk a random path; each register must be read under the name it was last written under."""
    flow = [Step(i.opcode.behaviour, i.guard is not None, i.target) for i in program.instructions]
    following = successors(flow, through_calls=True)
    holds: dict[tuple[str, int], str] = {}
    checked, at = 0, 0
    for _ in range(steps):
        instruction = program.instructions[at]
        for name, place in reads(instruction):
            if name and place in holds:
                assert holds[place] == name, (at, instruction.source_line, holds[place], name)
                checked += 1
        taken = instruction.guard is None or rng.random() < 0.7
        for dest in instruction.dests if taken else ():
            names = names_of(dest)
            for word, place in enumerate(places_of(dest)):
                holds[place] = names[word * len(names) // max(len(places_of(dest)), 1)]
        if not following[at]:
            break
        at = rng.choice(following[at])
    return checked


def names_of(operand: Register | Predicate) -> list[str]:
    """The names of an operand: several for a vector."""
    return [n.strip() for n in operand.name.strip("{}").split(",")]


def places_of(operand: Register | Predicate) -> list[tuple[str, int]]:
    """The physical places of an operand."""
    if isinstance(operand, Predicate):
        return [("p", operand.index)]
    return [("r", operand.index + w) for w in range(operand.words)]


def reads(instruction: Instruction) -> list[tuple[str, tuple[str, int]]]:
    """Every (name, place) that an instruction reads."""
    operands = [s for s in instruction.sources if isinstance(s, (Register, Predicate))]
    if instruction.address is not None and isinstance(instruction.address.base, Register):
        operands.append(instruction.address.base)
    if instruction.guard is not None:
        operands.append(instruction.guard)
    found = []
    for operand in operands:
        names, places = names_of(operand), places_of(operand)
        found += [(names[w * len(names) // len(places)], place) for w, place in enumerate(places)]
    return found


def random_program(rng: random.Random) -> str:
    """Narrow, wide and vector values, guards, loops and ifs, in random order."""
    rows = [".kernel k(A: ptr.f32)", "mov.u32 a0, %tid.x", "setp.lt.u32 p0, a0, 9", "mov.u64 w0, A"]
    rows += [f"mov.u32 a{i}, {i}" for i in range(1, 6)] + [f"mov.u64 w{i}, {i}" for i in range(1, 3)]
    rows += ["setp.gt.u32 p1, a0, 2", "ld.global.v4.f32 {v0, v1, v2, v3}, [w0]"]
    narrow = [f"a{i}" for i in range(6)] + [f"v{i}" for i in range(4)]
    labels = 0
    for _ in range(rng.randint(5, 40)):
        a, b, c = (rng.choice(narrow) for _ in range(3))
        w, x = (f"w{rng.randrange(3)}" for _ in range(2))
        guard = rng.choice(["", "", "@p0 ", "@!p1 "])
        row = rng.choice(
            [
                f"{guard}add.u32 {a}, {b}, {c}",
                f"{guard}mad.wide.u32 {w}, {b}, {c}, {x}",
                f"{guard}ld.global.v4.f32 {{v0, v1, v2, v3}}, [{w}]",
                f"{guard}st.global.v2.f32 [{w}], {{v2, v3}}",
                f"{guard}st.global.v4.f32 [{w}], {{v0, v1, v2, v3}}",
                f"{guard}setp.lt.u32 p{rng.randrange(2)}, {b}, {c}",
                f"{guard}add.u64 {w}, {x}, {w}",
            ]
        )
        rows.append(row)
        if rng.random() < 0.25:
            labels += 1
            rows.insert(rng.randint(11, len(rows)), f"l{labels}: nop")
            rows.append(f"@p{rng.randrange(2)} bra l{labels}")
    reads_all = [f"add.u32 a0, a0, {n}" for n in narrow]
    return "\n".join([*rows, *reads_all, "exit"])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_random_programs_lose_no_value(seed: int) -> None:
    rng = random.Random(seed)
    program = assemble(random_program(rng))
    assert sum(follow(program, rng) for _ in range(4)) > 0
