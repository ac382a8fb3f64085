"""What commands share: JSON, tables, files that appear whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
SCHEMA = 1


def json_option(function: F) -> F:
    """`--json`, for commands that list or print facts."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(function)


def print_json(facts: dict[str, Any]) -> None:
    """One object with a schema number on stdout."""
    click.echo(json.dumps({"schema": SCHEMA, **facts}, indent=1, ensure_ascii=False, allow_nan=False))


def say(words: str) -> None:
    """Words for people, on stderr."""
    click.echo(words, err=True)


def colored(stream: IO[str] | None = None) -> bool:
    """Whether colour is welcome: on a terminal, unless NO_COLOR is set."""
    stream = stream or sys.stdout
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def unicode_fits(stream: IO[str] | None = None) -> bool:
    """Whether the stream's encoding has the characters of bars."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "ascii"
    try:
        "▁█".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def terminal_width(most: int = 120) -> int:
    """Columns to use: the terminal's, 100 when there is none."""
    return max(60, min(most, shutil.get_terminal_size((100, 24)).columns))


def print_table(rows: Iterable[Sequence[str]], indent: int = 0) -> None:
    """Columns as wide as they need to be; the last one runs on."""
    kept = [list(row) for row in rows]
    if not kept:
        return
    widths = [max(len(row[i]) for row in kept) for i in range(len(kept[0]) - 1)]
    for row in kept:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo((" " * indent + "  ".join([*cells, row[-1]])).rstrip())


def write_whole(path: Path, write: Callable[[IO[bytes]], None]) -> int:
    """Write a file so that it appears whole or not at all; its size in bytes."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            write(file)
        temporary.replace(path)
    except OSError as error:
        if error.filename == str(temporary):  # the name that the user gave, not ours
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        temporary.unlink(missing_ok=True)
    return path.stat().st_size


def split_setting(text: str, option: str) -> tuple[str, str]:
    """`NAME=VALUE` in two; raises a usage error otherwise."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise click.UsageError(f"{option} {text}: write NAME=VALUE")
    return name.strip(), value.strip()
