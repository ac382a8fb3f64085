"""The one exception tree of tinygpu, and diagnostics that point at the user's line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class TinygpuError(Exception):
    """Root of every error that tinygpu raises on purpose; `exit_code` is the command line's."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        # Both are in `args`: whoever copies an exception from its args, as SimPy does, keeps the hint.
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """The message alone; the face prints the hint."""
        return self.message


class InputError(TinygpuError):
    """What the user gave cannot be used: text, machine file, launch, argument."""


class LaunchError(InputError):
    """A launch that does not fit the machine or the kernel."""


class MachineError(InputError):
    """A machine file with errors; lists all of them."""


class WrongResult(TinygpuError):
    """The program ran and its result or a count is not what it expects."""

    exit_code = 1


class FaultError(TinygpuError):
    """A lane did something illegal while running: block, thread, lane, line."""

    exit_code = 1


class DeadlockError(TinygpuError):
    """Nothing can move any more; carries the wait-for graph."""

    exit_code = 3


class LimitError(TinygpuError):
    """A limit that the user or the machine set was reached."""

    exit_code = 3


class MissingError(TinygpuError):
    """Hardware or an optional package is missing."""

    exit_code = 4


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding at `file:line:column` (counting from 1), `width` characters wide."""

    file: str
    line: int
    column: int
    message: str
    text: str = ""
    width: int = 1
    hint: str = ""
    severity: str = "error"

    def render(self) -> str:
        """`file:line:col: error: message`, the line, a caret, the hint."""
        rows = [f"{self.file}:{self.line}:{self.column}: {self.severity}: {self.message}"]
        if self.text:
            rows.append("    " + self.text.rstrip().expandtabs(1))
            rows.append("    " + " " * (self.column - 1) + "^" + "~" * (max(self.width, 1) - 1))
        if self.hint:
            rows.append(f"    hint: {self.hint}")
        return "\n".join(rows)


class SourceError(InputError):
    """A program text with errors: up to 20 diagnostics, each at its place."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics[:20])
        more = len(diagnostics) - len(self.diagnostics)
        text = "\n".join(d.render() for d in self.diagnostics)
        if more > 0:
            text += f"\n({more} more errors)"
        super().__init__(text)
        self.args = (self.diagnostics,)
