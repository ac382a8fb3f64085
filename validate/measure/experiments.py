"""Every experiment as data: a body, a way to reduce its stamps, and the launch points to run it at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tinygpu.validate.measure import arithmetic, control, global_memory, shared_memory
from tinygpu.validate.measure import patterns_global as pg
from tinygpu.validate.measure import patterns_shared as ps
from tinygpu.validate.measure.body import Body
from tinygpu.validate.measure.launch import Point

CURVE_WARPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32)
RATE_WARPS = (1, 4, 8, 16, 32)
CHAINS = (1, 2, 4, 8)
CURVE_UNITS = ("ffma", "iadd3", "ex2", "imad", "hfma2", "dfma")
SMS = 132


@dataclass(frozen=True, slots=True)
class Experiment:
    """`kind` is how stamps become numbers.

    latency: cycles an operation from two lengths; slope: cycles an iteration from two loop counts; stamps: cycles
    between successive stamps of row 0; lanes: every lane's stamps less the lane's first; warps: begin and end of every
    warp less the earliest begin.
    """

    name: str
    group: str
    kind: str
    body: Body
    points: tuple[Point, ...]


def arithmetic_latencies() -> Iterator[Experiment]:
    """One warp, one chain: the dependent latency of every unit."""
    for unit in arithmetic.UNITS.values():
        yield Experiment(f"latency.{unit.name}", "latency", "latency", arithmetic.latency(unit), (Point(),))


def tensor() -> Iterator[Experiment]:
    """Matrix instructions: latency of a chain, and rate over warps."""
    for name in arithmetic.TENSOR:
        yield Experiment(f"latency.mma.{name}", "latency", "latency", arithmetic.tensor_latency(name), (Point(),))
        points = tuple(Point({"warps": w}, warps=w, iters=(6, 18)) for w in RATE_WARPS)
        yield Experiment(f"rate.mma.{name}", "rate", "slope", arithmetic.tensor_rate(name), points)


def mixes() -> Iterator[Experiment]:
    """Two operations in turn, in three proportions."""
    for name in arithmetic.MIXES:
        for first, second in ((1, 1), (2, 1), (1, 2)):
            points = tuple(Point({"warps": w}, warps=w, iters=(6, 18)) for w in (1, 4, 8, 16))
            yield Experiment(f"mix.{name}.{first}_{second}", "mix", "slope", arithmetic.mix(name, first, second), points)


def schedules() -> Iterator[Experiment]:
    """When each warp of an SM begins and ends the same work: which warps the scheduler prefers."""
    for unit in ("ffma_imm", "ex2", "imad"):
        for chains in (1, 8):
            points = tuple(Point({"warps": w}, warps=w, iters=(40,)) for w in (2, 4, 5, 8, 12, 16, 32))
            body = arithmetic.throughput(arithmetic.UNITS[unit], chains)
            yield Experiment(f"schedule.{unit}.ilp{chains}", "schedule", "warps", body, points)


def arithmetic_rates() -> Iterator[Experiment]:
    """Every unit with eight chains over warps, and the latency-hiding curves of some over chains too."""
    for unit in arithmetic.UNITS.values():
        curve = unit.name in CURVE_UNITS
        for chains in CHAINS if curve else (8,):
            warps = CURVE_WARPS if curve else RATE_WARPS
            points = tuple(Point({"warps": w, "chains": chains}, warps=w, iters=(6, 18)) for w in warps)
            name = f"rate.{unit.name}.ilp{chains}"
            yield Experiment(name, "rate", "slope", arithmetic.throughput(unit, chains), points)


def code_sizes() -> Iterator[Experiment]:
    """FFMA in straight code of growing length: the front end."""
    for lines in (64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384):
        points = tuple(
            Point({"warps": w, "lines": lines}, warps=w, iters=(2, 4), reps=16) for w in (1, 4, 8, 16, 24, 32)
        )
        yield Experiment(f"code.ffma.{lines}", "code", "slope", arithmetic.straight(arithmetic.UNITS["ffma"], lines), points)


def _pattern_points(patterns: list[ps.Pattern], warps: int, iters: tuple[int, ...] = (1,)) -> tuple[Point, ...]:
    return tuple(
        Point({"pattern": p.name, "warps": warps}, warps=warps, iters=iters, table=p.offsets) for p in patterns
    )


def shared() -> Iterator[Experiment]:
    """Shared memory: every pattern of every width as chase, stream of loads and of stores; atomics; matrix loads."""
    for width in ps.WIDTHS:
        rows = ps.patterns(width)
        if width >= 32:
            yield Experiment(f"shared.chase.{width}", "shared", "latency", shared_memory.chase(width), _pattern_points(rows, 1))
        for warps in (1, 8):
            points = _pattern_points(rows, warps, (2, 6))
            yield Experiment(f"shared.load.{width}.w{warps}", "shared", "slope", shared_memory.loads(width), points)
            yield Experiment(f"shared.store.{width}.w{warps}", "shared", "slope", shared_memory.stores(width), points)
    for matrices in (1, 2, 4):
        body = shared_memory.matrix_chase(matrices)
        yield Experiment(f"shared.ldmatrix.x{matrices}.chase", "shared", "latency", body, (Point({"pattern": "same_row"}),))
    between = {"add": "add.u32 x0, x0, y0;", "imad": "mad.lo.u32 x0, x0, y1, y0;", "shf": "shf.l.wrap.b32 x0, x0, x0, y0;"}
    for name, text in between.items():
        spread = Point({"pattern": "stride_1"}, table=tuple(4 * i for i in ps.LANES))
        yield Experiment(f"shared.chase.{name}", "shared", "latency", shared_memory.chase_with(text, name), (spread,))
    degrees = [ps.conflicts(d) for d in range(1, 33)]
    yield Experiment("shared.degree.chase", "shared", "latency", shared_memory.chase(32), _pattern_points(degrees, 1))
    for name, body in (("load", shared_memory.loads(32)), ("store", shared_memory.stores(32))):
        for warps in (1, 4, 8):
            points = _pattern_points(degrees, warps, (2, 6))
            yield Experiment(f"shared.degree.{name}.w{warps}", "shared", "slope", body, points)
    for matrices in (1, 2, 4):
        points = _pattern_points(ps.matrix_rows(), 8, (2, 6))
        yield Experiment(f"shared.ldmatrix.x{matrices}", "shared", "slope", shared_memory.matrix_loads(matrices), points)


def _same_address() -> list[ps.Pattern]:
    """1 to 32 active lanes on one word; then on one bank, each its own word; then on banks of their own."""
    rows = []
    for name, word in (("same", 0), ("bank", 32), ("spread", 1)):
        for lanes in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32):
            offsets = tuple(4 * word * i if i < lanes else -1 for i in ps.LANES)
            rows.append(ps.Pattern(f"{name}_{lanes}", 32, offsets))
    return rows


def shared_atomics() -> Iterator[Experiment]:
    """Shared atomics with and without a result, over lanes on one word, on one bank, and spread; every pattern."""
    rows = _same_address()
    for name in shared_memory.ATOMICS:
        if name != "inc":  # which would change the addresses
            yield Experiment(
                f"shared.atomic.{name}.chase", "atomic", "latency", shared_memory.atomic_chase(name), _pattern_points(rows, 1)
            )
        for returns in (False, True):
            body = shared_memory.atomics(name, returns)
            kept = "return" if returns else "none"
            for warps in (1, 8):
                points = _pattern_points(rows, warps, (2, 6))
                yield Experiment(f"shared.atomic.{name}.{kept}.w{warps}", "atomic", "slope", body, points)
    every = _pattern_points(ps.patterns(32), 8, (2, 6))
    yield Experiment("shared.atomic.add.patterns", "atomic", "slope", shared_memory.atomics("add", False), every)
    points = _pattern_points(rows, 1, (2, 6))
    yield Experiment("shared.atomic.fadd.w1", "atomic", "slope", shared_memory.float_add(), points)


def l1() -> Iterator[Experiment]:
    """L1 hits and L2 hits over the global patterns: latency and time per access; stores."""
    for width in (32, 64, 128):
        rows = pg.patterns(width)
        for ragged in (False, True):
            some = [p for p in rows if (p.active < 32) == ragged]
            body = global_memory.chase(width, "ca", ragged)
            name = f"global.chase.{width}.ca" + ".ragged" * ragged
            yield Experiment(name, "l1", "latency", body, _pattern_points(some, 1))
        for warps in (1, 8, 16):
            points = _pattern_points(rows, warps, (2, 6))
            yield Experiment(f"global.load.{width}.ca.w{warps}", "l1", "slope", global_memory.pattern_loads(width, "ca"), points)
        points = _pattern_points(rows, 8, (2, 6))
        yield Experiment(f"global.load.{width}.cg.w8", "l2", "slope", global_memory.pattern_loads(width, "cg"), points)
        yield Experiment(f"global.store.{width}.w8", "l2", "slope", global_memory.pattern_stores(width), points)
        lines = [pg.distinct_lines(n, 8 if width == 64 else 4 if width == 32 else 16) for n in (1, 2, 4, 8, 16, 32)]
        yield Experiment(f"global.lines.{width}.chase", "l1", "latency", global_memory.chase(width, "ca", False), _pattern_points(lines, 1))
        for warps in (1, 8, 16):
            points = _pattern_points(lines, warps, (2, 6))
            yield Experiment(f"global.lines.{width}.w{warps}", "l1", "slope", global_memory.pattern_loads(width, "ca"), points)


def global_atomics() -> Iterator[Experiment]:
    """Global atomics on one SM and on all: one word, one line spread, lines apart."""
    rows = _same_address()
    apart = [ps.Pattern(f"sectors_{n}", 32, tuple(32 * i if i < n else -1 for i in ps.LANES)) for n in (1, 2, 4, 8, 16, 32)]
    apart += [ps.Pattern(f"lines_{n}", 32, tuple(128 * i if i < n else -1 for i in ps.LANES)) for n in (2, 4, 8, 16, 32)]
    wide = [ps.Pattern(p.name, 64, tuple(2 * o if o > 0 else o for o in p.offsets)) for p in (*rows, *apart)]
    yield Experiment("global.atomic.chase", "atomic", "latency", global_memory.atomic_chase(), _pattern_points(wide, 1))
    bodies = {
        "add": global_memory.atomics("add.u32"), "fadd": global_memory.atomics("add.f32"),
        "max": global_memory.atomics("max.s32"), "return": global_memory.atomics_returning(),
    }  # fmt: skip
    for name, body in bodies.items():
        for warps, blocks in ((1, 1), (8, 1), (8, SMS)):
            points = tuple(
                Point({"pattern": p.name, "warps": warps, "blocks": blocks}, warps, blocks, (4, 12), p.offsets, gap=20000)
                for p in (*rows, *apart)
            )
            yield Experiment(f"global.atomic.{name}.w{warps}.b{blocks}", "atomic", "slope", body, points)


def flow() -> Iterator[Experiment]:
    """Loops, branches, divergence, barriers."""
    for body in (control.empty_loop(), control.loop_of(4), control.loop_of(8), control.loop_of(16)):
        points = tuple(Point({"warps": w}, warps=w, iters=(8, 40)) for w in (1, 4, 8, 16, 32))
        yield Experiment(f"flow.{body.name}", "flow", "slope", body, points)
    points = tuple(Point({"taken": taken}, pa=100 * taken) for taken in (0, 1))
    yield Experiment("flow.branches", "flow", "stamps", control.branches(), points)
    masks = {"none": 0, "all": 0xFFFFFFFF, "odd": 0xAAAAAAAA, "even": 0x55555555, "lane0": 1, "lane31": 1 << 31,
             "low": 0xFFFF, "high": 0xFFFF0000, "most": 0xFFFFFFFE, "few": 0x7, "low15": 0x7FFF,
             "low17": 0x1FFFF, "high15": 0xFFFE0000, "high17": 0xFFFF8000, "mixed15": 0x55545555, "mixed17": 0xAAABABAB}  # fmt: skip
    points = tuple(
        Point({"else_mask": name}, table=tuple((mask >> i) & 1 for i in ps.LANES)) for name, mask in masks.items()
    )
    for fmas in (8, 24, 64):
        yield Experiment(f"flow.divergence.{fmas}", "flow", "lanes", control.divergence(fmas), points)
    trips = {"all_8": [8] * 32, "lane": [i + 1 for i in ps.LANES], "one_long": [32] + [1] * 31, "all_32": [32] * 32}
    points = tuple(Point({"trips": name}, table=tuple(row)) for name, row in trips.items())
    yield Experiment("flow.lane_trips", "flow", "stamps", control.lane_trips(), points)
    points = tuple(Point({"warps": w}, warps=w) for w in CURVE_WARPS)
    yield Experiment("flow.barrier", "flow", "latency", control.barriers(), points)
    yield Experiment("flow.warp_sync", "flow", "latency", control.warp_syncs(), points[:1])


def issue() -> Iterator[Experiment]:
    """A clock read after each instruction."""
    table = tuple(4 * i for i in ps.LANES)
    for kind in control.ISSUED:
        step = 8 if "64" in kind else 4
        points = tuple(
            Point({"warps": w}, warps=w, table=tuple(step * i for i in ps.LANES), gap=4000) for w in (1, 4, 8, 16)
        )
        if kind in ("lds", "sts", "ldg_ca"):
            points += tuple(
                Point({"warps": w, "pattern": "bank"}, warps=w, table=tuple(32 * o % 8192 for o in table), gap=4000)
                for w in (1, 4)
            )
        yield Experiment(f"issue.{kind}", "issue", "stamps", control.issue(kind), points)


def bursts() -> Iterator[Experiment]:
    """1 to 24 independent instructions of a kind between two clock reads, alone on the SM and one warp a sub-core."""
    for kind in control.ISSUED[1:]:
        step = 8 if "64" in kind else 4
        for count in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24):
            points = tuple(
                Point({"warps": w, "count": count}, warps=w, table=tuple(step * i for i in ps.LANES), gap=4000) for w in (1, 4, 8)
            )
            yield Experiment(f"burst.{kind}.{count}", "burst", "stamps", control.burst(kind, count), points)


def curves() -> Iterator[Experiment]:
    """Latency hiding of loads: `items` independent loads, then their use, over warps; shared, L1, L2, DRAM."""
    warps = (1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32)
    for items in CHAINS:
        places = (("l2_one_sm", 1, (1 << 21) - 1), ("l2", SMS, (1 << 23) - 1), ("dram", SMS, (1 << 32) - 1))
        for name, blocks, mask in places:
            points = []
            for w in warps:
                threads = 32 * w * blocks
                label = {"warps": w, "items": items, "blocks": blocks}
                points.append(
                    Point(label, w, blocks, (16, 48), step=4, pa=4 * threads, pb=mask, reps=32, gap=20000, prime=mask + 1)
                )
            body = global_memory.stream(32, items)
            yield Experiment(f"curve.{name}.items{items}", "curve", "slope", body, tuple(points))
        yield Experiment(
            f"curve.shared.items{items}", "curve", "slope", shared_memory.chains(items),
            tuple(Point({"warps": w, "items": items}, w, 1, (8, 24), step=4) for w in CURVE_WARPS),
        )  # fmt: skip
        yield Experiment(
            f"curve.l1.items{items}", "curve", "slope", global_memory.pattern_loads(32, "ca", items),
            tuple(
                Point({"warps": w, "items": items}, w, 1, (8, 24), tuple(4 * i for i in ps.LANES)) for w in CURVE_WARPS
            ),
        )  # fmt: skip


def bandwidth() -> Iterator[Experiment]:
    """Bytes in flight: width times items times warps, on DRAM and on L2, all SMs; one SM on L2; writes."""
    for width in (32, 64, 128):
        size = width // 8
        for items in CHAINS:
            body = global_memory.stream(width, items)
            for name, blocks, mask in (("dram", SMS, (1 << 32) - 1), ("l2", SMS, (1 << 24) - 1), ("l2_one_sm", 1, (1 << 21) - 1)):
                points = tuple(
                    Point(
                        {"width": width, "items": items, "warps": w, "blocks": blocks}, w, blocks, (24, 72), step=size,
                        pa=size * 32 * w * blocks, pb=mask, reps=32, gap=20000, prime=mask + 1,
                    )
                    for w in (4, 8, 16, 32)
                )  # fmt: skip
                yield Experiment(f"bandwidth.{name}.{width}.items{items}", "bandwidth", "slope", body, points)
        body = global_memory.write_stream(width, 4)
        points = tuple(
            Point({"width": width, "warps": w, "blocks": SMS, "place": place}, w, SMS, (24, 72), step=size,
                  pa=size * 32 * w * SMS, pb=mask, reps=32, gap=20000, prime=mask + 1)
            for w in (4, 8, 16, 32) for place, mask in (("dram", (1 << 32) - 1), ("l2", (1 << 23) - 1))
        )  # fmt: skip
        yield Experiment(f"bandwidth.write.{width}", "bandwidth", "slope", body, points)
    for stride in (4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096):
        points = (
            Point({"stride": stride}, 16, SMS, (16, 48), step=stride, pa=stride * 32 * 16 * SMS, pb=(1 << 32) - 1, reps=32, gap=20000, prime=1 << 32),
        )
        yield Experiment(f"stride.dram.{stride}", "bandwidth", "slope", global_memory.stream(32, 4), points)


GROUPS = {
    "latency": (arithmetic_latencies, tensor),
    "rate": (arithmetic_rates,),
    "mix": (mixes,),
    "schedule": (schedules,),
    "code": (code_sizes,),
    "shared": (shared,),
    "atomic": (shared_atomics, global_atomics),
    "l1": (l1,),
    "flow": (flow,),
    "issue": (issue,),
    "burst": (bursts,),
    "curve": (curves,),
    "bandwidth": (bandwidth,),
}


def experiments(groups: tuple[str, ...] = ()) -> list[Experiment]:
    """The experiments of the named groups, or of all."""
    return [e for name in groups or tuple(GROUPS) for make in GROUPS[name] for e in make()]
