"""Benchmarks of the execution units: one dependent chain for latency, independent chains for throughput."""

from __future__ import annotations

from tinygpu.validate.measure.body import Body, loop
from tinygpu.validate.measure.units import F32, MIXES, ONCE, TENSOR, UNITS, Unit

__all__ = ["F32", "MIXES", "ONCE", "TENSOR", "UNITS", "Unit"]


def _line(unit: Unit, chain: int, index: int) -> str:
    k = index % 5
    names = {"x": f"x{chain}", "d": f"d{chain}", "k": str(k + 2), "k1": str((k + 1) % 5 + 2)}
    names |= {"k2": str(index % 2), "k3": str((index + 1) % 2)}
    text = unit.ptx
    for name, value in names.items():
        text = text.replace("{" + name + "}", value)
    return text


def _seed(unit: Unit, chains: int) -> str:
    once = "setp.ne.u32 p0, after, 0; setp.eq.u32 p1, after, 77;"
    if unit.wide:
        high = "0x3ff00001" if unit.name.startswith("d") else "0"
        seeds = [f"or.b32 x78, after, {high};\nmov.b64 d{c}, {{after, x78}};" for c in range(chains)]
    else:
        seeds = [
            unit.seed.replace("{x}", f"x{c}") + f"\nadd.u32 x{c}, x{c}, {c};\nadd.u32 x{c}, x{c}, lane;"
            for c in range(chains)
        ]
    return "\n".join([once, *seeds])


def _chains(unit: Unit, chains: int, lines: int) -> str:
    return "\n".join(_line(unit, i % chains, i // chains) for i in range(lines))


def _body(name: str, unit: Unit, chains: int, parts: tuple[str, ...], counts: tuple[int, ...]) -> Body:
    names = tuple(("d" if unit.wide else "x") + str(c) for c in range(chains))
    sink, wide = ((), names) if unit.wide else (names, ())
    return Body(name, parts, counts, once=ONCE, start=_seed(unit, chains), sink=sink, wide_sink=wide)


def latency(unit: Unit) -> Body:
    """One chain in two lengths, straight-line: the difference over the difference is a line's latency."""
    counts = (8, 16, 48)
    return _body(f"latency_{unit.name}", unit, 1, tuple(_chains(unit, 1, n) for n in counts), counts)


def throughput(unit: Unit, chains: int, lines: int = 64) -> Body:
    """`chains` independent chains, `lines` lines in a counted loop."""
    part = loop(_chains(unit, chains, lines))
    return _body(f"rate_{unit.name}_ilp{chains}", unit, chains, (part,), (lines,))


def straight(unit: Unit, lines: int) -> Body:
    """Eight chains in `lines` lines of straight code, run `iters` times: what the front end can deliver."""
    return _body(f"code_{unit.name}_{lines}", unit, 8, (loop(_chains(unit, 8, lines)),), (lines,))


def mix(name: str, first: int, second: int, groups: int = 8) -> Body:
    """`first` instructions of one operation and `second` of another, in independent chains, in turn."""
    one, two = MIXES[name]
    lines = []
    for g in range(groups):
        lines += [one.replace("{x}", f"x{(g * first + i) % 8}") for i in range(first)]
        lines += [two.replace("{x}", f"x{8 + (g * second + i) % 8}") for i in range(second)]
    start = "\n".join(f"or.b32 x{c}, after, 0x3f800001;\nadd.u32 x{c}, x{c}, lane;" for c in range(16))
    return Body(
        f"mix_{name}_{first}_{second}",
        (loop("\n".join(lines)),),
        (groups * (first + second),),
        once=ONCE,
        start=start,
        sink=tuple(f"x{c}" for c in range(16)),
    )


def _mma(name: str, chain: int) -> str:
    text, a, b = TENSOR[name]
    total = ", ".join(f"x{4 * chain + i}" for i in range(4))
    left = ", ".join(f"y{i}" for i in range(a))
    right = ", ".join(f"y{4 + i}" for i in range(b))
    return f"{text} {{{total}}}, {{{left}}}, {{{right}}}, {{{total}}};"


def tensor_latency(name: str) -> Body:
    """A chain of matrix multiplications through the accumulator."""
    parts = tuple("\n".join([_mma(name, 0)] * n) for n in (4, 8, 24))
    start = "\n".join(f"or.b32 x{i}, after, 0x3f800000;" for i in range(4))
    sink = tuple(f"x{i}" for i in range(4))
    return Body(f"latency_mma_{name}", parts, (4, 8, 24), once=ONCE, start=start, sink=sink)


def tensor_rate(name: str, chains: int = 4, lines: int = 32) -> Body:
    """Independent matrix multiplications in a counted loop."""
    part = loop("\n".join(_mma(name, i % chains) for i in range(lines)))
    start = "\n".join(
        f"or.b32 x{i}, after, 0x3f800000;\nadd.u32 x{i}, x{i}, lane;" for i in range(4 * chains)
    )
    sink = tuple(f"x{i}" for i in range(4 * chains))
    return Body(f"rate_mma_{name}_ilp{chains}", (part,), (lines,), once=ONCE, start=start, sink=sink)
