"""Medians with distribution-free 95 % intervals, and how stamps become cycles."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Estimate:
    """Median of `n` samples and the ends of its 95 % interval, in the samples' unit."""

    median: float
    low: float
    high: float
    n: int

    def to_dict(self) -> dict[str, float | int]:
        """The four numbers, rounded to six significant digits."""
        return {k: v if isinstance(v, int) else float(f"{v:.6g}") for k, v in asdict(self).items()}


def interval_ranks(n: int) -> tuple[int, int]:
    """Zero-based ranks whose order statistics enclose the median with at least 95 % probability.

    The count of samples under the median is binomial(n, 1/2), whatever the distribution; the ranks are the
    largest symmetric pair with at most 2.5 % on either side. Under six samples no pair reaches 95 %: the
    extremes are returned.
    """
    if n < 1:
        raise ValueError("an interval needs at least one sample")
    if n > 500:  # the binomial is close to normal
        low = math.floor(n / 2 - 0.98 * math.sqrt(n)) - 1
        return low, n - 1 - low
    tail, rank = 0.0, 0
    while True:
        tail += math.comb(n, rank) / 2.0**n
        if tail > 0.025:
            break
        rank += 1
    low = max(rank - 1, 0)
    return low, n - 1 - low


def estimate(samples: NDArray[np.float64] | list[float]) -> Estimate:
    """Median and interval of one-dimensional samples; ValueError when there are none."""
    values = np.sort(np.asarray(samples, dtype=np.float64).ravel())
    low, high = interval_ranks(len(values))
    return Estimate(float(np.median(values)), float(values[low]), float(values[high]), len(values))


def elapsed(begin: NDArray[np.uint32], end: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Cycles from `begin` to `end` of a 32-bit clock that may wrap once."""
    cycles: NDArray[np.float64] = (end - begin).astype(np.uint32).astype(np.float64)
    return cycles


def span(begin: NDArray[np.uint32], end: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Cycles from the earliest begin to the latest end, over the last axis, on one SM's wrapping clock.

    The stamps of one row lie within half the clock's range of each other.
    """
    origin = begin[..., :1]
    first = (begin - origin).astype(np.int32).min(axis=-1).astype(np.float64)
    last = (end - origin).astype(np.int32).max(axis=-1).astype(np.float64)
    cycles: NDArray[np.float64] = last - first
    return cycles
