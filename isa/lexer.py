"""Cuts a program text into statements: labels, instructions and directives with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .parse_report import Piece, Report
from .program import SourceLine

NAME = r"[A-Za-z_$][\w$]*"
_COMMENT = re.compile(r'"[^"]*"|//.*')
_LABEL = re.compile(rf"\s*({NAME})\s*:(?![:=])")
_GUARD = re.compile(r"\s*@\s*(!?\s*[%\w$]+(?:\[[^\]]*\])*)")
_WORD = re.compile(r"\s*([^\s(\[{]+)")
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Statement:
    """A label (`name`), an instruction (`guard`, `name`, `operands`) or a directive.

    name: the label, the mnemonic, or the directive with its dot. rest: everything behind it.
    whole: the statement's text; control: scheduling marks (`&stall=4`) behind the operands.
    """

    kind: str
    name: Piece
    rest: Piece
    whole: Piece
    guard: Piece | None = None
    operands: tuple[Piece, ...] = ()
    control: Piece | None = None


def split(piece: Piece, separator: str = ",") -> list[Piece]:
    """Cut at the separators that stand outside all brackets and quotes."""
    text = piece.text
    if not any(c in text for c in '([{"'):
        cuts = [i for i, c in enumerate(text) if c == separator]
    else:
        cuts = [i for i in top_level(text) if text[i] == separator]
    parts, start = [], 0
    for cut in [*cuts, len(text)]:
        parts.append(piece.part(start, cut))
        start = cut + 1
    return parts if text.strip() else []


def top_level(text: str) -> Iterator[int]:
    """The positions of the characters that stand outside all brackets and quotes."""
    depth, quoted = 0, False
    for index, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        elif depth == 0:
            yield index


def strip_comment(line: str) -> str:
    """The line without its `//` comment; quoted text is left alone."""
    if "//" not in line:
        return line
    return _COMMENT.sub(lambda m: m.group() if m.group().startswith('"') else "", line)


def scan(text: str, file: str, report: Report) -> list[Statement]:
    """The statements of a text; errors go to the report and the scan goes on."""
    lines = re.split(r"\r\n|\n|\r", text.expandtabs(1))
    statements: list[Statement] = []
    number = 0
    while number < len(lines):
        count = 1
        body = strip_comment(lines[number])
        if body.lstrip().startswith("."):
            # A directive goes on while a bracket is open or its line ends with a comma.
            while number + count < len(lines) and _goes_on(body):
                body += "\n" + strip_comment(lines[number + count])
                count += 1
        if body.strip():
            original = "\n".join(lines[number : number + count])
            line = SourceLine(file, number + 1, 1, original)
            statements += _statements(Piece(body, line, 1), report)
        number += count
    return statements


def _goes_on(body: str) -> bool:
    """Whether a directive's text is unfinished."""
    depth = sum((c in _OPEN) - (c in _CLOSE) for c in body)
    return depth > 0 or body.rstrip().endswith(",")


def _statements(line: Piece, report: Report) -> Iterator[Statement]:
    """The statements of one line: labels first, then what stands between semicolons."""
    for piece in split(line, ";") if ";" in line.text else [line.part(0, len(line.text))]:
        rest = piece
        while rest.text and (label := _LABEL.match(rest.text)):
            name = rest.part(label.start(1), label.end(1))
            yield Statement("label", name, name, name)
            rest = rest.part(label.end(), len(rest.text))
        if rest.text.startswith("."):
            yield _directive(rest)
        elif rest.text:
            statement = _instruction(rest, report)
            if statement is not None:
                yield statement


def _directive(piece: Piece) -> Statement:
    word = _WORD.match(piece.text)
    end = word.end() if word else len(piece.text)
    return Statement("directive", piece.part(0, end), piece.part(end, len(piece.text)), piece)


def _instruction(piece: Piece, report: Report) -> Statement | None:
    """A guarded or plain instruction; None, with an error, when it has no mnemonic."""
    text, start, guard = piece.text, 0, None
    if text.startswith("@"):
        found = _GUARD.match(text)
        if found is None:
            report.error(piece, "a guard is @p or @!p", width=1, hint="write @p before the mnemonic")
            return None
        guard = piece.part(found.start(1), found.end(1))
        start = found.end()
    word = _WORD.match(text, start)
    if word is None:
        report.error(piece, "an instruction is missing here", offset=start, width=1)
        return None
    name = piece.part(word.start(1), word.end(1))
    rest, control = piece.part(word.end(), len(text)), None
    if "&" in rest.text and (mark := re.search(r"(?:^|\s)&(?=[a-z])", rest.text)):
        control = rest.part(mark.start(), len(rest.text))
        rest = rest.part(0, mark.start())
    if not _balanced(rest.text):
        report.error(rest, "brackets do not match")
        return None
    return Statement("instruction", name, rest, piece, guard, tuple(split(rest)), control)


def _balanced(text: str) -> bool:
    """Whether every bracket of the text is closed by its own kind, in order."""
    stack: list[str] = []
    for char in text:
        if char in _OPEN:
            stack.append(_CLOSE[_OPEN.index(char)])
        elif char in _CLOSE and (not stack or stack.pop() != char):
            return False
    return not stack
