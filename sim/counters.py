"""Every counter of an SM: its number in the core, its name, what it counts.

A counter that is listed here has a test that makes it non-zero and one that proves its exact
value (law 4). Formulas over counters are in metrics.py.
"""

from __future__ import annotations

# name -> meaning. The order gives the numbers used in the compiled core.
MEANINGS: dict[str, str] = {
    "warp_instructions": "warp instructions issued",
    "thread_instructions": "active lanes, summed over issued instructions",
    "thread_instructions_on": "of these, lanes whose guard held",
    "blocks": "blocks finished",
    "branches": "branch instructions issued",
    "divergent_branches": "branches whose lanes went two ways",
    "fp32_operations": "warp instructions of class fp32",
    "barriers": "barrier generations completed",
    "shared_load_requests": "shared load instructions dispatched",
    "shared_store_requests": "shared store instructions dispatched",
    "shared_atomic_requests": "shared atomic instructions dispatched",
    "shared_load_wavefronts": "wavefronts of shared loads",
    "shared_store_wavefronts": "wavefronts of shared stores",
    "shared_atomic_wavefronts": "wavefronts of shared atomics",
    "shared_load_conflicts": "wavefronts beyond the phases of shared loads",
    "shared_store_conflicts": "wavefronts beyond the phases of shared stores",
    "shared_atomic_conflicts": "wavefronts beyond the phases of shared atomics",
    "global_load_requests": "global load instructions dispatched",
    "global_store_requests": "global store instructions dispatched",
    "global_atomic_requests": "global atomic and reduction instructions dispatched",
    "global_load_sectors": "distinct 32-byte sectors of global loads",
    "global_store_sectors": "distinct 32-byte sectors of global stores",
    "global_atomic_sectors": "distinct 32-byte sectors of global atomics",
    "local_load_requests": "local load instructions dispatched",
    "local_store_requests": "local store instructions dispatched",
    "local_sectors": "sectors of local loads and stores",
    "constant_requests": "constant and parameter load instructions dispatched",
    "lsu_busy_quarters": "quarter-cycles that the SM-wide memory pipe was taken",
    "l1_accesses": "sectors looked up in L1 by loads",
    "l1_hits": "of these, found",
    "l1_misses": "of these, requested from L2",
    "l1_merges": "of these, already on the way",
    "l2_requests": "request packets sent to L2 (one for each distinct line)",
    "l2_read_sectors": "sectors requested from L2 by loads",
    "l2_write_sectors": "sectors written to L2",
    "l2_atomic_sectors": "sectors of atomics sent to L2",
    "l2_responses": "response packets received",
    "instruction_l0_misses": "instruction lines not in the sub-core's L0",
    "instruction_l1_misses": "instruction lines not in the SM's L1 instruction cache",
}

NAMES: tuple[str, ...] = tuple(MEANINGS)
COUNT = len(NAMES)

# Numbers by name for the compiled core: WARP_INSTRUCTIONS = 0, ...
globals().update({name.upper(): number for number, name in enumerate(NAMES)})

# The memory side counts for the whole device.
DEVICE_MEANINGS: dict[str, str] = {
    "l2_accesses": "sectors looked up in L2 by loads",
    "l2_hits": "of these, found in the SM's partition",
    "l2_far_hits": "of these, found in the home partition",
    "l2_misses": "of these, requested from DRAM",
    "l2_merges": "of these, already on the way from DRAM",
    "l2_writes": "sectors written by stores",
    "l2_atomics": "sectors of atomics performed",
    "l2_write_backs": "dirty sectors written to DRAM",
    "dram_read_bursts": "bursts read",
    "dram_write_bursts": "bursts written",
    "dram_row_hits": "bursts to an open row",
    "dram_row_misses": "bursts that had to open a row",
    "dram_busy_ticks": "ticks of all data buses taken by bursts",
}
DEVICE_NAMES: tuple[str, ...] = tuple(DEVICE_MEANINGS)
DEVICE_COUNT = len(DEVICE_NAMES)
globals().update({"DEV_" + name.upper(): number for number, name in enumerate(DEVICE_NAMES)})


def __getattr__(name: str) -> int:
    """Tell type checkers that the numbers above are attributes of this module."""
    raise AttributeError(f"no counter {name!r}")
