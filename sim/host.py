"""The host's side of a device: allocations, copies and launches as SimPy processes on one clock.

SimPy owns the time of the whole system, in nanoseconds. A launch is one process that lets the
compiled core run ahead up to the next event of anybody else, so the host layer costs nothing per
cycle. There is one stream today: operations start in the order in which they were given.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
import simpy
from numpy.typing import NDArray

from ..isa.errors import LaunchError, LimitError
from ..isa.program import Program
from . import diagnose
from .allocator import Allocation, Allocator, parameter_bytes
from .engine import BURST_CYCLES, Launch, Progress, RawRun, TraceOptions
from .machine_state import MachineState
from .spec import MachineSpec

FIRST_BURST = 500  # cycles
BURST_SECONDS = 0.2  # of wall time that a burst should last at most

Process = Generator[simpy.Event, Any, Any]


class Stream:
    """A queue of operations on the device that happen one after another."""

    def __init__(self, environment: simpy.Environment) -> None:
        """A stream on the clock of `environment`, with nothing to do."""
        self._environment = environment
        self._last: simpy.Event | None = None

    def add(self, operation: Process) -> simpy.Process:
        """Let an operation happen after all that were added before it."""
        before = self._last

        def in_order() -> Process:
            if before is not None and not before.processed:
                yield before
            return (yield self._environment.process(operation))

        process = self._environment.process(in_order())
        self._last = process
        return process


class Host:
    """A host with one device: `allocate`, `copy_in`, `launch`, `copy_out`, `synchronize`.

    nanoseconds of simulated time stand in `environment.now`.
    """

    def __init__(self, spec: MachineSpec) -> None:
        """A host with an idle device of the specification."""
        self.spec = spec
        self.environment = simpy.Environment()
        self.allocator = Allocator(spec.dram.bytes)
        self.state = MachineState(spec)
        self.stream = Stream(self.environment)
        self._link = simpy.Resource(self.environment, capacity=1)
        self._device = simpy.Resource(self.environment, capacity=1)

    def allocate(self, name: str, size: int) -> Allocation:
        """Device memory of `size` bytes."""
        return self.allocator.allocate(name, size)

    def copy_in(self, target: Allocation, source: NDArray[Any]) -> simpy.Process:
        """Copy an array to the device, in stream order."""
        raw = np.ascontiguousarray(source).reshape(-1).view(np.uint8)
        if raw.nbytes > target.data.nbytes:
            raise LaunchError(f"{target.name} holds {target.data.nbytes} bytes, the array has {raw.nbytes}")
        return self.stream.add(self._copy(target.data[: raw.nbytes], raw.copy()))

    def copy_out(self, target: NDArray[Any], source: Allocation) -> simpy.Process:
        """Copy device memory into an array, in stream order."""
        return self.stream.add(self._copy(target.reshape(-1).view(np.uint8), source.data[: target.nbytes]))

    def _copy(self, target: NDArray[np.uint8], source: NDArray[np.uint8]) -> Process:
        with self._link.request() as turn:
            yield turn
            host = self.spec.host
            yield self.environment.timeout(
                host.copy_latency_us * 1000 + source.nbytes / host.copy_gigabytes_per_second
            )
            target[:] = source

    def launch(
        self,
        program: Program,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        arguments: Mapping[str, Any],
        *,
        trace: TraceOptions | None = None,
        progress: Progress | None = None,
        limit_cycles: int | None = None,
    ) -> simpy.Process:
        """Launch a kernel in stream order; pointers are Allocations. The process returns a RawRun."""
        arrays = {name: value for name, value in arguments.items() if isinstance(value, Allocation)}
        addresses = {name: allocation.address for name, allocation in arrays.items()}
        parameters = parameter_bytes(program, arguments, addresses)
        return self.stream.add(
            self._launch(program, grid, block, parameters, arrays, trace, progress, limit_cycles)
        )

    def _launch(
        self,
        program: Program,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        parameters: bytes,
        arrays: Mapping[str, Allocation],
        trace: TraceOptions | None,
        progress: Progress | None,
        limit_cycles: int | None,
    ) -> Process:
        with self._device.request() as turn:
            yield turn
            yield self.environment.timeout(self.spec.host.launch_latency_us * 1000)
            memory = {a.name: a for a in self.allocator.live.values()} | dict(arrays)
            launch = Launch(self.state, program, grid, block, parameters, memory, trace)
            try:
                yield from self._bursts(launch, progress, limit_cycles)
            except KeyboardInterrupt:
                return launch.finish(interrupted=True)
            return launch.finish()

    def _bursts(self, launch: Launch, progress: Progress | None, limit_cycles: int | None) -> Process:
        """Run ahead to the next event of others, at most a burst at a time."""
        nanoseconds = 1000 / self.spec.device.clock_mhz
        begin = last = time.perf_counter()
        burst, ended = FIRST_BURST, False
        while not ended:
            before = launch.elapsed
            others = (self.environment.peek() - self.environment.now) / nanoseconds
            until = before + int(max(1, min(burst, others)))
            if limit_cycles is not None:
                until = min(until, limit_cycles)
            ended = launch.advance(until)
            now = time.perf_counter()
            if progress is not None:
                progress(launch.elapsed, now - begin)
            # A busy machine gets short bursts, so that Ctrl-C and progress never wait for long.
            burst = min(2 * burst, BURST_CYCLES) if now - last < BURST_SECONDS else max(1, burst // 2)
            last = now
            if not ended and limit_cycles is not None and launch.elapsed >= limit_cycles:
                raise LimitError(
                    f"the kernel has not finished after {limit_cycles} cycles",
                    hint=diagnose.where_are_they(self.state, launch.program, launch.block),
                )
            yield self.environment.timeout((launch.elapsed - before) * nanoseconds)

    def synchronize(self, process: simpy.Process | None = None) -> Any:
        """Let time pass until a process has ended (or everything has); returns its value."""
        return self.environment.run(until=process)

    def run(
        self,
        program: Program,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        arguments: Mapping[str, Any],
        *,
        trace: TraceOptions | None = None,
        progress: Progress | None = None,
        limit_cycles: int | None = None,
    ) -> RawRun:
        """Copy the arrays in, launch, copy them out in place: what most callers want.

        Device memory is given back also when the launch fails.
        """
        placed: dict[str, Any] = dict(arguments)
        arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
        allotted: list[Allocation] = []
        try:
            for name, value in arrays.items():
                placed[name] = self.allocate(name, value.nbytes)
                allotted.append(placed[name])
                self.copy_in(placed[name], value)
            kernel = self.launch(
                program, grid, block, placed, trace=trace, progress=progress, limit_cycles=limit_cycles
            )
            raw: RawRun = self.synchronize(kernel)
            for name, value in arrays.items():
                self.copy_out(value, placed[name])
                raw.outputs[name] = value
            self.synchronize()
        finally:
            for allocation in allotted:
                self.allocator.free(allocation)
        return raw
