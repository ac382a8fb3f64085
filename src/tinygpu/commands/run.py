"""`tinygpu run`: from a program to a checked result with a report, a trace and pictures of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import common
from .progress import progress

if TYPE_CHECKING:
    from ..isa.launch import LaunchPlan
    from ..sim.engine import TraceOptions
    from ..sim.machinefile import Machine
    from ..sim.result import RunResult

PICTURES = (".png", ".svg", ".pdf")


@dataclass(frozen=True)
class Choices:
    """What the command line says, with names as on the command line."""

    program: str
    machine: str
    set_: tuple[str, ...]
    grid: str | None
    block: str | None
    arg: tuple[str, ...]
    save: tuple[str, ...]
    seed: int
    trace: bool
    output: str | None
    trace_sms: int
    window: str | None
    as_json: bool
    scheduler: str | None
    divergence: str | None
    limit_cycles: int | None
    no_check: bool

    @property
    def traces(self) -> bool:
        """Whether a trace is wanted."""
        return self.trace or self.output is not None

    def program_values(self) -> dict[str, str]:
        """Overrides of `.let` constants and arguments; machine keys have a dot in their name."""
        pairs = [common.split_setting(text, "--set") for text in self.set_]
        found = {name: value for name, value in pairs if "." not in name}
        found.update(common.split_setting(text, "--arg") for text in self.arg)
        return found

    def machine_settings(self) -> dict[str, str]:
        """Overrides of the machine."""
        pairs = [common.split_setting(text, "--set") for text in self.set_]
        found = {name: value for name, value in pairs if "." in name}
        if self.scheduler:
            found["issue.scheduler"] = self.scheduler
        if self.divergence:
            found["divergence.policy"] = self.divergence
        return found


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("program")
@click.option("-m", "--machine", default="h200", show_default=True, help="A machine's name or file.")
@click.option(
    "--set",
    "set_",
    metavar="NAME=VALUE",
    multiple=True,
    help="A constant of the program (N=512), or of the machine (l1.ways=8).",
)
@click.option("--grid", metavar="X[,Y[,Z]]", help="Blocks of the grid, instead of the program's.")
@click.option("--block", metavar="X[,Y[,Z]]", help="Threads of a block, instead of the program's.")
@click.option(
    "--arg", metavar="NAME=VALUE", multiple=True, help="An argument: a number, an expression, or @FILE.npy."
)
@click.option("--save", metavar="NAME=FILE.npy", multiple=True, help="Save an array as it is after the run.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random inputs."
)
@click.option("--trace", is_flag=True, help="Write PROGRAM.trace.npz and a picture of it.")
@click.option("-o", "--output", metavar="FILE", help="Where the trace goes; FILE.png or .svg: the picture.")
@click.option("--trace-sms", type=click.IntRange(1), default=4, show_default=True, help="SMs to trace.")
@click.option("--window", metavar="A:B", help="Trace from cycle A up to B.")
@click.option("--scheduler", metavar="NAME", help="Warp scheduler: gto, cggty, lrr, two_level.")
@click.option("--divergence", metavar="NAME", help="Divergence policy: stack, independent.")
@click.option("--limit-cycles", type=click.IntRange(1), metavar="N", help="Give up after N cycles (exit 3).")
@click.option("--no-check", is_flag=True, help="Do not compare the result with what the program expects.")
@common.json_option
def command(**options: Any) -> int:
    """Run PROGRAM, a file or the name of a shipped program, on a model of a GPU.

    Exit code 0: it ran, and its result is right. 1: the result is wrong, or a thread did
    something illegal.
    """  # fmt: skip
    choices = Choices(**options)
    traced = trace_options(choices)
    planned, machine = prepare(choices)
    saves = _saves(choices, planned)
    places = _places(choices, planned) if choices.traces else None
    result = _simulate(choices, planned, machine, traced)
    for name, path in saves.items():
        _save(result, name, path)
    written = _write_trace(result, *places) if places else {}
    if choices.as_json:
        common.print_json({**result.to_json(), **written, "saved": {n: str(p) for n, p in saves.items()}})
    else:
        _print_report(result, written, saves)
    if result.interrupted:
        common.say("interrupted; the report is about the part that was simulated")
        return 130
    return 1 if result.correct is False else 0


def prepare(choices: Choices) -> tuple[LaunchPlan, Machine]:
    """The launch and the machine; raises before anything is simulated or written."""
    from .. import api
    from ..isa.launch import plan

    program = api.load_program(Path(choices.program))
    planned = plan(
        program,
        choices.program_values(),
        _extent(choices.grid),
        _extent(choices.block),
        seed=choices.seed,
    )
    return planned, api.load_machine(choices.machine, choices.machine_settings())


def _extent(text: str | None) -> str | None:
    """`4x2` is accepted for `4,2`."""
    return text.lower().replace("x", ",") if text else None


def trace_options(choices: Choices) -> TraceOptions | None:
    """Which SMs and cycles to trace."""
    from ..sim.engine import TraceOptions
    from ..sim.state import NEVER

    if not choices.traces:
        if choices.window is not None:
            raise click.UsageError("--window says what to trace: add --trace")
        return None
    if choices.window is None:
        return TraceOptions(sms=choices.trace_sms)
    first, colon, last = choices.window.partition(":")
    try:
        window = (int(first or 0), int(last) if last else NEVER)
    except ValueError:
        window = (0, -1)
    if not colon or window[0] < 0 or window[1] <= window[0]:
        raise click.UsageError(f"--window {choices.window}: write A:B, two cycles, the smaller one first")
    return TraceOptions(sms=choices.trace_sms, window=window)


def _simulate(
    choices: Choices, planned: LaunchPlan, machine: Machine, traced: TraceOptions | None
) -> RunResult:
    from .. import api
    from ..sim import pieces

    if not pieces.compiled():
        common.say("compiling the simulator's core; this happens once and takes about half a minute")
    with progress() as shown:
        return api.run_plan(
            planned,
            machine,
            trace=traced or False,
            check=not choices.no_check,
            limit_cycles=choices.limit_cycles,
            progress=shown,
            settings={**choices.program_values(), **choices.machine_settings()},
        )


def _saves(choices: Choices, planned: LaunchPlan) -> dict[str, Path]:
    """The arrays to save, and where; checked before the run."""
    from ..isa.errors import InputError
    from ..isa.parse_report import did_you_mean

    found: dict[str, Path] = {}
    for text in choices.save:
        name, file = common.split_setting(text, "--save")
        if name not in planned.arrays:
            hint = did_you_mean(name, planned.arrays) or "arrays: " + (", ".join(planned.arrays) or "none")
            raise InputError(f"--save {text}: the kernel has no array {name}", hint=hint)
        found[name] = _writable(Path(file))
    return found


def _writable(path: Path) -> Path:
    """The path, if its folder is there; better now than after the run."""
    from ..isa.errors import InputError

    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}")
    return path


def _places(choices: Choices, planned: LaunchPlan) -> tuple[Path, Path]:
    """Where the trace and its picture go."""
    stem = Path(planned.program.file).stem or planned.program.name
    output = choices.output or f"{stem}.trace.npz"
    path = Path(output)
    if path.is_dir() or output.endswith("/"):
        path = path / f"{stem}.trace.npz"
    if path.suffix.lower() in PICTURES:
        return _writable(path.with_suffix(".npz")), _writable(path)
    if path.suffix.lower() != ".npz":
        path = path.with_name(path.name + ".npz")
    return _writable(path), _writable(path.with_suffix(".png"))


def _save(result: RunResult, name: str, path: Path) -> None:
    import numpy as np

    common.write_whole(path, lambda file: np.save(file, result.outputs[name], allow_pickle=False))


def _write_trace(result: RunResult, file: Path, picture: Path) -> dict[str, Any]:
    """Write trace and picture; what was written, for JSON."""
    from ..sim import tracefile
    from ..viz import timeline

    assert result.trace is not None
    facts: dict[str, Any] = {
        "file": str(file), "bytes": tracefile.save(result.trace, file), "events": len(result.trace.events),
        "dropped": result.trace.dropped, "picture": None, "picture_bytes": 0,
    }  # fmt: skip
    if len(result.trace.events):
        facts["picture"], facts["picture_bytes"] = str(picture), timeline.draw(result.trace, picture)
    return {"trace": facts}


def _print_report(result: RunResult, written: dict[str, Any], saves: dict[str, Path]) -> None:
    from ..viz import report_text, timeline_text

    width, color = common.terminal_width(), common.colored()
    unicode = common.unicode_fits()
    click.echo(report_text.render(result, width=width, color=color, unicode=unicode))
    if written:
        assert result.trace is not None
        click.echo()
        click.echo(timeline_text.render(result.trace, width, color=color, unicode=unicode))
        click.echo()
        facts = written["trace"]
        click.echo(f"trace       {facts['file']} ({_size(facts['bytes'])}, {facts['events']:,} events)")
        if facts["picture"]:
            click.echo(f"picture     {facts['picture']} ({_size(facts['picture_bytes'])})")
        if facts["dropped"]:
            common.say(f"warning: the trace is full; {facts['dropped']:,} events found no room; use --window")
    for name, path in saves.items():
        click.echo(f"saved       {name} in {path} ({_size(path.stat().st_size)})")


def _size(count: int) -> str:
    from ..viz.text_layout import size

    return size(count)
