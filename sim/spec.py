"""What a machine is: a frozen, validated specification, every field with unit, range and meaning.

A machine file (TOML) fills it, `machinefile.py` loads and checks it, `packed.py` turns it into the
record that the compiled core reads. There are no cycle counts anywhere else.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

# The most that the state arrays can hold; they are sizes of records, not properties of a machine.
MAX_WARPS = 64
MAX_BLOCKS = 32
MAX_SUBCORES = 4
MAX_PIPES = 12

# Pipes that a timing class may name; the place in the tuple is the pipe's number in the core.
PIPES = ("fma", "int", "half", "fp64", "sfu", "control", "uniform", "tensor")

# Timing classes that instructions name; the place in the tuple is the class's number.
TIMING_CLASSES = (
    "fp32", "int32", "imad", "imad_wide", "int64", "half", "fp64", "sfu", "convert", "popc",
    "compare", "special", "shuffle", "vote", "match", "redux", "branch", "barrier",
    "warp_barrier", "fence", "sleep", "memory", "control",
)  # fmt: skip


class Section(BaseModel):
    """A part of a machine file: immutable, and unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


class Device(Section):
    """The whole chip."""

    sms: int = Field(ge=1, le=1024, description="streaming multiprocessors")
    clock_mhz: float = Field(gt=0, le=10000, description="SM clock under load")
    launch_cycles: int = Field(ge=0, le=100000, description="from a launch at the device to its first block")
    drain_cycles: int = Field(ge=0, le=100000, description="from the last warp's exit to completion")
    block_start_cycles: int = Field(
        ge=1, le=100000, description="from a block's end to the first issue of its successor"
    )
    block_dispatch_cycles: int = Field(ge=1, le=1000, description="between two blocks started on one SM")


class Sm(Section):
    """Limits of one SM; occupancy follows from them."""

    subcores: int = Field(ge=1, le=MAX_SUBCORES, description="sub-cores, each with a warp scheduler")
    warps: int = Field(ge=1, le=MAX_WARPS, description="resident warps")
    threads: int = Field(ge=32, le=2048, description="resident threads")
    blocks: int = Field(ge=1, le=MAX_BLOCKS, description="resident blocks")
    block_threads: int = Field(ge=32, le=1024, description="threads of one block at most")
    registers: int = Field(ge=1024, le=65536, description="32-bit registers")
    thread_registers: int = Field(ge=16, le=255, description="registers a thread at most")
    register_unit: int = Field(ge=1, le=2048, description="registers a warp are handed out in these units")
    warp_unit: int = Field(ge=1, le=8, description="a block's warps are rounded up to this for registers")
    shared_bytes: int = Field(ge=1024, le=262144, description="shared memory an SM at the largest carve-out")
    block_shared_bytes: int = Field(ge=1024, le=262144, description="shared memory of one block at most")
    reserved_shared_bytes: int = Field(ge=0, le=4096, description="shared memory reserved for each block")
    unified_bytes: int = Field(
        ge=0, le=524288, description="L1 and shared memory together; 0: they are apart"
    )
    carveout_bytes: tuple[int, ...] = Field(description="shared-memory carve-outs to choose from")


class FrontEnd(Section):
    """Instruction supply: buffers, L0 and L1 instruction caches, prefetch."""

    instruction_bytes: int = Field(ge=4, le=32, description="size of an encoded instruction")
    line_bytes: int = Field(ge=16, le=512, description="instruction cache line")
    buffer_entries: int = Field(ge=1, le=16, description="instruction buffer of a warp")
    l0_lines: int = Field(ge=1, le=256, description="lines of a sub-core's L0 instruction cache")
    l1_lines: int = Field(ge=1, le=4096, description="lines of the SM's L1 instruction cache")
    l0_miss_cycles: int = Field(ge=0, le=500, description="a line from the L1 instruction cache to the L0")
    l1_miss_cycles: int = Field(ge=0, le=5000, description="a line from L2 to the L1 instruction cache")
    l1_line_interval_cycles: int = Field(
        ge=1, le=64, description="L1 to L0: cycles between two lines of an SM"
    )
    prefetch_lines: int = Field(ge=0, le=32, description="lines fetched ahead of a sub-core's miss")
    refill_cycles: int = Field(
        ge=0, le=50, description="from asking for an instruction that is in L0 to its place in the buffer"
    )


class Issue(Section):
    """Warp schedulers and the rules of issue."""

    scheduler: Literal["gto", "cggty", "lrr", "two_level"] = Field(description="warp scheduling policy")
    two_level_active: int = Field(
        ge=1, le=MAX_WARPS, description="two_level: warps of the active set a sub-core"
    )
    branch_stall_cycles: int = Field(ge=1, le=50, description="a branch bars its warp this long")


class RegisterFile(Section):
    """Banks of a sub-core's register file."""

    banks: int = Field(ge=1, le=8, description="register banks a sub-core; bank = register mod banks")
    reads_per_cycle: int = Field(ge=1, le=4, description="operands a bank delivers a cycle")
    window_cycles: int = Field(ge=1, le=8, description="cycles that an instruction has to read its operands")
    reuse: bool = Field(description="a reuse slot for each bank and operand position")


class TimingClass(Section):
    """Cycles of one class of instructions."""

    pipe: Literal["fma", "int", "half", "fp64", "sfu", "control", "uniform", "tensor"] = Field(
        description="pipe that executes it"
    )
    latency_cycles: int = Field(
        ge=1, le=1000, description="issue to the earliest issue of a dependent instruction"
    )
    issue_cycles: int = Field(ge=1, le=64, description="cycles that the pipe is taken by one warp")
    port_cycles: int = Field(ge=1, le=16, description="cycles that the sub-core's issue port is taken")


class Bypass(Section):
    """Extra cycles of a result on its way to certain consumers."""

    address_extra_cycles: int = Field(
        ge=0, le=20, description="ALU result to a memory, shuffle or barrier operand"
    )
    cross_pipe_extra_cycles: int = Field(ge=0, le=20, description="FMA pipe to integer pipe or back")
    guard_extra_cycles: int = Field(
        ge=0, le=40, description="predicate to the guard of a branch, memory op, exit or vote"
    )


class Lsu(Section):
    """The memory path of an SM from issue to the L1 and shared-memory data stage."""

    queue_entries: int = Field(ge=1, le=8, description="memory instructions a sub-core holds before dispatch")
    entry_cycles: int = Field(
        ge=1, le=64, description="issue to dispatch at the earliest; operands are read by then"
    )
    dispatch_cycles: int = Field(ge=1, le=64, description="a sub-core hands over one memory instruction each")
    instruction_cycles: int = Field(
        ge=1, le=64, description="SM-wide pipe: cycles at least a warp instruction"
    )
    wavefront_cycles: int = Field(ge=1, le=64, description="SM-wide pipe: cycles a wavefront")
    subcore_wavefront_cycles: int = Field(
        ge=1, le=64, description="a sub-core hands over nothing more for this long after each wavefront"
    )
    pending: int = Field(ge=1, le=2048, description="memory instructions an SM can have outstanding")


class Shared(Section):
    """Shared memory."""

    load_cycles: int = Field(ge=1, le=500, description="32-bit load to use, no conflict")
    word_cycles: int = Field(ge=0, le=50, description="more for each further 32-bit word a lane")
    conflict_cycles: int = Field(ge=0, le=50, description="more for each further wavefront of a conflict")
    atomic_cycles: int = Field(ge=1, le=500, description="atomic with result to use, one lane a bank")
    shuffle_cycles: int = Field(ge=1, le=500, description="shuffle to use")


class L1(Section):
    """The first-level data cache."""

    enabled: bool = Field(description="global loads may hit here")
    bytes: int = Field(
        ge=0, le=524288, description="size where it is apart from shared memory (unified_bytes 0)"
    )
    ways: int = Field(ge=1, le=64, description="associativity")
    replacement: Literal["lru", "fifo", "random"] = Field(description="replacement policy")
    hit_cycles: int = Field(ge=1, le=500, description="32-bit load hit to use")
    word_cycles: int = Field(ge=0, le=50, description="more for each further 32-bit word a lane")
    mshrs: int = Field(ge=32, le=1024, description="lines in flight; one instruction may need 32")
    mshr_merges: int = Field(ge=1, le=1024, description="requests that may wait on one line")
    tag_base_quarters: int = Field(ge=0, le=64, description="tag stage: quarter-cycles an instruction")
    tag_line_quarters: int = Field(ge=0, le=64, description="tag stage: quarter-cycles a distinct line")
    constant_cycles: int = Field(ge=1, le=500, description="constant or parameter load to use")


class Network(Section):
    """Between SMs and L2."""

    request_cycles: int = Field(ge=1, le=1000, description="SM to L2 slice, one way")
    response_cycles: int = Field(ge=1, le=1000, description="L2 slice to SM, one way")
    request_packet_cycles: int = Field(ge=1, le=64, description="cycles of an SM's port a request line")
    request_sector_cycles: int = Field(ge=0, le=64, description="more for each sector of store data")
    response_bytes_per_cycle: int = Field(ge=1, le=1024, description="what an SM takes in a cycle")
    outstanding: int = Field(ge=32, le=4096, description="requests of an SM that L2 has yet to answer")
    acknowledge_bytes: int = Field(
        ge=0, le=128, description="what the answer to a store takes of the response port"
    )
    far_cycles: int = Field(
        ge=0, le=2000, description="more for a line whose home is another partition, there and back"
    )


class L2(Section):
    """The second-level cache: slices in partitions."""

    slices: int = Field(ge=1, le=512, description="slices in all")
    partitions: int = Field(ge=1, le=8, description="partitions; an SM belongs to one")
    near_copies: bool = Field(description="a partition keeps copies of far lines")
    bytes: int = Field(ge=1024, le=268435456, description="capacity in all")
    ways: int = Field(ge=1, le=64, description="associativity")
    replacement: Literal["lru", "fifo", "random"] = Field(description="replacement policy")
    hit_cycles: int = Field(ge=1, le=2000, description="from arrival at a slice to departure, hit")
    slice_bytes_per_cycle: int = Field(ge=1, le=1024, description="data a slice delivers a cycle")
    mshrs: int = Field(ge=1, le=4096, description="lines in flight a slice")
    atomic_lane_cycles: int = Field(
        ge=1, le=64, description="atomic unit of a slice: cycles a lane on one address"
    )
    atomic_sector_cycles: int = Field(
        ge=1, le=64, description="atomic unit of a slice: cycles a sector at least"
    )
    write_back: bool = Field(description="dirty lines go to DRAM when replaced, else stores go there at once")

    @model_validator(mode="after")
    def _slices_divide(self) -> L2:
        if self.slices % self.partitions:
            raise ValueError(f"slices ({self.slices}) must be a multiple of partitions ({self.partitions})")
        if self.bytes < self.slices * self.ways * 128:
            raise ValueError(
                f"bytes ({self.bytes}) must hold a set of {self.ways} 128-byte lines in each slice"
            )
        return self


class Dram(Section):
    """DRAM channels with banks, row buffers and a scheduling queue."""

    channels: int = Field(ge=1, le=1024, description="independent channels (pseudo-channels of HBM)")
    banks: int = Field(ge=1, le=128, description="banks a channel")
    row_bytes: int = Field(ge=64, le=16384, description="row buffer of a bank")
    burst_bytes: int = Field(ge=16, le=128, description="bytes of one burst")
    gigabytes_per_second: float = Field(gt=0, le=100000, description="peak bandwidth, all channels")
    interleave_bytes: int = Field(
        ge=128, le=16384, description="neighbouring bytes that share a channel and a row"
    )
    queue_entries: int = Field(ge=1, le=512, description="requests (lines) that a channel's scheduler sees")
    order: Literal["fr_fcfs", "fcfs"] = Field(description="scheduling policy")
    patience_cycles: int = Field(
        ge=0, le=1000000, description="fr_fcfs: a request that waited longer goes first"
    )
    path_ns: float = Field(ge=0, le=1000, description="controller and wires, there and back")
    activate_ns: float = Field(ge=0, le=200, description="tRCD: row activate to column command")
    precharge_ns: float = Field(ge=0, le=200, description="tRP: precharge to activate")
    column_ns: float = Field(ge=0, le=200, description="tCL: column command to data")
    turnaround_ns: float = Field(ge=0, le=200, description="read to write or back on the bus")
    refresh_interval_ns: float = Field(ge=0, le=100000, description="tREFI; 0: no refresh")
    refresh_ns: float = Field(ge=0, le=10000, description="tRFC: a channel stands still this long")
    bytes: int = Field(ge=1048576, le=1099511627776, description="device memory")

    @model_validator(mode="after")
    def _rows_divide(self) -> Dram:
        if self.row_bytes % self.interleave_bytes:
            raise ValueError(
                f"row_bytes ({self.row_bytes}) must be a multiple of interleave_bytes ({self.interleave_bytes})"
            )
        return self


class Barrier(Section):
    """bar.sync."""

    base_cycles: int = Field(ge=1, le=500, description="last arrival to release")
    warp_cycles: int = Field(ge=0, le=50, description="more for each arriving warp, one after another")


class Divergence(Section):
    """What a warp does when its lanes part."""

    policy: Literal["stack", "independent"] = Field(
        description="stack: one path to its end, then the other; independent: paths take turns"
    )
    first: Literal["taken", "fallthrough", "fewer"] = Field(
        description="which side of a branch runs first; fewer: that of fewer lanes, else the fall-through"
    )
    yield_branches: int = Field(
        ge=1, le=65536, description="independent: backward branches of one path before the others get a turn"
    )


class Host(Section):
    """The host's side: copies and launch calls."""

    copy_gigabytes_per_second: float = Field(gt=0, le=10000, description="host-device link, each way")
    copy_latency_us: float = Field(ge=0, le=10000, description="start of a copy")
    launch_latency_us: float = Field(ge=0, le=10000, description="launch call to the device")


class MachineSpec(Section):
    """A machine. `timing` has one entry for each of TIMING_CLASSES."""

    name: str
    title: str = Field(description="one line for people")
    device: Device
    sm: Sm
    front_end: FrontEnd
    issue: Issue
    register_file: RegisterFile
    timing: dict[str, TimingClass]
    bypass: Bypass
    lsu: Lsu
    shared: Shared
    l1: L1
    network: Network
    l2: L2
    dram: Dram
    barrier: Barrier
    divergence: Divergence
    host: Host
