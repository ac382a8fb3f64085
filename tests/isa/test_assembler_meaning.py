"""Assembled programs compute what their text says: run by the reference interpreter."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.isa.assembler import assemble
from tinygpu.isa.interpreter import Memory, interpret
from tinygpu.isa.launch import LaunchPlan, pack_parameters, plan
from tinygpu.isa.printer import disassemble
from tinygpu.isa.program import Program

THREADS = 40  # one whole warp and a ragged one


def execute(found: LaunchPlan) -> dict[str, np.ndarray]:
    """Run a plan on the interpreter; the final arrays by name."""
    finals = {name: array.copy() for name, array in found.arrays.items()}
    addresses = {name: 0x10000 * (i + 1) for i, name in enumerate(finals)}
    values = {**found.arguments, **addresses}
    memory = Memory([(addresses[name], array, name) for name, array in finals.items()])
    interpret(found.program, found.grid, found.block, pack_parameters(found.program, values), memory)
    return finals


def run(text: str, **lets: int) -> dict[str, np.ndarray]:
    """Assemble, run and check a program; the final arrays by name."""
    found = plan(assemble(text, lets=lets))
    finals = execute(found)
    for result in found.check(finals):
        assert result.ok, result
    return finals


MATMUL = """
.kernel matmul(A: ptr.f32, B: ptr.f32, C: ptr.f32, n: s32)
.let N = 8
.let T = 4
.shared As: f32[T][T]
.shared Bs: f32[T][T]
.launch grid = (N/T, N/T), block = (T, T)
.arg A = uniform(N, N), B = uniform(N, N), C = zeros(N, N), n = N
.expect C ~ A @ B
    mov.u32 tx, %tid.x
    mov.u32 ty, %tid.y
    mov.u32 row, %ctaid.y
    mov.u32 col, %ctaid.x
    mad.lo.u32 row, row, T, ty
    mad.lo.u32 col, col, T, tx
    mad.lo.u32 i, row, n, tx
    mad.wide.u32 pa, i, 4, A
    mad.lo.u32 i, ty, n, col
    mad.wide.u32 pb, i, 4, B
    mul.wide.u32 step, n, 4*T
    mul.lo.u32 line, ty, 4*T
    lea.u32 own, tx, line, 2
    shl.b32 column, tx, 2
    mov.f32 sum, 0.0
    mov.s32 k, 0
tile:
    ld.global.f32 a, [pa]
    ld.global.f32 b, [pb]
    st.shared.f32 [As + own], a
    st.shared.f32 [Bs + own], b
    bar.sync 0
.repeat j, T
    ld.shared.f32 a, [As + line + 4*j]
    ld.shared.f32 b, [Bs + column + 4*T*j]
    fma.f32 sum, a, b, sum
.end
    bar.sync 0
    add.u64 pa, pa, 4*T
    add.u64 pb, pb, step
    add.s32 k, k, T
    setp.lt.s32 more, k, n
    @more bra tile
    mad.lo.u32 i, row, n, col
    mad.wide.u32 pc, i, 4, C
    st.global.f32 [pc], sum
    exit
"""


@pytest.mark.parametrize("lets", [{}, {"N": 4}, {"T": 2}, {"N": 6, "T": 3}])
def test_matmul(lets: dict[str, int]) -> None:
    run(MATMUL, **lets)


def test_vectors_parts_and_two_destinations() -> None:
    finals = run(
        """
        .kernel k(A: ptr.s32, B: ptr.s32)
        .launch grid = 1, block = 32
        .arg A = iota(128), B = zeros(128)
        .expect B == reshape(reshape(A, 32, 4)[:, ::-1], 128) + 1
            mov.u32 t, %tid.x
            mad.wide.u32 p, t, 16, A
            mad.wide.u32 o, t, 16, B
            ld.global.v4.s32 {a, b, c, d}, [p]
            shfl.sync.idx.b32 low|good, p.lo, t, 0x1f, -1
            setp.eq.u32 same, low, p.lo
            @!good trap
            @!same trap
            add.s32 w, d, 1
            add.s32 x, c, 1
            add.s32 y, b, 1
            add.s32 z, a, 1
            st.global.v4.s32 [o], {w, x, y, z}
            exit
        """
    )
    assert finals["B"][:4].tolist() == [4, 3, 2, 1]


def test_calls_keep_values_apart() -> None:
    run(
        """
        .kernel k(A: ptr.s32)
        .launch grid = 1, block = 32
        .arg A = iota(32)
        .expect A == (A * 2 + 1) * 2 + A
            mov.u32 t, %tid.x
            mad.wide.u32 p, t, 4, A
            ld.global.s32 x, [p]
            mov.b32 keep, x
            call back, twice
            add.s32 x, x, 1
            call back, twice
            add.s32 x, x, keep
            st.global.s32 [p], x
            exit
        twice:
            add.s32 y, x, x
            mov.b32 x, y
            ret back
        """
    )


def test_macros_with_loops() -> None:
    run(
        """
        .kernel k(A: ptr.s32)
        .launch grid = 1, block = 8
        .arg A = iota(8)
        .expect A == A * (A + 1) / 2 + A * 3
        .macro triangle(d, n)
            mov.s32 d, 0
            mov.s32 $i, 0
        $next:
            setp.lt.s32 $p, $i, n
            add.s32 $i, $i, 1
            @$p add.s32 d, d, $i
            @$p bra $next
        .end
            mov.u32 t, %tid.x
            mad.wide.u32 p, t, 4, A
            ld.global.s32 x, [p]
            triangle(a, x)
            triangle(b, 2)
            mad.lo.s32 a, b, x, a
            st.global.s32 [p], a
            exit
        """
    )


# The same random program with named values and with a register of its own for every name


NARROW = [f"n{i}" for i in range(8)]
VECTOR = [f"v{i}" for i in range(4)]
WIDE = [f"w{i}" for i in range(3)]
PREDICATES = [f"p{i}" for i in range(3)]


START = [("lt", "p0", 9), ("gt", "p1", 20), ("eq", "p2", 5)]  # the predicates' first values


class Writer:
    """Writes random structured code over a fixed set of names."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.rows: list[str] = []
        self.labels = 0

    def plain(self) -> str:
        pick = self.rng.choice
        single = NARROW + VECTOR
        guard = pick(["", "", f"@{pick(PREDICATES)} ", f"@!{pick(PREDICATES)} "])
        row = pick(
            [
                f"add.s32 {pick(single)}, {pick(single)}, {pick(single)}",
                f"xor.b32 {pick(single)}, {pick(single)}, {self.rng.getrandbits(32)}",
                f"mad.wide.u32 {pick(WIDE)}, {pick(single)}, {pick(single)}, {pick(WIDE)}",
                f"add.u64 {pick(WIDE)}, {pick(WIDE)}, {pick(WIDE)}",
                f"mov.b32 {pick(single)}, {pick(WIDE)}.{pick(['lo', 'hi'])}",
                f"mov.b32 {pick(WIDE)}.{pick(['lo', 'hi'])}, {pick(single)}",
                f"setp.lt.s32 {pick(PREDICATES)}, {pick(single)}, {pick(single)}",
                f"selp.b32 {pick(single)}, {pick(single)}, {pick(single)}, {pick(PREDICATES)}",
                "ld.shared.v4.b32 {v0, v1, v2, v3}, [S + own]",
                "st.shared.v2.b32 [S + own], {v2, v3}",
            ]
        )
        return guard + row

    def body(self, depth: int) -> None:
        for _ in range(self.rng.randint(1, 6)):
            kind = self.rng.random()
            if depth and kind < 0.2:
                self.when(depth - 1)
            elif depth and kind < 0.35:
                self.loop(depth - 1)
            else:
                self.rows.append(self.plain())

    def when(self, depth: int) -> None:
        self.labels += 1
        label = f"l{self.labels}"
        self.rows.append(f"@{self.rng.choice(PREDICATES)} bra {label}")
        self.body(depth)
        self.rows.append(f"{label}:")

    def loop(self, depth: int) -> None:
        self.labels += 1
        label, count = f"l{self.labels}", f"c{self.labels}"
        self.rows += [f"and.b32 {count}, t, {self.rng.choice([1, 3])}", f"{label}:"]
        self.body(depth)
        self.rows += [f"sub.s32 {count}, {count}, 1", f"setp.ge.s32 q, {count}, 0", f"@q bra {label}"]

    def program(self) -> str:
        self.rows += ["mov.u32 t, %tid.x", "shl.b32 own, t, 4"]
        self.rows += [f"mad.lo.s32 {n}, t, {i + 3}, {7 * i}" for i, n in enumerate(NARROW + VECTOR)]
        self.rows += [f"mul.wide.u32 {w}, t, {i + 5}" for i, w in enumerate(WIDE)]
        self.rows += [f"setp.{c}.s32 {p}, t, {n}" for c, p, n in START]
        self.rows += ["st.shared.v4.b32 [S + own], {v0, v1, v2, v3}"]
        self.body(3)
        words = [*NARROW, *VECTOR, *(f"{w}.{half}" for w in WIDE for half in ("lo", "hi"))]
        self.rows += [f"mad.wide.u32 out, t, {4 * len(words)}, A"]
        self.rows += [f"st.global.b32 [out + {4 * i}], {word}" for i, word in enumerate(words)]
        head = f".kernel k(A: ptr.b32)\n.shared S: b32[{THREADS}][4]\n.launch grid = 1, block = {THREADS}\n"
        return head + f".arg A = zeros({THREADS}, {len(words)})\n" + "\n".join([*self.rows, "exit"])


def with_own_registers(text: str) -> str:
    """The program with a physical register for every name."""
    places = {f"v{i}": f"%r{i}" for i in range(4)}
    places |= {f"w{i}": f"%r{4 + 2 * i}" for i in range(3)}
    places |= {"out": "%r10", "t": "%r12", "own": "%r13"} | {f"n{i}": f"%r{14 + i}" for i in range(8)}
    places |= {f"p{i}": f"%p{i}" for i in range(3)} | {"q": "%p3"}
    places |= {name: f"%r{30 + i}" for i, name in enumerate(sorted(set(re.findall(r"\bc\d+\b", text))))}
    pattern = re.compile(r"(?<![%.\w])(" + "|".join(places) + r")\b(?!\()")
    head, _, body = text.partition("mov.u32 t,")
    return head + pattern.sub(lambda m: places[m.group()], "mov.u32 t," + body)


def memory_of(program: Program) -> np.ndarray:
    return execute(plan(program))["A"]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_allocation_does_not_change_what_a_program_computes(seed: int) -> None:
    text = Writer(seed).program()
    named, own = assemble(text), assemble(with_own_registers(text))
    assert named.registers <= own.registers
    np.testing.assert_array_equal(memory_of(named), memory_of(own))


def test_the_random_programs_differ_and_do_something() -> None:
    texts = [Writer(seed).program() for seed in range(5)]
    assert len(set(texts)) == 5
    results = [memory_of(assemble(text)) for text in texts]
    assert all(len(np.unique(result)) > 50 for result in results)


def test_printed_programs_compute_the_same() -> None:
    program = assemble(Writer(3).program())
    np.testing.assert_array_equal(memory_of(program), memory_of(assemble(disassemble(program))))
