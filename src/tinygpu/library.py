"""Finds programs: a file, or one of the programs that are shipped."""

from __future__ import annotations

import difflib
from pathlib import Path

from .isa.errors import InputError

SUFFIX = ".s"


def folder() -> Path:
    """Where the shipped programs lie."""
    return Path(__file__).resolve().parent / "programs"


def shipped() -> dict[str, Path]:
    """The shipped programs by name, in the order of their names."""
    found = {path.stem: path for path in folder().rglob(f"*{SUFFIX}")}
    return dict(sorted(found.items()))


def find(name: str) -> Path:
    """The file of a program: a path, or a shipped program's name with or without `.s`.

    A file of that name comes before a shipped program; a pipe such as /dev/stdin is a file too.
    Raises InputError with the nearest name.
    """
    path = Path(name)
    if path.is_file() or path.is_fifo() or path.is_char_device():
        return path
    plain = name.removesuffix(SUFFIX)
    known = shipped()
    if plain in known:
        return known[plain]
    inside = folder() / f"{plain}{SUFFIX}"
    if inside.is_file() and inside.resolve().is_relative_to(folder().resolve()):
        return inside
    if path.is_dir():
        raise InputError(f"{name} is a folder, not a program")
    raise InputError(f"there is no file and no shipped program {name}", hint=_hint(plain, known))


def _hint(name: str, known: dict[str, Path]) -> str:
    close = difflib.get_close_matches(Path(name).name, known, n=3)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return "`tinygpu programs` lists what is shipped"


def read(path: Path) -> str:
    """A program's text; raises InputError when it is no text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text in UTF-8: byte {error.start} is {error.reason}") from None


def title(path: Path) -> str:
    """The first sentence of a program's first comment, empty when it has none."""
    for line in read(path).splitlines():
        text = line.strip()
        if text.startswith("//"):
            words = text.lstrip("/ ").strip()
            if words:
                return words
        elif text:
            break
    return ""
