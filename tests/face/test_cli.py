"""The command line as a whole: help, near misses, exit codes, errors in words, what is imported when."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

import tinygpu as package
from tinygpu import cli
from tinygpu.commands.progress import CLEAR_LINE, Progress, progress
from tinygpu.isa.errors import FaultError, LimitError, MissingError

from .conftest import Call

HEAVY = ("numpy", "numba", "pydantic", "rich", "matplotlib", "simpy", "torch", "pygments")


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_help_lists_every_command_in_words(tinygpu: Call) -> None:
    for words in ((), ("--help",), ("-h",)):
        done = tinygpu(*words)
        text = done.out + done.err
        assert all(f"  {name} " in text for name in cli.COMMANDS)
    assert tinygpu("--help").code == 0


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_has_help_and_json_or_prints_a_picture(tinygpu: Call, name: str) -> None:
    done = tinygpu(name, "--help")
    assert done.code == 0 and done.out.startswith(f"Usage: tinygpu {name} ")
    assert "--json" in done.out


@pytest.mark.parametrize("words", [[], ["--help"], ["run", "--help"], ["machine", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    code = (
        "import sys; from tinygpu.cli import invoke; invoke(sys.argv[1:])\n"
        f"print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)"
    )
    assert python(code, *words).stderr.splitlines()[-1] == "[]"


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import sys, tinygpu; dir(tinygpu); print([m for m in {HEAVY} if m in sys.modules])"
    assert python(code).stdout == "[]\n"


def test_no_command_is_answered_with_help_and_no_error(tinygpu: Call) -> None:
    done = tinygpu()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: tinygpu [OPTIONS] COMMAND [ARGS]...\n")
    assert "error" not in done.err and "  doctor " in done.err


def test_version_is_the_distribution_s(tinygpu: Call) -> None:
    done = tinygpu("--version")
    assert (done.code, done.out) == (0, f"tinygpu {package.__version__}\n")


def test_python_m_is_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tinygpu", "rum"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: there is no command 'rum'; did you mean 'run'?\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("machnie",), "there is no command 'machnie'; did you mean 'machine'?"),
        (("saxpy.s",), "there is no command 'saxpy.s'; did you mean `tinygpu run saxpy.s`?"),
        (("zzz",), "there is no command 'zzz'; there are run, asm, dis, isa, machine, programs, doctor"),
        (("run",), "missing argument 'PROGRAM'"),
        (("run", "saxpy.s", "--sed", "1"), "no such option '--sed'"),
        (("machine", "shw"), "no such command 'shw'"),
    ],
)
def test_near_misses_are_helped_with(tinygpu: Call, words: tuple[str, ...], message: str) -> None:
    done = tinygpu(*words)
    assert done.code == 2 and done.out == ""
    first, *rest = done.err.splitlines()
    assert first.lower().startswith(f"error: {message}".lower())
    assert rest[-1].endswith("--help` says how to use it")


def command_that_raises(error: BaseException) -> click.Command:
    def raises() -> None:
        raise error

    return click.Command("doctor", callback=raises)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (FaultError("a.s:3: fault", hint="look"), 1, "error: a.s:3: fault\n    hint: look\n"),
        (LimitError("too long"), 3, "error: too long\n"),
        (MissingError("no GPU"), 4, "error: no GPU\n"),
        (ModuleNotFoundError("no", name="rich"), 4, "error: the package rich is missing\n"),
        (
            FileNotFoundError(2, "No such file or directory", "a.s"),
            2,
            "error: a.s: no such file or directory\n",
        ),
        (PermissionError(13, "Permission denied", "a.s"), 2, "error: a.s: permission denied\n"),
        (IsADirectoryError(21, "Is a directory", "a"), 2, "error: a: is a directory\n"),
        (OSError(28, "No space left on device"), 2, "error: no space left on device\n"),
        (
            UnicodeDecodeError("utf-8", b"x", 0, 1, "bad"),
            2,
            "error: a file is not a text in UTF-8: byte 0: bad\n",
        ),
        (
            MemoryError("Unable to allocate 1 TiB"),
            3,
            "error: not enough memory on this computer: unable to all",
        ),
        (MemoryError(), 3, "error: not enough memory on this computer: the run is too large\n"),
        (KeyboardInterrupt(), 130, "\nerror: interrupted\n"),
    ],
)
def test_errors_become_words_and_exit_codes(
    tinygpu: Call, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
) -> None:
    monkeypatch.setattr(
        importlib.import_module("tinygpu.commands.doctor"), "command", command_that_raises(error)
    )
    done = tinygpu("doctor")
    assert done.code == code and done.out == ""
    assert done.err.startswith(words)


@pytest.mark.parametrize("error", [ZeroDivisionError("ours"), ModuleNotFoundError("no", name="tinygpu.x")])
def test_our_own_mistakes_keep_their_traceback(
    tinygpu: Call, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(
        importlib.import_module("tinygpu.commands.doctor"), "command", command_that_raises(error)
    )
    with pytest.raises(type(error)):
        tinygpu("doctor")


def test_a_reader_that_goes_away_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "tinygpu", "isa"], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_folder_that_cannot_be_read_is_exit_2(tinygpu: Call, folder: Path) -> None:
    (folder / "loop.s").symlink_to("loop.s")
    done = tinygpu("run", "loop.s")
    assert done.code == 2 and "loop.s" in done.err and "Traceback" not in done.err


class Stream(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def test_progress_shows_after_a_second_and_goes_away() -> None:
    stream = Stream(terminal=True)
    shown = Progress(stream)
    shown(1_000, 0.9)
    assert stream.getvalue() == ""
    shown.clear()
    assert stream.getvalue() == ""
    shown(500_000, 2.0)
    assert stream.getvalue() == f"{CLEAR_LINE}500,000 cycles simulated, 250,000 a second"
    shown(510_000, 2.1)  # too soon
    shown.clear()
    assert stream.getvalue().endswith(f"250,000 a second{CLEAR_LINE}")
    assert stream.getvalue().count("simulated") == 1


def test_progress_is_silent_without_a_terminal() -> None:
    stream = Stream(terminal=False)
    shown = Progress(stream)
    shown(1_000_000, 100.0)
    shown.clear()
    assert stream.getvalue() == ""


def test_ctrl_c_waits_for_the_end_of_a_burst() -> None:
    shown = Progress(Stream(terminal=False))
    shown(1, 0.0)
    shown.interrupt(2, None)
    with pytest.raises(KeyboardInterrupt):
        shown(2, 0.1)


def test_ctrl_c_twice_or_before_the_first_burst_does_not_wait() -> None:
    shown = Progress(Stream(terminal=False))
    with pytest.raises(KeyboardInterrupt):
        shown.interrupt(2, None)
    shown(1, 0.0)
    shown.interrupt(2, None)
    with pytest.raises(KeyboardInterrupt):
        shown.interrupt(2, None)


def test_progress_leaves_the_line_clean_when_a_run_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.raises(LimitError), progress() as shown:
        shown(1, 5.0)
        raise LimitError("x")
    assert stream.getvalue().endswith(CLEAR_LINE)
