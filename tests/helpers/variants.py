"""Random machines: every policy, and every latency, interval and limit drawn from its small values."""

from __future__ import annotations

import random
from typing import Any

from tinygpu.sim.spec import TIMING_CLASSES, MachineSpec

from .bench import bench

POLICIES: dict[str, tuple[Any, ...]] = {
    "divergence.policy": ("stack", "independent"),
    "divergence.first": ("taken", "fallthrough", "fewer"),
    "divergence.yield_branches": (1, 2, 8, 64),
    "issue.scheduler": ("gto", "cggty", "lrr", "two_level"),
    "issue.two_level_active": (1, 2, 8),
    "issue.branch_stall_cycles": (1, 2, 7),
    "device.sms": (1, 2, 3),
    "device.block_start_cycles": (1, 5, 40),
    "sm.subcores": (1, 2, 4),
    "front_end.instruction_bytes": (8, 16),
    "front_end.line_bytes": (32, 128),
    "front_end.l0_lines": (1, 2, 16),
    "front_end.l1_lines": (4, 64),
    "front_end.l0_miss_cycles": (0, 1, 10),
    "front_end.l1_miss_cycles": (0, 3, 50),
    "front_end.prefetch_lines": (0, 1, 4),
    "front_end.buffer_entries": (1, 3, 16),
    "front_end.refill_cycles": (0, 2, 5),
    "register_file.banks": (1, 2, 4),
    "register_file.reads_per_cycle": (1, 2),
    "register_file.window_cycles": (1, 2, 3),
    "register_file.reuse": (True, False),
    "bypass.address_extra_cycles": (0, 1),
    "bypass.cross_pipe_extra_cycles": (0, 1),
    "bypass.guard_extra_cycles": (0, 9),
    "lsu.queue_entries": (1, 2, 4, 8),
    "lsu.entry_cycles": (1, 6),
    "lsu.dispatch_cycles": (1, 4),
    "lsu.subcore_wavefront_cycles": (1, 3),
    "lsu.wavefront_cycles": (1, 2),
    "lsu.pending": (1, 2, 5, 1024),
    "shared.load_cycles": (7, 23),
    "shared.conflict_cycles": (0, 2),
    "shared.shuffle_cycles": (7, 25),
    "shared.atomic_cycles": (7, 31),
    "l1.enabled": (True, True, False),
    "l1.ways": (1, 4),
    "l1.replacement": ("lru", "fifo", "random"),
    "l1.hit_cycles": (7, 33),
    "l1.mshrs": (32, 64),
    "l1.mshr_merges": (1, 2, 8),
    "network.request_cycles": (1, 2, 20),
    "network.response_cycles": (1, 2, 30),
    "network.outstanding": (32, 512),
    "network.response_bytes_per_cycle": (8, 64),
    "l2.partitions": (1, 2),
    "l2.near_copies": (True, False),
    "l2.mshrs": (1, 4, 32),
    "l2.write_back": (True, False),
    "l2.replacement": ("lru", "fifo", "random"),
    "dram.order": ("fr_fcfs", "fcfs"),
    "dram.queue_entries": (1, 16),
    "dram.patience_cycles": (0, 100, 2000),
    "dram.refresh_interval_ns": (0, 1000),
    "dram.refresh_ns": (100,),
    "barrier.base_cycles": (1, 13),
    "barrier.warp_cycles": (0, 2),
}


def variant(seed: int, **fixed: Any) -> MachineSpec:
    """The machine of a seed; `fixed` overrides values as `bench` takes them."""
    source = random.Random(seed)
    changes: dict[str, Any] = {path: source.choice(values) for path, values in POLICIES.items()}
    for name in TIMING_CLASSES:
        latency = source.choice((1, 2, 4, 9, 30))
        changes[f"timing.{name}.latency_cycles"] = latency
        changes[f"timing.{name}.issue_cycles"] = source.choice((1, 1, 2, 8))
        changes[f"timing.{name}.port_cycles"] = source.choice((1, 1, 2))
    return bench(changes | {path.replace("__", "."): value for path, value in fixed.items()})
