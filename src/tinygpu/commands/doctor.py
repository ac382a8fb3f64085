"""`tinygpu doctor`: looks for what could keep tinygpu from working here, and says what to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from . import common

NEEDED = ("numpy", "numba", "simpy", "matplotlib", "click", "rich", "pydantic", "pygments")
FOLDERS = ("isa", "sim", "programs", "viz", "validate")


@dataclass(frozen=True)
class Finding:
    """One thing looked at. state: ok, note (works, but know this) or bad; remedy for the last two."""

    name: str
    state: str
    detail: str
    remedy: str = ""


def python_version() -> Iterator[Finding]:
    """Python 3.11 or newer."""
    text = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    yield Finding("python", "ok" if good else "bad", text, "" if good else "install Python 3.11 or newer")


def packages() -> Iterator[Finding]:
    """The packages of `dependencies`."""
    from importlib.metadata import PackageNotFoundError, version

    for name in NEEDED:
        try:
            yield Finding(name, "ok", version(name))
        except PackageNotFoundError:
            yield Finding(name, "bad", "not installed", f"python -m pip install {name}")


def folders(root: Path | None = None) -> Iterator[Finding]:
    """The five folders: a checkout without symbolic links has small text files in their place."""
    root = root or Path(__file__).resolve().parents[1]
    missing = [name for name in FOLDERS if not (root / name / "__init__.py").is_file()]
    if missing:
        remedy = "git config core.symlinks true, then git checkout again (on Windows: in developer mode)"
        yield Finding("folders", "bad", f"{', '.join(missing)} not there: links broken", remedy)
    else:
        yield Finding("folders", "ok", str(root))


def core() -> Iterator[Finding]:
    """Where compiled code is kept, and whether it is there."""
    from ..sim import jit, pieces

    folder = jit.cache_folder()
    if not jit.COMPILED:
        yield Finding("core", "note", "interpreted: NUMBA_DISABLE_JIT is set", "unset it for speed")
    elif folder is None:
        remedy = "set TINYGPU_CACHE to a folder that can be written"
        yield Finding("core", "note", "no cache folder: it is compiled anew by each process", remedy)
    elif pieces.compiled():
        yield Finding("core", "ok", f"compiled, in {folder}")
    else:
        yield Finding("core", "note", f"not yet compiled (cache: {folder})", "the first run does it, once")


def machines() -> Iterator[Finding]:
    """Every machine that is shipped can be read."""
    from ..isa.errors import TinygpuError
    from ..sim import machinefile

    for name in machinefile.names():
        try:
            machinefile.load(name)
        except TinygpuError as error:
            yield Finding(f"machine {name}", "bad", error.message.split("\n")[0], "install tinygpu again")
    yield Finding("machines", "ok", ", ".join(machinefile.names()))


def terminal() -> Iterator[Finding]:
    """What the output can show."""
    parts = [f"encoding {sys.stdout.encoding}", f"{common.terminal_width(10_000)} columns"]
    parts.append("colour" if common.colored() else "no colour")
    if not common.unicode_fits():
        yield Finding("terminal", "note", ", ".join(parts), "set PYTHONUTF8=1 to see bars in finer steps")
    else:
        yield Finding("terminal", "ok", ", ".join(parts))


def processors() -> Iterator[Finding]:
    """How many cores there are: one run uses one."""
    yield Finding("processors", "ok", f"{os.cpu_count()} (a run uses one)")


LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    python_version, packages, folders, core, machines, terminal, processors,
)  # fmt: skip


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@common.json_option
def command(as_json: bool) -> int:
    """Look for what could keep tinygpu from working here. Exit code 4 when something is missing."""
    found: list[Finding] = []
    for look in LOOKS:
        try:
            found += look()
        except ImportError as error:
            found.append(Finding(look.__name__, "bad", str(error), "python -m pip install tinygpu-sim"))
    bad = [finding for finding in found if finding.state == "bad"]
    if as_json:
        common.print_json({"healthy": not bad, "findings": [asdict(finding) for finding in found]})
    else:
        common.print_table((f.state, f.name, f.detail) for f in found)
        for finding in found:
            if finding.remedy:
                common.say(f"{finding.name}: {finding.remedy}")
    return 4 if bad else 0
