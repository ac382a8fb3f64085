"""The errors of one machine file, each at the line of its key."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from ..isa.errors import Diagnostic, MachineError

Place = tuple[int, int, int]  # line, column, width; lines and columns count from 1


class Report:
    """Collects errors by key path; false while there is none."""

    def __init__(self, path: Path) -> None:
        """Read the file; raises OSError when it cannot be read, MachineError when it is no text."""
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise MachineError(f"{path}: error: byte {error.start} is not UTF-8") from None
        self._places = places(self.text)
        self._found: list[Diagnostic] = []
        self._seen: set[str] = set()

    def __bool__(self) -> bool:
        """Whether there is an error."""
        return bool(self._found)

    def parse(self) -> dict[str, Any]:
        """The file's tables; raises MachineError with the place where it is not TOML."""
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            message = str(error)
            where = re.search(r" \(at line (\d+), column (\d+)\)", message)
            line, column = (int(where[1]), int(where[2])) if where else (max(1, self.text.count("\n")), 1)
            reason = message.replace(where[0], "") if where else message
            source = (self.text.splitlines() or [""])[min(line, len(self.text.splitlines())) - 1]
            found = Diagnostic(str(self.path), line, column, f"this is not TOML: {reason}", source)
            raise MachineError(found.render()) from None

    def add(self, key: str, message: str, hint: str = "", *, once: bool = False) -> None:
        """Add an error at a key; `once`: unless that key has one already."""
        if once and key in self._seen:
            return
        self._seen.add(key)
        line, column, width = self._place(key)
        text = self.text.splitlines()[line - 1] if self.text.strip() else ""
        self._found.append(Diagnostic(str(self.path), line, column, f"{key}: {message}", text, width, hint))

    def _place(self, key: str) -> Place:
        """Where a key stands, or the nearest table around it, or the top."""
        parts = key.split(".")
        while parts:
            if ".".join(parts) in self._places:
                return self._places[".".join(parts)]
            parts.pop()
        return (1, 1, 1)

    def rendered(self) -> list[str]:
        """The errors as text, in the order of their lines."""
        return [found.render() for found in sorted(self._found, key=lambda d: (d.line, d.column))]


def places(text: str) -> dict[str, Place]:
    """Where each table and key of a TOML text stands, inline tables on one line included."""
    found: dict[str, Place] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\s*([\w.-]+)\s*\]", line)
        if header:
            table = header[1]
            found.setdefault(table, (number, header.start(1) + 1, len(table)))
            continue
        entry = re.match(r"\s*([\w.-]+)\s*=\s*(\{?)", line)
        if not entry:
            continue
        key = f"{table}.{entry[1]}" if table else entry[1]
        found.setdefault(key, (number, entry.start(1) + 1, len(entry[1])))
        if entry[2]:
            for inner in re.finditer(r"[{,]\s*([\w-]+)\s*=", line):
                place = (number, inner.start(1) + 1, len(inner[1]))
                found.setdefault(f"{key}.{inner[1]}", place)
        while "." in key:  # a dotted key opens the tables around it
            key = key.rpartition(".")[0]
            found.setdefault(key, (number, entry.start(1) + 1, len(entry[1])))
    return found
