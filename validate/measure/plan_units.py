"""Experiments on the execution units and the front end."""

from __future__ import annotations

from collections.abc import Iterator

from tinygpu.validate.measure import arithmetic
from tinygpu.validate.measure.experiment import CHAINS, CURVE_WARPS, RATE_WARPS, Experiment, over_warps
from tinygpu.validate.measure.launch import Point
from tinygpu.validate.measure.units import MIXES, TENSOR, UNITS

CURVE_UNITS = ("ffma", "ffma_imm", "iadd3", "ex2", "imad", "hfma2", "dfma")
CODE_LINES = (64, 128, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384)
SHORT_LOOPS = (6, 18)


def latencies() -> Iterator[Experiment]:
    """One warp, one chain: the dependent latency of every unit and matrix instruction."""
    for unit in UNITS.values():
        yield Experiment(f"latency.{unit.name}", "latency", "latency", arithmetic.latency(unit), (Point(),))
    for name in TENSOR:
        yield Experiment(
            f"latency.mma.{name}", "latency", "latency", arithmetic.tensor_latency(name), (Point(),)
        )


def rates() -> Iterator[Experiment]:
    """Every unit with eight chains over warps, and the latency-hiding curves of some over chains too."""
    for unit in UNITS.values():
        curve = unit.name in CURVE_UNITS
        for chains in CHAINS if curve else (8,):
            points = over_warps(CURVE_WARPS if curve else RATE_WARPS, SHORT_LOOPS, chains=chains)
            body = arithmetic.throughput(unit, chains)
            yield Experiment(f"rate.{unit.name}.ilp{chains}", "rate", "slope", body, points)
    for name in TENSOR:
        body = arithmetic.tensor_rate(name)
        yield Experiment(f"rate.mma.{name}", "rate", "slope", body, over_warps(RATE_WARPS, SHORT_LOOPS))


def mixes() -> Iterator[Experiment]:
    """Two operations in turn, in three proportions."""
    for name in MIXES:
        for first, second in ((1, 1), (2, 1), (1, 2)):
            body = arithmetic.mix(name, first, second)
            points = over_warps((1, 4, 8, 16), SHORT_LOOPS)
            yield Experiment(f"mix.{name}.{first}_{second}", "mix", "slope", body, points)


def schedules() -> Iterator[Experiment]:
    """When each warp of an SM begins and ends the same work: which warps the scheduler prefers."""
    for unit in ("ffma_imm", "ex2", "imad"):
        for chains in (1, 8):
            body = arithmetic.throughput(UNITS[unit], chains)
            points = over_warps((2, 4, 5, 8, 12, 16, 32), (40,))
            yield Experiment(f"schedule.{unit}.ilp{chains}", "schedule", "warps", body, points)


def code_sizes() -> Iterator[Experiment]:
    """FFMA in straight code of growing length (16 bytes a line): the front end."""
    for lines in CODE_LINES:
        points = tuple(
            Point({"warps": w, "lines": lines}, warps=w, iters=(2, 4), reps=16) for w in (1, 4, 8, 16, 24, 32)
        )
        yield Experiment(
            f"code.ffma.{lines}", "code", "slope", arithmetic.straight(UNITS["ffma"], lines), points
        )
