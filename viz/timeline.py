"""The warp timeline as a picture: what every warp did in every cycle, and a close-up of single issues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ..isa.errors import InputError
from ..sim.tracefile import TraceData, write_whole
from . import timeline_panels as panels
from .palette import INK
from .warp_rows import WarpRow, busiest_window, coverage, issue_share, state_shares, warp_rows

DPI = 100
WIDTH = 1400  # pixels of the picture
LEFT, RIGHT, TOP = 128, 42, 64
GAP = 58  # between panels: axis numbers and the next panel's heading
MAX_ROWS = 128  # more warp slots than these are not told apart
EASY_ROWS = 40  # unless SMs are asked for, no more of them than have room for the warps' names
CLOSE_ROWS = 16
CLOSE_CYCLES = 120
ONE_PANEL_CYCLES = 240  # up to here single issues are seen without a close-up
# Suffixes that can be drawn, and what stands in the file besides the picture: no date, no path.
METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": "tinygpu"},
    ".svg": {"Date": None, "Creator": "tinygpu"},
    ".pdf": {"CreationDate": None, "Creator": "tinygpu"},
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What goes where, in pixels from the top; `close` is (0, 0) when there is no close-up."""

    rows: list[WarpRow]
    start: int
    end: int
    row_pixels: int
    close: tuple[int, int]
    close_rows: list[WarpRow]
    close_pixels: int
    left_out: int  # warp slots that found no room


def draw(
    trace: TraceData,
    path: str | Path,
    *,
    window: tuple[int, int] | None = None,
    close: tuple[int, int] | None = None,
    sms: Sequence[int] | None = None,
) -> int:
    """Draw the timeline to `path` (.png, .svg or .pdf) and return the file's bytes.

    window: cycles of the upper panel, all by default. close: cycles of the close-up, by default
    those with the most issues in the middle half. sms: the SMs to show, by default as many as
    have room for the warps' names. The same trace gives the same picture; the file appears whole
    or not at all. Raises InputError for another suffix, a trace without events in the window, or
    no such SM.
    """
    path = Path(path)
    if path.suffix.lower() not in METADATA:
        raise InputError(
            f"{path}: cannot draw a {path.suffix or 'file without suffix'}", hint="use .png or .svg"
        )
    plan = make_plan(trace, window, close, sms)
    with matplotlib.rc_context({"svg.hashsalt": "tinygpu", "hatch.linewidth": 0.6, "font.size": 9}):
        return _write(_figure(trace, plan), path)


def make_plan(
    trace: TraceData,
    window: tuple[int, int] | None = None,
    close: tuple[int, int] | None = None,
    sms: Sequence[int] | None = None,
) -> Plan:
    """Choose rows, windows and sizes for a trace; raises InputError when nothing is to be seen."""
    rows = warp_rows(trace, sms)
    start, end = window or trace.window
    if not rows or end <= start:
        known = ", ".join(map(str, trace.sms)) or "none"
        raise InputError(
            "nothing to draw: no events", hint=f"SMs in the trace: {known}; cycles {trace.window}"
        )
    shown = _whole_sms(rows, EASY_ROWS if sms is None else MAX_ROWS)
    close_rows = [row for row in shown if row.sm == shown[0].sm]
    if len(close_rows) > CLOSE_ROWS:
        close_rows = [row for row in close_rows if row.subcore == shown[0].subcore][:CLOSE_ROWS]
    if close is None and end - start > ONE_PANEL_CYCLES:
        quarter = (end - start) // 4
        middle = (start + quarter, end - quarter)
        close = busiest_window(trace, close_rows, CLOSE_CYCLES, middle)
    return Plan(
        rows=shown, start=start, end=end,
        row_pixels=min(22, max(5, 400 // len(shown))),
        close=close or (0, 0), close_rows=close_rows,
        close_pixels=min(24, max(15, 260 // len(close_rows))),
        left_out=len(rows) - len(shown),
    )  # fmt: skip


def _whole_sms(rows: list[WarpRow], most: int) -> list[WarpRow]:
    """The rows of as many SMs as fit into `most` rows; of the first SM, if it does not fit, MAX_ROWS."""
    up_to = Counter(row.sm for row in rows)
    total = 0
    kept: set[int] = set()
    for sm, count in sorted(up_to.items()):
        total += count
        if total <= most or not kept:
            kept.add(sm)
    return [row for row in rows if row.sm in kept][:MAX_ROWS]


def _figure(trace: TraceData, plan: Plan) -> Figure:
    """Lay the panels under one another: issue slots, mix of states, all rows, close-up, legend."""
    strip, mix, body = 34, 56, max(60, plan.row_pixels * len(plan.rows))
    has_close = plan.close[1] > plan.close[0]
    near = max(60, plan.close_pixels * len(plan.close_rows)) if has_close else 0
    columns = WIDTH - LEFT - RIGHT
    shares = coverage(trace, plan.rows, plan.start, plan.end, columns)
    named = state_shares(trace, shares)
    legend = panels.legend_pixels(len(named))
    height = TOP + strip + 6 + mix + 6 + body + (GAP + near if has_close else 0) + 44 + legend
    figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI, facecolor="white")
    FigureCanvasAgg(figure)

    def place(top: int, tall: int) -> Any:
        box = (LEFT / WIDTH, 1 - (top + tall) / height, (WIDTH - LEFT - RIGHT) / WIDTH, tall / height)
        return figure.add_axes(box)

    _title(figure, trace, plan, height)
    panels.issue_strip(place(TOP, strip), issue_share(trace, shares, plan.rows), plan.start, plan.end)
    top = TOP + strip + 6
    panels.mix_strip(place(top, mix), trace, shares, plan.start, plan.end, mix)
    top += mix + 6
    axes = place(top, body)
    panels.grid(axes, trace, plan.rows, shares, plan.start, plan.end, plan.row_pixels)
    top += body
    if has_close:
        top += GAP
        below = place(top, near)
        panels.close_up(below, trace, plan.close_rows, plan.close, columns, plan.close_pixels)
        panels.mark_close(axes, below, plan.close)
        top += near
    panels.legend(figure, named, 1 - (top + 40) / height, has_close or _is_close(plan))
    return figure


def _is_close(plan: Plan) -> bool:
    return plan.end - plan.start <= ONE_PANEL_CYCLES


def _title(figure: Figure, trace: TraceData, plan: Plan, height: int) -> None:
    left = LEFT / WIDTH
    name = f"{trace.program or 'program'} on {trace.machine or 'machine'}"
    figure.text(left, 1 - 22 / height, name, fontsize=14, fontweight="bold", color=INK)
    figure.text(left, 1 - 40 / height, subtitle(trace, plan), fontsize=9.5, color="#555555")


def subtitle(trace: TraceData, plan: Plan) -> str:
    """What is shown and what is missing, in one line."""
    meta = trace.meta
    sms = sorted({row.sm for row in plan.rows})
    which = f"SM {sms[0]}" if len(sms) == 1 else f"SMs {sms[0]} to {sms[-1]}"
    if meta.get("device_sms"):
        which += f" of {meta['device_sms']}"
    parts = [which, _count(len(plan.rows), "warp slot")]
    if meta.get("grid") and meta.get("block"):
        parts.append(f"grid {_shape(meta['grid'])}, block {_shape(meta['block'])}")
    cycles = f"cycles {plan.start:,} to {plan.end:,}"
    total = int(meta.get("cycles", 0))
    parts.append(cycles + (f" of {total:,}" if total > plan.end else ""))
    if plan.left_out:
        parts.append(f"{plan.left_out} more warp slots not shown")
    if trace.dropped:
        parts.append(f"{trace.dropped:,} stretches dropped: the trace was full")
    return "   ·   ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _shape(sizes: Sequence[int]) -> str:
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "×".join(map(str, kept))  # noqa: RUF001 - the sign of multiplication is meant


def _write(figure: Figure, path: Path) -> int:
    suffix = path.suffix.lower()
    metadata: Any = METADATA[suffix]
    return write_whole(path, lambda file: figure.savefig(file, format=suffix[1:], metadata=metadata))
