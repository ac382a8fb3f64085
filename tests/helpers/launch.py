"""Runs program texts on a machine, with the trace on and the laws checked, and keeps everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tinygpu.isa.assembler import assemble
from tinygpu.isa.interpreter_launch import interpret_plan
from tinygpu.isa.launch import LaunchPlan, plan
from tinygpu.isa.program import Program
from tinygpu.sim.engine import RawRun, TraceOptions
from tinygpu.sim.host import Host
from tinygpu.sim.spec import MachineSpec
from tinygpu.sim.state import STATES
from tinygpu.sim.tracefile import TraceData

from .bench import bench
from .laws import assert_idle, assert_laws

LIMIT = 5_000_000  # cycles; a test that needs more is stuck


@dataclass
class Outcome:
    """What a run left behind."""

    plan: LaunchPlan
    spec: MachineSpec
    host: Host
    raw: RawRun

    @property
    def program(self) -> Program:
        return self.plan.program

    @property
    def outputs(self) -> dict[str, NDArray[Any]]:
        """Final arrays by name."""
        return self.raw.outputs

    @property
    def counters(self) -> dict[str, int]:
        """Counters of the SMs and of the device, by name."""
        return {**self.raw.counters, **self.raw.device_counters}

    @property
    def trace(self) -> TraceData:
        assert self.raw.trace is not None, "the run was not traced"
        return self.raw.trace

    def events(self, warp: int = 0, sm: int = 0) -> list[tuple[int, int, int, str]]:
        """A warp slot's life: (start, cycles, pc, state), in order of time."""
        rows = self.trace.events
        rows = rows[(rows["warp"] == warp) & (rows["sm"] == sm)]
        rows = rows[np.argsort(rows["start"], kind="stable")]
        return [(int(e["start"]), int(e["cycles"]), int(e["pc"]), STATES[int(e["state"])]) for e in rows]

    def issues(self, warp: int = 0, sm: int = 0) -> list[tuple[int, int]]:
        """(cycle, pc) of each instruction that a warp slot issued."""
        return [(start, pc) for start, _, pc, state in self.events(warp, sm) if state == "selected"]

    def cycle(self, label: str, warp: int = 0, sm: int = 0, nth: int = 0) -> int:
        """The cycle in which a warp slot issued the instruction after `label:` for the nth time."""
        pc = self.program.labels[label]
        return [start for start, at in self.issues(warp, sm) if at == pc][nth]

    def gap(self, first: str, second: str, warp: int = 0) -> int:
        """Cycles from the issue at one label to the issue at another."""
        return self.cycle(second, warp) - self.cycle(first, warp)

    def waits(self, label: str, warp: int = 0) -> dict[str, int]:
        """Cycles that a warp slot spent at the instruction after `label:`, by state."""
        found: dict[str, int] = {}
        for _, cycles, pc, state in self.events(warp):
            if pc == self.program.labels[label]:
                found[state] = found.get(state, 0) + cycles
        return found


def prepare(
    text: str,
    grid: Any = None,
    block: Any = None,
    args: Mapping[str, Any] | None = None,
    lets: Mapping[str, str] | None = None,
) -> LaunchPlan:
    """Assemble and plan a text; a body without `.kernel` becomes a kernel without parameters."""
    if ".kernel" not in text:
        text = ".kernel test()\n" + text
    program = assemble(text, "test.s")
    if grid is None and "grid" not in program.launch:
        grid = 1
    if block is None and "block" not in program.launch:
        block = 32
    return plan(program, lets, grid=grid, block=block, args=args)


def run(
    text: str | LaunchPlan,
    spec: MachineSpec | None = None,
    *,
    grid: Any = None,
    block: Any = None,
    args: Mapping[str, Any] | None = None,
    host: Host | None = None,
    traced: bool = True,
    laws: bool = True,
    limit: int = LIMIT,
) -> Outcome:
    """Run a program on a machine (the bench machine unless told otherwise) and check the laws."""
    spec = spec or (host.spec if host else bench())
    launch = prepare(text, grid, block, args) if isinstance(text, str) else text
    host = host or Host(spec)
    arguments = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in launch.arguments.items()}
    options = TraceOptions(sms=spec.device.sms) if traced else None
    raw = host.run(
        launch.program, launch.grid, launch.block, arguments, trace=options, limit_cycles=limit
    )  # fmt: skip
    assert_idle(host)
    if laws:
        assert_laws(raw, raw.trace, spec)
    return Outcome(launch, spec, host, raw)


def interpret(launch: LaunchPlan) -> dict[str, NDArray[Any]]:
    """Final arrays of the reference interpreter."""
    _, finals = interpret_plan(launch)
    return finals


def differences(launch: LaunchPlan, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Where two sets of final arrays differ in a byte, in words; at most ten places."""
    found = []
    for name in launch.arrays:
        a = np.ascontiguousarray(one[name]).reshape(-1).view(np.uint8)
        b = np.ascontiguousarray(other[name]).reshape(-1).view(np.uint8)
        size = np.asarray(one[name]).itemsize
        for index in sorted({int(i) // size for i in np.flatnonzero(a != b)})[:10]:
            left, right = (bytes(x[index * size : (index + 1) * size])[::-1].hex() for x in (a, b))
            found.append(f"{name}[{index}]: {left} and {right}")
    return found


def agree(text: str | LaunchPlan, *specs: MachineSpec, **options: Any) -> list[Outcome]:
    """Hold the core on each machine against the reference interpreter: every byte of every array."""
    launch = prepare(text) if isinstance(text, str) else text
    finals = interpret(launch)
    outcomes = []
    for spec in specs or (bench(),):
        outcome = run(launch, spec, **options)
        where = differences(launch, finals, outcome.outputs)
        assert not where, f"interpreter and core differ on {spec.name}:\n" + "\n".join(where)
        outcomes.append(outcome)
    return outcomes
