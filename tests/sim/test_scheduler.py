"""Warp schedulers: the order of issue under each policy, cycle by cycle, on one sub-core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.bench import bench
from helpers.launch import Outcome, run

from tinygpu.sim.spec import MachineSpec


def machine(scheduler: str, **more: Any) -> MachineSpec:
    return bench({"issue.scheduler": scheduler, "sm.subcores": 1, "device.sms": 1, **more})


def order(outcome: Outcome) -> list[tuple[int, int]]:
    """(warp, instruction) of every issue of SM 0 in order of time."""
    events = outcome.trace.events
    rows = events[(events["state"] == 0) & (events["sm"] == 0)]
    rows = rows[np.argsort(rows["start"])]
    return [(int(e["warp"]), int(e["pc"])) for e in rows]


NOPS = "nop\nnop\nexit"


def test_greedy_then_oldest_finishes_a_warp_before_the_next() -> None:
    outcome = run(NOPS, machine("gto"), block=96)
    assert order(outcome) == [(w, pc) for w in (0, 1, 2) for pc in range(3)]


def test_greedy_then_youngest_begins_with_the_warp_launched_last() -> None:
    outcome = run(NOPS, machine("cggty"), block=96)
    assert order(outcome) == [(w, pc) for w in (2, 1, 0) for pc in range(3)]


def test_round_robin_takes_the_warps_in_turn() -> None:
    outcome = run(NOPS, machine("lrr"), block=96)
    assert order(outcome) == [(w, pc) for pc in range(3) for w in (0, 1, 2)]


def test_two_levels_take_turns_within_the_active_set_only() -> None:
    """Warps 0 and 1 are active; warp 2 comes in when warp 0 has ended, warp 3 after warp 1."""
    outcome = run(NOPS, machine("two_level", **{"issue.two_level_active": 2}), block=128)
    first = [(w, pc) for pc in range(3) for w in (0, 1)]
    assert order(outcome)[:6] == first
    assert order(outcome)[6:] == [(w, pc) for pc in range(3) for w in (2, 3)]


def test_an_active_set_as_large_as_the_warps_is_round_robin() -> None:
    outcome = run(NOPS, machine("two_level", **{"issue.two_level_active": 4}), block=96)
    assert order(outcome) == order(run(NOPS, machine("lrr"), block=96))


CHAIN = "add.f32 x, 1.0, 2.0\nadd.f32 x, x, x\nexit"


def test_greedy_goes_to_the_oldest_when_the_warp_waits() -> None:
    """The dependent add issues 4 cycles later; meanwhile the others begin, oldest first."""
    outcome = run(CHAIN, machine("gto"), block=96)
    assert order(outcome) == [(0, 0), (1, 0), (2, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]
    start = outcome.issues(0)[0][0]
    assert [t - start for t, _ in outcome.issues(0)] == [0, 4, 5]
    assert [t - start for t, _ in outcome.issues(1)] == [1, 6, 7]
    assert [t - start for t, _ in outcome.issues(2)] == [2, 8, 9]


def test_greedy_then_youngest_goes_to_the_youngest_when_the_warp_waits() -> None:
    outcome = run(CHAIN, machine("cggty"), block=96)
    assert order(outcome) == [(2, 0), (1, 0), (0, 0), (2, 1), (2, 2), (1, 1), (1, 2), (0, 1), (0, 2)]


def test_round_robin_passes_over_a_warp_that_waits() -> None:
    outcome = run(CHAIN, machine("lrr"), block=96)
    assert order(outcome) == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)]


@pytest.mark.parametrize("warps", [2, 3, 5])
@pytest.mark.parametrize("scheduler", ["gto", "cggty", "lrr", "two_level"])
def test_independent_warps_fill_every_cycle(scheduler: str, warps: int) -> None:
    """No cycle is lost under any policy while any warp can issue."""
    outcome = run("\n".join(["nop"] * 20 + ["exit"]), machine(scheduler), block=32 * warps)
    times = sorted(cycle for w in range(warps) for cycle, _ in outcome.issues(w))
    assert times == list(range(times[0], times[0] + 21 * warps))
    assert outcome.raw.schedulers["issued"] == 21 * warps


def test_what_is_ready_but_not_picked_is_not_selected() -> None:
    outcome = run(NOPS, machine("gto"), block=64)
    assert outcome.events(1)[1][1:] == (3, 0, "not_selected")


def test_a_warp_that_waits_for_memory_gives_up_its_place_in_the_active_set() -> None:
    """One place: warp 0 loads and waits for the answer; warp 1 runs in the meantime."""
    text = """
        .shared s: u32[32]
        nop
        load: ld.shared.u32 x, [s]
        use: add.u32 x, x, x
        end: exit"""
    outcome = run(text, machine("two_level", **{"issue.two_level_active": 1}), block=64)
    assert outcome.cycle("load", 1) < outcome.cycle("use", 0)
    assert outcome.gap("load", "use", 0) == 23


@pytest.mark.parametrize("scheduler", ["gto", "cggty", "lrr", "two_level"])
def test_sub_cores_choose_for_themselves(scheduler: str) -> None:
    """Warp w is on sub-core w mod 4: eight warps, two a sub-core, four issues a cycle."""
    spec = bench({"issue.scheduler": scheduler, "device.sms": 1})
    outcome = run("\n".join(["nop"] * 10 + ["exit"]), spec, block=256)
    events = outcome.trace.events
    starts = events["start"][events["state"] == 0]
    cycles, counts = np.unique(starts, return_counts=True)
    assert len(cycles) == 22 and set(counts) == {4}


def test_a_block_later_in_the_launch_is_younger() -> None:
    """Ages are counted over the SM's whole launch, not by slot."""
    text = "mov.u32 b, %ctaid.x\nsetp.eq.u32 first, b, 0\n@first exit\nnop\nnop\nexit"
    spec = machine("gto", **{"sm.blocks": 2, "device.block_start_cycles": 1})
    outcome = run(text, spec, grid=3, block=32)
    events = outcome.trace.events
    rows = events[events["state"] == 0]
    last = {block: int(rows["start"][rows["block"] == block].max()) for block in range(3)}
    assert last[1] < last[2]
