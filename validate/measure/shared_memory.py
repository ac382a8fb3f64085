"""Benchmarks of shared memory: chains of loads, streams of loads, stores and atomics, over any address
pattern."""

from __future__ import annotations

from tinygpu.validate.measure.body import Body, loop, masked

BYTES = 40960
WORDS = {8: ("u8", 1), 16: ("u16", 1), 32: ("u32", 1), 64: ("u32", 2), 128: ("u32", 4)}
_POINTERS = "@on st.shared.u32 [a], a;"
ATOMICS = {
    "add": "add.u32 {r}[{a}], y0",
    "inc": "add.u32 {r}[{a}], 1",
    "max": "max.s32 {r}[{a}], y0",
    "exch": "exch.b32 {r}[{a}], {v}",
    "cas": "cas.b32 {r}[{a}], {v}, {v}",
}


def _vector(width: int, first: int) -> tuple[str, str]:
    kind, words = WORDS[width]
    if words == 1:
        return kind, f"x{first}"
    names = ", ".join(f"x{first + i}" for i in range(words))
    return f"v{words}.{kind}", "{" + names + "}"


def chase(width: int) -> Body:
    """Each lane loads the address that it just loaded: load-to-use latency of one access of its pattern."""
    kind, names = _vector(width, 0)
    line = f"@on ld.volatile.shared.{kind} {names}, [x0];"
    parts = tuple("\n".join([line] * n) for n in (4, 8, 24))
    start = "add.u32 x0, a, after;"
    return Body(
        f"shared_chase_{width}", parts, (4, 8, 24), setup=_POINTERS, start=start, sink=("x0",), shared=BYTES
    )


def chains(items: int, lines: int = 32) -> Body:
    """`items` chases of 32 bits at once, a row of 1024 bytes apart."""
    rows = [f"ld.volatile.shared.u32 x{i % items}, [x{i % items}];" for i in range(lines)]
    setup = "\n".join(f"st.shared.u32 [a+{1024 * i}], y{i};" for i in range(items))
    once = "\n".join(f"add.u32 y{i}, a, {1024 * i};" for i in range(items))
    start = "\n".join(f"add.u32 x{i}, y{i}, after;" for i in range(items))
    return Body(
        f"shared_chains_{items}",
        (loop("\n".join(rows)),),
        (lines,),
        once=once,
        setup=setup,
        start=start,
        sink=tuple(f"x{i}" for i in range(items)),
        shared=BYTES,
    )


def loads(width: int, lines: int = 32) -> Body:
    """Independent loads of one pattern, sixteen in flight a lane."""
    rows = []
    for i in range(lines):
        kind, names = _vector(width, (i % 16) * WORDS[width][1])
        rows.append(f"@on ld.volatile.shared.{kind} {names}, [a];")
    return Body(f"shared_load_{width}", (loop("\n".join(rows)),), (lines,), shared=BYTES)


def stores(width: int, lines: int = 32) -> Body:
    """Independent stores of one pattern."""
    kind, names = _vector(width, 0)
    row = f"@on st.volatile.shared.{kind} [a], {names};"
    start = "\n".join(f"add.u32 x{i}, after, {i};" for i in range(4))
    return Body(
        f"shared_store_{width}", (loop("\n".join([row] * lines)),), (lines,), start=start, shared=BYTES
    )


def _atomic(name: str, result: str, address: str, value: str) -> str:
    text = ATOMICS[name].replace("{a}", address).replace("{v}", value)
    return f"atom.shared.{text.replace('{r}', result + ', ')};"


def atomic_chase(name: str, ragged: bool = True) -> Body:
    """Each lane's atomic returns the address of its next one: latency with a result."""
    line = _atomic(name, "x0", "x0", "x0")
    rows = ("\n".join([line] * n) for n in (4, 8, 24))
    parts = tuple(masked(row, i) if ragged else row for i, row in enumerate(rows))
    return Body(
        f"shared_atomic_chase_{name}" + "_ragged" * ragged,
        parts,
        (4, 8, 24),
        once="mov.u32 y0, zero;",
        setup=_POINTERS,
        start="add.u32 x0, a, after;",
        sink=("x0",),
        shared=BYTES,
    )


def atomics(name: str, returns: bool, lines: int = 16) -> Body:
    """Independent atomics of one pattern, with results kept or thrown away."""
    rows = [_atomic(name, f"x{i}" if returns else f"x{40 + i}", "a", "y0") for i in range(lines)]
    if returns:
        rows += [f"xor.b32 x30, x30, x{i};" for i in range(lines)]
    kept = "return" if returns else "none"
    return Body(
        f"shared_atomic_{name}_{kept}",
        (masked(loop("\n".join(rows))),),
        (lines,),
        once="mov.u32 y0, zero;",
        setup=_POINTERS,
        start="mov.u32 x30, after;",
        sink=("x30",) if returns else (),
        shared=BYTES,
    )


def float_add(lines: int = 8) -> Body:
    """`atomicAdd` of f32 on shared memory, which the compiler turns into a loop of compare-and-swap."""
    rows = [f"atom.shared.add.f32 x{40 + i}, [a], y0;" for i in range(lines)]
    setup = "@on st.shared.u32 [a], zero;"
    return Body(
        "shared_atomic_fadd",
        (masked(loop("\n".join(rows))),),
        (lines,),
        once="xor.b32 y0, zero, 0x3f800000;",
        setup=setup,
        shared=BYTES,
    )


def matrix_loads(matrices: int, lines: int = 16) -> Body:
    """`ldmatrix` of one, two or four 8x8 matrices of 16 bits; the table holds each lane's row address."""
    rows, uses = [], []
    for i in range(lines):
        names = [f"x{i * matrices + k}" for k in range(matrices)]
        rows.append(
            f"ldmatrix.sync.aligned.m8n8.x{matrices}.shared.b16 {{{', '.join(names)}}}, [a+{1024 * i}];"
        )
        uses += [f"xor.b32 x70, x70, {name};" for name in names]
    step = ["and.b32 x71, x70, zero; add.u32 a, a, x71;"]
    return Body(
        f"ldmatrix_x{matrices}",
        (loop("\n".join(rows + uses + step)),),
        (lines,),
        start="add.u32 a, a, after; mov.u32 x70, after;",
        sink=("x70",),
        shared=BYTES,
    )


def matrix_chase(matrices: int) -> Body:
    """`ldmatrix` whose result is its next address: every word of the row holds the buffer's start."""
    names = ", ".join(f"x{k}" for k in range(matrices))
    line = f"ldmatrix.sync.aligned.m8n8.x{matrices}.shared.b16 {{{names}}}, [x0];"
    uses = [f"xor.b32 x70, x70, x{k};" for k in range(1, matrices)]
    parts = tuple("\n".join([line, *uses] * n) for n in (4, 8, 24))
    setup = "shl.b32 x72, lane, 2; add.u32 x72, x72, sh;\nst.shared.u32 [x72], sh;"
    return Body(
        f"ldmatrix_chase_x{matrices}",
        parts,
        (4, 8, 24),
        setup=setup,
        start="add.u32 x0, sh, after; mov.u32 x70, after;",
        sink=("x0", "x70"),
        shared=BYTES,
    )


def chase_with(between: str, name: str) -> Body:
    """A chase of 32 bits with one instruction on the loaded address: what a result costs on its way to the
    LSU."""
    line = f"ld.volatile.shared.u32 x0, [x0];\n{between}"
    parts = tuple("\n".join([line] * n) for n in (4, 8, 24))
    return Body(
        f"shared_chase_{name}",
        parts,
        (4, 8, 24),
        once="and.b32 y0, lane, zero; add.u32 y1, y0, 1;",
        setup=_POINTERS,
        start="add.u32 x0, a, after;",
        sink=("x0",),
        shared=BYTES,
    )
