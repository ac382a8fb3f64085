"""The result of a run for people and programs: facts, derived metrics, checks, and a digest."""

from __future__ import annotations

import hashlib
import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..isa.checks import CheckResult, CountResult
from ..isa.launch import LaunchPlan
from . import metrics as formulas
from . import tracefile
from .counters import DEVICE_NAMES, NAMES
from .machinefile import Machine
from .state import STATES

if TYPE_CHECKING:
    from .engine import RawRun

SCHEMA = 1
PROFILE_COUNTS = ("issued", "lanes", "requests", "lines", "sectors", "wavefronts", "conflicts")
# What `.count` may name besides; for one instruction only PROFILE_COUNTS.
RUN_COUNTS = (*NAMES, *DEVICE_NAMES, *PROFILE_COUNTS, "cycles")


@dataclass(frozen=True)
class RunResult:
    """What a launch did.

    counters: totals over all SMs, and those of the memory side. stalls: warp-cycles by state; they
    sum to the resident warps' time. schedulers: cycles issued, stalled and empty, over all
    schedulers. profile: PROFILE records, one an instruction of `listing`. outputs: the arrays after
    the run. correct: None when nothing was checked. metrics: see metrics.METRICS. digest: SHA-256 of
    cycles, counters, stalls, schedulers and outputs, whatever the host and its speed.
    """

    program: str
    file: str
    machine: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    seed: int
    correct: bool | None
    checks: Sequence[CheckResult]
    counts: Sequence[CountResult]
    cycles: int
    launch_cycles: int
    clock_mhz: float
    sms: int
    counters: Mapping[str, int]
    stalls: Mapping[str, int]
    schedulers: Mapping[str, int]
    occupancy: Mapping[str, Any]
    metrics: Mapping[str, float]
    peaks: Sequence[formulas.Peak]
    verdict: str
    digest: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    interrupted: bool = False
    wall_seconds: float = 0.0
    profile: NDArray[Any] = field(default_factory=lambda: np.zeros(0), repr=False)
    listing: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    outputs: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False)
    trace: tracefile.TraceData | None = field(default=None, repr=False)

    @property
    def warp_instructions(self) -> int:
        """Warp instructions issued."""
        return self.counters["warp_instructions"]

    @property
    def thread_instructions(self) -> int:
        """Warp instructions times their active lanes."""
        return self.counters["thread_instructions"]

    @property
    def ipc(self) -> float:
        """Warp instructions a cycle, all SMs together."""
        return self.metrics["ipc"]

    @property
    def simulated_seconds(self) -> float:
        """Cycles at the machine's clock."""
        return self.cycles / (self.clock_mhz * 1e6)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; NaN, which JSON does not have, becomes None."""
        facts: dict[str, Any] = {
            "schema": SCHEMA, "program": self.program, "file": self.file, "machine": self.machine,
            "settings": dict(self.settings), "grid": list(self.grid), "block": list(self.block),
            "seed": self.seed, "correct": self.correct, "checks": [asdict(check) for check in self.checks],
            "counts": [asdict(count) for count in self.counts], "cycles": self.cycles,
            "launch_cycles": self.launch_cycles, "clock_mhz": self.clock_mhz,
            "simulated_seconds": self.simulated_seconds, "warp_instructions": self.warp_instructions,
            "thread_instructions": self.thread_instructions, "ipc": self.ipc,
            "wall_seconds": self.wall_seconds, "occupancy": dict(self.occupancy),
            "stalls": dict(self.stalls), "schedulers": dict(self.schedulers),
            "counters": dict(self.counters), "metrics": dict(self.metrics),
            "peaks": {peak.name: peak.share for peak in self.peaks}, "verdict": self.verdict,
            "warnings": list(self.warnings), "interrupted": self.interrupted, "digest": self.digest,
        }  # fmt: skip
        plain: dict[str, Any] = _plain(facts)
        return plain

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        word = {True: "correct", False: "WRONG", None: "not checked"}[self.correct]
        rows = [
            ("result", word),
            ("cycles", f"{self.cycles:,} ({self.simulated_seconds * 1e6:,.4g} µs)"),
            ("IPC", f"{self.ipc:.4g}"),
            *((f"{peak.name} of peak", _percent(peak.share)) for peak in self.peaks),
            ("occupancy", f"{self.occupancy['warps']} of {self.occupancy['max_warps']} warps"),
            *((f"stall: {name}", _percent(share)) for name, share in self._largest_stalls()),
            ("verdict", self.verdict),
        ]
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>"
            for name, text in rows
        )
        title = html.escape(f"{self.program} on {self.machine}")
        return f"<table><caption>{title}</caption>{cells}</table>"

    def _largest_stalls(self, most: int = 3) -> list[tuple[str, float]]:
        total = sum(self.stalls.values())
        ordered = sorted(self.stalls.items(), key=lambda item: -item[1])
        return [(name, count / total) for name, count in ordered[:most] if count]


def make_result(
    raw: RawRun,
    plan: LaunchPlan,
    machine: Machine,
    *,
    check: bool = True,
    settings: Mapping[str, Any] | None = None,
) -> RunResult:
    """The result of a raw run of a plan on a machine.

    check: hold the outputs against `.expect` and the counts against `.count`; an interrupted run is
    never checked. settings: what of the machine or the program was set differently.
    Raises SourceError when an expectation cannot be computed.
    """
    spec, check = machine.spec, check and not raw.interrupted
    counters = {**raw.counters, **raw.device_counters}
    states = raw.profile["stall"].sum(axis=0)
    stalls = {name: int(states[number]) for number, name in enumerate(STATES)}
    books = formulas.Books(
        spec, raw.cycles, raw.launch_cycles, counters, raw.schedulers, stalls, math.prod(plan.grid)
    )
    values = formulas.compute(books)
    found = formulas.peaks(books, values)
    checks = plan.check(raw.outputs) if check else []
    counts = plan.check_counts(_reader(raw, counters), RUN_COUNTS) if check else []
    return RunResult(
        program=plan.program.name,
        file=Path(plan.program.file).name,
        machine=spec.name,
        grid=plan.grid,
        block=plan.block,
        seed=plan.seed,
        correct=all([c.ok for c in checks] + [c.ok for c in counts]) if checks or counts else None,
        checks=tuple(checks),
        counts=tuple(counts),
        cycles=raw.cycles,
        launch_cycles=raw.launch_cycles,
        clock_mhz=spec.device.clock_mhz,
        sms=spec.device.sms,
        counters=counters,
        stalls=stalls,
        schedulers=dict(raw.schedulers),
        occupancy=_occupancy(raw, values),
        metrics=values,
        peaks=tuple(found),
        verdict=formulas.verdict(books, found),
        digest=digest(raw, stalls),
        settings=dict(settings or {}),
        warnings=tuple(raw.warnings),
        interrupted=raw.interrupted,
        wall_seconds=raw.wall_seconds,
        profile=raw.profile,
        listing=tracefile.listing(plan.program),
        outputs=raw.outputs,
        trace=raw.trace,
    )


def _occupancy(raw: RawRun, values: Mapping[str, float]) -> dict[str, Any]:
    """Plain facts: what fits, what limits it, and how many warps there were on average."""
    return {
        **raw.occupancy.to_json(),
        "limiter": " and ".join(raw.occupancy.limiters),
        "achieved": values["achieved_warps"],
    }


def _reader(raw: RawRun, counters: Mapping[str, int]) -> Any:
    """How `.count` reads a counter of the run (pc -1) or of one instruction."""

    def read(name: str, pc: int) -> float:
        if pc >= 0:
            if name not in PROFILE_COUNTS:
                raise KeyError(name)
            return int(raw.profile[name][pc])
        if name in counters:
            return counters[name]
        if name == "cycles":
            return raw.cycles
        if name not in PROFILE_COUNTS:
            raise KeyError(name)
        return int(raw.profile[name].sum())

    return read


def digest(raw: RawRun, stalls: Mapping[str, int]) -> str:
    """SHA-256 of all that a run must give again, on any host: never of wall time."""
    hashed = hashlib.sha256()

    def add(*words: object) -> None:
        hashed.update(("\0".join(map(str, words)) + "\n").encode())

    add("cycles", raw.cycles)
    tables = (raw.counters, raw.device_counters, stalls, raw.schedulers)
    for table in tables:
        for name in sorted(table):
            add(name, table[name])
    for name in sorted(raw.outputs):
        array = raw.outputs[name]
        add(name, array.dtype.str, array.shape)
        hashed.update(np.ascontiguousarray(array).tobytes())
    return hashed.hexdigest()


def _plain(value: Any) -> Any:
    """The value in JSON's types."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _percent(share: float) -> str:
    return f"{share:.1%}" if share == share else "-"
