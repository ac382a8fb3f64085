"""Barriers in the reference interpreter: counts, exits, generations, and what must be reported."""

from __future__ import annotations

import numpy as np
import pytest
from by_hand import at, ins, p, r, run, special

from tinygpu.isa.assembler import assemble
from tinygpu.isa.errors import DeadlockError, FaultError
from tinygpu.isa.interpreter import InterpreterResult, Memory, interpret

TID = ins("s2r.u32", r(0), special("tid.x"))


def kernel(text: str, block: int, shared_words: int = 128, grid: int = 1) -> InterpreterResult:
    """Run assembled text with a shared array S of words."""
    head = f".kernel k()\n.shared S: u32[{shared_words}]\n"
    return interpret(assemble(head + text, "bar.s"), grid, block, b"", Memory())


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 64, 100])
def test_nobody_passes_before_all_have_arrived(threads: int) -> None:
    """The last thread writes after a long way; the others read it behind the barrier."""
    result = kernel(
        f"""
        mov.u32 %r0, %tid.x
        setp.ne.u32 others, %r0, {threads - 1}
    @others bra meet
        mov.u32 k, 0
    way:
        add.u32 k, k, 1
        setp.lt.u32 more, k, 50
    @more bra way
        st.shared.u32 [S], 77
    meet:
        bar.sync 0
        ld.shared.u32 %r5, [S]
        exit
    """,
        threads,
    )
    assert result.registers[0, :, 5].tolist() == [77] * threads


def test_a_thousand_generations() -> None:
    """Thread i adds to a value in turn i: every generation must keep order."""
    result = kernel(
        """
        mov.u32 %r0, %tid.x
        mov.u32 k, 0
    turn:
        rem: and.b32 place, k, 63
        setp.eq.u32 mine, place, %r0
    @mine ld.shared.u32 x, [S]
    @mine mad.lo.u32 x, x, 3, k
    @mine st.shared.u32 [S], x
        bar.sync 5
        add.u32 k, k, 1
        setp.lt.u32 more, k, 1000
    @more bra turn
        ld.shared.u32 %r6, [S]
        exit
    """.replace("rem: ", ""),
        64,
    )
    value = 0
    for k in range(1000):
        value = (value * 3 + k) & 0xFFFFFFFF
    assert set(result.registers[0, :, 6].tolist()) == {value}


@pytest.mark.parametrize("leavers", [1, 5, 32, 40, 63])
def test_exited_threads_leave_the_count(leavers: int) -> None:
    result = run(
        TID, ins("setp.lt.u32", p(0), r(0), leavers), ins("bar.sync", 0), ins("exit", guard=p(0)),
        ins("bar.sync", 0), ins("bar.sync", 1), ins("mov.u32", r(1), 5), block=64,
    )  # fmt: skip
    assert result.registers[0, :, 1].tolist() == [0] * leavers + [5] * (64 - leavers)


def test_threads_that_exit_late_release_those_who_wait() -> None:
    result = run(
        TID, ins("setp.ge.u32", p(0), r(0), 32), ins("bra", guard=p(0), target=5),
        ins("bar.sync", 0), ins("bra", target=7), ins("nop"), ins("exit"), ins("mov.u32", r(1), 1), block=64,
    )  # fmt: skip
    assert result.registers[0, :, 1].tolist() == [1] * 32 + [0] * 32


def test_producers_arrive_and_consumers_wait() -> None:
    """Warp 0 fills, warp 1 takes: full is barrier 1, empty barrier 2, both of 64 threads."""
    result = kernel(
        """
        mov.u32 %r0, %tid.x
        and.b32 lane, %r0, 31
        shl.b32 place, lane, 2
        mov.u32 k, 0
        mov.u32 %r10, 0
        setp.ge.u32 consumer, %r0, 32
    @consumer bra take
    fill:
        bar.sync 2, 64
        add.u32 x, k, lane
        st.shared.u32 [S + place], x
        bar.arrive 1, 64
        add.u32 k, k, 1
        setp.lt.u32 more, k, 20
    @more bra fill
        exit
    take:
        bar.arrive 2, 64
        bar.sync 1, 64
        ld.shared.u32 y, [S + place]
        add.u32 %r10, %r10, y
        add.u32 k, k, 1
        setp.lt.u32 more, k, 20
    @more bra take
        exit
    """,
        64,
    )
    assert result.registers[0, 32:, 10].tolist() == [190 + 20 * lane for lane in range(32)]


def test_a_count_includes_the_missing_lanes_of_a_ragged_warp() -> None:
    result = run(TID, ins("bar.sync", 3, 64), ins("mov.u32", r(1), 9), block=40)
    assert result.registers[0, :, 1].tolist() == [9] * 40


def test_a_part_of_a_block_may_meet_at_a_counted_barrier() -> None:
    result = run(
        TID, ins("setp.lt.u32", p(0), r(0), 32), ins("bar.sync", 4, 32, guard=p(0)),
        ins("mov.u32", r(1), 3), block=96
    )  # fmt: skip
    assert set(result.registers[0, :, 1].tolist()) == {3}


def test_sixteen_barriers_at_once() -> None:
    """Warps 2 b and 2 b + 1 meet at barrier b; each pair alone."""
    text = "mov.u32 %r0, %tid.x\nshr.u32 pair, %r0, 6\n"
    for b in range(16):
        text += f"setp.eq.u32 mine, pair, {b}\n@mine bar.sync {b}, 64\n@mine mov.u32 %r9, {b + 1}\n"
    result = kernel(text + "exit\n", 1024)
    assert result.registers[0, :, 9].tolist() == [i // 64 + 1 for i in range(1024)]


def test_a_count_in_a_register() -> None:
    result = run(TID, ins("mov.u32", r(2), 64), ins("bar.sync", 0, r(2)), ins("mov.u32", r(1), 1), block=64)
    assert set(result.registers[0, :, 1].tolist()) == {1}


def test_a_barrier_reached_at_two_places_names_both_lines() -> None:
    with pytest.raises(FaultError) as caught:
        run(
            TID, ins("setp.ge.u32", p(0), r(0), 32), ins("bra", guard=p(0), target=5),
            ins("bar.sync", 0), ins("bra", target=6), ins("bar.sync", 0), ins("nop"), block=64,
        )  # fmt: skip
    text = str(caught.value)
    assert text.startswith("hand.s:6:1: error: barrier 0 is reached at two places")
    assert "here and at hand.s:4" in text and "warp 1 lane 0" in text and "hint:" in text


def test_a_barrier_reached_by_a_part_of_the_block_names_both_lines() -> None:
    with pytest.raises(DeadlockError) as caught:
        run(
            TID, ins("setp.lt.u32", p(0), r(0), 7), ins("bar.sync", 0, guard=p(0)), ins("bar.sync", 1),
            block=32, grid=2,
        )  # fmt: skip
    text = str(caught.value)
    assert text.startswith("deadlock in block (0, 0, 0):")
    assert "7 threads wait at barrier 0 (hand.s:3) for all threads; 7 have arrived" in text
    assert "25 threads wait at barrier 1 (hand.s:4) for all threads; 25 have arrived" in text


def test_a_counted_barrier_that_never_fills() -> None:
    with pytest.raises(DeadlockError, match=r"32 threads wait at barrier 2 .*for 64 threads; 32 have"):
        run(ins("bar.sync", 2, 64), block=32)


@pytest.mark.parametrize(("counts", "shown"), [((48,), "32, not 48"), ((0,), "32, not 0")])
def test_counts_must_be_whole_warps(counts: tuple[int], shown: str) -> None:
    with pytest.raises(FaultError, match=f"one multiple of {shown}"):
        run(ins("bar.sync", 1, *counts), block=64)


def test_lanes_of_one_warp_must_agree_on_the_count() -> None:
    with pytest.raises(FaultError, match="one multiple of 32, not 32, 64"):
        run(
            TID, ins("mov.u32", r(1), 32), ins("setp.lt.u32", p(0), r(0), 3),
            ins("mov.u32", r(1), 64, guard=p(0)),
            ins("bar.sync", 1, r(1)), block=64,
        )  # fmt: skip


def test_a_barrier_cannot_have_two_counts() -> None:
    message = r"barrier 1 is for the whole block here and for 96 threads at hand\.s:3"
    with pytest.raises(FaultError, match=message):
        run(
            TID, ins("setp.lt.u32", p(0), r(0), 32), ins("bar.arrive", 1, 96, guard=p(0)),
            ins("bar.sync", 1, guard=p(0, True)), block=64,
        )  # fmt: skip


def test_arriving_twice_in_one_phase_is_reported() -> None:
    with pytest.raises(FaultError, match=r"hand\.s:2.*arrives twice in one phase of barrier 1.*lane 0"):
        run(ins("bar.arrive", 1, 96), ins("bar.arrive", 1, 96), block=32)


def test_blocks_have_barriers_of_their_own() -> None:
    data = np.zeros(4, np.uint32)
    run(
        ins("s2r.u32", r(0), special("ctaid.x")), ins("bar.sync", 0),
        ins("mad.wide.u32", r(2, 2), r(0), 4, 64),
        ins("red.global.add.u32", at(r(2, 2)), 1), ins("bar.sync", 0), block=48, grid=4,
        memory=Memory([(64, data, "d")]),
    )  # fmt: skip
    assert data.tolist() == [48] * 4


def test_guarded_lanes_pass_a_counted_barrier_by() -> None:
    result = run(
        TID, ins("setp.lt.u32", p(0), r(0), 32), ins("bar.arrive", 1, 32, guard=p(0)),
        ins("mov.u32", r(1), 1),
        block=64,
    )  # fmt: skip
    assert set(result.registers[0, :, 1].tolist()) == {1}
    assert result.executed == 2 * 5
