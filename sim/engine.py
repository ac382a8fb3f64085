"""A launch on a simulated device: from a program with its arguments to counters, cycles and outputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..isa.program import Program
from . import counters, diagnose
from .allocator import Allocation, allocation_table
from .decode import CodeImage, decode
from .jit import address_of
from .machine_state import MachineState
from .occupancy import Occupancy, occupancy
from .spec import MachineSpec
from .state import NEVER
from .tracefile import TraceData, describe
from .units import device as device_unit
from .units import dispatcher

Progress = Callable[[int, float], None]  # simulated cycles so far, wall seconds so far
BURST_CYCLES = 20_000  # between two looks at the clock, at other processes and for Ctrl-C
WATCHDOG_POLLS = 4096  # of every warp, without any change of memory: a deadlock
TRACE_EVENTS = 4_000_000  # events kept at most unless asked otherwise


@dataclass(frozen=True)
class TraceOptions:
    """What to trace: the first `sms` SMs, cycles window[0] to window[1], `events` stretches at most."""

    sms: int = 4
    window: tuple[int, int] = (0, NEVER)
    events: int = TRACE_EVENTS


@dataclass
class RawRun:
    """What a launch did, as plain numbers; result.py makes a result for people of it."""

    cycles: int
    launch_cycles: int
    counters: dict[str, int]
    device_counters: dict[str, int]
    profile: NDArray[Any]
    schedulers: dict[str, int]
    occupancy: Occupancy
    blocks: int
    threads: int
    outputs: dict[str, NDArray[Any]] = field(default_factory=dict)
    trace: TraceData | None = None
    wall_seconds: float = 0.0
    interrupted: bool = False
    warnings: list[str] = field(default_factory=list)


class Launch:
    """One kernel launch on a machine's state; `advance` moves it on, `finish` reads the books."""

    def __init__(
        self,
        state: MachineState,
        program: Program,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        parameters: bytes,
        allocations: Mapping[str, Allocation],
        trace: TraceOptions | None = None,
        image: CodeImage | None = None,
    ) -> None:
        """Check that the launch fits, fill the device's records, start the first blocks."""
        self.state, self.program, self.spec = state, program, state.spec
        self.image = image or decode(program, state.spec)
        threads = block[0] * block[1] * block[2]
        self.occupancy = occupancy(state.spec, threads, program.registers, program.shared_bytes)
        self.grid, self.block, self.trace_options = grid, block, trace
        state.prepare(len(program.instructions), self.occupancy.carveout_bytes, program.local_bytes)
        self._table = allocation_table(allocations)
        state.allocation_names = [(a.name, a.address, a.data.nbytes) for a in allocations.values()]
        self._rows = self.image.constant_rows(parameters)
        self._parameters = np.frombuffer(parameters.ljust(8, b"\0"), dtype=np.uint8).copy()
        self._fill_device(len(parameters), threads)
        options = trace or TraceOptions(events=0)
        state.trace(options.events, min(options.sms, state.spec.device.sms), options.window)
        self.wall_seconds = 0.0
        self._watch_at = 0
        row = state.device[0]
        dispatcher.fill(row, state.packed[0], int(row.started) + state.spec.device.launch_cycles)

    def _fill_device(self, parameter_bytes: int, threads: int) -> None:
        row, spec, program = self.state.device[0], self.spec, self.program
        row.code, row.code_count = address_of(self.image.code), len(self.image.code)
        row.constants = address_of(self._rows)
        row.parameters, row.parameter_bytes = address_of(self._parameters), parameter_bytes
        row.allocations, row.allocation_count = address_of(self._table), len(self._table)
        row.grid_x, row.grid_y, row.grid_z = self.grid
        row.block_x, row.block_y, row.block_z = self.block
        row.blocks = self.grid[0] * self.grid[1] * self.grid[2]
        row.block_threads, row.block_warps = threads, -(-threads // 32)
        row.sm_block_limit = self.occupancy.blocks
        row.registers = program.registers
        row.rows_per_warp = -(-program.registers * 32 // spec.sm.register_unit) * spec.sm.register_unit // 32
        row.block_shared = -(-(program.shared_bytes + spec.sm.reserved_shared_bytes) // 128) * 128
        row.block_shared_bytes = program.shared_bytes
        row.local_bytes = program.local_bytes
        network = spec.network
        row.window = min(network.request_cycles, network.response_cycles, spec.device.block_start_cycles)
        row.communicates = int(self.image.communicates)

    @property
    def elapsed(self) -> int:
        """Cycles since the launch."""
        row = self.state.device[0]
        return int(row.now) - int(row.started)

    def advance(self, until: int = NEVER) -> bool:
        """Simulate up to cycle `until` of the launch; True when it has ended. Raises faults, deadlocks."""
        row = self.state.device[0]
        begin = time.perf_counter()
        target = min(int(row.started) + until, NEVER - 1)
        why = device_unit.run(row, self.state.packed[0], target)
        self.wall_seconds += time.perf_counter() - begin
        if why == device_unit.FAULT:
            raise diagnose.fault(self.state, self.program, self.block)
        if why == device_unit.STUCK:
            raise diagnose.deadlock(self.state, self.program, self.block)
        if why == device_unit.PAUSED and self.elapsed >= self._watch_at:
            self._watch_at = self.elapsed + BURST_CYCLES
            if diagnose.spinning(self.state, WATCHDOG_POLLS):
                raise diagnose.deadlock(self.state, self.program, self.block, polling=True)
        return bool(why == device_unit.FINISHED)

    def finish(self, interrupted: bool = False) -> RawRun:
        """Read counters, profile and trace; the clock moves to the launch's end."""
        state, spec, row = self.state, self.spec, self.state.device[0]
        sms = state.sms
        ended = max(int(sms["drained"].max()), int(row.now) if interrupted else 0)
        cycles = ended - int(row.started) + spec.device.drain_cycles
        row.now = max(int(row.now), int(row.started) + cycles)
        if not interrupted:
            state.memory.check_idle()
        totals = sms["counters"].sum(axis=0)
        count = len(self.program.instructions)
        return RawRun(
            cycles=cycles,
            launch_cycles=spec.device.launch_cycles,
            counters={name: int(totals[i]) for i, name in enumerate(counters.NAMES)},
            device_counters={n: int(row.counters[i]) for i, n in enumerate(counters.DEVICE_NAMES)},
            profile=_sum_profile(state.profile.reshape(spec.device.sms, count)),
            schedulers=self._schedulers(cycles),
            occupancy=self.occupancy,
            blocks=int(row.done_blocks),
            threads=int(row.blocks * row.block_threads),
            trace=self._trace(cycles),
            wall_seconds=self.wall_seconds,
            interrupted=interrupted,
            warnings=diagnose.warnings(state, self.program),
        )

    def _schedulers(self, cycles: int) -> dict[str, int]:
        subcores = self.state.sms["subcores"][:, : self.spec.sm.subcores]
        issued, occupied = int(subcores["issued"].sum()), int(subcores["occupied"].sum())
        total = cycles * self.spec.device.sms * self.spec.sm.subcores
        return {"issued": issued, "stalled": occupied - issued, "empty": total - occupied}

    def _trace(self, cycles: int) -> TraceData | None:
        if self.trace_options is None:
            return None
        row, spec = self.state.device[0], self.spec
        return TraceData(
            events=self.state.events[: int(row.event_count)].copy(),
            memory=self.state.memory_events[: int(row.memory_event_count)].copy(),
            meta=describe(
                self.program, spec, grid=self.grid, block=self.block, cycles=cycles, dropped=int(row.dropped)
            ),
        )


def _sum_profile(profile: NDArray[Any]) -> NDArray[Any]:
    """Sum over SMs, one record an instruction."""
    total = np.zeros(profile.shape[1], dtype=profile.dtype)
    for name in profile.dtype.names or ():
        total[name] = profile[name].sum(axis=0)
    return total


def simulate(
    program: Program,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    arguments: Mapping[str, Any],
    spec: MachineSpec,
    *,
    trace: TraceOptions | None = None,
    progress: Progress | None = None,
    limit_cycles: int | None = None,
) -> RawRun:
    """Run one launch on a fresh device; array arguments are changed in place. Raises TinygpuError."""
    from .host import Host

    host = Host(spec)
    return host.run(
        program, grid, block, arguments, trace=trace, progress=progress, limit_cycles=limit_cycles
    )
