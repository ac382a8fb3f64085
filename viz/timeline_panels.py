"""The panels of the warp timeline: issue strip, grid of all warps, close-up of single issues, legend."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import ConnectionPatch, Patch, Rectangle
from matplotlib.text import TextPath
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Affine2D

from ..sim.tracefile import NO_STATE, TraceData
from .palette import EMPTY_COLOUR, INK, KINDS, kind, look, textured
from .warp_rows import WarpRow, block_spans, majority, row_numbers

Array = np.ndarray[Any, Any]
LETTER_PIXELS = 5  # a cycle narrower than this has no room for a letter
FEW_SPANS = 4000  # up to here a panel is drawn as polygons, beyond as pixels
LEGEND_COLUMNS = 4
QUIET = "#777777"
BOLD = FontProperties(family="DejaVu Sans", weight="bold")


def issue_strip(axes: Any, shares: Array, start: int, end: int) -> None:
    """The share of issue slots used, as an area over the grid."""
    edges = np.linspace(start, end, len(shares) + 1)
    axes.stairs(shares * 100, edges, fill=True, color=look("selected").colour, linewidth=0)
    axes.set_xlim(start, end)
    axes.set_ylim(0, 100)
    axes.set_yticks([0, 100], ["0", "100 %"], fontsize=7.5, color=QUIET)
    axes.set_ylabel("issue\nslots", fontsize=8, rotation=0, ha="right", va="center", labelpad=24)
    axes.tick_params(axis="x", bottom=False, labelbottom=False)
    _bare(axes)


def mix_strip(axes: Any, trace: TraceData, shares: Array, start: int, end: int, pixels: int) -> None:
    """How the warps of each column are divided among the states, stacked; the height is all rows."""
    rows = max(1, shares.shape[0])
    edges = np.cumsum(shares.sum(axis=0) / rows, axis=0)  # (states, columns)
    heights = (np.arange(pixels) + 0.5) / pixels
    states = (heights[:, None, None] > edges[None]).sum(axis=1)
    image = textured(np.where(states < len(trace.states), states, NO_STATE).astype(np.uint8), trace.states, 1)
    axes.imshow(image, extent=(start, end, 0, 1), aspect="auto", interpolation="none", origin="lower")
    axes.set_yticks([])
    axes.set_ylabel("warps by\nstate", fontsize=8, rotation=0, ha="right", va="center", labelpad=24)
    axes.tick_params(axis="x", bottom=False, labelbottom=False)
    _bare(axes)


def grid(
    axes: Any, trace: TraceData, rows: Sequence[WarpRow], shares: Array, start: int, end: int, row_pixels: int
) -> None:
    """All rows over all cycles: polygons when they are few and wide, else one pixel column each."""
    inside = _inside(trace, rows, start, end)
    if len(inside) <= FEW_SPANS and end - start <= shares.shape[2]:
        _spans(axes, trace, rows, inside)
    else:
        image = textured(majority(shares), trace.states, row_pixels)
        axes.imshow(
            image, extent=(start, end, len(rows), 0), aspect="auto", interpolation="none", origin="upper"
        )
    _frame(axes, rows, trace.subcores, start, end, row_pixels)
    _blocks(axes, trace, rows, start, end, shares.shape[2], row_pixels)
    pixels = shares.shape[2] / (end - start)
    if pixels >= LETTER_PIXELS:
        _letters(axes, trace, rows, inside, pixels, row_pixels)


def close_up(
    axes: Any,
    trace: TraceData,
    rows: Sequence[WarpRow],
    window: tuple[int, int],
    pixels: int,
    row_pixels: int,
) -> None:
    """A few hundred cycles of a few warps, every issue with the letter of its instruction."""
    start, end = window
    inside = _inside(trace, rows, start, end)
    _spans(axes, trace, rows, inside)
    _frame(axes, rows, trace.subcores, start, end, row_pixels)
    _letters(axes, trace, rows, inside, pixels / (end - start), row_pixels)
    where = f"SM {rows[0].sm}"
    if len({row.subcore for row in rows}) == 1 and trace.subcores > 1:
        where += f", sub-core {rows[0].subcore}"
    axes.set_title(
        f"close-up: {where}, cycles {start:,} to {end:,}", loc="left", fontsize=10, color=INK, pad=6
    )


def mark_close(axes: Any, below: Any, window: tuple[int, int]) -> None:
    """Frame the close-up's cycles in the grid, and lead from the frame to the close-up."""
    low, high = axes.get_ylim()
    frame = Rectangle(
        (window[0], high),
        window[1] - window[0],
        low - high,
        fill=False,
        edgecolor=INK,
        linewidth=1.2,
        zorder=9,
        clip_on=False,
    )
    axes.add_patch(frame)
    for cycle, corner in zip(window, (0, 1), strict=True):
        lead = ConnectionPatch(
            (cycle, low), (corner, 1), axes.transData, below.transAxes, color="#999999", linewidth=0.8
        )
        axes.figure.add_artist(lead)


def legend_pixels(states: int) -> int:
    """Height that the legend of so many states takes, with the line about letters."""
    return 34 + 20 * (-(-(states + 1) // LEGEND_COLUMNS))


def legend(figure: Figure, shares: Sequence[tuple[str, float]], top: float, letters: bool) -> None:
    """The states that occur with their share of the warp-cycles, and what the letters mean."""
    handles = []
    for name, share in shares:
        seen = look(name)
        label = f"{seen.words}  {share * 100:.1f} %"
        handles.append(
            Patch(facecolor=seen.colour, hatch=seen.hatch, edgecolor=INK, linewidth=0.4, label=label)
        )
    handles.append(Patch(facecolor=EMPTY_COLOUR, edgecolor="#BBBBBB", linewidth=0.6, label="no warp"))
    figure.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0.08, top), ncols=LEGEND_COLUMNS, frameon=False,
        fontsize=9, handlelength=1.8, handleheight=1.1, columnspacing=2.2, borderaxespad=0,
    )  # fmt: skip
    if letters:
        words = "   ".join(f"{letter} {words}" for letter, (words, _) in KINDS.items())
        bottom = 12 / (figure.get_figheight() * figure.dpi)
        figure.text(0.084, bottom, f"issued:   {words}", fontsize=8, color="#555555")


def _inside(trace: TraceData, rows: Sequence[WarpRow], start: int, end: int) -> Array:
    """Indices of the events of these rows within [start, end)."""
    events = trace.events
    overlap = (events["start"] < end) & (events["start"] + events["cycles"] > start)
    return np.flatnonzero(overlap & (row_numbers(events, rows) >= 0))


def _spans(axes: Any, trace: TraceData, rows: Sequence[WarpRow], inside: Array) -> None:
    """One PolyCollection a state."""
    events = trace.events[inside]
    number = row_numbers(trace.events, rows)[inside]
    for state, name in enumerate(trace.states):
        mine = events["state"] == state
        if not mine.any():
            continue
        left = events["start"][mine]
        right = left + events["cycles"][mine]
        top, bottom = number[mine] + 0.05, number[mine] + 0.95
        corners = np.stack([left, top, right, top, right, bottom, left, bottom], 1).reshape(-1, 4, 2)
        seen = look(name)
        edge = "#00000059" if seen.hatch else "none"
        cells = PolyCollection(
            list(corners), facecolors=seen.colour, edgecolors=edge, linewidths=0, antialiaseds=False
        )
        if seen.hatch:
            cells.set_hatch(seen.hatch)
        axes.add_collection(cells)


def _letters(
    axes: Any, trace: TraceData, rows: Sequence[WarpRow], inside: Array, cycle_pixels: float, row_pixels: int
) -> None:
    """The letter of each issued instruction in its cell; one artist a letter, whatever their number."""
    if "selected" not in trace.states or cycle_pixels < LETTER_PIXELS or not trace.listing:
        return
    events = trace.events[inside]
    number = row_numbers(trace.events, rows)[inside]
    issued = events["state"] == trace.states.index("selected")
    kinds = np.array([kind(str(entry.get("timing", ""))) for entry in trace.listing])
    pcs = np.clip(events["pc"], 0, len(kinds) - 1)
    size = min(cycle_pixels * 1.0, row_pixels * 0.62)  # hundredths of an inch
    for letter in sorted(set(kinds[pcs[issued]].tolist())):
        mine = issued & (kinds[pcs] == letter)
        path = TextPath((0, 0), letter, size=size, prop=BOLD)
        box = path.get_extents()
        centred = path.transformed(Affine2D().translate(-(box.x0 + box.x1) / 2, -(box.y0 + box.y1) / 2))
        offsets = np.stack([events["start"][mine] + 0.5, number[mine] + 0.5], 1)
        glyphs = PathCollection(
            [centred], offsets=offsets, offset_transform=axes.transData, facecolors="white", edgecolors="none"
        )
        glyphs.set_snap(False)
        glyphs.set_transform(Affine2D().scale(1 / 100) + axes.figure.dpi_scale_trans)
        axes.add_collection(glyphs)


def _blocks(
    axes: Any, trace: TraceData, rows: Sequence[WarpRow], start: int, end: int, pixels: int, row_pixels: int
) -> None:
    """A dark tick where a block takes over a warp slot, and the block's number where there is room."""
    spans = [s for s in block_spans(trace, rows) if s.end > start and s.start < end]
    wide = (end - start) / pixels  # cycles a pixel
    if len(spans) > 40 * len(rows):
        return  # blocks too short to tell apart
    begins = [s for s in spans if s.start > start]
    axes.add_collection(
        LineCollection([[(s.start, s.row), (s.start, s.row + 1)] for s in begins], colors=INK, linewidths=1.0)
    )
    labelled: set[int] = set()
    for span in spans:
        visible = min(span.end, end) - max(span.start, start)
        if span.block in labelled or visible < 90 * wide or len(labelled) >= 80:
            continue
        labelled.add(span.block)
        axes.annotate(
            f"block {span.block}", (max(span.start, start), span.row), (2, -1.5), textcoords="offset points",
            fontsize=min(7.5, max(5.5, row_pixels * 0.62)), va="top", color=INK, zorder=8,
            bbox={"boxstyle": "square,pad=0.08", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
        )  # fmt: skip


def _frame(axes: Any, rows: Sequence[WarpRow], subcores: int, start: int, end: int, row_pixels: int) -> None:
    """Axis of cycles, names of the rows, lines between sub-cores and SMs."""
    axes.set_xlim(start, end)
    axes.set_ylim(len(rows), 0)
    axes.set_facecolor(EMPTY_COLOUR)
    axes.xaxis.set_major_locator(MaxNLocator(12, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{int(value):,}"))
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("cycle", fontsize=8.5, loc="right", labelpad=1)
    if row_pixels >= 10:
        axes.set_yticks([i + 0.5 for i in range(len(rows))], [f"w{row.warp}" for row in rows], fontsize=7)
    else:
        axes.set_yticks([])
    axes.tick_params(axis="y", length=0, pad=2)
    _groups(axes, rows, subcores, row_pixels)
    _bare(axes)


def _groups(axes: Any, rows: Sequence[WarpRow], subcores: int, row_pixels: int) -> None:
    """Names left of the rows: SMs when there are several, sub-cores when an SM has several; lines between."""
    place = axes.get_yaxis_transform()
    several_sms = len({row.sm for row in rows}) > 1
    inner = -0.026 if row_pixels >= 10 else -0.006  # right of it stand the warps' names

    def name(text: str, first: int, count: int, offset: float, least: int) -> None:
        if count * row_pixels >= least:
            middle = first + count / 2
            axes.text(offset, middle, text, transform=place, ha="right", va="center", fontsize=8, color=INK)

    first = 0
    for sm, members in itertools.groupby(rows, key=lambda row: row.sm):
        start = first
        for subcore, group in itertools.groupby(members, key=lambda row: row.subcore):
            count = len(list(group))
            if subcores > 1 or not several_sms:
                name(f"sub-core {subcore}", first, count, inner, 11)
            if first > start:
                axes.axhline(first, color=INK, linewidth=0.6, zorder=7)
            first += count
        if several_sms:
            name(f"SM {sm}", start, first - start, inner - (0.05 if subcores > 1 else 0), 11)
        if start:
            axes.axhline(start, color=INK, linewidth=1.6, zorder=7)


def _bare(axes: Any) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("#999999")
