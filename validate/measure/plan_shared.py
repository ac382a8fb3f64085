"""Experiments on shared memory: every pattern of every width, conflicts by degree, atomics, matrix loads."""

from __future__ import annotations

from collections.abc import Iterator

from tinygpu.validate.measure import patterns_shared as ps
from tinygpu.validate.measure import shared_memory
from tinygpu.validate.measure.experiment import CHAINS, CURVE_WARPS, Experiment, lane_steps, over_patterns
from tinygpu.validate.measure.launch import Point

LOOPS = (2, 6)


def same_address() -> list[ps.Pattern]:
    """1 to 32 active lanes on one word; then on one bank, each its own word; then on banks of their own."""
    rows = []
    for name, word in (("same", 0), ("bank", 32), ("spread", 1)):
        for lanes in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32):
            offsets = tuple(4 * word * i if i < lanes else -1 for i in ps.LANES)
            rows.append(ps.Pattern(f"{name}_{lanes}", 32, offsets))
    return rows


def patterns() -> Iterator[Experiment]:
    """Every pattern as a chase (32 bits and wider), and as streams of loads and of stores with one warp and
    eight."""
    for width in ps.WIDTHS:
        rows = ps.patterns(width)
        if width >= 32:
            body = shared_memory.chase(width)
            yield Experiment(f"shared.chase.{width}", "shared", "latency", body, over_patterns(rows, 1))
        for warps in (1, 8):
            points = over_patterns(rows, warps, LOOPS)
            loads, stores = shared_memory.loads(width), shared_memory.stores(width)
            yield Experiment(f"shared.load.{width}.w{warps}", "shared", "slope", loads, points)
            yield Experiment(f"shared.store.{width}.w{warps}", "shared", "slope", stores, points)


def degrees() -> Iterator[Experiment]:
    """Conflicts of 1 to 32 lanes on one bank: latency, and time with one warp, four and eight."""
    rows = [ps.conflicts(d) for d in range(1, 33)]
    yield Experiment(
        "shared.degree.chase", "shared", "latency", shared_memory.chase(32), over_patterns(rows, 1)
    )
    for name, body in (("load", shared_memory.loads(32)), ("store", shared_memory.stores(32))):
        for warps in (1, 4, 8):
            points = over_patterns(rows, warps, LOOPS)
            yield Experiment(f"shared.degree.{name}.w{warps}", "shared", "slope", body, points)


def matrices() -> Iterator[Experiment]:
    """`ldmatrix`: time over row patterns, and latency of one that hits one row."""
    for count in (1, 2, 4):
        points = over_patterns(ps.matrix_rows(), 8, LOOPS)
        yield Experiment(
            f"shared.ldmatrix.x{count}", "shared", "slope", shared_memory.matrix_loads(count), points
        )
        chase = shared_memory.matrix_chase(count)
        same = (Point({"pattern": "same_row"}),)
        yield Experiment(f"shared.ldmatrix.x{count}.chase", "shared", "latency", chase, same)


def addresses() -> Iterator[Experiment]:
    """What an instruction between a load and the next load's address adds."""
    between = {
        "add": "add.u32 x0, x0, y0;",
        "imad": "mad.lo.u32 x0, x0, y1, y0;",
        "lop3": "lop3.b32 x0, x0, y0, y0, 0xfe;",
    }
    for name, text in between.items():
        spread = (Point({"pattern": "stride_1"}, table=lane_steps(4)),)
        yield Experiment(
            f"shared.chase.{name}", "shared", "latency", shared_memory.chase_with(text, name), spread
        )


def curves() -> Iterator[Experiment]:
    """Latency hiding: chases of 32 bits, one to eight a warp."""
    for items in CHAINS:
        points = tuple(Point({"warps": w, "items": items}, w, 1, (8, 24), step=4) for w in CURVE_WARPS)
        yield Experiment(f"curve.shared.items{items}", "curve", "slope", shared_memory.chains(items), points)


def atomics() -> Iterator[Experiment]:
    """Atomics with and without a result, over lanes on one word, on one bank, and spread; every 32-bit
    pattern."""
    rows = same_address()
    for name in shared_memory.ATOMICS:
        if name != "inc":  # which would change the addresses
            body = shared_memory.atomic_chase(name)
            yield Experiment(f"shared.atomic.{name}.chase", "atomic", "latency", body, over_patterns(rows, 1))
        for kept in ("none", "return"):
            body = shared_memory.atomics(name, kept == "return")
            for warps in (1, 8):
                points = over_patterns(rows, warps, LOOPS)
                yield Experiment(f"shared.atomic.{name}.{kept}.w{warps}", "atomic", "slope", body, points)
    every = over_patterns(ps.patterns(32), 8, LOOPS)
    yield Experiment(
        "shared.atomic.add.patterns", "atomic", "slope", shared_memory.atomics("add", False), every
    )
    points = over_patterns(rows, 1, LOOPS)
    yield Experiment("shared.atomic.fadd.w1", "atomic", "slope", shared_memory.float_add(), points)
