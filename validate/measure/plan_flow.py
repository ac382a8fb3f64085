"""Experiments on control flow, barriers and the issue of instructions."""

from __future__ import annotations

from collections.abc import Iterator

from tinygpu.validate.measure import control
from tinygpu.validate.measure import patterns_shared as ps
from tinygpu.validate.measure.experiment import CURVE_WARPS, Experiment, lane_steps, over_warps
from tinygpu.validate.measure.launch import Point

ELSE_MASKS = {
    "none": 0,
    "all": 0xFFFFFFFF,
    "odd": 0xAAAAAAAA,
    "even": 0x55555555,
    "lane0": 1,
    "lane31": 1 << 31,
    "low": 0xFFFF,
    "high": 0xFFFF0000,
    "most": 0xFFFFFFFE,
    "few": 0x7,
    "low15": 0x7FFF,
    "low17": 0x1FFFF,
    "high15": 0xFFFE0000,
    "high17": 0xFFFF8000,
    "mixed15": 0x55545555,
    "mixed19": 0xAAABABAB,
}
"""Lanes that take the else side, by name."""

TRIPS = {
    "all_8": [8] * 32,
    "lane": [i + 1 for i in ps.LANES],
    "one_long": [32] + [1] * 31,
    "all_32": [32] * 32,
}
"""Iterations of each lane's loop, by name."""

BURSTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24)


def loops() -> Iterator[Experiment]:
    """Counted loops around dependent FMAs, and loops whose trip count differs by lane."""
    for fmas in (1, 4, 8, 16):
        points = over_warps((1, 4, 8, 16, 32), (8, 40))
        yield Experiment(f"flow.loop_{fmas}_fma", "flow", "slope", control.loop_of(fmas), points)
    points = tuple(Point({"trips": name}, table=tuple(row)) for name, row in TRIPS.items())
    yield Experiment("flow.lane_trips", "flow", "stamps", control.lane_trips(), points)


def branches() -> Iterator[Experiment]:
    """Branches taken and not, and both sides of a divergent one: their order and cost."""
    points = tuple(Point({"taken": taken}, pa=100 * taken) for taken in (0, 1))
    yield Experiment("flow.branches", "flow", "stamps", control.branches(), points)
    points = tuple(
        Point({"else_mask": name}, table=tuple((mask >> i) & 1 for i in ps.LANES))
        for name, mask in ELSE_MASKS.items()
    )
    for fmas in (8, 24, 64):
        yield Experiment(f"flow.divergence.{fmas}", "flow", "lanes", control.divergence(fmas), points)


def barriers() -> Iterator[Experiment]:
    """`bar.sync` over warps, all arriving together, and `bar.warp.sync`."""
    points = tuple(Point({"warps": w}, warps=w) for w in CURVE_WARPS)
    yield Experiment("flow.barrier", "flow", "latency", control.barriers(), points)
    yield Experiment("flow.warp_sync", "flow", "latency", control.warp_syncs(), points[:1])


def _step(kind: str) -> int:
    return 8 if "64" in kind else 4


def issue() -> Iterator[Experiment]:
    """A clock read after each of twenty instructions, over warps; some on one bank too."""
    for kind in control.ISSUED:
        row = lane_steps(_step(kind))
        points = tuple(Point({"warps": w}, warps=w, table=row, gap=4000) for w in (1, 4, 8, 16))
        if kind in ("lds", "sts", "ldg_ca"):
            bank = tuple(128 * lane % 8192 for lane in ps.LANES)
            points += tuple(
                Point({"warps": w, "pattern": "bank"}, warps=w, table=bank, gap=4000) for w in (1, 4)
            )
        yield Experiment(f"issue.{kind}", "issue", "stamps", control.issue(kind), points)


def bursts() -> Iterator[Experiment]:
    """1 to 24 independent instructions of a kind between two clock reads, with one warp, four and eight."""
    for kind in control.ISSUED[1:]:
        row = lane_steps(_step(kind))
        for count in BURSTS:
            points = tuple(
                Point({"warps": w, "count": count}, warps=w, table=row, gap=4000) for w in (1, 4, 8)
            )
            yield Experiment(f"burst.{kind}.{count}", "burst", "stamps", control.burst(kind, count), points)
