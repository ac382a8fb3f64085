"""The operations of the execution units as a table: the PTX of one step of a dependent chain each.

`{x}` is the chain's 32-bit register and `{d}` its 64-bit twin. The operands `y0..y7`, `e0`, `e1` hold
values that the compiler cannot know; `{k}` and `{k1}` number operands that change from step to step, so
that steps cannot be folded into one. Where several instructions make one step (a conversion there and
back), `steps` says how many.
"""

from __future__ import annotations

from dataclasses import dataclass

ONCE = """xor.b32 y0, zero, 0x3f7ffff0; xor.b32 y1, zero, 0x3c000000; xor.b32 y2, zero, 0x00010203;
xor.b32 y3, zero, 7; xor.b32 y4, zero, 0x3c003c00; xor.b32 y5, zero, 0x00100010;
xor.b32 y6, zero, 5; xor.b32 y7, zero, 0x5a5a1234;
mov.b64 e0, {zero, y0}; xor.b64 e0, e0, 0x3fefff0000000000; mov.b64 e1, {y1, zero};
xor.b32 x77, lane, 1; sub.u32 x77, x77, zero;"""


@dataclass(frozen=True, slots=True)
class Unit:
    """One operation of an execution unit: its name, PTX, expected machine mnemonic and steps a line."""

    name: str
    ptx: str
    machine: str
    wide: bool = False
    steps: int = 1
    seed: str = "mov.b32 {x}, after;"


F32 = "or.b32 {x}, after, 0x3f800001;"
_UNITS = [
    Unit("ffma", "fma.rn.f32 {x}, {x}, y0, y1;", "FFMA", seed=F32),
    Unit("fadd", "add.rn.f32 {x}, {x}, y1;", "FADD", seed=F32),
    Unit("fadd_imm", "add.rn.f32 {x}, {x}, 0f3C000000;", "FADD", seed=F32),
    Unit("ffma_imm", "fma.rn.f32 {x}, {x}, 0f3F7FFFF0, {x};", "FFMA", seed=F32),
    Unit("ffma_pair", "fma.rn.f32 {x}, {x}, y0, {x};", "FFMA", seed=F32),
    Unit("iadd_imm", "add.u32 {x}, {x}, 77;\nxor.b32 {x}, {x}, 0x5a5a1234;", "IADD3 + LOP3", steps=2),
    Unit("lop3_imm", "lop3.b32 {x}, {x}, y{k}, 0x5a5a1234, 0x6a;", "LOP3"),
    Unit("fmul", "mul.rn.f32 {x}, {x}, y0;", "FMUL", seed=F32),
    Unit("fmnmx", "min.f32 {x}, {x}, y{k2};\nmax.f32 {x}, {x}, y{k3};", "FMNMX", steps=2, seed=F32),
    Unit("iadd3", "add.u32 {x}, {x}, y{k};\nadd.u32 {x}, {x}, y{k1};", "IADD3"),
    Unit("iadd", "add.u32 {x}, {x}, y6;\nxor.b32 {x}, {x}, y7;", "IADD3 + LOP3", steps=2),
    Unit("lop3", "lop3.b32 {x}, {x}, y{k}, y{k1}, 0x6a;", "LOP3"),
    Unit("shf", "shf.l.wrap.b32 {x}, {x}, y7, y3;", "SHF"),
    Unit("shl_add", "shl.b32 x79, {x}, 3;\nadd.u32 {x}, x79, y6;", "LEA"),
    Unit("prmt", "prmt.b32 {x}, {x}, y7, y2;", "PRMT"),
    Unit("sel", "selp.b32 x79, {x}, y6, p0;\nselp.b32 {x}, y7, x79, p1;", "SEL", steps=2),
    Unit("imad", "mad.lo.s32 {x}, {x}, y6, y7;", "IMAD"),
    Unit("imad_hi", "mul.hi.u32 {x}, {x}, y7;", "IMAD.HI"),
    Unit("imad_wide", "cvt.u32.u64 x79, {d};\nmad.wide.u32 {d}, x79, y6, {d};", "IMAD.WIDE", wide=True),
    Unit("imnmx", "min.s32 {x}, {x}, y{k};\nmax.s32 {x}, {x}, y{k1};", "VIMNMX", steps=2),
    Unit("iabs", "abs.s32 {x}, {x};\nsub.u32 {x}, y6, {x};", "IABS + IADD3", steps=2),
    Unit("isetp_sel", "setp.lt.s32 p2, {x}, y6;\nselp.b32 {x}, y7, y3, p2;", "ISETP + SEL", steps=2),
    Unit("dp4a", "dp4a.u32.u32 {x}, {x}, y6, y7;", "IDP"),
    Unit("vimax3", "max.s32 x79, {x}, y{k};\nmax.s32 {x}, x79, y{k1};", "VIMNMX3"),
    Unit("popc", "popc.b32 {x}, {x};", "POPC"),
    Unit("flo", "bfind.u32 {x}, {x};", "FLO"),
    Unit("brev", "brev.b32 {x}, {x};\nadd.u32 {x}, {x}, y6;", "BREV + IADD3", steps=2),
    Unit("ex2", "ex2.approx.ftz.f32 {x}, {x};", "MUFU.EX2", seed=F32),
    Unit(
        "rcp", "rcp.approx.ftz.f32 {x}, {x};\nadd.rn.f32 {x}, {x}, y1;", "MUFU.RCP + FADD", steps=2, seed=F32
    ),
    Unit("rsqrt", "rsqrt.approx.ftz.f32 {x}, {x};", "MUFU.RSQ", seed=F32),
    Unit("lg2", "lg2.approx.ftz.f32 {x}, {x};", "MUFU.LG2", seed=F32),
    Unit("sqrt", "sqrt.approx.ftz.f32 {x}, {x};", "MUFU.SQRT", seed=F32),
    Unit("tanh", "tanh.approx.f32 {x}, {x};", "MUFU.TANH", seed=F32),
    Unit("sin", "sin.approx.ftz.f32 {x}, {x};", "FMUL + MUFU.SIN", seed=F32, steps=2),
    Unit("i2f_f2i", "cvt.rn.f32.s32 {x}, {x};\ncvt.rzi.s32.f32 {x}, {x};", "I2F + F2I", steps=2),
    Unit("i2f", "cvt.rn.f32.s32 {x}, {x};", "I2F"),
    Unit("f2i", "cvt.rzi.s32.f32 {x}, {x};", "F2I"),
    Unit("f2f16", "cvt.rn.f16.f32 h0, {x};\ncvt.f32.f16 {x}, h0;", "F2F + HADD2", steps=2, seed=F32),
    Unit("hfma2", "fma.rn.f16x2 {x}, {x}, y4, y5;", "HFMA2"),
    Unit("hadd2", "add.f16x2 {x}, {x}, y4;", "HADD2"),
    Unit("hfma2_bf16", "fma.rn.bf16x2 {x}, {x}, y4, y5;", "HFMA2.BF16"),
    Unit("dadd", "add.f64 {d}, {d}, e1;", "DADD", wide=True),
    Unit("dmul", "mul.f64 {d}, {d}, e0;", "DMUL", wide=True),
    Unit("dfma", "fma.rn.f64 {d}, {d}, e0, e1;", "DFMA", wide=True),
    Unit("shfl_idx", "shfl.sync.idx.b32 {x}, {x}, x77, 31, 0xffffffff;", "SHFL"),
    Unit("shfl_bfly", "shfl.sync.bfly.b32 {x}, {x}, 1, 31, 0xffffffff;", "SHFL"),
    Unit("shfl_up", "shfl.sync.up.b32 {x}, {x}, 1, 0, 0xffffffff;", "SHFL"),
    Unit(
        "vote_ballot", "setp.ne.u32 p2, {x}, y6;\nvote.sync.ballot.b32 {x}, p2, 0xffffffff;", "ISETP + VOTE"
    ),
    Unit("match_any", "match.any.sync.b32 {x}, {x}, 0xffffffff;", "MATCH.ANY"),
    Unit("match_all", "match.all.sync.b32 {x}, {x}, 0xffffffff;", "MATCH.ALL"),
    Unit("redux_add", "redux.sync.add.s32 {x}, {x}, 0xffffffff;", "REDUX"),
    Unit("redux_max", "redux.sync.max.s32 {x}, {x}, 0xffffffff;", "REDUX"),
    Unit("s2r", "mov.u32 x79, %smid;\nxor.b32 {x}, {x}, x79;", "S2R + LOP3"),
    Unit(
        "ffma_iadd3",
        "fma.rn.f32 {x}, {x}, y0, y1;\nadd.u32 {x}, {x}, y{k};\nadd.u32 {x}, {x}, y{k1};",
        "FFMA + IADD3",
        steps=2,
    ),
    Unit(
        "imad_lop3",
        "mad.lo.s32 {x}, {x}, y6, y7;\nlop3.b32 {x}, {x}, y{k}, y{k1}, 0x6a;",
        "IMAD + LOP3",
        steps=2,
    ),
    Unit("ffma_imad", "fma.rn.f32 {x}, {x}, y0, y1;\nmad.lo.s32 {x}, {x}, y6, y7;", "FFMA + IMAD", steps=2),
    Unit(
        "ffma_hfma2", "fma.rn.f32 {x}, {x}, y0, y1;\nfma.rn.f16x2 {x}, {x}, y4, y5;", "FFMA + HFMA2", steps=2
    ),
    Unit(
        "ex2_ffma",
        "ex2.approx.ftz.f32 {x}, {x};\nfma.rn.f32 {x}, {x}, y0, y1;",
        "MUFU + FFMA",
        steps=2,
        seed=F32,
    ),
    Unit(
        "shfl_iadd3",
        "shfl.sync.bfly.b32 {x}, {x}, 1, 31, 0xffffffff;\nadd.u32 {x}, {x}, y6;",
        "SHFL + IADD3",
        steps=2,
    ),
    Unit(
        "shfl_ffma",
        "shfl.sync.bfly.b32 {x}, {x}, 1, 31, 0xffffffff;\nfma.rn.f32 {x}, {x}, y0, y1;",
        "SHFL + FFMA",
        steps=2,
    ),
    Unit("setp_guard", "setp.lt.s32 p2, {x}, y6;\n@p2 xor.b32 {x}, {x}, y7;", "ISETP + @P LOP3", steps=2),
    Unit(
        "fsetp_sel", "setp.lt.f32 p2, {x}, y0;\nselp.b32 {x}, y1, y0, p2;", "FSETP + FSEL", steps=2, seed=F32
    ),
    Unit("and_ffma", "and.b32 x79, {x}, y7;\nfma.rn.f32 {x}, x79, y0, y1;", "LOP3 + FFMA", steps=2),
    Unit("f64_f32", "cvt.f64.f32 d31, {x};\ncvt.rn.f32.f64 {x}, d31;", "F2F both ways", steps=2, seed=F32),
    Unit("i2d_d2i", "cvt.rn.f64.s32 d31, {x};\ncvt.rzi.s32.f64 {x}, d31;", "I2F.F64 + F2I.F64", steps=2),
    Unit("fence_cta", "membar.cta;\nadd.u32 {x}, {x}, y6;", "MEMBAR.SC.CTA"),
    Unit("fence_gpu", "membar.gl;\nadd.u32 {x}, {x}, y6;", "MEMBAR.SC.GPU"),
]
UNITS = {unit.name: unit for unit in _UNITS}

MIXES = {
    "ffma_iadd3": ("fma.rn.f32 {x}, {x}, y0, y1;", "add.u32 {x}, {x}, y6; add.u32 {x}, {x}, y3;"),
    "ffma_imad": ("fma.rn.f32 {x}, {x}, y0, y1;", "mad.lo.s32 {x}, {x}, y6, y7;"),
    "imad_iadd3": ("mad.lo.s32 {x}, {x}, y6, y7;", "add.u32 {x}, {x}, y6; add.u32 {x}, {x}, y3;"),
    "ffma_hfma2": ("fma.rn.f32 {x}, {x}, y0, y1;", "fma.rn.f16x2 {x}, {x}, y4, y5;"),
    "iadd3_lop3": ("add.u32 {x}, {x}, y6; add.u32 {x}, {x}, y3;", "lop3.b32 {x}, {x}, y2, y7, 0x6a;"),
    "ffma_ex2": ("fma.rn.f32 {x}, {x}, y0, y1;", "ex2.approx.ftz.f32 {x}, {x};"),
    "ex2_popc": ("ex2.approx.ftz.f32 {x}, {x};", "popc.b32 {x}, {x};"),
    "ex2_shfl": ("ex2.approx.ftz.f32 {x}, {x};", "shfl.sync.bfly.b32 {x}, {x}, 1, 31, 0xffffffff;"),
}
"""Pairs of operations that may or may not share a pipe."""

TENSOR = {
    "m16n8k16_f16": ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2),
    "m16n8k8_f16": ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 2, 1),
    "m16n8k16_bf16": ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2),
    "m16n8k8_tf32": ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2),
    "m16n8k32_s8": ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 2),
}
"""Matrix instructions: PTX name, 32-bit registers of A and of B a lane; the accumulator has four."""
