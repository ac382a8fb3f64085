"""Collects the diagnostics of one text, and finds the nearest name for a hint."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from .errors import Diagnostic, SourceError
from .program import SourceLine


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a source line; `column` counts from 1.

    The text of a directive may run over several lines: it then holds the line breaks, and a
    place behind a break belongs to the next line. `written` is the width of the original when
    a macro has replaced names in the text: places inside it are then not known.
    """

    text: str
    line: SourceLine
    column: int
    written: int = -1

    def part(self, start: int, stop: int) -> Piece:
        """The piece `text[start:stop]` at its place; blanks at both ends are left out."""
        text = self.text[start:stop]
        start += len(text) - len(text.lstrip())
        line, column = self.place(start)
        return Piece(text.strip(), line, column, self.written)

    def place(self, offset: int) -> tuple[SourceLine, int]:
        """The line and column of the character at `offset`."""
        if self.written >= 0:
            return self.line, self.column
        breaks = self.text.count("\n", 0, offset)
        if not breaks:
            return self.line, self.column + offset
        lines = self.line.text.split("\n")
        after = offset - self.text.rfind("\n", 0, offset)
        first = self.line.line + breaks
        rest = "\n".join(lines[breaks:])
        return SourceLine(self.line.file, first, after, rest), after


@dataclass(slots=True)
class Report:
    """Errors found so far. `trail` is what is being expanded, for the hint."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    trail: str = ""
    _seen: set[tuple[str, int, int, str]] = field(default_factory=set)

    def error(self, piece: Piece, message: str, *, hint: str = "", offset: int = 0, width: int = 0) -> None:
        """Note an error at `offset` characters into the piece, `width` characters wide."""
        line, column = piece.place(offset)
        if piece.written >= 0:
            width = piece.written
        elif not width:
            width = max(len(piece.text.split("\n")[0]) - offset, 1)
        # An unrolled body repeats its mistakes: each is reported once.
        key = (line.file, line.line, column, message)
        if key in self._seen:
            return
        self._seen.add(key)
        if self.trail:
            hint = f"{hint}; {self.trail}" if hint else self.trail
        text = line.text.split("\n")[0]
        self.diagnostics.append(
            Diagnostic(line.file, line.line, column, message, text=text, width=width, hint=hint)
        )

    def raise_if_any(self) -> None:
        """Raise SourceError, in the order of the lines, when there is an error."""
        if self.diagnostics:
            raise SourceError(sorted(self.diagnostics, key=lambda d: (d.file, d.line, d.column)))


def nearest(name: str, candidates: Iterable[str]) -> str:
    """The candidate nearest to `name`, or an empty string."""
    names = list(candidates)
    found = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if found:
        return found[0]
    folded = {c.lower(): c for c in names}
    return folded.get(name.lower(), "")


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """`did you mean X?` for the nearest candidate, or an empty string."""
    found = nearest(name, candidates)
    return f"did you mean {found}?" if found else ""
