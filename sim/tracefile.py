"""The trace of a run as values, and the file that holds it: columns in an `.npz`, bounded and announced."""

from __future__ import annotations

import json
import secrets
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..isa.errors import InputError
from ..isa.program import Program
from .spec import MachineSpec
from .state import EVENT, MEMORY_EVENT, STATES

SCHEMA = 1
KIND = "tinygpu trace"
NO_STATE = 255  # in pictures: no warp is there
Array = np.ndarray[Any, Any]

# The tables of the file: name and record type.
TABLES: Mapping[str, np.dtype[Any]] = {"events": EVENT, "memory": MEMORY_EVENT}


@dataclass(frozen=True, slots=True)
class TraceData:
    """What every traced warp did, cycle by cycle.

    events: EVENT records, one for each stretch of a warp in one state; cycles count from the
        launch. memory: MEMORY_EVENT records, one for each memory instruction.
    meta: plain JSON values, see `describe`; a key that is missing there reads as its default.
    """

    events: Array
    memory: Array = field(default_factory=lambda: np.zeros(0, MEMORY_EVENT))
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def program(self) -> str:
        """Name of the kernel, empty when unknown."""
        return str(self.meta.get("program", ""))

    @property
    def machine(self) -> str:
        """Name of the machine, empty when unknown."""
        return str(self.meta.get("machine", ""))

    @property
    def subcores(self) -> int:
        """Sub-cores of an SM; the warp in slot w belongs to sub-core w mod subcores."""
        return max(1, int(self.meta.get("subcores", 4)))

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the states, in the order of their numbers."""
        return tuple(self.meta.get("states", STATES))

    @property
    def dropped(self) -> int:
        """Stretches that found no room; the trace ends early when it is not 0."""
        return int(self.meta.get("dropped", 0))

    @property
    def listing(self) -> list[dict[str, Any]]:
        """One entry an instruction: text, timing (class), file, line, source (the line's text)."""
        return list(self.meta.get("listing", ()))

    @property
    def window(self) -> tuple[int, int]:
        """First cycle and the one after the last that the events cover; (0, 0) without events."""
        if not len(self.events):
            return (0, 0)
        ends = self.events["start"] + self.events["cycles"]
        return int(self.events["start"].min()), int(ends.max())

    @property
    def sms(self) -> list[int]:
        """Numbers of the SMs that appear, ascending."""
        return [int(number) for number in np.unique(self.events["sm"])]


def listing(program: Program) -> list[dict[str, Any]]:
    """What a trace says of each instruction, so that it can be read without the program's file."""
    rows = []
    for instruction in program.instructions:
        place = instruction.source_line
        rows.append(
            {
                "text": instruction.opcode.name,
                "timing": instruction.opcode.timing,
                "file": Path(place.file).name if place else "",
                "line": place.line if place else 0,
                "source": place.text.strip() if place else "",
            }
        )
    return rows


def describe(
    program: Program,
    spec: MachineSpec,
    *,
    grid: Sequence[int],
    block: Sequence[int],
    cycles: int,
    dropped: int = 0,
) -> dict[str, Any]:
    """The `meta` of a run's trace: what ran, on what, for how long, and what is missing.

    cycles: of the whole run, which may be more than the traced window.
    """
    return {
        "program": program.name,
        "file": Path(program.file).name,
        "machine": spec.name,
        "clock_mhz": spec.device.clock_mhz,
        "device_sms": spec.device.sms,
        "subcores": spec.sm.subcores,
        "grid": list(grid),
        "block": list(block),
        "cycles": int(cycles),
        "dropped": int(dropped),
        "states": list(STATES),
        "listing": listing(program),
    }


def estimate_bytes(events: int, memory_events: int) -> int:
    """An upper bound of the file's size for that many records: what they take uncompressed."""
    columns = sum(TABLES["events"][name].itemsize for name in TABLES["events"].names or ())
    memory = sum(TABLES["memory"][name].itemsize for name in TABLES["memory"].names or ())
    return events * columns + memory_events * memory + 65536


def save(trace: TraceData, path: str | Path) -> int:
    """Write the trace to `path` and return the file's bytes; the same trace gives the same bytes.

    The file appears whole or not at all: it is written beside its place under another name.
    Raises OSError when the folder cannot be written.
    """
    path = Path(path)
    columns: dict[str, Array] = {}
    header = {"kind": KIND, "schema": SCHEMA, "meta": trace.meta}
    text = json.dumps(header, sort_keys=True, ensure_ascii=False)
    columns["header"] = np.frombuffer(text.encode(), np.uint8)
    for table, dtype in TABLES.items():
        records = getattr(trace, table)
        for name in dtype.names or ():
            columns[f"{table}.{name}"] = np.ascontiguousarray(records[name])
    return write_whole(path, lambda file: np.savez_compressed(file, allow_pickle=False, **columns))


def write_whole(path: Path, write: Callable[[IO[bytes]], None]) -> int:
    """Let `write` fill a file beside `path` and put it there in one step; its bytes.

    Raises OSError with the name that the user gave.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            write(file)
        temporary.replace(path)
    except OSError as error:
        if error.filename == str(temporary):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        temporary.unlink(missing_ok=True)
    return path.stat().st_size


def load(path: str | Path) -> TraceData:
    """Read a trace that `save` wrote.

    Raises InputError that says what is wrong with a file that is not a trace, is cut off, or
    was written by another version; OSError when it cannot be read at all.
    """
    path = Path(path)
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            raise _no_trace(path, "it is not an .npz file")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as columns:
                return _read(path, columns)
        except zipfile.BadZipFile as error:
            raise _no_trace(path, f"it is cut off or damaged ({error})") from None
        except (ValueError, EOFError, zipfile.zlib.error) as error:  # type: ignore[attr-defined]
            raise _no_trace(path, f"it is damaged ({error})") from None


def _no_trace(path: Path, why: str) -> InputError:
    return InputError(f"{path}: not a trace: {why}", hint="`tinygpu run PROGRAM --trace` writes traces")


def _read(path: Path, columns: Mapping[str, Array]) -> TraceData:
    if "header" not in columns:
        raise _no_trace(path, "it has no header")
    header = json.loads(columns["header"].tobytes().decode())
    if not isinstance(header, dict) or header.get("kind") != KIND:
        raise _no_trace(path, "its header is of something else")
    if header.get("schema") != SCHEMA:
        raise InputError(
            f"{path}: trace of schema {header.get('schema')}, this version reads {SCHEMA}",
            hint="run the program again with --trace",
        )
    tables = {name: _table(path, columns, name, dtype) for name, dtype in TABLES.items()}
    return TraceData(tables["events"], tables["memory"], header["meta"])


def _table(path: Path, columns: Mapping[str, Array], table: str, dtype: np.dtype[Any]) -> Array:
    names = dtype.names or ()
    missing = [f"{table}.{name}" for name in names if f"{table}.{name}" not in columns]
    if missing:
        raise _no_trace(path, f"it lacks the column {missing[0]}")
    read = {name: columns[f"{table}.{name}"] for name in names}
    lengths = {len(column) for column in read.values()}
    if len(lengths) != 1:
        raise _no_trace(path, f"the columns of {table} differ in length")
    records = np.zeros(lengths.pop(), dtype)
    for name, column in read.items():
        if column.dtype != dtype[name]:
            raise _no_trace(path, f"column {table}.{name} is {column.dtype}, not {dtype[name]}")
        records[name] = column
    return records
