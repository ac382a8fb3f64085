"""Derived metrics: formulas over counters, each with its twin in Nsight Compute, and the verdict.

Shares of peak are over all cycles of the launch (Nsight's `elapsed`), launch and drain included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .packed import TICKS_PER_CYCLE
from .spec import MachineSpec

SECTOR_BYTES = 32
BOUND = 0.6  # a unit above this share of its peak is said to bound the kernel
NONE = float("nan")


@dataclass(frozen=True)
class Books:
    """What a launch counted: counters of SMs and device by name, cycles, scheduler cycles, states."""

    spec: MachineSpec
    cycles: int
    launch_cycles: int
    counters: Mapping[str, int]
    schedulers: Mapping[str, int]
    stalls: Mapping[str, int]
    blocks: int

    def __getitem__(self, name: str) -> int:
        """A counter by name."""
        return self.counters[name]

    @property
    def sm_cycles(self) -> int:
        """Cycles times SMs."""
        return self.cycles * self.spec.device.sms

    @property
    def scheduler_cycles(self) -> int:
        """Cycles times warp schedulers."""
        return self.sm_cycles * self.spec.sm.subcores

    @property
    def seconds(self) -> float:
        """Simulated time."""
        return self.cycles / (self.spec.device.clock_mhz * 1e6)


@dataclass(frozen=True)
class Metric:
    """A formula. unit: share (0 to 1), ratio, bytes, bytes/s, or count; twin: Nsight Compute's name."""

    name: str
    unit: str
    meaning: str
    twin: str
    formula: Callable[[Books], float]


@dataclass(frozen=True)
class Peak:
    """A unit's share of its peak, 0 to 1 (NaN when it has none), and what was counted, in words."""

    name: str
    share: float
    detail: str = ""


def ratio(part: float, whole: float) -> float:
    """A quotient, NaN for nothing of nothing."""
    return part / whole if whole else NONE


def _l2_sectors(b: Books) -> int:
    return b["l2_accesses"] + b["l2_writes"] + b["l2_atomics"]


def _shared_wavefronts(b: Books) -> int:
    return b["shared_load_wavefronts"] + b["shared_store_wavefronts"] + b["shared_atomic_wavefronts"]


def _global_sectors(b: Books) -> int:
    return b["global_load_sectors"] + b["global_store_sectors"] + b["global_atomic_sectors"]


def _dram_bursts(b: Books) -> int:
    return b["dram_read_bursts"] + b["dram_write_bursts"]


def _active_scheduler_cycles(b: Books) -> int:
    return b.schedulers["issued"] + b.schedulers["stalled"]


def _achieved_warps(b: Books) -> float:
    return ratio(sum(b.stalls.values()), _active_scheduler_cycles(b)) * b.spec.sm.subcores


METRICS = (
    Metric("ipc", "ratio", "warp instructions a cycle, all SMs", "sm__inst_executed.sum.per_cycle_elapsed",
           lambda b: ratio(b["warp_instructions"], b.cycles)),
    Metric("ipc_per_sm", "ratio", "warp instructions a cycle and SM",
           "sm__inst_executed.avg.per_cycle_elapsed",
           lambda b: ratio(b["warp_instructions"], b.sm_cycles)),
    Metric("lanes_per_instruction", "ratio", "active lanes of an instruction",
           "smsp__thread_inst_executed_per_inst_executed.ratio",
           lambda b: ratio(b["thread_instructions"], b["warp_instructions"])),
    Metric("issue_share", "share", "issue slots used", "sm__inst_issued.avg.pct_of_peak_sustained_elapsed",
           lambda b: ratio(b.schedulers["issued"], b.scheduler_cycles)),
    Metric("fp32_share", "share", "time that the FP32 pipes were taken by FP32 instructions",
           "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed",
           lambda b: ratio(b["fp32_operations"] * b.spec.timing["fp32"].issue_cycles, b.scheduler_cycles)),
    Metric("shared_share", "share", "time that shared memory delivered wavefronts",
           "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
           lambda b: ratio(_shared_wavefronts(b) * b.spec.lsu.wavefront_cycles, b.sm_cycles)),
    Metric("l1_share", "share", "time that the SMs' memory pipe was taken, shared memory included",
           "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
           lambda b: ratio(b["lsu_busy_quarters"] / 4, b.sm_cycles)),
    Metric("l2_share", "share", "bytes of the L2 slices' peak",
           "lts__throughput.avg.pct_of_peak_sustained_elapsed",
           lambda b: ratio(_l2_sectors(b) * SECTOR_BYTES,
                           b.cycles * b.spec.l2.slices * b.spec.l2.slice_bytes_per_cycle)),
    Metric("dram_share", "share", "time that the DRAM data buses were taken",
           "dram__throughput.avg.pct_of_peak_sustained_elapsed",
           lambda b: ratio(b["dram_busy_ticks"], b.cycles * b.spec.dram.channels * TICKS_PER_CYCLE)),
    Metric("load_sectors_per_request", "ratio", "sectors of a global load",
           "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
           lambda b: ratio(b["global_load_sectors"], b["global_load_requests"])),
    Metric("store_sectors_per_request", "ratio", "sectors of a global store",
           "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
           lambda b: ratio(b["global_store_sectors"], b["global_store_requests"])),
    Metric("shared_wavefronts_per_load", "ratio", "wavefronts of a shared load",
           "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum / smsp__inst_executed_op_shared_ld.sum",
           lambda b: ratio(b["shared_load_wavefronts"], b["shared_load_requests"])),
    Metric("shared_conflicts", "count", "wavefronts beyond those that the accesses' widths need",
           "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared.sum",
           lambda b: b["shared_load_conflicts"] + b["shared_store_conflicts"] + b["shared_atomic_conflicts"]),
    Metric("l1_hit_rate", "share", "sectors of loads found in L1", "l1tex__t_sector_hit_rate.pct",
           lambda b: ratio(b["l1_hits"], b["l1_accesses"])),
    Metric("l2_hit_rate", "share", "sectors of loads found in either partition of L2",
           "lts__t_sector_op_read_hit_rate.pct",
           lambda b: ratio(b["l2_hits"] + b["l2_far_hits"], b["l2_accesses"])),
    Metric("dram_row_hit_rate", "share", "DRAM bursts to an open row", "",
           lambda b: ratio(b["dram_row_hits"], b["dram_row_hits"] + b["dram_row_misses"])),
    Metric("global_bytes", "bytes", "sectors of global accesses", "l1tex__t_bytes_pipe_lsu_mem_global.sum",
           lambda b: _global_sectors(b) * SECTOR_BYTES),
    Metric("l2_bytes", "bytes", "sectors that L2 read or wrote for SMs", "lts__t_bytes.sum",
           lambda b: _l2_sectors(b) * SECTOR_BYTES),
    Metric("dram_read_bytes", "bytes", "read from DRAM", "dram__bytes_read.sum",
           lambda b: b["dram_read_bursts"] * b.spec.dram.burst_bytes),
    Metric("dram_write_bytes", "bytes", "written to DRAM", "dram__bytes_write.sum",
           lambda b: b["dram_write_bursts"] * b.spec.dram.burst_bytes),
    Metric("dram_bytes_per_second", "bytes/s", "DRAM traffic over simulated time",
           "dram__bytes.sum.per_second",
           lambda b: ratio(_dram_bursts(b) * b.spec.dram.burst_bytes, b.seconds)),
    Metric("dram_burst_bytes", "bytes", "of one DRAM burst", "", lambda b: b.spec.dram.burst_bytes),
    Metric("achieved_warps", "ratio", "warps of an SM while a scheduler had any",
           "sm__warps_active.avg.per_cycle_active",
           _achieved_warps),
)  # fmt: skip


def compute(books: Books) -> dict[str, float]:
    """Every metric by name."""
    return {metric.name: metric.formula(books) for metric in METRICS}


def peaks(b: Books, values: Mapping[str, float]) -> list[Peak]:
    """Shares of peak of the units of a report, with what was counted."""
    seconds = b.seconds or NONE
    return [
        Peak("issue", values["issue_share"], f"{values['ipc_per_sm']:.3g} warp instructions a cycle and SM"),
        Peak("FP32", values["fp32_share"], f"{b['fp32_operations']:,} warp instructions of class fp32"),
        Peak("shared memory", values["shared_share"], f"{_shared_wavefronts(b):,} wavefronts"),
        Peak("L1", values["l1_share"], f"{b['lsu_busy_quarters'] / 4:,.0f} cycles of the SMs' memory pipe"),
        Peak("L2", values["l2_share"], f"{values['l2_bytes'] / seconds / 1e9:,.4g} GB/s"),
        Peak("DRAM", values["dram_share"], f"{values['dram_bytes_per_second'] / 1e9:,.4g} GB/s"),
    ]


# What a warp in this state waits for, and what helps; states in which a warp is served are left out.
WAITS = {
    "wait": ("results of fixed latency", "more independent instructions or warps hide it"),
    "no_instruction": ("instructions", "shorter code or longer loops keep the instruction caches warm"),
    "branch_resolving": ("branches", "unrolling and predicates save them"),
    "long_scoreboard": ("global memory", "more loads in flight, more warps or reuse in shared memory"),
    "short_scoreboard": ("shared memory or shuffles", "wider accesses and reuse from registers save them"),
    "math_pipe_throttle": ("a pipe that is taken", "another mix of instructions spreads the work"),
    "mio_throttle": ("the queue of shared-memory instructions", "wider accesses make fewer of them"),
    "lg_throttle": ("the queue of global-memory instructions", "wider or better coalesced accesses"),
    "dispatch_stall": ("register banks", "other registers avoid the conflicts"),
    "barrier": ("barriers", "smaller blocks or more of them on an SM overlap the waiting"),
    "membar": ("fences", "fewer of them, or in fewer threads"),
    "sleeping": ("nanosleep", "shorter sleeps"),
    "drain": ("stores after the last instruction", "earlier or better coalesced stores"),
}  # fmt: skip


def verdict(b: Books, found: list[Peak]) -> str:
    """One line: which unit bounds the kernel, or what it waits for."""
    if not b["warp_instructions"]:
        return "nothing has issued"
    known = [peak for peak in found if peak.share == peak.share]
    top = max(known, key=lambda peak: peak.share)
    if top.share >= BOUND:
        return f"bound by {top.name}: {top.share:.0%} of its peak"
    sms, overhead = b.spec.device.sms, b.launch_cycles + b.spec.device.drain_cycles
    if 2 * overhead > b.cycles:
        return (
            f"mostly launch: {overhead:,} of {b.cycles:,} cycles are spent before and after the kernel's own"
        )
    if b.blocks < sms:
        return f"too few blocks: {b.blocks} for {sms} SMs, {b.blocks / sms:.0%} of the machine"
    return f"latency bound: no unit is above {BOUND:.0%} of its peak ({top.name} {top.share:.0%}); {_wait(b)}"


def _wait(b: Books) -> str:
    """What the warps wait for most, or that there are none."""
    empty = ratio(b.schedulers["empty"], b.scheduler_cycles)
    if empty > 0.5:
        return f"schedulers had no warp in {empty:.0%} of their cycles: more or more even blocks fill them"
    waiting = {name: count for name, count in b.stalls.items() if name in WAITS and count}
    if not waiting:
        return "warps seldom wait: more of them would use the issue slots"
    state = max(waiting, key=lambda name: waiting[name])
    what, remedy = WAITS[state]
    share = waiting[state] / sum(b.stalls.values())
    return f"warps spend {share:.0%} of their time waiting for {what}: {remedy}"
