"""The reference interpreter: threads, guards, branches, calls, launch shapes, limits."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from by_hand import at, ins, p, r, run, special

from tinygpu.isa.assembler import assemble
from tinygpu.isa.errors import FaultError, LaunchError, LimitError
from tinygpu.isa.interpreter import InterpreterResult, Memory, interpret
from tinygpu.isa.program import Program

OUT = 0x10000


def launch(text: str, words: int = 64, *, grid: Any = 1, block: Any = 32, n: int = 0, **options: Any) -> Any:
    """Run a kernel of `out: ptr.u32, n: s32`; gives the out array and the result."""
    program = assemble(".kernel k(out: ptr.u32, n: s32)\n" + text, "k.s")
    out = np.zeros(words, np.uint32)
    parameters = struct.pack("<Qi", OUT, n)
    result = interpret(program, grid, block, parameters, Memory([(OUT, out, "out")]), **options)
    return out, result


STORE = """
    mad.wide.u32 place, i, 4, out
    st.global.u32 [place], x
    exit
"""


def test_registers_and_predicates_of_every_thread() -> None:
    result = run(
        ins("s2r.u32", r(3), special("tid.x")),
        ins("setp.lt.u32", p(2), r(3), 2),
        ins("mov.b64", r(4, 2), 0x1122334455667788),
        ins("add.u32", r(255), r(3), 1),
        ins("add.u32", r(6), r(255), 9),
        block=3, grid=2, registers=8,
    )  # fmt: skip
    assert result.registers.shape == (2, 3, 8) and result.registers.dtype == np.uint32
    row = [0, 0, 0, 1, 0x55667788, 0x11223344, 9, 0]
    assert result.registers[1, 1].tolist() == row
    assert result.predicates.tolist() == [[4, 4, 0], [4, 4, 0]]
    assert (result.executed, result.thread_instructions) == (12, 36)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("tid.x", [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]), ("tid.y", [0, 0, 0, 1, 1, 1] * 2),
        ("tid.z", [0] * 6 + [1] * 6), ("ntid.x", [3] * 12), ("ntid.y", [2] * 12), ("ntid.z", [2] * 12),
        ("laneid", [*range(8), 0, 1, 2, 3]), ("warpid", [0] * 8 + [1] * 4), ("nwarpid", [2] * 12),
        ("lanemask_lt", [0, 1, 3, 7, 15, 31, 63, 127, 0, 1, 3, 7]), ("smid", [0] * 12),
    ],
)  # fmt: skip
def test_special_registers_of_a_block(name: str, values: list[int]) -> None:
    result = run(ins("s2r.u32", r(0), special(name)), block=(3, 2, 2), warp_size=8)
    assert result.registers[0, :, 0].tolist() == values


def test_blocks_are_numbered_with_x_fastest() -> None:
    names = ("ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z")
    result = run(*(ins("s2r.u32", r(i), special(n)) for i, n in enumerate(names)), block=1, grid=(2, 3, 2))
    assert result.registers[:, 0, :3].tolist() == [
        [x, y, z] for z in range(2) for y in range(3) for x in range(2)
    ]  # fmt: skip
    assert result.registers[7, 0, 3:6].tolist() == [2, 3, 2]


def test_clocks_count_steps_and_never_go_back() -> None:
    result = run(
        ins("s2r.u32", r(0), special("clock")), ins("nop"),
        ins("s2r.u64", r(2, 2), special("clock64")), block=1,
    )  # fmt: skip
    assert result.registers[0, 0, :4].tolist() == [0, 0, 2, 0]


def test_a_guard_lets_lanes_through_and_counts_them() -> None:
    result = run(
        ins("s2r.u32", r(0), special("laneid")),
        ins("setp.ge.u32", p(0), r(0), 30),
        ins("mov.u32", r(1), 7, guard=p(0)),
        ins("mov.u32", r(2), 8, guard=p(0, negated=True)),
    )
    assert result.registers[0, :, 1].tolist() == [0] * 30 + [7, 7]
    assert result.registers[0, :, 2].tolist() == [8] * 30 + [0, 0]
    assert (result.executed, result.thread_instructions) == (5, 160)


def test_sources_are_read_before_the_destination_is_written() -> None:
    result = run(
        ins("mov.u32", r(0), 3), ins("mad.wide.u32", r(0, 2), r(0), r(0), 0x500000000), block=1
    )  # r0 is both factor and low half
    assert result.registers[0, 0, :2].tolist() == [9, 5]


def test_both_sides_of_a_branch_run_once_and_meet_again() -> None:
    out, result = launch("""
        mov.u32 i, %laneid
        setp.lt.u32 low, i, 8
    @low bra less
        mov.u32 x, 200
        bra join
    less:
        mov.u32 x, 100
    join:
        activemask.b32 together
        add.u32 x, x, i
        xor.b32 x, x, together
    """ + STORE)  # fmt: skip
    mask = 0xFFFFFFFF
    assert out[:32].tolist() == [((100 if i < 8 else 200) + i) ^ mask for i in range(32)]
    assert result.executed == 3 + 2 + 1 + 3 + 3  # each side alone, the rest together


def test_a_loop_with_another_count_in_each_lane() -> None:
    out, result = launch("""
        mov.u32 i, %laneid
        mov.u32 x, 0
        mov.u32 k, 0
    again:
        setp.ge.u32 done, k, i
    @done bra out_
        add.u32 x, x, k
        add.u32 k, k, 1
        bra again
    out_:
    """ + STORE)  # fmt: skip
    assert out[:32].tolist() == [i * (i - 1) // 2 for i in range(32)]
    assert result.executed == 3 + 5 * 31 + 2 + 3


def test_calls_return_to_where_each_lane_came_from() -> None:
    out, _ = launch("""
        mov.u32 i, %laneid
        mov.u32 x, i
        setp.lt.u32 low, i, 4
    @low bra first
        call back, twice
        add.u32 x, x, 1000
        bra join
    first:
        call back, twice
        call back, twice
    join:
        mad.wide.u32 place, i, 4, out
        st.global.u32 [place], x
        exit
    twice:
        shl.b32 x, x, 1
        ret back
    """)
    assert out[:6].tolist() == [0, 4, 8, 12, 1008, 1010]


def test_a_return_to_nowhere_is_a_fault() -> None:
    with pytest.raises(FaultError, match=r"hand\.s:1.*ret to instruction 99 of only 2.*lane 0"):
        run(ins("ret", 99))


def test_exit_as_first_last_and_predicated_instruction() -> None:
    assert run(ins("exit"), ins("trap")).executed == 1
    result = run(
        ins("s2r.u32", r(0), special("laneid")), ins("setp.lt.u32", p(0), r(0), 31),
        ins("exit", guard=p(0)), ins("mov.u32", r(1), 5),
    )  # fmt: skip
    assert result.registers[0, :, 1].tolist() == [0] * 31 + [5]
    assert (result.executed, result.thread_instructions) == (5, 98)


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 63, 65, 1024])
def test_ragged_blocks_run_every_thread_once(threads: int) -> None:
    out, result = launch(
        """
        mov.u32 t, %tid.x
        mov.u32 b, %ctaid.x
        mov.u32 size, %ntid.x
        mad.lo.u32 i, b, size, t
        add.u32 x, i, 1
    """ + STORE,
        3 * threads + 5, grid=3, block=threads,
    )  # fmt: skip
    assert out.tolist() == [*range(1, 3 * threads + 1)] + [0] * 5
    assert result.executed == 3 * 8 * -(-threads // 32)
    assert result.thread_instructions == 3 * 8 * threads


def test_parameters_are_operands_and_addresses() -> None:
    out, _ = launch("""
        mov.u32 i, %laneid
        ld.param.u32 a, [n]
        ld.const.u32 b, [n]
        ld.param.u64 base, [out]
        add3.s32 x, a, b, n
        st.global.u32 [base + 4], x
        st.global.u32 [out + 8], n
        exit
    """, n=-5)  # fmt: skip
    assert out[:4].tolist() == [0, 0xFFFFFFF1, 0xFFFFFFFB, 0]


def test_trap_names_the_thread() -> None:
    program = assemble(
        ".kernel k()\nmov.u32 i, %tid.y\nsetp.eq.u32 bad, i, 2\n@bad trap\nexit\n", "k.s"
    )  # fmt: skip
    with pytest.raises(FaultError) as caught:
        interpret(program, (2, 2), (8, 4), b"", Memory())
    text = str(caught.value)
    assert text.startswith("k.s:4:") and "stopped itself" in text
    assert "thread (0, 2, 0) of block (0, 0, 0), warp 0 lane 16" in text


def test_an_endless_loop_ends_at_the_limit() -> None:
    with pytest.raises(LimitError, match="within 1000 warp instructions") as caught:
        run(ins("bra", target=0), max_steps=1000)
    assert "hand.s:1" in caught.value.hint


@pytest.mark.parametrize("options", [{"grid": 0}, {"block": (1, 2, 3, 4)}, {"warp_size": 33}, {"block": ()}])
def test_impossible_launches(options: dict[str, Any]) -> None:
    with pytest.raises(LaunchError):
        run(ins("nop"), **options)


def test_missing_parameter_bytes() -> None:
    program = assemble(".kernel k(out: ptr.u32, n: s32)\nexit\n")
    with pytest.raises(LaunchError, match="takes 12 parameter bytes, not 8"):
        interpret(program, 1, 1, bytes(8), Memory())


LOCK = """
        mov.u32 i, 0
    take:
        atom.global.cas.b32 old, [out + 4], 0, 1
        setp.ne.u32 busy, old, 0
    @busy bra take
        ld.global.volatile.u32 x, [out]
        add.u32 x, x, 1
        st.global.volatile.u32 [out], x
        fence.gpu
        atom.global.exch.b32 old, [out + 4], 0
        exit
"""


def test_a_lock_taken_inside_one_warp_is_given_on() -> None:
    out, _ = launch(LOCK, 2, grid=2, block=64)
    assert out.tolist() == [128, 0]


def test_blocks_that_wait_for_later_blocks_take_turns() -> None:
    out, _ = launch("""
        mov.u32 b, %ctaid.x
        setp.ne.u32 later, b, 0
    @later bra set
    wait:
        ld.global.volatile.u32 flag, [out]
        setp.eq.u32 empty, flag, 0
    @empty bra wait
        st.global.u32 [out + 4], flag
        exit
    set:
        st.global.u32 [out], 77
        exit
    """, 2, grid=2, block=1)  # fmt: skip
    assert out.tolist() == [77, 77]


MATMUL = """
.kernel matmul(A: ptr.f32, B: ptr.f32, C: ptr.f32, n: s32)
.shared As: f32[8][8]
.shared Bs: f32[8][8]
    mov.u32 tx, %tid.x
    mov.u32 ty, %tid.y
    mov.u32 bx, %ctaid.x
    mov.u32 by, %ctaid.y
    mad.lo.u32 row, by, 8, ty
    mad.lo.u32 column, bx, 8, tx
    mad.lo.u32 mine, ty, 8, tx
    shl.b32 mine, mine, 2
    shl.b32 as_row, ty, 5
    shl.b32 bs_column, tx, 2
    mad.lo.u32 a_index, row, n, tx
    mad.lo.u32 b_index, ty, n, column
    mov.f32 acc, 0.0
    mov.u32 k, 0
tile:
    mad.wide.u32 a, a_index, 4, A
    mad.wide.u32 b, b_index, 4, B
    ld.global.f32 x, [a]
    ld.global.f32 y, [b]
    st.shared.f32 [As + mine], x
    st.shared.f32 [Bs + mine], y
    bar.sync 0
.repeat i, 8
    ld.shared.f32 x, [As + as_row + 4*i]
    ld.shared.f32 y, [Bs + bs_column + 32*i]
    fma.f32 acc, x, y, acc
.end
    bar.sync 0
    add.u32 a_index, a_index, 8
    mad.lo.u32 b_index, n, 8, b_index
    add.u32 k, k, 8
    setp.lt.u32 more, k, n
@more bra tile
    mad.lo.u32 c_index, row, n, column
    mad.wide.u32 c, c_index, 4, C
    st.global.f32 [c], acc
    exit
"""


def test_a_tiled_matmul() -> None:
    size = 16
    random = np.random.default_rng(3)
    a, b = (random.random((size, size), np.float32) for _ in range(2))
    c = np.zeros((size, size), np.float32)
    memory = Memory([(0x1000, a, "A"), (0x2000, b, "B"), (0x3000, c, "C")])
    program = assemble(MATMUL, "matmul.s")
    result = interpret(program, (2, 2), (8, 8), struct.pack("<QQQi", 0x1000, 0x2000, 0x3000, size), memory)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    expected = np.zeros((size, size), np.float32)
    for k in range(size):  # the kernel's own order, with one rounding a step
        wide = a[:, k, None].astype(np.float64) * b[None, k, :]
        expected = (wide + expected).astype(np.float32)
    assert np.array_equal(c, expected)
    assert result.executed == 4 * 2 * (14 + 2 * (7 + 24 + 6) + 4)
    assert result.warnings == []


def test_results_are_plain_and_repeatable() -> None:
    first, second = (launch(LOCK, 2, grid=3, block=40)[1] for _ in range(2))
    assert isinstance(first, InterpreterResult)
    assert np.array_equal(first.registers, second.registers)
    assert (first.executed, first.warnings) == (second.executed, second.warnings)


def test_running_off_the_end_is_the_end() -> None:
    result = interpret(Program("short", (ins("nop"), ins("nop"))), 1, 4, b"", Memory())
    assert (result.executed, result.thread_instructions) == (2, 8)


def test_addresses_without_a_register() -> None:
    data = np.array([11, 22], np.uint32)
    result = run(ins("ld.global.u32", r(0), at(None, 0x2004)), block=1, memory=Memory([(0x2000, data, "d")]))
    assert result.registers[0, 0, 0] == 22
