"""Medians, their intervals, and clocks that wrap."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinygpu.validate.measure.statistics import elapsed, estimate, interval_ranks, span


def coverage(n, low, high):
    """Probability that the median lies between the order statistics of ranks `low` and `high`."""
    return sum(math.comb(n, k) for k in range(low + 1, high + 1)) / 2.0**n


def test_interval_of_32_samples_is_from_the_tenth_to_the_twenty_third():
    assert interval_ranks(32) == (9, 22)
    assert coverage(32, 9, 22) == pytest.approx(0.9799, abs=1e-4)


@given(st.integers(6, 500))
def test_interval_covers_95_percent_and_no_narrower_pair_does(n):
    low, high = interval_ranks(n)
    assert high == n - 1 - low
    assert coverage(n, low, high) >= 0.95
    assert coverage(n, low + 1, high - 1) < 0.95


@given(st.integers(501, 20000))
def test_large_intervals_follow_the_normal_law(n):
    low, high = interval_ranks(n)
    assert low + high == n - 1
    assert n / 2 - low == pytest.approx(0.98 * math.sqrt(n), abs=2.5)


def test_few_samples_give_their_extremes():
    assert interval_ranks(5) == (0, 4)
    assert estimate([3.0]).to_dict() == {"median": 3.0, "low": 3.0, "high": 3.0, "n": 1}


def test_no_samples_are_an_error():
    with pytest.raises(ValueError, match="at least one"):
        estimate([])


def test_estimate_sorts_and_takes_the_middle():
    samples = list(range(32, 0, -1))
    found = estimate(samples)
    assert (found.median, found.low, found.high, found.n) == (16.5, 10.0, 23.0, 32)


def test_estimate_rounds_to_six_digits():
    assert estimate([1.23456789] * 3).to_dict()["median"] == 1.23457


def test_elapsed_wraps_once():
    begin = np.array([4294967290, 5], dtype=np.uint32)
    end = np.array([4, 105], dtype=np.uint32)
    assert elapsed(begin, end).tolist() == [10.0, 100.0]


def test_span_is_from_the_first_begin_to_the_last_end_across_a_wrap():
    begin = np.array([[4294967290, 4294967280, 2]], dtype=np.uint32)
    end = np.array([[4294967295, 20, 10]], dtype=np.uint32)
    assert span(begin, end).tolist() == [36.0]  # 4294967280 .. 2**32 + 20
