"""Draws docs/img/flow.svg, the data's way from a program's text to the report: `python docs/img/draw_flow.py`."""

from __future__ import annotations

from html import escape
from pathlib import Path

WIDTH, HEIGHT = 1120, 640
INK, QUIET = "#222222", "#5f6b76"
# Fill and edge of a folder's boxes.
FOLDERS = {
    "text": ("#ffffff", "#8a8f98"),
    "isa": ("#e3f0fa", "#0072b2"),
    "sim": ("#fdeedd", "#d55e00"),
    "viz": ("#e2f4ee", "#009e73"),
}

# name: (folder, x, y, width, height, title, lines)
Box = tuple[str, int, int, int, int, str, tuple[str, ...]]
BOXES: dict[str, Box] = {
    "source": ("text", 20, 50, 150, 84, "matmul.s", ("kernel, launch,", "inputs, expectation")),
    "assembler": ("isa", 210, 50, 170, 84, "assembler", ("lines, names, macros,", "registers by liveness,", "convergence points")),
    "program": ("isa", 420, 50, 170, 84, "Program", ("one instruction,", "one issue slot")),
    "plan": ("isa", 630, 50, 170, 84, "launch plan", ("grid, block, seeded", "arrays, parameters")),
    "interpreter": ("isa", 880, 50, 210, 84, "reference interpreter", ("one lane at a time; tests hold", "the machine against it")),
    "machine": ("text", 20, 200, 150, 84, "h200.toml", ("every value with unit", "and origin")),
    "spec": ("sim", 20, 330, 150, 84, "MachineSpec", ("checked, frozen, packed", "into one record")),
    "decode": ("sim", 420, 180, 170, 62, "decode", ("one record an instruction",)),
    "host": ("sim", 630, 180, 170, 62, "host (SimPy)", ("memory, copies, launches",)),
    "dispatch": ("sim", 222, 316, 140, 110, "block dispatcher", ("occupancy by", "threads, blocks,", "registers,", "shared memory")),
    "subcore": ("sim", 396, 322, 182, 106, "4 sub-cores", ("front end, scheduler,", "scoreboard, register banks,", "pipes, divergence; values", "are computed at issue")),
    "lsu": ("sim", 606, 322, 186, 106, "memory pipe", ("LSU, shared-memory banks,", "coalescer, L1 with MSHRs;", "outbox and inbox")),
    "memory": ("sim", 880, 316, 180, 110, "memory side", ("network, L2 slices in two", "partitions, DRAM channels", "with FR-FCFS queues")),
    "raw": ("sim", 390, 510, 190, 84, "RawRun", ("cycles, counters, profile,", "stall states, trace")),
    "result": ("sim", 630, 510, 150, 84, "RunResult", ("metrics as formulas", "over counters")),
    "check": ("isa", 180, 510, 150, 84, "checks", (".expect and .count", "against the run")),
    "report": ("viz", 830, 474, 130, 56, "report", ("text or JSON",)),
    "timeline": ("viz", 990, 560, 115, 56, "timeline", (".png, .svg, text",)),
    "trace": ("sim", 830, 560, 130, 56, "trace file", (".npz columns",)),
}  # fmt: skip

# Arrows as lists of points, with an optional label at the first bend or middle.
ARROWS: list[tuple[list[tuple[int, int]], str]] = [
    ([(170, 92), (210, 92)], ""),
    ([(380, 92), (420, 92)], ""),
    ([(590, 92), (630, 92)], ""),
    ([(800, 92), (880, 92)], ""),
    ([(505, 134), (505, 180)], ""),
    ([(715, 134), (715, 180)], ""),
    ([(95, 284), (95, 330)], ""),
    ([(170, 372), (206, 372)], ""),
    ([(590, 211), (630, 211)], ""),
    ([(715, 242), (715, 276)], ""),
    ([(362, 371), (396, 371)], ""),
    ([(578, 371), (606, 371)], ""),
    ([(792, 355), (880, 355)], "requests"),
    ([(880, 391), (792, 391)], "responses"),
    ([(485, 452), (485, 510)], ""),
    ([(580, 552), (630, 552)], ""),
    ([(390, 552), (330, 552)], "outputs"),
    ([(780, 538), (805, 538), (805, 502), (830, 502)], ""),
    ([(780, 566), (805, 566), (805, 588), (830, 588)], ""),
    ([(960, 588), (990, 588)], ""),
]


def box(name: str) -> str:
    """A box with its title and lines, centred."""
    folder, x, y, width, height, title, lines = BOXES[name]
    fill, edge = FOLDERS[folder]
    middle = x + width / 2
    first = y + height / 2 - 8 * len(lines) + 4
    parts = [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{edge}" stroke-width="1.5"/>',
        f'<text x="{middle}" y="{first}" class="title">{escape(title)}</text>',
    ]  # fmt: skip
    for index, line in enumerate(lines):
        parts.append(f'<text x="{middle}" y="{first + 17 + 15 * index}" class="line">{escape(line)}</text>')
    return "\n".join(parts)


def arrow(points: list[tuple[int, int]], label: str) -> str:
    """A line through the points with a head at the end."""
    path = "M" + " L".join(f"{x} {y}" for x, y in points)
    text = f'<path d="{path}" class="arrow"/>'
    if label:
        (x0, y0), (x1, _) = points[0], points[1]
        text += f'\n<text x="{(x0 + x1) / 2}" y="{y0 - 6}" class="line">{label}</text>'
    return text


def frame(x: int, y: int, width: int, height: int, label: str) -> str:
    """A dashed frame around what belongs together."""
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="none" '
        f'stroke="{QUIET}" stroke-dasharray="5 4"/>\n'
        f'<text x="{x + 10}" y="{y + 18}" class="frame">{label}</text>'
    )


def legend() -> str:
    """What the colours stand for."""
    parts = []
    for index, (folder, words) in enumerate(
        (("text", "a file of yours"), ("isa", "isa/"), ("sim", "sim/"), ("viz", "viz/"))
    ):
        fill, edge = FOLDERS[folder]
        x = 20 + 130 * index
        parts.append(
            f'<rect x="{x}" y="14" width="18" height="14" rx="3" fill="{fill}" stroke="{edge}"/>'
            f'<text x="{x + 26}" y="26" class="frame">{words}</text>'
        )
    return "\n".join(parts)


def picture() -> str:
    """The whole drawing as SVG text."""
    style = (
        f"text{{font-family:'DejaVu Sans',Verdana,sans-serif;fill:{INK}}}"
        ".title{font-size:13px;font-weight:bold;text-anchor:middle}"
        ".line{font-size:11px;text-anchor:middle}"
        f".frame{{font-size:11.5px;fill:{QUIET}}}"
        f".arrow{{fill:none;stroke:{QUIET};stroke-width:1.5;marker-end:url(#head)}}"
    )
    head = (
        '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{QUIET}"/></marker>'
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}">',
        f"<style>{style}</style><defs>{head}</defs>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        legend(),
        frame(
            206, 276, 872, 176, "device: one SimPy process, advanced in compiled bursts, skipping idle cycles"
        ),
        frame(380, 298, 426, 142, ""),
        '<text x="390" y="312" class="frame">SM, as many as the machine has; each touches only its own state</text>',
    ]
    parts += [arrow(*one) for one in ARROWS]
    parts += [box(name) for name in BOXES]
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("flow.svg").write_text(picture(), encoding="utf-8")
