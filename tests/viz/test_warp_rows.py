"""The grid behind the pictures: exact shares of columns, majorities, blocks, the busiest window."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import busy_trace, events, meta

from tinygpu.sim.state import EVENT, STATES
from tinygpu.sim.tracefile import NO_STATE, TraceData
from tinygpu.viz import warp_rows as grid

SELECTED, WAIT, LONG = (STATES.index(s) for s in ("selected", "wait", "long_scoreboard"))


def trace_of(*rows: tuple[int, int, str, int], **more: object) -> TraceData:
    return TraceData(events(list(rows)), meta=meta(**more))


def test_rows_go_by_sm_subcore_and_slot() -> None:
    table = np.concatenate([events([(w, 1, "wait", 0)], sm=sm) for sm in (3, 0) for w in (5, 4, 1, 0)])
    rows = grid.warp_rows(TraceData(table, meta=meta()))
    assert [(r.sm, r.subcore, r.warp) for r in rows[:4]] == [(0, 0, 0), (0, 0, 4), (0, 1, 1), (0, 1, 5)]
    assert [r.sm for r in rows] == [0] * 4 + [3] * 4
    assert [r.sm for r in grid.warp_rows(TraceData(table, meta=meta()), [3])] == [3] * 4


def test_rows_of_a_machine_with_one_subcore() -> None:
    rows = grid.warp_rows(trace_of((0, 1, "wait", 0), (1, 1, "wait", 0), (2, 1, "wait", 0), subcores=1))
    assert [(r.subcore, r.warp) for r in rows] == [(0, 0), (0, 1), (0, 2)]


def test_coverage_by_hand() -> None:
    # Ten cycles: 3 wait, 1 selected, 6 long scoreboard; in columns of 4 cycles from 0 to 12.
    trace = trace_of((0, 3, "wait", 0), (0, 1, "selected", 0), (0, 6, "long_scoreboard", 1))
    shares = grid.coverage(trace, grid.warp_rows(trace), 0, 12, 3)
    assert shares.shape == (1, len(STATES), 3)
    assert shares[0, WAIT].tolist() == pytest.approx([0.75, 0, 0])
    assert shares[0, SELECTED].tolist() == pytest.approx([0.25, 0, 0])
    assert shares[0, LONG].tolist() == pytest.approx([0, 1, 0.5])
    assert grid.majority(shares).tolist() == [[WAIT, LONG, LONG]]


def test_coverage_of_columns_narrower_than_a_cycle() -> None:
    trace = trace_of((0, 1, "wait", 0), (0, 1, "selected", 0))
    shares = grid.coverage(trace, grid.warp_rows(trace), 0, 2, 8)
    assert grid.majority(shares).tolist() == [[WAIT] * 4 + [SELECTED] * 4]


def test_coverage_cuts_stretches_at_the_window() -> None:
    trace = trace_of((0, 100, "long_scoreboard", 0))
    shares = grid.coverage(trace, grid.warp_rows(trace), 40, 120, 2)
    assert shares[0, LONG].tolist() == pytest.approx([1.0, 0.5])


def test_majority_is_empty_where_mostly_no_warp_is_and_ties_go_to_the_lower_number() -> None:
    shares = np.zeros((1, 2, 3))
    shares[0, :, 0] = [0.2, 0.2]
    shares[0, :, 1] = [0.3, 0.3]
    shares[0, :, 2] = [0.1, 0.5]
    assert grid.majority(shares).tolist() == [[NO_STATE, 0, 1]]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(1, 50), st.integers(0, 15)), min_size=1, max_size=40),
    st.integers(0, 60),
    st.integers(1, 90),
    st.integers(1, 30),
)
def test_coverage_equals_counting_cycle_by_cycle(
    rows: list[tuple[int, int, int]], start: int, length: int, columns: int
) -> None:
    table = events([(warp, cycles, STATES[state], 0) for warp, cycles, state in rows])
    trace = TraceData(table, meta=meta())
    order = grid.warp_rows(trace)
    end = start + length * columns
    expected = np.zeros((len(order), len(STATES), columns))
    numbers = {row.warp: i for i, row in enumerate(order)}
    for event in table:
        for cycle in range(event["start"], event["start"] + event["cycles"]):
            if start <= cycle < end:
                column = (cycle - start) // length
                expected[numbers[int(event["warp"])], event["state"], column] += 1 / length
    assert np.allclose(grid.coverage(trace, order, start, end, columns), expected, atol=1e-9)


def test_issue_share_counts_idle_schedulers() -> None:
    # One warp that issues in 2 of 4 cycles, on one of four schedulers: an eighth of the slots.
    trace = trace_of((0, 2, "selected", 0), (0, 2, "wait", 0))
    rows = grid.warp_rows(trace)
    shares = grid.coverage(trace, rows, 0, 4, 2)
    assert grid.issue_share(trace, shares, rows).tolist() == pytest.approx([0.25, 0.0])


def test_state_shares_are_sorted_and_sum_to_one() -> None:
    trace = trace_of((0, 3, "wait", 0), (0, 1, "selected", 0), (1, 4, "long_scoreboard", 0))
    shares = grid.coverage(trace, grid.warp_rows(trace), 0, 8, 4)
    named = grid.state_shares(trace, shares)
    assert [name for name, _ in named] == ["long_scoreboard", "wait", "selected"]
    assert [share for _, share in named] == pytest.approx([0.5, 0.375, 0.125])


def test_block_spans_part_where_the_block_changes() -> None:
    table = events([(0, 5, "wait", 0), (0, 5, "selected", 0), (0, 7, "wait", 0), (1, 3, "wait", 0)])
    table["block"] = [2, 2, 9, 2]
    trace = TraceData(table[::-1].copy(), meta=meta())  # whatever the order of the records
    spans = grid.block_spans(trace, grid.warp_rows(trace))
    assert [(s.row, s.block, s.start, s.end) for s in spans] == [(0, 2, 0, 10), (0, 9, 10, 17), (1, 2, 0, 3)]


def test_busiest_window_finds_the_issues() -> None:
    quiet: list[tuple[int, int, str, int]] = [(0, 500, "long_scoreboard", 0)]
    burst: list[tuple[int, int, str, int]] = [(0, 1, "selected", 0), (0, 1, "wait", 0)] * 20
    trace = TraceData(events(quiet + burst + quiet), meta=meta())
    rows = grid.warp_rows(trace)
    assert grid.busiest_window(trace, rows, 40) == (500, 540)
    assert grid.busiest_window(trace, rows, 5000) == (0, 1040)
    assert grid.busiest_window(trace, rows, 20, (520, 1000)) == (520, 540)
    assert grid.busiest_window(trace, rows, 40, (0, 400)) == (0, 40)


def test_busiest_window_without_issues_is_the_beginning() -> None:
    trace = trace_of((0, 500, "wait", 0))
    assert grid.busiest_window(trace, grid.warp_rows(trace), 40) == (0, 40)


def test_an_empty_trace_has_no_rows() -> None:
    trace = TraceData(np.zeros(0, EVENT))
    assert grid.warp_rows(trace) == []
    assert grid.block_spans(trace, []) == []


def test_shares_of_a_synthetic_run_never_exceed_one() -> None:
    trace = busy_trace(warps=8, cycles=3000, sms=2)
    rows = grid.warp_rows(trace)
    shares = grid.coverage(trace, rows, *trace.window, 100)
    assert len(rows) == 16
    assert shares.sum(axis=1).max() <= 1 + 1e-9
    assert shares.sum() * (trace.window[1] - trace.window[0]) / 100 == pytest.approx(
        trace.events["cycles"].sum()
    )
