"""Lanes that meet: shuffles, votes, matches, reductions, and who waits for whom."""

from __future__ import annotations

import pytest
from by_hand import NOT_PT, PT, ins, p, r, run, special

from tinygpu.isa.errors import DeadlockError, FaultError
from tinygpu.isa.interpreter_warp import source_lane
from tinygpu.isa.program import Instruction

FULL = 0xFFFFFFFF
LANE = ins("s2r.u32", r(0), special("laneid"))


def clamp(width: int, up: bool = False) -> int:
    """The c operand of a shuffle in segments of `width` lanes."""
    return (32 - width) << 8 | (0 if up else 31)


def segment_oracle(mode: str, lane: int, b: int, width: int) -> tuple[int, bool]:
    """CUDA's __shfl_*_sync in segments of `width`, as its guide words it: lane to read, in range."""
    start = lane // width * width
    place = lane - start
    wanted = {"up": place - b, "down": place + b, "bfly": place ^ b, "idx": b % width}[mode]
    inside = 0 <= wanted < width
    return (start + wanted, True) if inside else (lane, False)


@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_the_lane_that_a_shuffle_reads(mode: str, width: int) -> None:
    for b in range(width if mode != "idx" else 32):
        for lane in range(32):
            found = source_lane(mode, lane, b, clamp(width, mode == "up"))
            assert found == segment_oracle(mode, lane, b, width), (b, lane)


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles_of_a_whole_warp(mode: str, width: int) -> None:
    result = run(
        LANE, ins("add.u32", r(1), r(0), 100),
        ins(f"shfl.sync.{mode}.b32", r(2), p(3), r(1), 3, clamp(width, mode == "up"), FULL),
        ins(f"shfl.sync.{mode}.b32", r(1), r(1), 3, clamp(width, mode == "up"), FULL),  # onto its source
    )  # fmt: skip
    picks = [segment_oracle(mode, lane, 3, width) for lane in range(32)]
    assert result.registers[0, :, 2].tolist() == [100 + lane for lane, _ in picks]
    assert result.registers[0, :, 1].tolist() == [100 + lane for lane, _ in picks]
    assert result.predicates[0].tolist() == [8 * inside for _, inside in picks]
    assert result.warnings == []


def test_a_shuffle_may_read_another_lane_in_each_lane() -> None:
    result = run(
        LANE, ins("xor.b32", r(1), r(0), 0x15), ins("mul.lo.u32", r(2), r(0), r(0)),
        ins("shfl.sync.idx.b32", r(3), r(2), r(1), 31, FULL),
    )  # fmt: skip
    assert result.registers[0, :, 3].tolist() == [(i ^ 0x15) ** 2 for i in range(32)]


# Lanes 1, 4, 7, ... form a mask with gaps; they go one way, the others the other way.
THIRD = sum(1 << lane for lane in range(1, 32, 3))
IN_THIRD = (
    LANE,
    ins("mov.u32", r(5), THIRD),
    ins("shr.u32", r(5), r(5), r(0)),
    ins("and.b32", r(5), r(5), 1),
    ins("setp.ne.u32", p(0), r(5), 0),
)


@pytest.mark.parametrize(("mode", "b"), [("up", 3), ("down", 3), ("idx", 4), ("bfly", 0)])
def test_shuffles_under_a_mask_with_gaps_use_real_lane_numbers(mode: str, b: int) -> None:
    result = run(
        *IN_THIRD, ins("add.u32", r(1), r(0), 100),
        ins(f"shfl.sync.{mode}.b32", r(2), r(1), b, clamp(32, mode == "up"), THIRD, guard=p(0)),
    )  # fmt: skip
    for lane in range(32):
        expected = 100 + segment_oracle(mode, lane, b, 32)[0] if THIRD >> lane & 1 else 0
        assert result.registers[0, lane, 2] == expected
    assert result.warnings == []


def test_reading_a_lane_that_does_not_take_part_is_reported() -> None:
    result = run(
        *IN_THIRD, ins("add.u32", r(1), r(0), 100),
        ins("shfl.sync.down.b32", r(2), r(1), 1, 31, THIRD, guard=p(0)),
    )  # fmt: skip
    assert result.registers[0, 1, 2] == 102  # what lane 2's register holds
    (warning,) = result.warnings
    assert warning.startswith("hand.s:7:1: warning: the shuffle reads lane 2, which does not take part")
    assert "warp 0 lane 1" in warning


def test_lanes_beyond_a_ragged_warp_hold_zero() -> None:
    result = run(LANE, ins("shfl.sync.down.b32", r(1), r(0), 2, 31, FULL), block=7)
    assert result.registers[0, :, 1].tolist() == [2, 3, 4, 5, 6, 0, 0]
    assert "reads lane 7" in result.warnings[0]


def test_votes() -> None:
    result = run(
        LANE, ins("setp.lt.u32", p(0), r(0), 5),
        ins("vote.sync.all.pred", p(1), p(0), FULL), ins("vote.sync.any.pred", p(2), p(0), FULL),
        ins("vote.sync.uni.pred", p(3), p(0), FULL), ins("vote.sync.uni.pred", p(4), NOT_PT, FULL),
        ins("vote.sync.all.pred", p(5), PT, FULL), ins("vote.sync.ballot.b32", r(1), p(0), FULL),
        ins("vote.sync.ballot.b32", r(2), p(0, True), FULL),
        ins("vote.sync.ballot.b32", r(3), p(0), 0x7, guard=p(6)),
    )  # fmt: skip
    assert set((result.predicates[0] & 0x3E).tolist()) == {0b110100}
    assert result.registers[0, 9, 1:4].tolist() == [0x1F, 0xFFFFFFE0, 0]


def test_votes_of_a_part_leave_the_others_out() -> None:
    result = run(
        *IN_THIRD, ins("setp.ge.u32", p(1), r(0), 16),
        ins("vote.sync.ballot.b32", r(1), p(1), THIRD, guard=p(0)),
        ins("vote.sync.any.pred", p(2), p(1), THIRD, guard=p(0)),
        ins("vote.sync.all.pred", p(3), p(1), THIRD, guard=p(0)),
    )  # fmt: skip
    assert result.registers[0, 1, 1] == THIRD & 0xFFFF0000
    assert result.registers[0, 0, 1] == 0
    assert result.predicates[0, 4] & 0b1100 == 0b0100


def test_activemask_is_who_is_here_now() -> None:
    result = run(
        LANE, ins("setp.lt.u32", p(0), r(0), 4), ins("activemask.b32", r(1)),
        ins("activemask.b32", r(2), guard=p(0)), ins("bra", guard=p(0), target=6),
        ins("activemask.b32", r(3)), ins("activemask.b32", r(4)), block=40,
    )  # fmt: skip
    assert result.registers[0, 0, 1:5].tolist() == [FULL, 0xF, 0, FULL]
    assert result.registers[0, 9, 1:5].tolist() == [FULL, 0, 0xFFFFFFF0, FULL]
    assert result.registers[0, 33, 1:5].tolist() == [0xFF, 0xF, 0, 0xFF]


def test_matches() -> None:
    result = run(
        LANE, ins("shr.u32", r(1), r(0), 3), ins("match.any.sync.b32", r(2), r(1), FULL),
        ins("match.all.sync.b32", r(3), p(0), r(1), FULL), ins("match.all.sync.b32", r(4), p(1), 7, FULL),
        ins("mov.b64", r(6, 2), 1 << 40), ins("cvt.u64.u32", r(8, 2), r(1)),
        ins("match.any.sync.b64", r(10), r(8, 2), FULL),
        ins("match.all.sync.b64", r(11), p(2), r(6, 2), FULL),
        ins("match.all.sync.b32", r(12), r(1), FULL),
    )  # fmt: skip
    for lane in (0, 13, 31):
        group = 0xFF << (lane & ~7)
        row = result.registers[0, lane]
        assert [int(row[i]) for i in (2, 3, 4, 10, 11, 12)] == [group, 0, FULL, group, FULL, 0]
    assert set((result.predicates[0] & 7).tolist()) == {0b110}


def test_matches_compare_all_64_bits() -> None:
    result = run(
        LANE, ins("shl.b32", r(3), r(0), 31), ins("mov.u32", r(2), 9),
        ins("match.any.sync.b64", r(4), r(2, 2), FULL)
    )  # fmt: skip
    assert result.registers[0, 0, 4] == 0x55555555 and result.registers[0, 1, 4] == 0xAAAAAAAA


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add.s32", (sum(range(32)) - 32 * 16) & FULL), ("add.u32", (sum(range(32)) - 32 * 16) & FULL),
        ("min.s32", 0xFFFFFFF0), ("max.s32", 15), ("min.u32", 0), ("max.u32", FULL),
        ("and.b32", 0), ("or.b32", FULL), ("xor.b32", 0),
    ],
)  # fmt: skip
def test_reductions_over_the_numbers_from_minus_16_to_15(name: str, expected: int) -> None:
    result = run(LANE, ins("sub.s32", r(1), r(0), 16), ins(f"redux.sync.{name}", r(2), r(1), FULL))
    assert set(result.registers[0, :, 2].tolist()) == {expected}


def test_two_masks_in_one_instruction_are_two_meetings() -> None:
    result = run(
        LANE, ins("setp.lt.u32", p(0), r(0), 16), ins("mov.u32", r(1), 0xFFFF0000),
        ins("mov.u32", r(1), 0xFFFF, guard=p(0)), ins("redux.sync.add.u32", r(2), r(0), r(1)),
    )  # fmt: skip
    assert set(result.registers[0, :16, 2].tolist()) == {120}
    assert set(result.registers[0, 16:, 2].tolist()) == {376}
    assert result.executed == 6


def divided(instruction: Instruction) -> tuple[Instruction, ...]:
    """Lanes below 8 take a detour before they come to the instruction, which the others reach first."""
    return (
        LANE, ins("setp.lt.u32", p(0), r(0), 8), ins("bra", guard=p(0), target=5), instruction,
        ins("exit"), ins("nop"), ins("nop"), ins("bra", target=3),
    )  # fmt: skip


def test_lanes_wait_for_the_others_of_their_mask() -> None:
    result = run(*divided(ins("redux.sync.add.u32", r(1), r(0), FULL)))
    assert set(result.registers[0, :, 1].tolist()) == {496}
    result = run(*divided(ins("bar.warp.sync", FULL)))
    assert (result.executed, result.thread_instructions) == (3 + 3 + 2, 3 * 32 + 3 * 8 + 2 * 32)


def test_lanes_outside_the_mask_are_not_waited_for() -> None:
    result = run(
        LANE, ins("setp.lt.u32", p(0), r(0), 8), ins("bra", guard=p(0), target=5),
        ins("redux.sync.add.u32", r(1), r(0), 0xFFFFFF00), ins("exit"), ins("nop"),
    )  # fmt: skip
    assert set(result.registers[0, 8:, 1].tolist()) == {496 - 28}


def test_lanes_that_have_exited_are_not_waited_for() -> None:
    result = run(
        LANE, ins("setp.lt.u32", p(0), r(0), 8), ins("exit", guard=p(0)),
        ins("redux.sync.add.u32", r(1), r(0), FULL)
    )  # fmt: skip
    assert set(result.registers[0, 8:, 1].tolist()) == {496 - 28}


def test_lanes_that_never_come_are_a_deadlock_with_both_places() -> None:
    with pytest.raises(DeadlockError) as caught:
        run(
            LANE, ins("setp.lt.u32", p(0), r(0), 2), ins("bra", guard=p(0), target=5),
            ins("bar.warp.sync", FULL), ins("exit"), ins("vote.sync.any.pred", p(1), PT, 0xFF),
        )  # fmt: skip
    text = str(caught.value)
    assert "lanes 0, 1 wait at vote.sync.any.pred (hand.s:6)" in text
    assert "lanes 2, 3, 4" in text and "wait at bar.warp.sync (hand.s:4)" in text


def test_a_guard_keeps_a_named_lane_away() -> None:
    with pytest.raises(DeadlockError, match=r"hand\.s:3"):
        run(LANE, ins("setp.lt.u32", p(0), r(0), 2), ins("bar.warp.sync", FULL, guard=p(0)))


def test_a_lane_must_name_itself() -> None:
    with pytest.raises(FaultError, match=r"membermask 0x00000001 does not name the lane itself.*lane 1"):
        run(LANE, ins("shfl.sync.idx.b32", r(1), r(0), 0, 31, 1))


def test_a_butterfly_sum_in_divergent_halves() -> None:
    steps: list[Instruction] = []
    for distance in (8, 4, 2, 1):
        steps += [ins("shfl.sync.bfly.b32", r(2), r(1), distance, 31, r(3)), ins("add.u32", r(1), r(1), r(2))]
    size = len(steps)
    result = run(
        LANE, ins("mov.u32", r(1), r(0)), ins("setp.lt.u32", p(0), r(0), 16),
        ins("bra", guard=p(0), target=6 + size), ins("mov.u32", r(3), 0xFFFF0000), *steps, ins("exit"),
        ins("mov.u32", r(3), 0xFFFF), *steps,
    )  # fmt: skip
    assert set(result.registers[0, :16, 1].tolist()) == {120}
    assert set(result.registers[0, 16:, 1].tolist()) == {376}
