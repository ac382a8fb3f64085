"""The trace file: round trip, one byte image a trace, whole or not at all, and words for what is no trace."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from synthetic import busy_trace, events, meta

from tinygpu.isa.errors import InputError
from tinygpu.isa.program import Instruction, Program, SourceLine
from tinygpu.isa.table import opcode
from tinygpu.sim import tracefile
from tinygpu.sim.state import EVENT, MEMORY_EVENT, STATES
from tinygpu.sim.tracefile import TraceData


def small() -> TraceData:
    table = events([(0, 3, "wait", 0), (0, 1, "selected", 0), (5, 7, "long_scoreboard", 1)], sm=2, block=9)
    memory = np.zeros(1, MEMORY_EVENT)
    memory["issued"], memory["completed"], memory["sectors"], memory["level"] = 4, 300, 4, 2
    return TraceData(table, memory, meta(cycles=400, dropped=2))


def test_round_trip_keeps_every_value(tmp_path: Path) -> None:
    trace = small()
    size = tracefile.save(trace, tmp_path / "a.npz")
    assert size == (tmp_path / "a.npz").stat().st_size
    back = tracefile.load(tmp_path / "a.npz")
    assert back.events.dtype == EVENT and np.array_equal(back.events, trace.events)
    assert back.memory.dtype == MEMORY_EVENT and np.array_equal(back.memory, trace.memory)
    assert back.meta == trace.meta


def test_properties_say_what_the_trace_covers() -> None:
    trace = small()
    assert (trace.program, trace.machine, trace.subcores, trace.dropped) == ("demo", "tiny", 4, 2)
    assert trace.window == (0, 7)
    assert trace.sms == [2]
    assert trace.states == STATES
    assert trace.listing[4]["text"] == "fma.f32"


def test_a_trace_without_meta_reads_as_defaults() -> None:
    trace = TraceData(np.zeros(0, EVENT))
    assert (trace.program, trace.machine, trace.subcores, trace.dropped) == ("", "", 4, 0)
    assert trace.window == (0, 0) and trace.sms == [] and trace.listing == []


def test_same_trace_same_bytes(tmp_path: Path) -> None:
    tracefile.save(small(), tmp_path / "a.npz")
    tracefile.save(small(), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_size_stays_within_the_estimate_and_far_below_it(tmp_path: Path) -> None:
    trace = busy_trace(warps=32, cycles=20000)
    size = tracefile.save(trace, tmp_path / "a.npz")
    bound = tracefile.estimate_bytes(len(trace.events), 0)
    assert bound == len(trace.events) * 28 + 65536
    assert size < bound / 4


def test_a_failed_write_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.npz"
    tracefile.save(small(), target)
    before = target.read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(tracefile.np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        tracefile.save(small(), target)
    assert target.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]


def header(schema: object, kind: str = tracefile.KIND) -> np.ndarray:
    return np.frombuffer(json.dumps({"kind": kind, "schema": schema, "meta": {}}).encode(), np.uint8)


def columns(**replace: np.ndarray) -> dict[str, np.ndarray]:
    made = {"header": header(1)}
    for table, dtype in tracefile.TABLES.items():
        made |= {f"{table}.{name}": np.zeros(2, dtype[name]) for name in dtype.names or ()}
    return made | {key.replace("__", "."): value for key, value in replace.items()}


def load_columns(tmp_path: Path, made: dict[str, np.ndarray]) -> TraceData:
    np.savez(tmp_path / "x.npz", **made)
    return tracefile.load(tmp_path / "x.npz")


def test_columns_of_the_test_itself_load(tmp_path: Path) -> None:
    assert len(load_columns(tmp_path, columns()).events) == 2


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"a": np.zeros(3)}, "it has no header"),
        ({"header": header(1, "other")}, "its header is of something else"),
        ({"header": np.frombuffer(b"{", np.uint8)}, "it is damaged"),
        ({"header": header(99)}, "trace of schema 99, this version reads 1"),
        ({"header": header(1)}, "it lacks the column events.start"),
        (columns(events__pc=np.zeros(3, "i4")), "the columns of events differ in length"),
        (columns(events__pc=np.zeros(2, "f8")), "column events.pc is float64, not int32"),
    ],
)
def test_what_is_no_trace_is_named(tmp_path: Path, made: dict[str, np.ndarray], words: str) -> None:
    with pytest.raises(InputError) as caught:
        load_columns(tmp_path, made)
    assert words in caught.value.message
    assert str(tmp_path / "x.npz") in caught.value.message
    assert "--trace" in caught.value.hint


def test_text_and_cut_off_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_text("hello")
    with pytest.raises(InputError, match=r"not an \.npz file"):
        tracefile.load(tmp_path / "a.npz")
    tracefile.save(small(), tmp_path / "b.npz")
    (tmp_path / "b.npz").write_bytes((tmp_path / "b.npz").read_bytes()[:-200])
    with pytest.raises(InputError, match="cut off or damaged"):
        tracefile.load(tmp_path / "b.npz")
    with pytest.raises(FileNotFoundError):
        tracefile.load(tmp_path / "absent.npz")


def test_damage_inside_a_column_is_named(tmp_path: Path) -> None:
    tracefile.save(busy_trace(warps=4, cycles=2000), tmp_path / "a.npz")
    raw = bytearray((tmp_path / "a.npz").read_bytes())
    middle = raw.index(b"events.start.npy") + 60
    raw[middle : middle + 40] = bytes(40)
    (tmp_path / "a.npz").write_bytes(raw)
    with pytest.raises(InputError, match="not a trace"):
        tracefile.load(tmp_path / "a.npz")


def test_listing_names_every_instruction_with_its_line() -> None:
    place = SourceLine("/somewhere/else/demo.s", 3, 5, "    fma.f32 d, a, b, c\n")
    fma, leave = opcode("fma.f32"), opcode("exit")
    assert fma is not None and leave is not None
    program = Program("demo", (Instruction(fma, source_line=place), Instruction(leave)))
    assert tracefile.listing(program) == [
        {"text": "fma.f32", "timing": "fp32", "file": "demo.s", "line": 3, "source": "fma.f32 d, a, b, c"},
        {"text": "exit", "timing": leave.timing, "file": "", "line": 0, "source": ""},
    ]
