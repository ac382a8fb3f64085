"""Benchmarks of branches, divergence, barriers and the issue of memory instructions."""

from __future__ import annotations

from tinygpu.validate.measure.arithmetic import ONCE
from tinygpu.validate.measure.body import NOUNROLL, Body, loop, masked

_FMA = "fma.rn.f32 {x}, {x}, y0, y1;"
_SEED = "or.b32 x0, after, 0x3f800001; or.b32 x1, after, 0x3f800011;"


def _fmas(register: str, count: int) -> str:
    return "\n".join([_FMA.replace("{x}", register)] * count)


def loop_of(fmas: int) -> Body:
    """A counted loop around `fmas` dependent FMAs."""
    return Body(f"loop_{fmas}_fma", (loop(_fmas("x0", fmas)),), (fmas,), once=ONCE, start=_SEED, sink=("x0",))


def branches(count: int = 6) -> Body:
    """Branches over 24 dependent FMAs, all taken or none, by the sign of the table's entry (`pa` the
    threshold)."""
    setup = "cvt.u32.u64 x10, pa;\n" + "\n".join(f"setp.gt.u32 p{i}, x10, {i + 10};" for i in range(count))
    rows = "\n".join(
        f"@p{i} bra OVER{i};\n{_fmas('x0', 24)}\nbar.warp.sync 0xffffffff;\nOVER{i}:" for i in range(count)
    )
    return Body("branch_over", (rows,), (count,), once=ONCE, setup=setup, start=_SEED, sink=("x0",))


def divergence(fmas: int = 24) -> Body:
    """If and else of `fmas` dependent FMAs each; a lane takes the else side when its table entry is not
    zero.

    Stamps: 0 before, 1 after reconvergence; 2, 3 begin and end of the if side; 4, 5 of the else side (all
    lanes write; a lane's unused stamps are zero).
    """
    part = "setp.ne.s64 p0, off, 0;\n@p0 bra ELSE;\n"
    part += f"mov.u64 d2, %clock64;\n{_fmas('x0', fmas)}\nmov.u64 d3, %clock64;\nbra JOIN;\n"
    part += f"ELSE:\nmov.u64 d4, %clock64;\n{_fmas('x1', fmas)}\nmov.u64 d5, %clock64;\n"
    part += "JOIN:\nbar.warp.sync 0xffffffff;"
    setup = " ".join(f"mov.u64 d{i}, 0;" for i in range(2, 6))
    finish = " ".join(f"cvt.u32.u64 s{i}, d{i};" for i in range(2, 6))
    return Body(
        f"divergence_{fmas}",
        (part,),
        (1,),
        once=ONCE,
        setup=setup,
        start=_SEED,
        sink=("x0", "x1"),
        extra_stamps=4,
        finish=finish,
        every_lane=True,
    )


def lane_trips() -> Body:
    """A loop whose trip count is the lane's table entry, one dependent FMA an iteration."""
    part = f"cvt.u32.u64 it, off;\nLOOP:\n{NOUNROLL}\n{_fmas('x0', 4)}\n"
    part += "sub.u32 it, it, 1; setp.ne.u32 q, it, 0;\n@q bra LOOP;\nbar.warp.sync 0xffffffff;"
    return Body("lane_trips", (part,), (1,), once=ONCE, start=_SEED, sink=("x0",))


def barriers() -> Body:
    """`bar.sync` again and again."""
    parts = tuple("\n".join(["bar.sync 0;"] * n) for n in (4, 8, 24))
    return Body("barrier", parts, (4, 8, 24))


def warp_syncs() -> Body:
    """`bar.warp.sync` again and again."""
    parts = tuple("\n".join(["bar.warp.sync 0xffffffff;"] * n) for n in (4, 8, 24))
    return Body("warp_sync", parts, (4, 8, 24))


_ISSUED = {
    "nothing": "",
    "ffma": "fma.rn.f32 x{i}, x{i}, y0, y1;",
    "imad": "mad.lo.s32 x{i}, x{i}, y6, y3;",
    "iadd3": "add.u32 x{i}, x{i}, y6; add.u32 x{i}, x{i}, y3;",
    "mufu": "ex2.approx.ftz.f32 x{i}, x{i};",
    "dfma": "fma.rn.f64 d{i}, d{i}, e0, e1;",
    "shfl": "shfl.sync.bfly.b32 x{i}, x{i}, 1, 31, 0xffffffff;",
    "lds": "ld.volatile.shared.u32 x{i}, [a];",
    "lds64": "ld.volatile.shared.v2.u32 {x{i}, x{40+i}}, [a];",
    "sts": "st.volatile.shared.u32 [a], y0;",
    "ldg": "ld.volatile.global.u32 x{i}, [e2];",
    "ldg_ca": "ld.relaxed.cta.global.u32 x{i}, [e2];",
    "ldg64": "ld.relaxed.cta.global.u64 d{i}, [e2];",
    "stg": "st.volatile.global.u32 [e2], y0;",
    "atoms": "atom.shared.exch.b32 x{i}, [a], y0;",
    "atoms_none": "atom.shared.add.u32 x79, [a], y0;",
    "atomg": "atom.global.exch.b32 x{i}, [e2], y0;",
    "red": "red.global.add.u32 [e2], y0;",
}
ISSUED = tuple(_ISSUED)


def issue(kind: str, count: int = 20) -> Body:
    """A clock read after each of `count` independent instructions: where issue stalls."""
    row = _ISSUED[kind]
    parts = tuple(row.replace("{40+i}", str(40 + i)).replace("{i}", str(i)) for i in range(count))
    sink = tuple(f"x{i}" for i in range(count)) if "x{i}" in row else ()
    wide = tuple(f"d{i}" for i in range(count)) if "d{i}" in row else ()
    start = "or.b32 y0, after, 0x3f800001; cvt.u64.u32 d31, after;\n"
    start += "\n".join(f"add.u32 x{i}, y0, {i};\nadd.u32 x{i}, x{i}, lane;" for i in range(count))
    if kind == "dfma":
        start += "\n" + "\n".join(f"mov.b64 d{i}, {{x{i}, x{i}}};" for i in range(count))
    return Body(
        f"issue_{kind}",
        parts,
        (1,) * count,
        once=ONCE + "\nadd.s64 e2, mem, off;",
        start=start,
        sink=sink,
        wide_sink=wide,
        shared=8192,
        setup="@on st.shared.u32 [a], zero;",
    )


def burst(kind: str, count: int) -> Body:
    """`count` independent instructions between two clock reads: how long one warp is held up issuing them."""
    part = "\n".join(issue(kind, count).parts)
    whole = issue(kind, count)
    return Body(
        f"burst_{kind}_{count}",
        (part,),
        (count,),
        once=whole.once,
        start=whole.start,
        sink=whole.sink,
        wide_sink=whole.wide_sink,
        shared=8192,
        setup=whole.setup,
    )


def placement() -> Body:
    """MUFU in the warps that are on: two of one sub-core take twice as long as two of different ones."""
    rows = "\n".join(f"ex2.approx.ftz.f32 x{i % 8}, x{i % 8};" for i in range(64))
    start = "\n".join(f"or.b32 x{i}, after, 0x3f800001;\nadd.u32 x{i}, x{i}, {i};" for i in range(8))
    return Body(
        "placement",
        (masked(loop(rows)),),
        (64,),
        start=start,
        sink=tuple(f"x{i}" for i in range(8)),
        extra_stamps=1,
        finish="mov.u32 s2, %warpid;",
    )
