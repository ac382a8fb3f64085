"""The warp timeline as a few lines of text, for a terminal of 80 to 200 columns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..sim.tracefile import NO_STATE, TraceData
from .palette import look
from .warp_rows import WarpRow, coverage, issue_share, majority, state_shares, warp_rows

Array = np.ndarray[Any, Any]
LABEL = 9  # columns left of the picture
BARS = "▁▂▃▄▅▆▇█"
ASCII_BARS = "_.:-=+*#"


def render(
    trace: TraceData,
    width: int = 100,
    *,
    rows: int = 16,
    window: tuple[int, int] | None = None,
    sm: int | None = None,
    color: bool = False,
    unicode: bool = True,
) -> str:
    """One line a warp, one character a stretch of cycles: the state that fills most of it.

    width: columns in all, at least 40. rows: warps at most. window: cycles, all by default.
    sm: the SM to show, the first by default. Lines end without a newline at the very end; a
    trace without events gives one line that says so.
    """
    shown = warp_rows(trace, [sm] if sm is not None else trace.sms[:1])
    start, end = window or trace.window
    if not shown or end <= start:
        return "no warp was traced"
    kept = _choose(shown, rows)
    step = column_cycles(end - start, max(40, width) - LABEL - 1)
    columns = -(-(end - start) // step)
    lines = [_heading(trace, shown, start, end, step)]
    end = start + columns * step
    shares = coverage(trace, shown, start, end, columns)
    number = [shown.index(row) for row in kept]
    states = majority(shares)[number]
    bars = BARS if unicode else ASCII_BARS
    lines.append(" " * LABEL + _axis(start, step, columns))
    lines.append("issue".ljust(LABEL) + _sparks(issue_share(trace, shares, shown), bars))
    for row, cells in zip(kept, states, strict=True):
        name = f"sc{row.subcore} w{row.warp}".ljust(LABEL)
        lines.append((name + _cells(cells, trace.states, color, unicode)).rstrip())
    if len(kept) < len(shown):
        lines.append(f"({len(shown) - len(kept)} more warp slots of this SM not shown)")
    lines += _legend(trace, shares, max(40, width), color, unicode)
    return "\n".join(lines)


def _choose(rows: Sequence[WarpRow], most: int) -> list[WarpRow]:
    """At most `most` rows, the same number of each sub-core as far as it goes."""
    if len(rows) <= most:
        return list(rows)
    groups = [list(group) for _, group in itertools.groupby(rows, key=lambda row: row.subcore)]
    each = max(1, most // len(groups))
    return [row for group in groups for row in group[:each]][:most]


def column_cycles(cycles: int, columns: int) -> int:
    """Cycles a column: the least round number (1, 2, 3, 4, 5, 6 or 8 and zeros) that fits them in."""
    power = 1
    while True:
        for digit in (1, 2, 3, 4, 5, 6, 8):
            if digit * power * columns >= cycles:
                return digit * power
        power *= 10


def _heading(trace: TraceData, rows: Sequence[WarpRow], start: int, end: int, step: int) -> str:
    scale = "1 cycle" if step == 1 else f"{step:,} cycles"
    dropped = f", {trace.dropped:,} stretches dropped" if trace.dropped else ""
    name = f"{trace.program} on {trace.machine}: " if trace.program else ""
    return f"{name}SM {rows[0].sm}, cycles {start:,} to {end:,}, one column = {scale}{dropped}"


def _axis(start: int, step: int, columns: int) -> str:
    """Cycle numbers over every twentieth column."""
    line = [" "] * (columns + 16)
    for column in range(0, max(1, columns - 3), 20):
        text = f"|{start + column * step:,}"
        line[column : column + len(text)] = text
    return "".join(line).rstrip()


def _sparks(shares: Array, bars: str) -> str:
    """A bar a column, blank where nothing was issued."""
    heights = np.ceil(np.round(shares, 6) * len(bars)).astype(int)
    return "".join(bars[height - 1] if height > 0 else " " for height in heights).rstrip()


def _mark(state: str, unicode: bool) -> str:
    return look(state).block if unicode else look(state).letter


def _cells(cells: Array, names: Sequence[str], color: bool, unicode: bool) -> str:
    """The characters of one warp; in colour, a run of one state is set on the state's colour."""
    parts = []
    for state, run in itertools.groupby(cells.tolist()):
        count = len(list(run))
        if state == NO_STATE:
            parts.append(" " * count)
            continue
        text = _mark(names[state], unicode) * count
        parts.append(_paint(text, names[state]) if color else text)
    return "".join(parts)


def _paint(text: str, state: str) -> str:
    seen = look(state)
    if seen.block == "█":
        return f"\x1b[38;5;{seen.ansi}m{text}\x1b[0m"
    return f"\x1b[48;5;{seen.ansi}m\x1b[38;5;16m{text}\x1b[0m"


def _legend(trace: TraceData, shares: Array, width: int, color: bool, unicode: bool) -> list[str]:
    """The states that occur with their share of the warp-cycles, broken into lines of `width`."""
    lines, used = [""], 0
    for state, share in state_shares(trace, shares):
        mark = _mark(state, unicode)
        words = f" {look(state).words} {share * 100:.1f} %"
        if used and used + 3 + len(words) + 1 > width:
            lines.append("")
            used = 0
        gap = "   " if used else ""
        lines[-1] += gap + (_paint(mark, state) if color else mark) + words
        used += len(gap) + 1 + len(words)
    return lines
