"""The text timeline, letter by letter."""

from __future__ import annotations

import re

import numpy as np
import pytest
from synthetic import busy_trace, events, meta

from tinygpu.sim.state import EVENT
from tinygpu.sim.tracefile import TraceData
from tinygpu.viz import timeline_text
from tinygpu.viz.timeline_text import column_cycles, render

TWO_WARPS = events(
    [(0, 2, "no_instruction", 0), (0, 1, "selected", 0), (0, 8, "long_scoreboard", 1), (0, 1, "selected", 1),
     (1, 2, "no_instruction", 0), (1, 1, "not_selected", 0), (1, 1, "selected", 0), (1, 3, "barrier", 2)]
)  # fmt: skip


def test_every_cycle_has_its_letter() -> None:
    text = render(TraceData(TWO_WARPS, meta=meta()), 80, unicode=False)
    assert text.splitlines() == [
        "demo on tiny: SM 0, cycles 0 to 12, one column = 1 cycle",
        "         |0",
        "issue      ..       .",
        "sc0 w0   nn#LLLLLLLL#",
        "sc1 w1   nn+#BBB",
        "L long scoreboard (L1, L2, DRAM) 42.1 %   n no instruction 21.1 %",
        "# issuing 15.8 %   B barrier 15.8 %   + not selected 5.3 %",
    ]


def test_unicode_uses_blocks_and_bars() -> None:
    lines = render(TraceData(TWO_WARPS, meta=meta()), 80).splitlines()
    assert lines[2] == "issue      ▂▂       ▂"
    assert lines[3] == "sc0 w0   nn█LLLLLLLL█"


def test_a_window_and_a_coarser_column() -> None:
    trace = TraceData(events([(0, 100, "wait", 0), (0, 100, "long_scoreboard", 0)]), meta=meta())
    lines = render(trace, 60, unicode=False).splitlines()
    assert lines[0].endswith("cycles 0 to 200, one column = 4 cycles")
    assert lines[1] == "         |0                  |80                 |160"
    assert lines[3] == "sc0 w0   " + "." * 25 + "L" * 25
    lines = render(trace, 60, unicode=False, window=(90, 110)).splitlines()
    assert lines[3] == "sc0 w0   " + "." * 10 + "L" * 10


@pytest.mark.parametrize(
    ("cycles", "columns", "step"),
    [(50, 90, 1), (90, 90, 1), (91, 90, 2), (5437, 90, 80), (1_000_000, 70, 20_000)],
)
def test_columns_stand_for_round_numbers_of_cycles(cycles: int, columns: int, step: int) -> None:
    assert column_cycles(cycles, columns) == step


@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize(("warps", "cycles"), [(1, 50), (64, 2000)])
def test_no_line_is_wider_than_asked(width: int, warps: int, cycles: int) -> None:
    trace = busy_trace(warps=warps, cycles=cycles, loop=1)
    for line in render(trace, width).splitlines():
        assert len(line) <= width


def test_colour_changes_nothing_but_colour() -> None:
    trace = busy_trace(warps=8, cycles=1000)
    plain, coloured = render(trace, 100), render(trace, 100, color=True)
    assert "\x1b[" not in plain
    assert "\x1b[38;5;35m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_too_many_warps_are_thinned_by_subcore_and_counted() -> None:
    text = render(busy_trace(warps=64, cycles=500), 100, rows=8)
    names = [line.split()[:2] for line in text.splitlines() if line.startswith("sc")]
    assert names == [[f"sc{s}", f"w{w}"] for s in range(4) for w in (s, s + 4)]
    assert "(56 more warp slots of this SM not shown)" in text


def test_another_sm_and_dropped_stretches() -> None:
    trace = busy_trace(warps=2, cycles=200, sms=2, dropped=1234)
    assert "SM 1, cycles" in render(trace, 100, sm=1)
    assert "1,234 stretches dropped" in render(trace, 100)


def test_nothing_traced_says_so() -> None:
    assert render(TraceData(np.zeros(0, EVENT)), 100) == "no warp was traced"
    assert render(busy_trace(warps=1, cycles=50), 100, sm=7) == "no warp was traced"


def test_marks_are_one_character_wide_and_told_apart() -> None:
    letters = [timeline_text.look(state).letter for state in TraceData(TWO_WARPS).states]
    assert all(len(letter) == 1 for letter in letters)
    assert len(set(letters)) == len(letters)
