"""What an experiment is: a body, a way to reduce its stamps, and the launch points to run it at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tinygpu.validate.measure.body import Body
from tinygpu.validate.measure.launch import Point
from tinygpu.validate.measure.patterns_shared import LANES, Pattern

SMS = 132
"""SMs that the experiments on the whole device occupy, one block each."""

CHAINS = (1, 2, 4, 8)
"""Independent operations a warp in a latency-hiding curve."""

CURVE_WARPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32)
RATE_WARPS = (1, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Experiment:
    """A named measurement. `kind` is how stamps become numbers:

    | kind | result of a point |
    |---|---|
    | latency | cycles an operation, from two lengths of straight code |
    | slope | cycles an iteration of an SM, from two loop counts |
    | stamps | cycles between successive stamps of row 0 |
    | lanes | every lane's stamps less its first |
    | warps | begin and end of every warp, less the earliest begin |
    """

    name: str
    group: str
    kind: str
    body: Body
    points: tuple[Point, ...]


def over_warps(warps: Iterable[int], iters: tuple[int, ...], **label: int) -> tuple[Point, ...]:
    """One block of each number of warps, all lanes at offset 0."""
    return tuple(Point({"warps": w, **label}, warps=w, iters=iters) for w in warps)


def over_patterns(
    patterns: Sequence[Pattern], warps: int, iters: tuple[int, ...] = (1,)
) -> tuple[Point, ...]:
    """One block of `warps` warps for each pattern."""
    return tuple(
        Point({"pattern": p.name, "warps": warps}, warps=warps, iters=iters, table=p.offsets)
        for p in patterns
    )


def lane_steps(step: int) -> tuple[int, ...]:
    """Byte offsets of a warp whose lanes are `step` bytes apart."""
    return tuple(step * lane for lane in LANES)
