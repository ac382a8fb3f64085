"""The laws themselves: a sound run keeps them on any machine, and each kind of broken book is found out."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest
from generator import generate
from helpers.bench import bench
from helpers.launch import Outcome, prepare, run
from helpers.laws import assert_idle, assert_laws
from helpers.variants import variant
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.sim.engine import RawRun
from tinygpu.sim.spec import MachineSpec
from tinygpu.sim.state import SELECTED, STATES
from tinygpu.sim.tracefile import TraceData

BUSY = """
    .kernel busy(A: ptr.u32, B: ptr.u32)
    .shared s: u32[1024]
    .arg A = arange(4096), B = zeros(4096)
    .launch grid = 6, block = 160
    mov.u32 t, %tid.x
    mov.u32 b, %ctaid.x
    mad.lo.u32 i, b, 160, t
    mad.wide.u32 p, i, 4, A
    mad.wide.u32 q, i, 4, B
    shl.b32 o, t, 3
    and.b32 o, o, 4095
    ld.global.u32 x, [p]
    st.shared.u32 [s + o], x
    bar.sync 0
    red.shared.add.u32 [s + o], 1
    ld.shared.u32 y, [s + o]
    setp.lt.u32 low, t, 50
    @low bra skip
    rcp.approx.f32 z, 2.0
    add.u32 y, y, t
    skip: red.global.add.u32 [B], y
    st.global.u32 [q + 4], y
    exit"""


@pytest.fixture(scope="module")
def sound() -> Outcome:
    return run(BUSY, bench({"sm.warps": 16, "sm.blocks": 4}))


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40))
@settings(max_examples=25, deadline=None)
def test_any_program_on_any_machine_keeps_the_laws(program: int, machine: int) -> None:
    run(prepare(generate(program, 15).text), variant(machine))  # `run` holds it against the laws


Break = Callable[[RawRun, TraceData], None]


def counter(name: str, change: int = 1) -> Break:
    def break_it(raw: RawRun, trace: TraceData) -> None:
        books = raw.counters if name in raw.counters else raw.device_counters
        books[name] += change

    return break_it


def profiled(name: str) -> Break:
    def break_it(raw: RawRun, trace: TraceData) -> None:
        raw.profile[name][int(np.argmax(raw.profile[name]))] += 1

    return break_it


def stalled(raw: RawRun, trace: TraceData) -> None:
    raw.profile["stall"][3, STATES.index("wait")] += 1


def event(column: str, change: int, row: int) -> Break:
    def break_it(raw: RawRun, trace: TraceData) -> None:
        trace.events[column][row] += change

    return break_it


def misnamed(raw: RawRun, trace: TraceData) -> None:
    waits = np.flatnonzero(trace.events["state"] == STATES.index("wait"))
    trace.events["state"][waits[0]] = STATES.index("barrier")


def issued_twice(raw: RawRun, trace: TraceData) -> None:
    """A warp of the same scheduler issues in the cycle of another: two neighbours in time are exchanged."""
    events = trace.events
    for index in np.flatnonzero(events["state"] == SELECTED):
        same = (events["sm"] == events["sm"][index]) & (events["warp"] % 4 == events["warp"][index] % 4)
        inside = same & (events["warp"] != events["warp"][index]) & (events["state"] != SELECTED)
        inside &= (events["start"] == events["start"][index]) & (events["cycles"] == 1)
        if inside.any():
            events["state"][np.flatnonzero(inside)[0]] = SELECTED
            return
    raise AssertionError("the run has no such place")


def memory(column: str, change: int) -> Break:
    def break_it(raw: RawRun, trace: TraceData) -> None:
        rows = trace.memory
        rows[column][int(np.argmax(rows["dispatched"] - rows["issued"]))] += change

    return break_it


def faster_than_light(raw: RawRun, trace: TraceData) -> None:
    away = trace.memory["level"] > 1
    trace.memory["completed"][away] = trace.memory["issued"][away] + 99  # 20 + 50 + 30 cycles at least


def forgotten(raw: RawRun, trace: TraceData) -> None:
    trace.meta["dropped"] = 3


def too_fast(raw: RawRun, trace: TraceData) -> None:
    raw.cycles = 151


BROKEN: dict[str, Break] = {
    "a counter of issues": counter("warp_instructions"),
    "a counter of lanes": counter("thread_instructions", -1),
    "a scheduler's count": lambda raw, trace: raw.schedulers.update(issued=raw.schedulers["issued"] + 1),
    "scheduler cycles lost": lambda raw, trace: raw.schedulers.update(empty=raw.schedulers["empty"] - 1),
    "an access that is neither hit nor miss": counter("l1_accesses"),
    "a hit too many": counter("l1_hits"),
    "a request without an answer": counter("l2_requests"),
    "a sector that L2 never saw": counter("l2_read_sectors"),
    "a write that L2 never saw": counter("l2_write_sectors"),
    "an atomic that L2 never saw": counter("l2_atomics"),
    "an L2 access without a fate": counter("l2_misses"),
    "a burst without a row": counter("dram_read_bursts"),
    "a negative counter": counter("branches", -1000),
    "a conflict nobody had": counter("shared_load_conflicts"),
    "a request of no instruction": counter("global_load_requests"),
    "sectors of no request": profiled("sectors"),
    "an issue of the profile": profiled("issued"),
    "a stall of the profile": stalled,
    "a block that never was": counter("blocks"),
    "a cycle booked twice": event("cycles", 1, 40),
    "a cycle not booked": event("start", 1, 0),
    "a wait by another name": misnamed,
    "two issues in a cycle": issued_twice,
    "a warp in another slot": event("warp", 1, 60),
    "a memory instruction handed over early": memory("dispatched", -60),
    "a memory instruction issued into a full queue": memory("issued", -60),
    "a queue out of order": memory("dispatched", 60),
    "an answer without a way to L2": faster_than_light,
    "an incomplete trace": forgotten,
    "a run shorter than its work": too_fast,
}


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_a_broken_book_is_found_out(name: str, sound: Outcome) -> None:
    raw, trace = copy.deepcopy(sound.raw), copy.deepcopy(sound.trace)
    assert_laws(raw, trace, sound.spec)
    BROKEN[name](raw, trace)
    with pytest.raises(AssertionError):
        assert_laws(raw, trace, sound.spec)


@pytest.mark.parametrize("name", ["memop_count", "mshr_count", "requests_out", "outbox_count", "inbox_count"])
def test_what_is_left_behind_is_found_out(name: str) -> None:
    outcome = run("exit")
    outcome.host.state.sms[name][1] = 1
    with pytest.raises(AssertionError, match=name):
        assert_idle(outcome.host)


def machines() -> list[MachineSpec]:
    return [bench(), bench({"sm.subcores": 1, "issue.scheduler": "lrr"}), bench({"device.sms": 3})]


@pytest.mark.parametrize("spec", machines())
def test_a_busy_program_leaves_nothing_unexplained(spec: MachineSpec, sound: Outcome) -> None:
    """The stall stack sums to the lives of the warps, which the schedulers' books bound."""
    outcome = run(BUSY, spec)
    stack = outcome.raw.profile["stall"].sum(axis=0)
    life = int(outcome.trace.events["cycles"].sum())
    assert int(stack.sum()) == life
    assert outcome.raw.schedulers["issued"] + outcome.raw.schedulers["stalled"] <= life
    assert outcome.counters["warp_instructions"] == sound.counters["warp_instructions"]
