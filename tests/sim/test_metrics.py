"""Every derived metric against a value worked out by hand, and the verdict's words."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import pytest

from tinygpu.sim import machinefile
from tinygpu.sim.counters import DEVICE_NAMES, NAMES
from tinygpu.sim.metrics import METRICS, WAITS, Books, compute, peaks, verdict
from tinygpu.sim.packed import TICKS_PER_CYCLE
from tinygpu.sim.state import STATES

H200 = machinefile.load("h200").spec
TINY = machinefile.load("tiny").spec  # 2 SMs, 1 sub-core, 1000 MHz; 2 slices of 32 B, 2 channels
BOOKS = {field.name for field in fields(Books)}


def books(**changes: Any) -> Books:
    """Nothing happened in 1000 cycles on tiny, but for the changes; counters by name."""
    counters = dict.fromkeys((*NAMES, *DEVICE_NAMES), 0)
    given = {name: changes.pop(name) for name in list(changes) if name in BOOKS}
    base = Books(
        spec=TINY,
        cycles=1000,
        launch_cycles=10,
        counters={**counters, **changes},
        schedulers={"issued": 0, "stalled": 0, "empty": 2000},
        stalls=dict.fromkeys(STATES, 0),
        blocks=2,
    )
    return replace(base, **given)


def value(name: str, **changes: Any) -> float:
    return compute(books(**changes))[name]


# name -> what happened, and the metric by hand.
BY_HAND: dict[str, tuple[dict[str, Any], float]] = {
    "ipc": ({"warp_instructions": 500}, 0.5),
    "ipc_per_sm": ({"warp_instructions": 500}, 0.25),
    "lanes_per_instruction": ({"warp_instructions": 4, "thread_instructions": 70}, 17.5),
    "issue_share": ({"schedulers": {"issued": 300, "stalled": 100, "empty": 1600}}, 0.15),
    "fp32_share": ({"fp32_operations": 100}, 0.2),  # 4 cycles each, 2 schedulers
    "shared_share": (
        {"shared_load_wavefronts": 100, "shared_store_wavefronts": 60, "shared_atomic_wavefronts": 40}, 0.1,
    ),
    "l1_share": ({"lsu_busy_quarters": 2000}, 0.25),  # 500 of 2 x 1000 cycles
    "l2_share": ({"l2_accesses": 100, "l2_writes": 60, "l2_atomics": 40}, 0.1),  # 6400 of 64,000 B
    "dram_share": ({"dram_busy_ticks": 500 * TICKS_PER_CYCLE}, 0.25),
    "load_sectors_per_request": ({"global_load_sectors": 96, "global_load_requests": 8}, 12),
    "store_sectors_per_request": ({"global_store_sectors": 20, "global_store_requests": 5}, 4),
    "shared_wavefronts_per_load": ({"shared_load_wavefronts": 9, "shared_load_requests": 4}, 2.25),
    "shared_conflicts": (
        {"shared_load_conflicts": 1, "shared_store_conflicts": 20, "shared_atomic_conflicts": 300}, 321,
    ),
    "l1_hit_rate": ({"l1_accesses": 80, "l1_hits": 20, "l1_misses": 50, "l1_merges": 10}, 0.25),
    "l2_hit_rate": ({"l2_accesses": 100, "l2_hits": 30, "l2_far_hits": 10}, 0.4),
    "dram_row_hit_rate": ({"dram_row_hits": 30, "dram_row_misses": 10}, 0.75),
    "global_bytes": (
        {"global_load_sectors": 1, "global_store_sectors": 2, "global_atomic_sectors": 4}, 224,
    ),
    "l2_bytes": ({"l2_accesses": 1, "l2_writes": 2, "l2_atomics": 4}, 224),
    "dram_read_bytes": ({"dram_read_bursts": 3}, 96),
    "dram_write_bytes": ({"dram_write_bursts": 5}, 160),
    "dram_bytes_per_second": ({"dram_read_bursts": 3, "dram_write_bursts": 5}, 256 / 1e-6),
    "dram_burst_bytes": ({}, 32),
    # 600 warp-cycles in 100 cycles in which a scheduler had warps; one scheduler an SM
    "achieved_warps": (
        {"schedulers": {"issued": 40, "stalled": 60, "empty": 1900},
         "stalls": {"selected": 40, "wait": 560}}, 6,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(BY_HAND))
def test_metric_by_hand(name: str) -> None:
    happened, expected = BY_HAND[name]
    assert value(name, **happened) == pytest.approx(expected, rel=1e-12)


def test_every_metric_is_worked_out_by_hand() -> None:
    assert sorted(BY_HAND) == sorted(metric.name for metric in METRICS)


def test_every_metric_names_its_twin_or_has_none_for_a_reason() -> None:
    without = {metric.name for metric in METRICS if not metric.twin}
    assert without == {"dram_row_hit_rate", "dram_burst_bytes"}
    twins = [metric.twin for metric in METRICS if metric.twin]
    assert len(twins) == len(set(twins))
    assert {metric.unit for metric in METRICS} == {"ratio", "share", "count", "bytes", "bytes/s"}


def test_quotients_of_nothing_are_not_numbers() -> None:
    found = compute(books())
    for name in ("l1_hit_rate", "l2_hit_rate", "load_sectors_per_request", "achieved_warps"):
        assert math.isnan(found[name])
    assert found["ipc"] == 0


def test_four_schedulers_share_an_sm_on_the_h200() -> None:
    changed = {"spec": H200, "schedulers": {"issued": 132 * 400, "stalled": 0, "empty": 0}}
    assert value("issue_share", **changed) == pytest.approx(0.1)
    # One FP32 warp instruction a cycle and scheduler is the peak: 4 x 132 in each of 1000 cycles.
    assert value("fp32_share", spec=H200, fp32_operations=528_000) == 1
    # 528 warp-cycles a cycle in which all 528 schedulers have one warp: 4 warps an SM.
    busy = {"issued": 528_000, "stalled": 0, "empty": 0}
    assert value("achieved_warps", spec=H200, schedulers=busy, stalls={"selected": 528_000}) == 4


def test_peaks_are_the_six_units_with_what_was_counted() -> None:
    b = books(warp_instructions=500, fp32_operations=100, l2_accesses=100, dram_read_bursts=100)
    found = {peak.name: peak for peak in peaks(b, compute(b))}
    assert list(found) == ["issue", "FP32", "shared memory", "L1", "L2", "DRAM"]
    assert found["FP32"].share == pytest.approx(0.2)
    assert found["issue"].detail == "0.25 warp instructions a cycle and SM"
    assert found["FP32"].detail == "100 warp instructions of class fp32"
    assert found["L2"].detail == found["DRAM"].detail == "3.2 GB/s"  # 3200 bytes in a microsecond


def verdict_of(**changes: Any) -> str:
    b = books(**{"warp_instructions": 100, **changes})
    return verdict(b, peaks(b, compute(b)))


BUSY = {"issued": 100, "stalled": 1500, "empty": 400}


def test_a_unit_near_its_peak_bounds_the_kernel() -> None:
    ticks = 2 * 700 * TICKS_PER_CYCLE
    assert verdict_of(dram_busy_ticks=ticks, lsu_busy_quarters=6000) == "bound by L1: 75% of its peak"
    assert verdict_of(dram_busy_ticks=ticks) == "bound by DRAM: 70% of its peak"


def test_just_below_the_bound_is_latency() -> None:
    words = verdict_of(lsu_busy_quarters=4792, schedulers=BUSY, stalls={"barrier": 90, "selected": 10})
    assert words == (
        "latency bound: no unit is above 60% of its peak (L1 60%); warps spend 90% of their time waiting "
        "for barriers: smaller blocks or more of them on an SM overlap the waiting"
    )


def test_a_short_kernel_is_mostly_launch() -> None:
    # launch 10 and drain 5 on tiny
    assert verdict_of(cycles=29) == (
        "mostly launch: 15 of 29 cycles are spent before and after the kernel's own"
    )
    assert "mostly launch" not in verdict_of(cycles=30)


def test_fewer_blocks_than_sms_is_said() -> None:
    assert verdict_of(blocks=1) == "too few blocks: 1 for 2 SMs, 50% of the machine"
    assert verdict_of(spec=H200, blocks=64, cycles=10_000) == (
        "too few blocks: 64 for 132 SMs, 48% of the machine"
    )


def test_schedulers_without_warps_are_said() -> None:
    words = verdict_of(schedulers={"issued": 100, "stalled": 800, "empty": 1100})
    assert words.endswith("schedulers had no warp in 55% of their cycles: more or more even blocks fill them")


def test_warps_that_never_wait_are_said() -> None:
    words = verdict_of(schedulers=BUSY, stalls={"selected": 10, "not_selected": 5})
    assert words.endswith("warps seldom wait: more of them would use the issue slots")


def test_nothing_issued_is_said() -> None:
    assert verdict_of(warp_instructions=0) == "nothing has issued"


@pytest.mark.parametrize("state", [s for s in STATES if s not in ("selected", "not_selected", "misc")])
def test_every_wait_has_words_and_a_remedy(state: str) -> None:
    what, remedy = WAITS[state]
    assert verdict_of(schedulers=BUSY, stalls={state: 1}).endswith(f"waiting for {what}: {remedy}")
