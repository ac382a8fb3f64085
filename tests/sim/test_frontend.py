"""Instruction supply to the cycle: cold misses, prefetch, capacity, lines that warps share."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.bench import bench
from helpers.launch import Outcome, run

# Lines of 8 instructions, nothing fetched ahead, an L0 of 2 lines, an L1 of 4.
SMALL: dict[str, Any] = {
    "front_end.instruction_bytes": 16, "front_end.line_bytes": 128, "front_end.prefetch_lines": 0,
    "front_end.l0_lines": 2, "front_end.l1_lines": 4, "sm.subcores": 1,
}  # fmt: skip


def straight(count: int, changes: dict[str, Any] | None = None, **options: Any) -> Outcome:
    """A program of `count` instructions without branches: nops and an exit."""
    return run("nop\n" * (count - 1) + "exit", bench({**SMALL, **(changes or {})}), **options)


def times(outcome: Outcome, warp: int = 0) -> list[int]:
    """Issue cycles since the launch of the block."""
    return [cycle - 100 for cycle, _ in outcome.issues(warp)]


@pytest.mark.parametrize("far", [0, 30, 31])
@pytest.mark.parametrize("near", [0, 10, 11])
def test_the_first_instruction_comes_through_both_caches(near: int, far: int) -> None:
    changes = {"front_end.l0_miss_cycles": near, "front_end.l1_miss_cycles": far}
    outcome = straight(3, changes)
    assert times(outcome) == [near + far, near + far + 1, near + far + 2]
    assert outcome.counters["instruction_l0_misses"] == 1
    assert outcome.counters["instruction_l1_misses"] == 1
    assert outcome.events()[0][1:] == (near + far, 0, "no_instruction") or near + far == 0


def test_every_line_of_straight_code_misses_without_prefetch() -> None:
    """A buffer of 3: instruction 8 is asked for when instruction 5 issues, and comes 40 cycles later."""
    outcome = straight(20)
    assert times(outcome) == [*range(40, 48), *range(85, 93), *range(130, 134)]
    assert outcome.counters["instruction_l0_misses"] == 3
    assert outcome.counters["instruction_l1_misses"] == 3


@pytest.mark.parametrize(
    ("entries", "fetch", "expected"),
    [
        (3, 3, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (3, 4, [0, 1, 2, 4, 5, 6, 8, 9, 10]),
        (3, 5, [0, 1, 2, 5, 6, 7, 10, 11, 12]),
        (5, 5, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (1, 2, [0, 2, 4, 6, 8, 10, 12, 14, 16]),
    ],
)
def test_the_buffer_hides_a_fetch_no_longer_than_itself(
    entries: int, fetch: int, expected: list[int]
) -> None:
    """A place becomes free at an issue, and its next instruction is there `fetch` cycles later."""
    changes = {"front_end.buffer_entries": entries, "front_end.refill_cycles": fetch,
               "front_end.line_bytes": 512, "front_end.instruction_bytes": 4}  # fmt: skip
    assert times(straight(9, changes)) == [40 + cycle for cycle in expected]


def test_prefetched_lines_follow_one_another() -> None:
    """Three lines ahead leave one cycle apart: each is there before the warp needs it."""
    outcome = straight(32, {"front_end.prefetch_lines": 3, "front_end.l0_lines": 16})
    assert times(outcome) == list(range(40, 72))
    assert outcome.counters["instruction_l0_misses"] == 1
    assert outcome.counters["instruction_l1_misses"] == 4


@pytest.mark.parametrize(("interval", "gap"), [(1, 1), (8, 1), (9, 2), (12, 5)])
def test_lines_pass_at_the_line_interval(interval: int, gap: int) -> None:
    """Line 1 comes `interval` after line 0, which takes 8 cycles to issue."""
    changes = {"front_end.prefetch_lines": 1, "front_end.l1_line_interval_cycles": interval,
               "front_end.l0_lines": 16}  # fmt: skip
    issued = times(straight(16, changes))
    assert issued[8] - issued[7] == gap


def test_the_second_warp_of_a_sub_core_finds_the_line() -> None:
    outcome = straight(4, {"issue.scheduler": "gto"}, block=64)
    assert times(outcome, 0) == [40, 41, 42, 43]
    assert times(outcome, 1) == [44, 45, 46, 47]
    assert outcome.counters["instruction_l0_misses"] == 1


def test_each_sub_core_has_an_l0_and_the_sm_one_l1() -> None:
    """Sub-core 1 asks in the same cycle: the line passes one cycle later, L2 is asked once."""
    outcome = straight(4, {"sm.subcores": 2}, block=64)
    assert times(outcome, 0) == [40, 41, 42, 43]
    assert times(outcome, 1) == [40, 41, 42, 43]
    assert outcome.counters["instruction_l0_misses"] == 2
    assert outcome.counters["instruction_l1_misses"] == 1


def test_sms_have_caches_of_their_own() -> None:
    outcome = straight(4, grid=2)
    assert [cycle - 100 for cycle, _ in outcome.issues(0, sm=1)] == [40, 41, 42, 43]
    assert outcome.counters["instruction_l1_misses"] == 2


@pytest.mark.parametrize(("lines", "l0_misses", "l1_misses"), [(2, 2, 2), (3, 9, 3), (5, 20, 11)])
def test_a_loop_hits_where_it_fits(lines: int, l0_misses: int, l1_misses: int) -> None:
    """Four rounds of a loop over direct-mapped caches of 2 and 4 lines.

    3 lines on 2 places: line 1 stays, lines 0 and 2 take turns: 3 misses, then 2 a round. 5 lines: none
    stays in L0; on the 4 places of L1 lines 0 and 4 take turns: 5 misses, then 2 a round.
    """
    body = lines * 8 - 5  # with mov, add, setp, bra and exit the loop's line count is `lines`
    text = "mov.u32 i, 0\nloop: add.u32 i, i, 1\n" + "nop\n" * body
    text += "setp.lt.u32 p, i, 4\n@p bra loop\nexit"
    outcome = run(text, bench(SMALL))
    assert len(outcome.program.instructions) == 8 * lines
    assert outcome.counters["instruction_l0_misses"] == l0_misses
    assert outcome.counters["instruction_l1_misses"] == l1_misses


def test_a_jump_to_a_line_that_is_there_costs_the_refill_only() -> None:
    text = "a: bra b\n" + "nop\n" * 3 + "b: nop\nexit"
    outcome = run(text, bench(SMALL))
    assert outcome.gap("a", "b") == 7 + 2


def test_a_jump_to_a_line_that_is_not_there_waits_for_it() -> None:
    """The line is asked for when the branch issues: 40 cycles, more than the branch and the refill."""
    text = "a: bra b\n" + "nop\n" * 15 + "b: nop\nexit"
    outcome = run(text, bench(SMALL))
    assert outcome.gap("a", "b") == 40
    assert outcome.waits("b") == {"branch_resolving": 6, "no_instruction": 33, "selected": 1}


def test_a_second_launch_begins_with_cold_caches() -> None:
    first = straight(20)
    again = straight(20, host=first.host)
    assert times(again) == times(first)
    assert again.counters["instruction_l1_misses"] == 3
