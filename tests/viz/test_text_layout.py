"""Bars, numbers and tables of the report, by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinygpu.viz import text_layout as layout


def test_bars_fill_by_eighths() -> None:
    assert layout.bar(0, 4) == "····"
    assert layout.bar(1, 4) == "████"
    assert layout.bar(7.5, 4) == "████"
    assert layout.bar(-1, 4) == "····"
    assert layout.bar(0.5, 4) == "██··"
    assert layout.bar(0.125, 1) == "▏"
    assert layout.bar(0.375, 4) == "█▌··"
    assert layout.bar(0.5, 4, unicode=False) == "##.."


@given(st.floats(0, 1), st.integers(1, 60), st.booleans())
def test_bars_have_the_width_asked_for(share: float, width: int, unicode: bool) -> None:
    assert len(layout.bar(share, width, unicode=unicode)) == width


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234567, "1,234,567"),
        (0.5, "0.5"),
        (3.14159, "3.142"),
        (12345.6, "12,346"),
        (math.nan, "-"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert layout.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(812, "812"), (9731, "9,731"), (12345, "12.3 k"), (4.56e6, "4.56 M"), (7.89e9, "7.89 G"), (2e12, "2 T")],
)
def test_big_counts(value: float, text: str) -> None:
    assert layout.big(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0 B"), (512, "512 B"), (1000, "1 kB"), (1048576, "1.05 MB"), (3.2e9, "3.2 GB")]
)
def test_sizes(value: float, text: str) -> None:
    assert layout.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.5, "1.5 s"), (3.2e-3, "3.2 ms"), (19.4e-6, "19.4 us"), (850e-9, "850 ns"), (0, "0 ns")],
)
def test_seconds(value: float, text: str) -> None:
    assert layout.seconds(value) == text


def test_percent() -> None:
    assert layout.percent(0.41234) == "41.2 %"
    assert layout.percent(1, 0) == "100 %"
    assert layout.percent(math.nan) == "-"


def test_whole_percents_give_the_remainder_to_the_largest_rests() -> None:
    assert layout.whole_percents([1, 1, 1]) == [33.4, 33.3, 33.3]
    assert layout.whole_percents([2, 1], 0) == [67, 33]
    assert layout.whole_percents([0, 0]) == [0, 0]
    assert layout.whole_percents([]) == []


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=20))
def test_whole_percents_always_sum_to_a_hundred(parts: list[int]) -> None:
    total = round(sum(layout.whole_percents(parts)), 6)
    assert total == (100 if sum(parts) else 0)


def test_tables_align_their_columns() -> None:
    rows = [("name", "count"), ("a", "7"), ("long", "1,000")]
    assert layout.table(rows, "<>") == ["  name  count", "  a         7", "  long  1,000"]
    assert layout.table([], "<>") == []


def test_wrap_and_shorten() -> None:
    assert layout.wrap("one two three four", 9, "  ") == ["one two", "  three", "  four"]
    assert layout.shorten("abcdefgh", 6) == "abc..."
    assert layout.shorten("abc", 6) == "abc"


def test_paint_only_when_asked() -> None:
    assert layout.paint("x", layout.BOLD, False) == "x"
    assert layout.paint("x", layout.BOLD, True) == "\x1b[1mx\x1b[0m"
    assert layout.paint("", layout.BOLD, True) == ""
