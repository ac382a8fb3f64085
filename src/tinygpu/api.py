"""The Python interface: run a program, assemble a text, launch a program on NumPy arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import library
from .isa.assembler import assemble
from .isa.errors import FaultError, InputError, LimitError, TinygpuError
from .isa.launch import Extent, LaunchPlan, plan
from .isa.program import Program
from .sim import machinefile
from .sim.engine import Progress, TraceOptions, simulate
from .sim.machinefile import Machine
from .sim.result import RunResult, make_result

__all__ = [
    "FaultError", "InputError", "Launch", "LimitError", "Program", "RunResult", "TinygpuError",
    "TraceOptions", "assemble", "load_machine", "machines", "programs", "run",
]  # fmt: skip

Source = str | Path | Program
Settings = Mapping[str, Any] | Sequence[str]


def programs() -> list[str]:
    """Names of the shipped programs."""
    return list(library.shipped())


def machines() -> list[str]:
    """Names of the shipped machines."""
    return machinefile.names()


def load_machine(machine: str | Path | Machine, settings: Settings = ()) -> Machine:
    """A shipped machine or a machine file, with settings such as `{"l1.ways": 8}`."""
    if isinstance(machine, Machine):
        if settings:
            raise InputError("settings go with a machine's name, not with one that is loaded")
        return machine
    return machinefile.load(str(machine), _as_texts(settings))


def _as_texts(settings: Settings) -> list[str]:
    """Settings as the texts of a command line: `l1.ways=8`."""
    if isinstance(settings, Mapping):
        return [f"{key}={_text(value)}" for key, value in settings.items()]
    return list(settings)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def load_program(source: Source) -> Program:
    """A program as it is, from a file, by a shipped name, or from its text (several lines)."""
    if isinstance(source, Program):
        return source
    if isinstance(source, str) and "\n" in source:
        return assemble(source)
    path = library.find(str(source))
    return assemble(library.read(path), str(path))


def run(
    program: Source,
    machine: str | Path | Machine = "h200",
    *,
    grid: Extent | None = None,
    block: Extent | None = None,
    args: Mapping[str, Any] | None = None,
    settings: Settings = (),
    seed: int = 0,
    trace: TraceOptions | bool = False,
    check: bool = True,
    limit_cycles: int | None = None,
    progress: Progress | None = None,
    **values: Any,
) -> RunResult:
    """Run a program with its own inputs, or yours, and check it.

    program: a shipped name, a file, a text, or a Program. values: `.let` constants and arguments by
    name, such as `N=128`; args: the same for arguments whose name is taken here. Arrays are
    copied in; their final content is in the result's `outputs`. settings: of the machine, such as
    `{"l1.ways": 8}`. trace: True, or which SMs and cycles. limit_cycles: LimitError after as many.
    Raises TinygpuError and its kin: InputError for what cannot be used, FaultError, DeadlockError.
    """
    if seed < 0:
        raise InputError(f"a seed is a whole number from 0, not {seed}")
    loaded = load_program(program)
    overrides: dict[str, str] = {}
    arguments = dict(args or {})
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            arguments[name] = value
        elif name in loaded.lets or isinstance(value, str) or not _is_parameter(loaded, name):
            overrides[name] = _text(value)
        else:
            arguments[name] = value
    planned = plan(loaded, overrides, grid, block, arguments, seed)
    return run_plan(
        planned,
        load_machine(machine, settings),
        trace=trace,
        check=check,
        limit_cycles=limit_cycles,
        progress=progress,
        settings={**overrides, **_as_mapping(settings)},
    )


def _is_parameter(program: Program, name: str) -> bool:
    return any(parameter.name == name for parameter in program.parameters)


def _as_mapping(settings: Settings) -> dict[str, Any]:
    """Settings by key, for the result."""
    if isinstance(settings, Mapping):
        return dict(settings)
    return {key.strip(): value.strip() for key, _, value in (text.partition("=") for text in settings)}


def run_plan(
    planned: LaunchPlan,
    machine: Machine,
    *,
    trace: TraceOptions | bool = False,
    check: bool = True,
    limit_cycles: int | None = None,
    progress: Progress | None = None,
    settings: Mapping[str, Any] | None = None,
) -> RunResult:
    """Run a launch that is planned; see `run`."""
    options = TraceOptions() if trace is True else trace or None
    arguments = {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in planned.arguments.items()
    }
    try:
        raw = simulate(
            planned.program,
            planned.grid,
            planned.block,
            arguments,
            machine.spec,
            trace=options,
            progress=progress,
            limit_cycles=limit_cycles,
        )
    except TinygpuError as error:
        raise _original(error) from None
    return make_result(raw, planned, machine, check=check, settings=settings)


def _original(error: TinygpuError) -> TinygpuError:
    """The error as it was raised: SimPy passes on copies, which lack the hint."""
    while isinstance(error.__cause__, TinygpuError):
        error = error.__cause__
    return error


@dataclass
class Launch:
    """A program on your own NumPy arrays, which `run` changes in place.

    grid, block: whole numbers or tuples of up to three. arguments: every parameter of the kernel by
    name, arrays of the parameter's type. result: of the last run, None before. Expectations of the
    program are not checked: they are about its own inputs.
    """

    program: Source
    grid: Extent
    block: Extent
    arguments: Mapping[str, Any]
    result: RunResult | None = field(default=None, init=False)

    def run(
        self,
        machine: str | Path | Machine = "h200",
        *,
        settings: Settings = (),
        trace: TraceOptions | bool = False,
        limit_cycles: int | None = None,
        progress: Progress | None = None,
    ) -> RunResult:
        """Run on a machine; see `tinygpu.run`. Raises InputError when a read-only array would change."""
        program = load_program(self.program)
        planned = plan(program, None, self.grid, self.block, self.arguments)
        self.result = run_plan(
            planned,
            load_machine(machine, settings),
            trace=trace,
            check=False,
            limit_cycles=limit_cycles,
            progress=progress,
            settings=_as_mapping(settings),
        )
        for name, final in self.result.outputs.items():
            self._give_back(name, final)
        return self.result

    def _give_back(self, name: str, final: np.ndarray[Any, Any]) -> None:
        """Put an array's final content into the array that was given."""
        given = self.arguments[name]
        if not isinstance(given, np.ndarray):
            return
        before = given.view(final.dtype) if given.dtype != final.dtype else given
        if before.tobytes() == final.tobytes():
            return
        if not given.flags.writeable:
            raise InputError(f"the kernel writes to {name}, which is read-only; see result.outputs[{name!r}]")
        before[...] = final.reshape(before.shape)
