"""The report of a run in plain text: what `tinygpu run` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..sim.result import RunResult
from . import text_layout as layout
from .palette import look
from .report_lines import hottest_lines
from .report_memory import memory_table, shared_table
from .text_layout import BOLD, DIM, GREEN, RED, paint

BAR = 24


def render(result: RunResult, width: int = 100, color: bool = False, unicode: bool = True) -> str:
    """All sections, parted by empty lines; no line is wider than `width` (at least 72)."""
    width = max(72, width)
    sections: list[Callable[[RunResult, int, bool, bool], Iterator[str]]] = [
        _head, _peaks, _occupancy, _stalls, _memory, _lines, _notes,
    ]  # fmt: skip
    parts = []
    for section in sections:
        lines = list(section(result, width, color, unicode))
        if lines:
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _label(name: str, text: str, width: int) -> Iterator[str]:
    """A labelled entry of the head, broken over lines when it is long."""
    lines = layout.wrap(text, width - 12)
    yield f"{name:<12}{lines[0] if lines else ''}"
    for line in lines[1:]:
        yield " " * 12 + line


def _shape(sizes: Sequence[int]) -> str:
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " x ".join(map(str, kept))


def _head(result: RunResult, width: int, color: bool, unicode: bool) -> Iterator[str]:
    file = f" ({result.file})" if result.file else ""
    yield paint(f"{result.program}{file} on {result.machine}", BOLD, color)
    blocks = 1
    for size in result.grid:
        blocks *= size
    yield from _label(
        "launch",
        f"grid {_shape(result.grid)} = {layout.number(blocks)} blocks, block {_shape(result.block)}, "
        f"seed {result.seed}",
        width,
    )
    if result.settings:
        words = ", ".join(f"{name} = {value}" for name, value in result.settings.items())
        yield from _label("set", words, width)
    yield from _correctness(result, width, color)
    ended = "interrupted after " if result.interrupted else ""
    yield from _label(
        "time",
        f"{ended}{layout.number(result.cycles)} cycles = {layout.seconds(result.simulated_seconds)} at "
        f"{layout.number(result.clock_mhz)} MHz "
        f"({layout.number(result.launch_cycles)} cycles are the launch)",
        width,
    )
    warps, lanes = result.counters["warp_instructions"], result.counters["thread_instructions"]
    ipc = warps / result.cycles if result.cycles else 0.0
    lanes_each = lanes / warps if warps else 0.0
    yield from _label(
        "work",
        f"{layout.number(warps)} warp instructions, {lanes_each:.3g} lanes each; IPC {ipc:.4g}, "
        f"{ipc / result.sms:.3g} an SM ({layout.number(result.sms)} SMs)",
        width,
    )
    speed = warps / result.wall_seconds if result.wall_seconds > 0 else 0.0
    yield from _label(
        "simulated",
        f"in {layout.seconds(result.wall_seconds)} wall, {layout.big(speed)} warp instructions a second",
        width,
    )


def _correctness(result: RunResult, width: int, color: bool) -> Iterator[str]:
    """One entry an expectation, and the counts; wrong ones say what and where."""
    for check in result.checks:
        word = paint("correct" if check.ok else "WRONG", GREEN if check.ok else RED, color)
        pad = " " * (12 - (7 if check.ok else 5))
        if check.ok and check.relation == "==":
            text = f"{check.name}: {layout.number(check.elements)} elements equal"
        elif check.ok:
            text = (
                f"{check.name}: {layout.number(check.elements)} elements, largest error "
                f"{check.max_rel_error:.2g} relative, {check.max_abs_error:.2g} absolute"
            )
        else:
            index = ", ".join(map(str, check.first_bad_index or ()))
            text = (
                f"{check.name} (line {check.line}): {layout.number(check.bad)} of "
                f"{layout.number(check.elements)} elements; first [{index}] is {check.got!r}, should be "
                f"{check.expected!r}; largest error {check.max_abs_error:.3g}"
            )
        lines = layout.wrap(text, width - 12)
        yield f"{word}{pad}{lines[0]}"
        yield from (" " * 12 + line for line in lines[1:])
    if not result.checks:
        yield from _label("unchecked", "the program states no expectation, or it was not asked for", width)
    if result.counts:
        bad = [count for count in result.counts if not count.ok]
        yield from _label(
            "counts", f"{len(result.counts) - len(bad)} of {len(result.counts)} as stated", width
        )
        for count in bad:
            text = f"{count.name} (line {count.line}) is {layout.number(count.got)}, should be "
            yield from _label("", paint(text + layout.number(count.expected), RED, color), width)


def _peaks(result: RunResult, width: int, color: bool, unicode: bool) -> Iterator[str]:
    yield paint("share of peak", BOLD, color)
    for peak in result.peaks:
        drawn = layout.bar(peak.share if peak.share == peak.share else 0.0, BAR, unicode=unicode)
        detail = layout.shorten(peak.detail, width - BAR - 28)
        line = f"  {peak.name:<14}{drawn} {layout.percent(peak.share):>7}"
        yield (line + ("  " + paint(detail, DIM, color) if detail else "")).rstrip()
    if result.verdict:
        yield from ("  " + line for line in layout.wrap("-> " + result.verdict, width - 2, "   "))


def _occupancy(result: RunResult, width: int, color: bool, unicode: bool) -> Iterator[str]:
    occupancy = result.occupancy
    if not occupancy:
        return
    warps, most = int(occupancy["warps"]), int(occupancy["max_warps"])
    count = int(occupancy["blocks"])
    blocks = f"{count} block{'' if count == 1 else 's'}"
    text = f"{warps} of {most} warps an SM ({layout.percent(warps / most)}): {blocks} an SM"
    if occupancy.get("limiter"):
        text += f", limited by {occupancy['limiter']}"
    yield from _label("occupancy", text, width)
    if occupancy.get("achieved") is not None:
        yield from _label("", f"achieved on average {layout.number(occupancy['achieved'])} warps", width)
    if occupancy.get("next_step"):
        yield from _label("", str(occupancy["next_step"]), width)


def _stalls(result: RunResult, width: int, color: bool, unicode: bool) -> Iterator[str]:
    """Every warp-cycle has one state; the shares sum to 100 %."""
    parts = [(name, count) for name, count in result.stalls.items() if count]
    parts.sort(key=lambda part: -part[1])
    total = sum(count for _, count in parts)
    if not total:
        return
    shares = layout.whole_percents([count for _, count in parts])
    yield paint("where the warps' time went", BOLD, color) + f"  (100 % = {layout.big(total)} warp-cycles)"
    for (name, count), share in zip(parts, shares, strict=True):
        drawn = layout.bar(count / total, BAR, unicode=unicode)
        yield f"  {look(name).words:<35}{drawn} {share:>5.1f} %"
    issued, stalled, empty = (result.schedulers[key] for key in ("issued", "stalled", "empty"))
    if issued + stalled + empty:
        parted = layout.whole_percents([issued, stalled, empty])
        text = f"schedulers: {parted[0]:.1f} % of cycles issued, {parted[1]:.1f} % stalled with warps there, "
        yield from (
            "  " + line for line in layout.wrap(text + f"{parted[2]:.1f} % without warps", width - 2, "  ")
        )


def _memory(result: RunResult, width: int, color: bool, unicode: bool) -> Iterator[str]:
    for title, rows, aligns in (
        ("memory", memory_table(result.counters, result.metrics), "<>>>>>>"),
        ("shared memory", shared_table(result.counters), "<>>>>"),
    ):
        if len(rows) > 1:
            lines = layout.table(rows, aligns)
            yield paint(title, BOLD, color)
            yield from lines
            if title == "memory" and len(shared_table(result.counters)) > 1:
                yield ""


def _lines(result: RunResult, width: int, color: bool, unicode: bool) -> Iterator[str]:
    """The lines at which warps stood longest."""
    total = sum(result.stalls.values())
    hottest = hottest_lines(result.profile, result.listing) if total else []
    if not hottest:
        return
    yield paint("hottest lines", BOLD, color) + "  (share of the warps' time spent stalled before them)"
    rows = []
    for line in hottest:
        rows.append(
            (
                layout.percent(line.stalled / total),
                line.place,
                look(line.state).words.split(" (")[0],
                line.text,
            )
        )
    for text in layout.table(rows, "><<<"):
        yield layout.shorten(text, width)


def _notes(result: RunResult, width: int, color: bool, unicode: bool) -> Iterator[str]:
    for warning in result.warnings:
        yield from layout.wrap("warning: " + warning, width, "  ")
