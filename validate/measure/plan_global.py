"""Experiments on global memory: L1 and L2 over patterns, atomics, latency hiding, bandwidth, strides."""

from __future__ import annotations

from collections.abc import Iterator

from tinygpu.validate.measure import global_memory
from tinygpu.validate.measure import patterns_global as pg
from tinygpu.validate.measure import patterns_shared as ps
from tinygpu.validate.measure.experiment import CHAINS, CURVE_WARPS, SMS, Experiment, over_patterns
from tinygpu.validate.measure.launch import Point
from tinygpu.validate.measure.plan_shared import same_address

LOOPS = (2, 6)
LOAD_WARPS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32)
PLACES = {"l2_one_sm": (1, 1 << 21), "l2": (SMS, 1 << 23), "dram": (SMS, 1 << 32)}
"""Where a stream's data lies: blocks, and bytes walked through (a power of two)."""


def hits() -> Iterator[Experiment]:
    """L1 hits over the patterns: latency (wide pointers, or 32 bits and an addition), and time with 1, 8,
    16 warps."""
    for width in (32, 64, 128):
        rows = pg.patterns(width)
        for ragged in (False, True):
            some = [p for p in rows if (p.active < 32) == ragged]
            name = f"global.chase.{width}.ca" + ".ragged" * ragged
            body = global_memory.chase(width, "ca", ragged)
            yield Experiment(name, "l1", "latency", body, over_patterns(some, 1))
        lines = [pg.distinct_lines(n, width // 8) for n in (1, 2, 4, 8, 16, 32)]
        body = global_memory.chase(width, "ca", False)
        yield Experiment(f"global.lines.{width}.chase", "l1", "latency", body, over_patterns(lines, 1))
        body = global_memory.pattern_loads(width, "ca")
        for warps in (1, 8, 16):
            points = over_patterns(rows, warps, LOOPS)
            yield Experiment(f"global.load.{width}.ca.w{warps}", "l1", "slope", body, points)
            points = over_patterns(lines, warps, LOOPS)
            yield Experiment(f"global.lines.{width}.w{warps}", "l1", "slope", body, points)
    body = global_memory.chase(64, "ca", False, adding=True)
    one_line = over_patterns([pg.distinct_lines(2, 8)], 1)
    yield Experiment("global.chase.64.ca.add", "l1", "latency", body, one_line)


def l2_patterns() -> Iterator[Experiment]:
    """Loads that hit L2, and stores, over the patterns with eight warps."""
    for width in (32, 64, 128):
        points = over_patterns(pg.patterns(width), 8, LOOPS)
        loads, stores = global_memory.pattern_loads(width, "cg"), global_memory.pattern_stores(width)
        yield Experiment(f"global.load.{width}.cg.w8", "l2", "slope", loads, points)
        yield Experiment(f"global.store.{width}.w8", "l2", "slope", stores, points)


def atomics() -> Iterator[Experiment]:
    """Atomics on one SM and on all: one word, words of a line, sectors apart, lines apart."""
    rows = same_address()
    for step, name in ((32, "sectors"), (128, "lines")):
        for n in (1, 2, 4, 8, 16, 32):
            rows.append(ps.Pattern(f"{name}_{n}", 32, tuple(step * i if i < n else -1 for i in ps.LANES)))
    wide = [ps.Pattern(p.name, 64, tuple(2 * o if o > 0 else o for o in p.offsets)) for p in rows]
    chase = global_memory.atomic_chase()
    yield Experiment("global.atomic.chase", "atomic", "latency", chase, over_patterns(wide, 1))
    bodies = {
        "add": global_memory.atomics("add.u32"),
        "fadd": global_memory.atomics("add.f32"),
        "max": global_memory.atomics("max.s32"),
        "return": global_memory.atomics_returning(),
    }
    for name, body in bodies.items():
        for warps, blocks in ((1, 1), (8, 1), (8, SMS)):
            points = tuple(_contended(p, warps, blocks) for p in rows)
            yield Experiment(f"global.atomic.{name}.w{warps}.b{blocks}", "atomic", "slope", body, points)


def _contended(pattern: ps.Pattern, warps: int, blocks: int) -> Point:
    label = {"pattern": pattern.name, "warps": warps, "blocks": blocks}
    return Point(label, warps, blocks, (4, 12), pattern.offsets, gap=_gap(blocks))


def _gap(blocks: int) -> int:
    """Cycles between repetitions: none where SMs share what is measured, since they drift apart, and one that
    pauses would leave its share to the others."""
    return 20000 if blocks == 1 else 0


def _stream(bits: int, warps: int, where: str, iters: tuple[int, int], **label: int | str) -> Point:
    blocks, size = PLACES[where]
    step = bits // 8
    return Point(
        {"warps": warps, "blocks": blocks, **label},
        warps,
        blocks,
        iters,
        step=step,
        pa=step * 32 * warps * blocks,
        pb=size - 1,
        gap=_gap(blocks),
        prime=size,
    )


def curves() -> Iterator[Experiment]:
    """Latency hiding: `items` independent loads of 32 bits, then their use, over warps; L1, L2 and DRAM."""
    for items in CHAINS:
        for place in PLACES:
            points = tuple(_stream(32, w, place, (16, 48), items=items) for w in LOAD_WARPS)
            body = global_memory.stream(32, items)
            yield Experiment(f"curve.{place}.items{items}", "curve", "slope", body, points)
        row = tuple(4 * lane for lane in ps.LANES)
        points = tuple(Point({"warps": w, "items": items}, w, 1, (8, 24), row) for w in CURVE_WARPS)
        body = global_memory.pattern_loads(32, "ca", items)
        yield Experiment(f"curve.l1.items{items}", "curve", "slope", body, points)


def bandwidth() -> Iterator[Experiment]:
    """Bytes in flight: width times items times warps, reading L2 and DRAM; writing both; DRAM at strides."""
    for width in (32, 64, 128):
        for items in CHAINS:
            body = global_memory.stream(width, items)
            for place in PLACES:
                points = tuple(
                    _stream(width, w, place, (24, 72), width=width, items=items) for w in (4, 8, 16, 32)
                )
                name = f"bandwidth.{place}.{width}.items{items}"
                yield Experiment(name, "bandwidth", "slope", body, points)
        points = tuple(
            _stream(width, w, place, (24, 72), width=width, place=place)
            for w in (4, 8, 16, 32)
            for place in ("dram", "l2")
        )
        body = global_memory.write_stream(width, 4)
        yield Experiment(f"bandwidth.write.{width}", "bandwidth", "slope", body, points)
    for stride in (4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096):
        point = Point(
            {"stride": stride},
            16,
            SMS,
            (16, 48),
            step=stride,
            pa=stride * 32 * 16 * SMS,
            pb=(1 << 32) - 1,
            gap=0,
            prime=1 << 32,
        )
        yield Experiment(f"stride.dram.{stride}", "bandwidth", "slope", global_memory.stream(32, 4), (point,))
