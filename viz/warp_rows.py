"""A trace as a grid: one row a warp slot, one column a stretch of cycles, whatever the number of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..sim.tracefile import NO_STATE, TraceData

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, order=True)
class WarpRow:
    """A warp slot of an SM; the order is that of the picture."""

    sm: int
    subcore: int
    warp: int


def warp_rows(trace: TraceData, sms: Sequence[int] | None = None) -> list[WarpRow]:
    """The warp slots that appear (of the SMs given, all by default), by SM, sub-core and slot."""
    seen = np.unique(trace.events["sm"].astype(np.int64) * 256 + trace.events["warp"]).tolist()
    rows = [WarpRow(slot // 256, slot % 256 % trace.subcores, slot % 256) for slot in seen]
    return sorted(row for row in rows if sms is None or row.sm in sms)


def row_numbers(events: Array, rows: Sequence[WarpRow]) -> Array:
    """The place in `rows` of each event's warp slot, -1 for those that are not shown."""
    sms = int(events["sm"].max(initial=0)) + 1
    table = np.full((max(sms, *(row.sm + 1 for row in rows), 1), 256), -1, np.int64)
    for number, row in enumerate(rows):
        table[row.sm, row.warp] = number
    numbers: Array = table[events["sm"], events["warp"]]
    return numbers


def coverage(trace: TraceData, rows: Sequence[WarpRow], start: int, end: int, columns: int) -> Array:
    """Share of each column that a row's warp spends in each state; shape (rows, states, columns).

    Columns divide the cycles [start, end) evenly. The shares of a column sum to 1 where a warp
    is there all the time, and to less where none is.
    """
    events = trace.events
    number = row_numbers(events, rows)
    states = len(trace.states)
    shown = (number >= 0) & (events["start"] < end) & (events["start"] + events["cycles"] > start)
    events, number = events[shown], number[shown]
    lane = number * states + np.minimum(events["state"], states - 1)
    scale = columns / (end - start)
    first = np.clip((events["start"] - start) * scale, 0, columns)
    last = np.clip((events["start"] + events["cycles"] - start) * scale, 0, columns)
    # A stretch that begins within column k fills the rest of k and all of what follows, until
    # it ends: four steps of a running sum, and no loop over columns.
    size = columns + 2
    steps = np.zeros(len(rows) * states * size)
    for edge, sign in ((first, 1.0), (last, -1.0)):
        column = np.floor(edge).astype(np.int64)
        rest = edge - column
        place = lane * size + column
        steps += sign * np.bincount(place, 1.0 - rest, len(steps))
        steps += sign * np.bincount(place + 1, rest, len(steps))
    shares: Array = np.cumsum(steps.reshape(len(rows), states, size), axis=2)[:, :, :columns]
    return shares


def majority(shares: Array) -> Array:
    """The state that fills most of each cell, NO_STATE where mostly no warp is; (rows, columns) uint8.

    Of equal shares the state with the lower number wins, so the picture does not depend on
    rounding.
    """
    rounded = np.round(shares, 6)
    best: Array = np.argmax(rounded, axis=1).astype(np.uint8)
    best[rounded.sum(axis=1) < 0.5] = NO_STATE
    return best


def issue_share(trace: TraceData, shares: Array, rows: Sequence[WarpRow]) -> Array:
    """Share of the schedulers' issue slots used in each column, 0 to 1; shape (columns,)."""
    if "selected" not in trace.states or not rows:
        return np.zeros(shares.shape[2])
    schedulers = len({row.sm for row in rows}) * trace.subcores
    issued: Array = shares[:, trace.states.index("selected"), :].sum(axis=0)
    return np.clip(issued / schedulers, 0, 1)


def state_shares(trace: TraceData, shares: Array) -> list[tuple[str, float]]:
    """Each state's share of the warp-cycles in the grid, largest first, those that occur."""
    totals = shares.sum(axis=(0, 2))
    whole = totals.sum() or 1.0
    pairs = [(name, float(total / whole)) for name, total in zip(trace.states, totals, strict=True)]
    return sorted((p for p in pairs if p[1] > 1e-9), key=lambda pair: -pair[1])


@dataclass(frozen=True, slots=True)
class BlockSpan:
    """A block's stay on one warp slot, in cycles."""

    row: int
    block: int
    start: int
    end: int


def block_spans(trace: TraceData, rows: Sequence[WarpRow]) -> list[BlockSpan]:
    """Where each block begins and ends on each row, by row and time."""
    number = row_numbers(trace.events, rows)
    events, number = trace.events[number >= 0], number[number >= 0]
    if not len(events):
        return []
    order = np.lexsort((events["start"], number))
    events, number = events[order], number[order]
    change = np.ones(len(events), bool)
    change[1:] = (np.diff(number) != 0) | (np.diff(events["block"]) != 0)
    firsts = np.flatnonzero(change)
    lasts = np.append(firsts[1:], len(events)) - 1
    return [
        BlockSpan(int(number[a]), int(events["block"][a]), int(events["start"][a]),
                  int(events["start"][b] + events["cycles"][b]))
        for a, b in zip(firsts, lasts, strict=True)
    ]  # fmt: skip


def busiest_window(
    trace: TraceData, rows: Sequence[WarpRow], length: int, within: tuple[int, int] | None = None
) -> tuple[int, int]:
    """`length` cycles of the window `within` with the most issues of these rows; the earliest of equals."""
    start, end = within or trace.window
    if end - start <= length:
        return start, end
    number = row_numbers(trace.events, rows)
    selected = trace.states.index("selected") if "selected" in trace.states else 0
    issued = trace.events["start"][(number >= 0) & (trace.events["state"] == selected)]
    times = np.sort(issued[(issued >= start) & (issued < end)])
    if not len(times):
        return start, start + length
    inside = np.searchsorted(times, times + length) - np.arange(len(times))
    first = min(int(times[int(np.argmax(inside))]), end - length)
    return first, first + length
