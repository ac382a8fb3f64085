"""Machine files: TOML in, a validated specification out, with the origin of every value.

A value is written `key = [value, "origin", "source"]`; origin is one of ORIGINS, a published value
names its source. `base = "h200"` takes everything that is not said from another machine. All
errors of a file come at once, each with its line, its key path and the nearest name that exists.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..isa.errors import Diagnostic, InputError, MachineError
from .spec import TIMING_CLASSES, MachineSpec, Section, TimingClass

FOLDER = Path(__file__).resolve().parent / "machines"
ORIGINS = ("measured", "published", "computed", "guess")
PLAIN = ("name", "title", "base")  # keys that are words of the file, not values of the machine


@dataclass(frozen=True)
class Origin:
    """Where a value comes from: a word of ORIGINS (or "set" for an override), and its source."""

    word: str
    source: str = ""


@dataclass(frozen=True)
class Machine:
    """A specification with the origin of each leaf, by key path such as `l1.hit_cycles`."""

    spec: MachineSpec
    origins: Mapping[str, Origin]
    path: Path


def names() -> list[str]:
    """The machines that are shipped."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str, settings: Sequence[str] = ()) -> Machine:
    """The machine of a shipped name or a file, with overrides such as `l1.ways=8`.

    Raises MachineError with every error of the file, InputError for a name or override that does
    not exist.
    """
    path = find(name)
    report = _Report(path)
    values, origins = _collect(path, report, ())
    for setting in settings:
        _override(values, origins, setting)
    spec = _validate(values, report)
    report.finish()
    assert spec is not None
    return Machine(spec, origins, path)


def find(name: str) -> Path:
    """The file of a machine: a path, or a shipped name."""
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        if not path.is_file():
            raise InputError(f"there is no machine file {name}")
        return path
    shipped = FOLDER / f"{name}.toml"
    if not shipped.exists():
        close = difflib.get_close_matches(name, names(), n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names())}"
        raise InputError(f"there is no machine {name!r}", hint=hint)
    return shipped


class _Report:
    """The errors of one file, each at the line of its key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.found: list[Diagnostic] = []

    def add(self, key: str, message: str, hint: str = "") -> None:
        line, column, text = _line_of(self.text, key)
        self.found.append(
            Diagnostic(str(self.path), line, column, f"{key}: {message}", text, len(key.split(".")[-1]), hint)
        )

    def finish(self) -> None:
        if self.found:
            ordered = sorted(self.found, key=lambda d: (d.line, d.message))
            rows = [d.render() for d in ordered[:20]]
            if len(ordered) > 20:
                rows.append(f"({len(ordered) - 20} more errors)")
            raise MachineError("\n".join(rows))


def _line_of(text: str, key: str) -> tuple[int, int, str]:
    """Line, column and text of a key path in a file; its section's header when the key is missing."""
    *section, leaf = key.split(".")
    current, header = [""], (1, 1, "")
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            current = stripped.split("]")[0].strip("[] ").split(".")
            if current == section or current == key.split("."):
                header = (number, line.index("[") + 2, line)
        inside = current == section or (current == [""] and not section)
        word = stripped.split("=")[0].strip()
        if "=" in stripped and (
            (inside and word == leaf) or word == key or ".".join([*current, word]) == key
        ):
            return number, line.index(word) + 1, line
    return header


def _collect(path: Path, report: _Report, seen: tuple[Path, ...]) -> tuple[dict[str, Any], dict[str, Origin]]:
    """Values and origins of a file over those of its base."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise MachineError(f"{path}: error: this is not TOML: {error}") from None
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    base = raw.pop("base", None)
    if base is not None:
        parent = find(str(base))
        if parent in seen or parent == path:
            raise MachineError(f"{path}: error: base: {base} is a base of itself")
        values, origins = _collect(parent, _Report(parent), (*seen, path))
    for key, leaf in _leaves(raw):
        if key in PLAIN:
            values[key] = leaf
        else:
            _enter(values, origins, key, leaf, report)
    return values, origins


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _enter(values: dict[str, Any], origins: dict[str, Origin], key: str, leaf: Any, report: _Report) -> None:
    """Take one `[value, origin, source]`; says what is wrong with its form."""
    if not isinstance(leaf, list) or len(leaf) < 2 or leaf[1] not in ORIGINS:
        report.add(key, 'a value is written [value, "origin", "source"]', f"origins: {', '.join(ORIGINS)}")
        return
    value, word, source = leaf[0], leaf[1], leaf[2] if len(leaf) > 2 else ""
    if word == "published" and not source:
        report.add(key, "a published value names its source")
    _put(values, key, value)
    origins[key] = Origin(word, str(source))


def _put(values: dict[str, Any], key: str, value: Any) -> None:
    *sections, leaf = key.split(".")
    for section in sections:
        values = values.setdefault(section, {})
    values[leaf] = value


def known_keys() -> list[str]:
    """Every key path that a machine file can hold."""
    keys: list[str] = []
    for section, info in MachineSpec.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, Section):
            keys += [f"{section}.{name}" for name in model.model_fields]
    for name in TIMING_CLASSES:
        keys += [f"timing.{name}.{field}" for field in TimingClass.model_fields]
    return keys


def describe(key: str) -> str:
    """The sentence that the specification has for a key."""
    section, *rest = key.split(".")
    if section == "timing":
        return TimingClass.model_fields[rest[-1]].description or ""
    model = MachineSpec.model_fields[section].annotation
    assert isinstance(model, type) and issubclass(model, Section)
    return model.model_fields[rest[0]].description or ""


def _override(values: dict[str, Any], origins: dict[str, Origin], setting: str) -> None:
    key, equals, text = setting.partition("=")
    key = key.strip()
    if not equals:
        raise InputError(f"{setting!r} is no setting", hint="write key=value, such as l1.ways=8")
    if key not in known_keys():
        close = difflib.get_close_matches(key, known_keys(), n=1)
        raise InputError(
            f"the machine has no {key!r}", hint=f"did you mean {close[0]}?" if close else "see: machine show"
        )
    _put(values, key, text.strip())
    origins[key] = Origin("set", "given on the command line or by the program")


def _validate(values: dict[str, Any], report: _Report) -> MachineSpec | None:
    """The specification, or None after adding every error to the report."""
    timing = values.setdefault("timing", {})
    for name in TIMING_CLASSES:
        if name not in timing:
            report.add("timing", f"the class {name} is missing")
    for name in timing:
        if name not in TIMING_CLASSES:
            close = difflib.get_close_matches(name, TIMING_CLASSES, n=1)
            hint = f"did you mean {close[0]}?" if close else ""
            report.add(f"timing.{name}", "there is no such timing class", hint)
    try:
        return MachineSpec.model_validate(values)
    except ValidationError as error:
        for problem in error.errors():
            _explain(report, problem)
    return None


def _explain(report: _Report, problem: Any) -> None:
    """One finding of pydantic in our words."""
    key = ".".join(str(part) for part in problem["loc"] if not isinstance(part, int))
    if problem["type"] == "extra_forbidden":
        close = difflib.get_close_matches(key, known_keys(), n=1)
        report.add(key, "there is no such value", f"did you mean {close[0]}?" if close else "")
    elif problem["type"] == "missing":
        report.add(key, "is missing")
    else:
        text = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
        given = "" if isinstance(problem["input"], dict) else f" (it is {problem['input']!r})"
        report.add(
            key or "machine", f"should be {text}{given}" if "should" in problem["msg"] else text + given
        )
