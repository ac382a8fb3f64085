"""The bench machine: a small GPU with round, distinct numbers, so that cycles can be counted by hand."""

from __future__ import annotations

from typing import Any

from tinygpu.sim.spec import TIMING_CLASSES, MachineSpec

# class: (pipe, latency, cycles of the pipe, cycles of the issue port)
TIMING: dict[str, tuple[str, int, int, int]] = {
    "fp32": ("fma", 4, 1, 1), "int32": ("int", 5, 2, 1), "imad": ("fma", 6, 2, 1),
    "imad_wide": ("fma", 7, 3, 2), "int64": ("int", 8, 4, 2), "half": ("half", 9, 1, 1),
    "fp64": ("fp64", 11, 3, 1), "sfu": ("sfu", 19, 8, 1), "convert": ("sfu", 13, 6, 1),
    "popc": ("sfu", 17, 7, 1), "compare": ("int", 10, 2, 1),
    "special": ("control", 21, 4, 1), "shuffle": ("control", 24, 1, 1), "vote": ("int", 6, 2, 1),
    "match": ("control", 22, 8, 1), "redux": ("control", 16, 5, 1), "branch": ("control", 4, 1, 1),
    "barrier": ("control", 4, 1, 1), "warp_barrier": ("control", 12, 1, 1), "fence": ("control", 14, 1, 1),
    "sleep": ("control", 4, 1, 1), "memory": ("control", 4, 1, 1), "control": ("control", 4, 1, 1),
}  # fmt: skip

# At 1000 MHz a nanosecond is a cycle. A line of the instruction cache holds 128 instructions, and the
# register file never makes anybody wait, unless a test asks for it.
SECTIONS: dict[str, dict[str, Any]] = {
    "device": {
        "sms": 2, "clock_mhz": 1000, "launch_cycles": 100, "drain_cycles": 50, "block_start_cycles": 40,
        "block_dispatch_cycles": 3,
    },
    "sm": {
        "subcores": 4, "warps": 64, "threads": 2048, "blocks": 32, "block_threads": 1024, "registers": 65536,
        "thread_registers": 255, "register_unit": 256, "warp_unit": 4, "shared_bytes": 102400,
        "block_shared_bytes": 101376, "reserved_shared_bytes": 1024, "unified_bytes": 131072,
        "carveout_bytes": (0, 8192, 16384, 32768, 65536, 102400),
    },
    "front_end": {
        "instruction_bytes": 4, "line_bytes": 512, "buffer_entries": 3, "l0_lines": 64, "l1_lines": 1024,
        "l0_miss_cycles": 10, "l1_miss_cycles": 30, "l1_line_interval_cycles": 1, "prefetch_lines": 4,
        "refill_cycles": 2,
    },
    "issue": {
        "scheduler": "gto", "two_level_active": 4, "branch_stall_cycles": 7,
    },
    "register_file": {"banks": 8, "reads_per_cycle": 4, "window_cycles": 8, "reuse": False},
    "bypass": {"address_extra_cycles": 1, "cross_pipe_extra_cycles": 2, "guard_extra_cycles": 9},
    "lsu": {
        "queue_entries": 4, "entry_cycles": 6, "dispatch_cycles": 4, "instruction_cycles": 1,
        "wavefront_cycles": 1, "subcore_wavefront_cycles": 1, "pending": 1024,
    },
    "shared": {
        "load_cycles": 23, "word_cycles": 3, "conflict_cycles": 2, "atomic_cycles": 31, "shuffle_cycles": 25,
    },
    "l1": {
        "enabled": True, "bytes": 0, "ways": 4, "replacement": "lru", "hit_cycles": 33, "word_cycles": 2,
        "mshrs": 64, "mshr_merges": 8, "tag_base_quarters": 4, "tag_line_quarters": 1, "constant_cycles": 27,
    },
    "network": {
        "request_cycles": 20, "response_cycles": 30, "request_packet_cycles": 1, "request_sector_cycles": 1,
        "response_bytes_per_cycle": 64, "outstanding": 512, "acknowledge_bytes": 8, "far_cycles": 100,
    },
    "l2": {
        "slices": 4, "partitions": 1, "near_copies": True, "bytes": 262144, "ways": 8, "replacement": "lru",
        "hit_cycles": 50, "slice_bytes_per_cycle": 64, "mshrs": 32, "atomic_lane_cycles": 2,
        "atomic_sector_cycles": 1, "write_back": True,
    },
    "dram": {
        "channels": 4, "banks": 4, "row_bytes": 1024, "interleave_bytes": 256, "burst_bytes": 32,
        "gigabytes_per_second": 128, "queue_entries": 16, "order": "fr_fcfs", "patience_cycles": 2000,
        "path_ns": 100, "activate_ns": 14, "precharge_ns": 16, "column_ns": 12, "turnaround_ns": 5,
        "refresh_interval_ns": 0, "refresh_ns": 0, "bytes": 1 << 30,
    },
    "barrier": {"base_cycles": 13, "warp_cycles": 2},
    "divergence": {"policy": "independent", "first": "fallthrough", "yield_branches": 8},
    "host": {"copy_gigabytes_per_second": 50, "copy_latency_us": 8, "launch_latency_us": 4},
}  # fmt: skip


def bench(changes: dict[str, Any] | None = None, **more: Any) -> MachineSpec:
    """The bench machine with changes by key path, such as {"l1.hit_cycles": 34}.

    A keyword stands for a path too: `timing__fp32__latency_cycles=5`.
    """
    sections: dict[str, Any] = {name: dict(values) for name, values in SECTIONS.items()}
    sections["timing"] = {
        name: dict(zip(("pipe", "latency_cycles", "issue_cycles", "port_cycles"), TIMING[name], strict=True))
        for name in TIMING_CLASSES
    }
    for path, value in {**(changes or {}), **{k.replace("__", "."): v for k, v in more.items()}}.items():
        *folders, leaf = path.split(".")
        place = sections
        for folder in folders:
            place = place[folder]
        assert leaf in place, f"the bench machine has no {path}"
        place[leaf] = value
    return MachineSpec(name="bench", title="a small machine with numbers for hand counts", **sections)


def value_of(spec: MachineSpec, path: str) -> Any:
    """The value at a key path of a machine."""
    found: Any = spec
    for part in path.split("."):
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    return found
