"""Records of measurements: what is in one, written whole, read back checked, and looked up by name and label.

A record is one JSON object:

| key | what |
|---|---|
| `schema` | 1 |
| `date`, `device`, `versions` | when, which GPU and driver, which packages and tools |
| `clocks` | group -> SM and memory clock in MHz before and after it |
| `experiments` | name -> group, kind, body, digest of its instructions, registers, counts, points |
| `special` | placement, launches, walks, single lines, number of values checked |
| `counters` | `shared`, `global`: counts of single accesses; `launch`: empty kernels |
| `failures` | what could not be measured, and why |

A point holds its label (warps, pattern, ...) and a result: `median`, `low`, `high`, `n`, or `stamps`,
`lanes`, `begin` and `end` by the kind of its experiment (see `experiment.Experiment`). Times are SM cycles.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tinygpu.isa.errors import InputError

SCHEMA = 1
RESULTS = {
    "latency": ("median", "low", "high", "n"),
    "slope": ("median", "low", "high", "n", "base"),
    "stamps": ("stamps",),
    "lanes": ("lanes",),
    "warps": ("begin", "end"),
}
"""Keys of a point's result by the kind of its experiment."""

_KEYS = ("schema", "date", "device", "versions", "clocks", "experiments", "special", "failures")
_EXPERIMENT_KEYS = ("group", "kind", "body", "digest", "registers", "counts", "points")
FOLDER = Path(__file__).resolve().parent.parent / "records"


@dataclass(frozen=True, slots=True)
class Record:
    """A checked record; `data` is the JSON object."""

    data: dict[str, Any]

    def experiment(self, name: str) -> dict[str, Any]:
        """One experiment's object; InputError with the nearest name when there is none."""
        found: dict[str, Any] | None = self.data["experiments"].get(name)
        if found is None:
            hint = _near(name, self.data["experiments"])
            raise InputError(f"the record has no experiment {name!r}", hint=hint)
        return found

    def points(self, name: str) -> list[dict[str, Any]]:
        """The points of one experiment."""
        rows: list[dict[str, Any]] = self.experiment(name)["points"]
        return rows

    def value(self, name: str, **label: Any) -> float:
        """The median of the one point with this label, in cycles; InputError when it is not one."""
        rows = [p for p in self.points(name) if all(p.get(k) == v for k, v in label.items())]
        if len(rows) != 1:
            raise InputError(f"{len(rows)} points of {name!r} match {label}")
        return float(rows[0]["median"])

    def per_operation(self, name: str) -> list[tuple[dict[str, Any], float]]:
        """Label of each point, and its median; for a slope, divided by the operations of an iteration."""
        experiment = self.experiment(name)
        count = experiment["counts"][-1] if experiment["kind"] == "slope" else 1
        results = RESULTS[experiment["kind"]]
        rows = experiment["points"]
        return [({k: v for k, v in p.items() if k not in results}, p["median"] / count) for p in rows]

    def counts(self, group: str) -> list[dict[str, Any]]:
        """Hardware counts of single accesses, `shared` or `global`; empty where they were not measured."""
        rows: list[dict[str, Any]] = self.data.get("counters", {}).get(group, [])
        return rows


def _near(name: str, names: dict[str, Any]) -> str:
    found = difflib.get_close_matches(name, list(names), n=1)
    return f"did you mean {found[0]}?" if found else ""


def problems(data: Any) -> list[str]:
    """What is wrong with a record, in words; empty when it is sound."""
    if not isinstance(data, dict):
        return ["a record is a JSON object"]
    found = [f"no {key!r}" for key in _KEYS if key not in data]
    if found:
        return found
    if data["schema"] != SCHEMA:
        return [f"schema {data['schema']!r}, expected {SCHEMA}"]
    for name, experiment in data["experiments"].items():
        found += [f"{name}: no {key!r}" for key in _EXPERIMENT_KEYS if key not in experiment]
        if experiment.get("kind") not in RESULTS:
            found.append(f"{name}: kind {experiment.get('kind')!r} is unknown")
            continue
        wanted = RESULTS[experiment["kind"]]
        for index, point in enumerate(experiment.get("points", [])):
            found += [f"{name}: point {index} has no {key!r}" for key in wanted if key not in point]
            if "median" in point and not point["low"] <= point["median"] <= point["high"]:
                found.append(f"{name}: point {index}: the median lies outside its interval")
    return found


def load(source: str | Path) -> Record:
    """The record of a file, or a shipped one by its name (`h200`); InputError names every problem."""
    path = Path(source)
    if not path.exists() and (FOLDER / f"{source}.json").exists():
        path = FOLDER / f"{source}.json"
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        shipped = ", ".join(sorted(p.stem for p in FOLDER.glob("*.json") if "_" not in p.stem))
        hint = f"shipped records: {shipped}"
        raise InputError(f"cannot read {path}: {error.strerror}", hint=hint) from error
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    found = problems(data)
    if found:
        more = f" ({len(found) - 20} more)" if len(found) > 20 else ""
        raise InputError(f"{path} is no sound record: " + "; ".join(found[:20]) + more)
    return Record(data)


def text(data: dict[str, Any]) -> str:
    """The record as JSON with one experiment, count or walk a line: two records can be compared by line."""
    lines = []
    for key, value in data.items():
        if key in ("experiments", "special") and value:
            rows = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in value.items()]
            lines.append(f"{json.dumps(key)}: {{\n  " + ",\n  ".join(rows) + "\n }")
        elif key == "counters":
            lines.append(f"{json.dumps(key)}: {{\n  " + ",\n  ".join(_counted(value)) + "\n }")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _counted(groups: dict[str, list[dict[str, Any]]]) -> list[str]:
    return [
        f"{json.dumps(name)}: [\n   " + ",\n   ".join(json.dumps(row) for row in rows) + "\n  ]"
        for name, rows in groups.items()
    ]


def write(data: dict[str, Any], target: Path) -> None:
    """Replaces `target` by the record, whole or not at all."""
    partial = target.with_suffix(".partial")
    partial.write_text(text(data), encoding="utf-8")
    partial.replace(target)
