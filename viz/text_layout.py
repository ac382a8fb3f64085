"""Pieces of a report in plain text: bars, tables, numbers for people, shares that sum to 100 %."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

EIGHTHS = " ▏▎▍▌▋▊▉"
BOLD, DIM, GREEN, RED, RESET = "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m", "\x1b[0m"


def paint(text: str, code: str, color: bool) -> str:
    """The text between terminal codes, or as it is."""
    return f"{code}{text}{RESET}" if color and text else text


def bar(share: float, width: int, *, unicode: bool = True) -> str:
    """A bar of `width` characters filled to `share` (0 to 1; more is drawn as full)."""
    share = min(1.0, max(0.0, share))
    if not unicode:
        full = round(share * width)
        return "#" * full + "." * (width - full)
    eighths = round(share * width * 8)
    full, rest = divmod(eighths, 8)
    text = "█" * full + (EIGHTHS[rest] if rest else "")
    return text + "·" * (width - len(text))


def number(value: float) -> str:
    """An integer with thousands commas, or four significant digits; - when there is none."""
    if value != value:
        return "-"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def big(value: float) -> str:
    """A count of any size in at most seven characters: 812, 9,731, 12.3 k, 4.56 M, 7.89 G."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size * (10 if unit == "k" else 1):
            return f"{value / size:.3g} {unit}"
    return number(round(value, 2))


def size(count: float) -> str:
    """Bytes with a decimal unit: 512 B, 1.05 MB."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{number(count)} B"


def seconds(value: float) -> str:
    """A duration with the unit that fits: 850 ns, 19.4 us, 3.2 ms, 1.5 s."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def percent(share: float, digits: int = 1) -> str:
    """A share as per cent; - when there is none."""
    return "-" if share != share else f"{share * 100:.{digits}f} %"


def whole_percents(parts: Sequence[float], digits: int = 1) -> list[float]:
    """The parts in per cent, rounded so that they sum to exactly 100 (largest remainders go up).

    All zeros when the parts sum to nothing.
    """
    total = sum(parts)
    if total <= 0:
        return [0.0] * len(parts)
    scale: int = 10**digits
    exact = [part / total * 100 * scale for part in parts]
    floors = [int(value) for value in exact]
    short = 100 * scale - sum(floors)
    by_rest = sorted(range(len(parts)), key=lambda i: (floors[i] - exact[i], i))
    for index in by_rest[:short]:
        floors[index] += 1
    return [floor / scale for floor in floors]


def table(rows: Iterable[Sequence[str]], aligns: str, indent: int = 2) -> list[str]:
    """Rows with columns as wide as their widest cell; aligns: `<` or `>` a column."""
    rows = [list(row) for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(aligns))] if rows else []
    lines = []
    for row in rows:
        cells = [f"{cell:{align}{width}}" for cell, align, width in zip(row, aligns, widths, strict=True)]
        lines.append((" " * indent + "  ".join(cells)).rstrip())
    return lines


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Words broken into lines of at most `width`, the following lines indented."""
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append((indent if lines else "") + word)
    return lines


def shorten(text: str, width: int) -> str:
    """The text, or its beginning with an ellipsis."""
    return text if len(text) <= width else text[: max(0, width - 3)].rstrip() + "..."
