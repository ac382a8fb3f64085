"""A report's values made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tinygpu.isa.checks import CheckResult, CountResult
from tinygpu.sim.counters import DEVICE_NAMES, NAMES
from tinygpu.sim.metrics import Peak
from tinygpu.sim.result import RunResult
from tinygpu.sim.state import PROFILE, STATES

GOOD = CheckResult("C", True, 1.2e-5, 3.1e-7, None, None, None, 9, "~", 0, 65536)
BAD = CheckResult("C", False, 2.5, 0.5, (3, 4), 1.5, 4.0, 9, "~", 7, 65536)


LISTING = (
    {"file": "matmul.s", "line": 31, "source": "ld.global.f32 a, [pa]"},
    {"file": "matmul.s", "line": 40, "source": "fma.f32 acc, x, y, acc"},
)


def counters(**values: int) -> dict[str, int]:
    """Every counter, zero unless given."""
    return dict.fromkeys((*NAMES, *DEVICE_NAMES), 0) | values


def demo_profile() -> np.ndarray[Any, Any]:
    """40 warp-cycles stalled at the load, 30 at the multiply-add, for the result below."""
    profile = np.zeros(2, PROFILE)
    profile["issued"] = [100, 1600]
    profile["stall"][0, STATES.index("long_scoreboard")] = 40
    profile["stall"][1, STATES.index("short_scoreboard")] = 30
    return profile


def demo_result(**changes: Any) -> RunResult:
    """A tiled matrix product as it could be; keywords replace its values."""
    result = RunResult(
        program="matmul", file="matmul.s", machine="h200", grid=(16, 16, 1), block=(16, 16, 1), seed=0,
        cycles=20000, launch_cycles=2000, clock_mhz=2000.0, wall_seconds=2.0, sms=132,
        counters=counters(
            warp_instructions=1_000_000, thread_instructions=32_000_000,
            global_load_requests=1000, global_load_sectors=4000,
            global_store_requests=250, global_store_sectors=1000,
            l1_accesses=4000, l1_hits=1000, l1_misses=2000, l1_merges=1000, l2_requests=750,
            l2_read_sectors=2000, l2_write_sectors=1000, l2_accesses=2000,
            l2_hits=1000, l2_far_hits=200, l2_misses=800, l2_writes=1000, dram_read_bursts=800,
            dram_row_hits=600, dram_row_misses=200, shared_load_requests=64000, shared_load_wavefronts=96000,
            shared_load_conflicts=32000, shared_store_requests=2000, shared_store_wavefronts=2000,
        ),
        stalls={"selected": 10, "long_scoreboard": 60, "short_scoreboard": 20, "wait": 10, "barrier": 0},
        schedulers={"issued": 10, "stalled": 30, "empty": 60},
        peaks=[
            Peak("issue", 0.412, "0.41 warp instructions a scheduler and cycle"),
            Peak("FP32", 0.25, ""), Peak("DRAM", 0.015, ""),
        ],
        verdict="latency bound: no unit is above 60 % of its peak; warps wait for global memory",
        occupancy={"warps": 16, "max_warps": 64, "blocks": 2, "limiter": "blocks of the grid",
                   "next_step": "more blocks: the grid has 1.94 an SM"},
        profile=demo_profile(), listing=LISTING, digest="", metrics={"dram_burst_bytes": 32},
        correct=True, checks=[GOOD], counts=[CountResult("sectors_per_request", 3, True, 4.0, 4.0, 12)],
    )  # fmt: skip
    return replace(result, **changes)
