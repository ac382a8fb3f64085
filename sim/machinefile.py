"""Machine files: TOML in, a validated specification out, with the origin of every value.

A value is written `key = [value, "origin", "source"]`; origin is one of ORIGINS, a published value
names its source. `base = "h200"` takes everything that is not said from another machine. All
errors of a file come at once, each with its line, its key path and the nearest name that exists.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from ..isa.errors import InputError, MachineError
from ..isa.parse_report import did_you_mean
from .machine_checks import contradictions
from .machine_report import Report
from .spec import TIMING_CLASSES, MachineSpec, Section, TimingClass

FOLDER = Path(__file__).resolve().parent / "machines"
ORIGINS = ("measured", "published", "computed", "guess")
PLAIN = ("name", "title")  # keys that are words of the file, not values of the machine
FORM = 'a value is written [value, "origin", "source"]'


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


@dataclass
class _Draft:
    """Values as nested tables, the origin of each leaf, and the report of the file that says it."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    reports: dict[str, Report] = field(default_factory=dict)
    complete: bool = True  # no base is missing


def names() -> list[str]:
    """The machines that are shipped."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str, settings: Sequence[str] = ()) -> Machine:
    """The machine of a shipped name or a file, with overrides such as `l1.ways=8`.

    Raises MachineError with every error of the file and its bases; InputError for a machine that
    does not exist, and for overrides that are unknown or impossible.
    """
    path = find(name)
    draft, reports = _collect(path, ())
    # Without its base a file lacks nearly everything, which nobody wants to be told.
    spec = _validate(draft, reports[0]) if draft.complete else None
    problems = [problem for report in reports for problem in report.rendered()]
    if problems or spec is None:
        shown = problems[:20] + ([f"({len(problems) - 20} more errors)"] if len(problems) > 20 else [])
        raise MachineError("\n".join(shown))
    if settings:
        spec = _override(draft, settings)
    return Machine(spec, draft.origins, path)


def find(name: str, beside: Path | None = None) -> Path:
    """The file of a machine: a path (from the folder `beside` or the current one), or a shipped name."""
    path = Path(name) if beside is None else beside / name
    if not name.endswith(".toml") and len(Path(name).parts) == 1:
        shipped = FOLDER / f"{name}.toml"
        if shipped.is_file():
            return shipped
    if path.is_file():
        return path
    if name.endswith(".toml") or len(Path(name).parts) > 1:
        raise InputError(f"there is no machine file {name}")
    hint = did_you_mean(name, names()) or f"there are {', '.join(names())}"
    raise InputError(f"there is no machine {name!r}", hint=hint)


def known_keys() -> list[str]:
    """Every key path that a machine file can hold, in the specification's order."""
    return list(_fields())


def describe(key: str) -> str:
    """The sentence that the specification has for a key."""
    return _fields()[key].description or ""


def value_of(spec: MachineSpec, key: str) -> Any:
    """The value at a key path."""
    section, *rest = key.split(".")
    found = getattr(spec, section)
    if section == "timing":
        found = found[rest.pop(0)]
    return getattr(found, rest[0])


def _fields() -> dict[str, FieldInfo]:
    """The specification's leaves by key path."""
    found: dict[str, FieldInfo] = {}
    for section, info in MachineSpec.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, Section):
            found |= {f"{section}.{name}": leaf for name, leaf in model.model_fields.items()}
        elif section == "timing":
            for name in TIMING_CLASSES:
                found |= {f"timing.{name}.{key}": leaf for key, leaf in TimingClass.model_fields.items()}
    return found


def _collect(path: Path, seen: tuple[Path, ...]) -> tuple[_Draft, list[Report]]:
    """The values of a file over those of its bases, and one report a file, this file's first."""
    report = Report(path)
    raw = report.parse()
    draft, reports = _Draft(), [report]
    base = raw.pop("base", None)
    parent = _parent(base, path, seen, report)
    draft.complete = base is None
    if parent is not None:
        draft, more = _collect(parent, (*seen, path.resolve()))
        reports += more
    for key, leaf in _leaves(raw):
        draft.reports[key] = report
        if key in PLAIN:
            draft.values[key] = leaf
        else:
            _enter(draft, key, leaf, report)
    return draft, reports


def _parent(base: Any, path: Path, seen: tuple[Path, ...], report: Report) -> Path | None:
    """The file of a base, or None when there is none or after reporting what is wrong with it."""
    if base is None:
        return None
    if not isinstance(base, str):
        report.add("base", "should be a machine's name or file")
        return None
    try:
        parent = find(base, path.parent)
    except InputError as error:
        report.add("base", error.message, error.hint)
        return None
    if parent.resolve() in (*seen, path.resolve()):
        report.add("base", f"{base} is a base of itself")
        return None
    return parent


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _enter(draft: _Draft, key: str, leaf: Any, report: Report) -> None:
    """Take one `[value, origin, source]`; says what is wrong with its form or its name."""
    if key not in _fields():
        if not _unknown_class(key, report):
            report.add(key, "there is no such value", did_you_mean(key, [*_fields(), *PLAIN, "base"]))
        return
    if not isinstance(leaf, list) or not 2 <= len(leaf) <= 3 or not isinstance(leaf[1], str):
        report.add(key, FORM, f"origins: {', '.join(ORIGINS)}")
        draft.origins[key] = Origin("")
        return
    value, word, source = leaf[0], leaf[1], leaf[2] if len(leaf) > 2 else ""
    if word not in ORIGINS:
        hint = did_you_mean(word, ORIGINS) or f"origins: {', '.join(ORIGINS)}"
        report.add(key, f"there is no origin {word!r}", hint)
    elif word == "published" and not source:
        report.add(key, "a published value names its source")
    put(draft.values, key, tuple(value) if isinstance(value, list) else value)
    draft.origins[key] = Origin(word, str(source))


def _unknown_class(key: str, report: Report) -> bool:
    """Report a timing class that does not exist, once."""
    parts = key.split(".")
    if parts[0] != "timing" or len(parts) != 3 or parts[1] in TIMING_CLASSES:
        return False
    name = f"timing.{parts[1]}"
    report.add(name, "there is no such timing class", did_you_mean(parts[1], TIMING_CLASSES), once=True)
    return True


def put(values: dict[str, Any], key: str, value: Any) -> None:
    """Set a leaf of nested tables."""
    *sections, leaf = key.split(".")
    for section in sections:
        values = values.setdefault(section, {})
    values[leaf] = value


def _validate(draft: _Draft, report: Report) -> MachineSpec | None:
    """The specification, or None after adding every error to the reports; `report` is the file's own."""
    values = draft.values
    timing = values.setdefault("timing", {})
    missing = [name for name in TIMING_CLASSES if name not in timing]
    if missing:
        report.add("timing", f"without {', '.join(missing)}")
    try:
        spec = MachineSpec.model_validate(values, strict=True)
    except ValidationError as error:
        for key, message, hint in _explain(error, draft):
            draft.reports.get(key, report).add(key, message, hint)
        return None
    for key, message in contradictions(spec):
        draft.reports.get(key, report).add(key, message)
    return spec


def _explain(error: ValidationError, draft: _Draft) -> Iterator[tuple[str, str, str]]:
    """Key, sentence and hint of each of pydantic's findings; what is reported already is left out."""
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"] if not isinstance(part, int))
        if key in draft.origins and draft.origins[key].word not in (*ORIGINS, "set"):
            continue
        if problem["type"] == "missing":
            yield key, "is missing", ""
        elif problem["type"] == "value_error":
            yield key, problem["msg"].removeprefix("Value error, "), ""
        else:
            wanted = problem["msg"].removeprefix("Input should be ")
            words = re.findall(r"'(\w+)'", wanted) if problem["type"] == "literal_error" else []
            hint = did_you_mean(str(problem["input"]), words)
            yield key, f"should be {wanted}, not {problem['input']!r}", hint


def _override(draft: _Draft, settings: Sequence[str]) -> MachineSpec:
    """The specification with settings of the form `key=value`; raises InputError."""
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        if not equals:
            raise InputError(f"{setting!r} is no setting", hint="write key=value, such as l1.ways=8")
        if key not in _fields():
            hint = did_you_mean(key, _fields()) or "`tinygpu machine show NAME` lists the values"
            raise InputError(f"the machine has no {key}", hint=hint)
        put(draft.values, key, _literal(text))
        draft.origins[key] = Origin("set", "given for this run")
    try:
        spec = MachineSpec.model_validate(draft.values, strict=True)
    except ValidationError as error:
        found = list(_explain(error, draft))
        hint = next((hint for _, _, hint in found if hint), "")
        raise InputError("\n".join(f"{key}: {message}" for key, message, _ in found), hint=hint) from None
    problems = contradictions(spec)
    if problems:
        raise InputError("\n".join(f"{key}: {message}" for key, message in problems))
    return spec


def _literal(text: str) -> Any:
    """A value as TOML would have it; a word needs no quotes."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text
    return tuple(value) if isinstance(value, list) else value
