"""Benchmarks of global memory: chases, streams over any pattern, bandwidth against bytes in flight,
atomics."""

from __future__ import annotations

from tinygpu.validate.measure.body import Body, loop, masked

WIDE = {8: "u8", 16: "u16", 32: "u32", 64: "u64", 128: "v2.u64"}
_ADDRESS = "add.s64 d0, mem, off;"
_POINTERS = _ADDRESS + "\n@on st.global.u64 [d0], d0;\nmembar.gl;"
_AFTER = "cvt.u64.u32 d31, after; add.s64 d0, d0, d31;"


def chase(width: int, operator: str, ragged: bool = True, adding: bool = False) -> Body:
    """Each lane loads its own address again and again; `adding`, and every 32-bit load, adds a zero to it.

    `ragged` branches around the lanes that are off, which costs the same in every part.
    """
    value = {32: "x0", 64: "d0", 128: "{d0, d1}"}[width]
    line = f"ld.global.{operator}.{WIDE[width]} {value}, [d0];"
    if width == 32:
        line += "\ncvt.u64.u32 d1, x0; add.s64 d0, d0, d1;"
    elif adding:
        line += "\nadd.s64 d0, d0, e0;"
    line += "\nxor.b64 d2, d2, d1;" if width == 128 else ""
    setup = _POINTERS if width > 32 else _ADDRESS + "\n@on st.global.u32 [d0], zero;\nmembar.gl;"
    rows = ("\n".join([line] * n) for n in (4, 8, 24))
    parts = tuple(masked(row, i) if ragged else row for i, row in enumerate(rows))
    return Body(
        f"global_chase_{width}_{operator}" + "_add" * adding + "_ragged" * ragged,
        parts,
        (4, 8, 24),
        setup=setup,
        once="and.b32 x1, lane, zero; cvt.u64.u32 e0, x1;",
        start=_AFTER + " mov.u64 d2, d0;",
        wide_sink=("d0", "d2"),
    )


def walk(operator: str) -> Body:
    """One lane follows pointers laid out in memory, `iters` x 8 steps a repetition, never starting over."""
    rows = "\n".join([f"ld.global.{operator}.u64 d0, [d0];"] * 8)
    return Body(
        f"global_walk_{operator}",
        (loop(rows),),
        (8,),
        once="add.s64 d0, mem, off;",
        start=_AFTER,
        wide_sink=("d0",),
    )


def line_chase(operator: str) -> Body:
    """The chase of one address, which moves on by `pa` bytes after each repetition: latency of each line."""
    rows = tuple("\n".join([f"ld.global.{operator}.u64 d0, [d0];"] * n) for n in (2, 4, 12))
    return Body(
        f"line_chase_{operator}",
        rows,
        (2, 4, 12),
        setup=_POINTERS,
        start=_AFTER,
        finish="add.s64 off, off, pa;",
        wide_sink=("d0",),
    )


STEP = 4096
"""Bytes between the copies of a pattern that one iteration touches: the same place in every bank and
sector."""


def _values(width: int, count: int) -> tuple[list[str], list[str]]:
    """Destination operands of `count` loads, and the instructions that fold them into `x40` or `d1`."""
    names, uses = [], []
    for i in range(count):
        low, high = f"d{2 + 2 * i}", f"d{3 + 2 * i}"
        names.append({64: low, 128: f"{{{low}, {high}}}"}.get(width, f"x{i}"))
        uses += [f"xor.b32 x40, x40, x{i};"] if width <= 32 else [f"xor.b64 d1, d1, {low};"]
        uses += [f"xor.b64 d1, d1, {high};"] if width == 128 else []
    folded = "mov.u32 x41, x40;" if width <= 32 else "cvt.u32.u64 x41, d1;"
    return names, [*uses, folded, "and.b32 x41, x41, zero; cvt.u64.u32 d22, x41;"]


def pattern_loads(width: int, operator: str, lines: int = 8) -> Body:
    """Loads of one pattern at `lines` distances of `STEP` bytes; the next iteration awaits their values."""
    names, uses = _values(width, lines)
    kind = WIDE[width]
    rows = [f"ld.global.{operator}.{kind} {names[i]}, [d0+{i * STEP}];" for i in range(lines)]
    part = masked(loop("\n".join([*rows, *uses, "add.s64 d0, d0, d22;"])))
    return Body(
        f"global_load_{width}_{operator}_lines{lines}",
        (part,),
        (lines,),
        setup=_ADDRESS,
        start=_AFTER + " mov.u64 d1, d31; mov.u32 x40, after;",
        wide_sink=("d1",),
        sink=("x40",),
    )


def pattern_stores(width: int, lines: int = 8) -> Body:
    """Stores of one pattern at `lines` distances of `STEP` bytes."""
    value = {64: "d10", 128: "{d10, d11}"}.get(width, "x0")
    rows = [f"@on st.global.{WIDE[width]} [d0+{i * STEP}], {value};" for i in range(lines)]
    start = _AFTER + " mov.u32 x0, after; mov.u64 d10, d31; add.s64 d11, d31, 5;"
    return Body(f"global_store_{width}", (loop("\n".join(rows)),), (lines,), setup=_ADDRESS, start=start)


_MULTIPLES = "mov.u64 d24, pa;\n" + "\n".join(f"add.s64 d{25 + i}, d{24 + i}, pa;" for i in range(7))


def stream(width: int, items: int, operator: str = "cg") -> Body:
    """A walk through memory: `items` independent loads `pa` bytes apart, then the next group once they
    came.

    The group's offset grows by `items * pa` and wraps at `pb` (a power of two, less one), so that a thread
    never has more than `items` loads in flight.
    """
    names, uses = _values(width, items)
    rows = ["and.b64 d20, d19, pb; add.s64 d20, d20, mem;"]
    for i in range(items):
        rows.append(f"add.s64 d21, d20, d{23 + i};" if i else "mov.u64 d21, d20;")
        rows.append(f"ld.global.{operator}.{WIDE[width]} {names[i]}, [d21];")
    rows += [*uses, f"add.s64 d19, d19, d{23 + items}; add.s64 d19, d19, d22;"]
    part = loop("\n".join(rows))
    return Body(
        f"stream_{width}_{operator}_items{items}",
        (part,),
        (items,),
        once="mov.u64 d19, off;\n" + _MULTIPLES,
        start="cvt.u64.u32 d18, after; mov.u64 d1, d18; mov.u32 x40, after; add.s64 d19, d19, d18;",
        wide_sink=("d1",),
        sink=("x40",),
    )


def write_stream(width: int, items: int) -> Body:
    """The same walk with stores, as fast as they leave."""
    value = {64: "d10", 128: "{d10, d11}"}.get(width, "x0")
    rows = ["and.b64 d20, d19, pb; add.s64 d20, d20, mem;"]
    for i in range(items):
        rows.append(f"add.s64 d21, d20, d{23 + i};" if i else "mov.u64 d21, d20;")
        rows.append(f"st.global.{WIDE[width]} [d21], {value};")
    rows.append(f"add.s64 d19, d19, d{23 + items};")
    return Body(
        f"write_stream_{width}_items{items}",
        (loop("\n".join(rows)),),
        (items,),
        once="mov.u64 d19, off;\n" + _MULTIPLES,
        start="cvt.u64.u32 d18, after; mov.u64 d10, d18; add.s64 d11, d18, 5; mov.u32 x0, after;\n"
        "add.s64 d19, d19, d18;",
    )


def atomic_chase(ragged: bool = True) -> Body:
    """Each lane's atomic returns an offset of zero to its next address: latency with a result."""
    line = "atom.global.add.u64 d0, [d0], e0;"
    rows = ("\n".join([line] * n) for n in (4, 8, 24))
    parts = tuple(masked(row, i) if ragged else row for i, row in enumerate(rows))
    return Body(
        "global_atomic_chase" + "_ragged" * ragged,
        parts,
        (4, 8, 24),
        once="cvt.u64.u32 e0, zero;",
        setup=_POINTERS,
        start=_AFTER,
        wide_sink=("d0",),
    )


def atomics(kind: str, lines: int = 8) -> Body:
    """Reductions without a result on one pattern: `add.u32`, `add.f32` or `max.s32`."""
    rows = [f"red.global.{kind} [d0], y0;"] * lines
    return Body(
        f"global_red_{kind}",
        (masked(loop("\n".join(rows))),),
        (lines,),
        once="mov.u32 y0, zero;",
        setup=_ADDRESS,
        start=_AFTER,
    )


def atomics_returning(lines: int = 8) -> Body:
    """Atomics with results, `lines` in flight a lane."""
    rows = [f"atom.global.add.u32 x{i}, [d0], y0;" for i in range(lines)]
    rows += [f"xor.b32 x40, x40, x{i};" for i in range(lines)]
    return Body(
        "global_atomic_return",
        (masked(loop("\n".join(rows))),),
        (lines,),
        once="mov.u32 y0, zero;",
        setup=_ADDRESS,
        start=_AFTER + " mov.u32 x40, after;",
        sink=("x40",),
    )
