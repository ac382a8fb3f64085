"""Conversions between integers and floats of all widths.

An 8- or 16-bit result fills its register: signed results are sign-extended, others padded with
zeros. An 8- or 16-bit source is the low part of its register.
"""
# ruff: noqa: D103 - the entry documents its lane function

from __future__ import annotations

from functools import cache

import numpy as np

from .. import arith
from ..table import BYTES, instruction

INT = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOAT = ("f16", "bf16", "f32", "f64")
WHOLE = {"rni": arith.NEAREST, "rzi": arith.ZERO, "rmi": arith.DOWN, "rpi": arith.UP}
ROUND = {"rn": arith.NEAREST, "rz": arith.ZERO, "rm": arith.DOWN, "rp": arith.UP}
MODES = ".rn nearest even, .rz toward zero, .rm down, .rp up. "


def bounds(type):
    """The least and the greatest value of an integer type."""
    bits = 8 * BYTES[type]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type[0] == "s" else (0, (1 << bits) - 1)


def filled(type):
    """The operand type of a result of `type`: small integers are extended to 32 bits."""
    return f"{type[0]}{max(32, 8 * BYTES[type])}" if type in INT else type


# --- integer to integer ----------------------------------------------------------------------


@cache
def wrapped(to):
    """The function that keeps the low bits."""
    bits = 8 * BYTES[to]
    mask, sign = (1 << bits) - 1, 1 << (bits - 1)
    if bits >= 32:
        return lambda a: a
    if to[0] == "s":
        return lambda a: ((a & mask) ^ sign) - sign
    return lambda a: a & mask


@cache
def clamped(to, from_u64):
    """The function that clamps to the values of `to`; a u64 comes as a signed pattern."""
    low, high = bounds(to)
    if to == "u64":
        return lambda a: 0 if a < 0 else a
    if from_u64:
        return lambda a: high if a < 0 or a > high else a
    return lambda a: low if a < low else high if a > high else a


def integer_pair(words):
    """Two different integer types; .sat only where a value may not fit."""
    to, src = words["to"], words["src"]
    (low, high), (least, most) = bounds(to), bounds(src)
    return to != src and (words["sat"] == "" or least < low or most > high)


def to_float_timing(words):
    """A 32-bit integer to f32 runs on the integer pipe (I2FP); the others are conversions proper."""
    return "int32" if words["to"] == "f32" and words["src"] in ("s32", "u32") else "convert"


def integer_timing(words):
    """A pair of registers on either side takes the 64-bit path."""
    return "int64" if "64" in words["to"] + words["src"] else "int32"


@instruction(
    "cvt{sat}.{to}.{src}", sat=("", ".sat"), to=INT, src=INT, only=integer_pair, timing=integer_timing,
    operands=lambda v: f"d:{filled(v['to'])}, a:{v['src']}", choose=True,
    doc="Converts an integer to another width or sign.", example="cvt.s64.s32 wide, i",
    notes="Without .sat the low bits stay; with it the value is clamped to the range of the new type.",
)  # fmt: skip
def cvt(sat, to, src):
    return clamped(to, src == "u64") if sat else wrapped(to)


# --- float to integer ------------------------------------------------------------------------


@cache
def to_integer(round, to):
    """The function that rounds to a whole number and clamps."""
    mode = WHOLE[round]
    if to == "u64":
        return lambda a: arith.to_u64(np.float64(a), mode)
    low, high = bounds(to)
    return lambda a: arith.to_int(np.float64(a), mode, low, high)


@instruction(
    "cvt.{round}.{to}.{src}", round=tuple(WHOLE), to=INT, src=FLOAT, timing="convert", choose=True,
    only=lambda v: v["round"] in ("rni", "rzi") or BYTES[v["to"]] >= 4,
    operands=lambda v: f"d:{filled(v['to'])}, a:{v['src']}",
    doc="Converts a float to an integer.", example="cvt.rzi.s32.f32 i, x",
    notes=".rni nearest even, .rzi toward zero, .rmi down, .rpi up. Values out of range become the nearest "
    "of the type, NaN becomes 0.",
)  # fmt: skip
def cvt_to_int(round, to, src):
    return to_integer(round, to)


# --- integer to float ------------------------------------------------------------------------


@cache
def from_integer(round, to, src):
    """The function from an integer; one rounding, also from 64 bits."""
    mode = ROUND[round]
    if to == "f32" and src == "u64":
        return lambda a: arith.round_f32(arith.u64_odd(a), mode)
    if to == "f32":
        return lambda a: arith.round_f32(arith.s64_odd(a), mode)
    if src == "u64":
        return (lambda a: arith.u64_f64(a)) if to == "f64" else (lambda a: arith.u64_odd(a))
    return (lambda a: np.float64(a)) if to == "f64" else (lambda a: arith.s64_odd(a))


@instruction(
    "cvt.{round}.{to}.{src}", round=tuple(ROUND), to=FLOAT, src=INT, timing=to_float_timing, choose=True,
    only=lambda v: v["round"] == "rn" or (v["to"] == "f32" and BYTES[v["src"]] == 4),
    operands="d:{to}, a:{src}", doc="Converts an integer to a float.", example="cvt.rn.f32.s32 x, i",
    notes=MODES + "Rounded once. f16 goes to infinity from 65520 up.",
)  # fmt: skip
def cvt_from_int(round, to, src):
    # Small integers are exact in every one of these steps: they share one function.
    return from_integer(round, to, "u64" if src == "u64" else "s64")


# --- float to float --------------------------------------------------------------------------

# Pairs of the new type and the old one.
WIDER = (("f32", "f16"), ("f32", "bf16"), ("f64", "f16"), ("f64", "bf16"), ("f64", "f32"))
NARROWER = (*((narrow, wide) for wide, narrow in WIDER), ("f16", "bf16"), ("bf16", "f16"))


@instruction(
    "cvt.{to}.{src}", to=("f32", "f64"), src=FLOAT, only=lambda v: (v["to"], v["src"]) in WIDER,
    operands="d:{to}, a:{src}", timing="convert", choose=True,
    doc="Converts a float to a wider one.", example="cvt.f32.f16 x, h",
    notes="Exact. f16 and bf16 are the low half of the register; shift by 16 to convert the high one.",
)  # fmt: skip
def cvt_widen(to, src):
    if to == "f32":
        return lambda a: arith.round_f32(a, 0)
    return lambda a: np.float64(a)


@cache
def narrower(round, to):
    """The function that rounds an f64 or f32 once to the values of `to`."""
    mode = ROUND[round]
    if to == "f32":
        return lambda a: arith.round_f32(np.float64(a), mode)
    if to == "f16":
        return lambda a: arith.round_f16(np.float64(a), mode)
    return lambda a: arith.round_bf16(np.float64(a), mode)


@instruction(
    "cvt.{round}.{to}.{src}", round=tuple(ROUND), to=("f16", "bf16", "f32"), src=FLOAT, timing="convert",
    only=lambda v: (v["to"], v["src"]) in NARROWER,
    choose=True, operands="d:{to}, a:{src}", doc="Converts a float to a narrower one.",
    example="cvt.rn.f16.f32 h, x",
    notes=MODES + "Rounded once; overflow gives infinity or, when the mode points to zero there, the largest "
    "number; denormals are kept; NaN is 0x7fff (f16, bf16) or 0x7fffffff (f32).",
)  # fmt: skip
def cvt_narrow(round, to, src):
    return narrower(round, to)


@instruction(
    "cvt.sat.{to}.{src}", to=("f32",), src=("f32",), operands="d:{to}, a:{src}", timing="convert",
    doc="Clamps a float to [0, 1].", example="cvt.sat.f32.f32 y, x", notes="NaN and -0 give +0.",
)  # fmt: skip
def cvt_sat(a):
    return arith.saturate(a)


@cache
def whole(round, type):
    """The function that rounds a float to a whole number of its own type."""
    mode = WHOLE[round]
    if type == "f32":
        return lambda a: arith.round_f32(arith.round_whole(np.float64(a), mode), 0)
    return lambda a: arith.round_whole(a, mode)


@instruction(
    "cvt.{round}.{to}.{src}", round=tuple(WHOLE), to=("f32", "f64", "f16"), src=("f32", "f64", "f16"),
    only=lambda v: v["to"] == v["src"], operands="d:{to}, a:{src}", timing="convert", choose=True,
    doc="Rounds a float to a whole number that stays a float.", example="cvt.rmi.f32.f32 floor, x",
    notes=".rni nearest even, .rzi truncate, .rmi floor, .rpi ceiling. The sign of a zero stays.",
)  # fmt: skip
def cvt_whole(round, to, src):
    return whole(round, to)


@instruction(
    "cvt.{round}.{to}.f32", round=("rn", "rz"), to=("f16x2", "bf16x2"), operands="d:b32, a:f32, b:f32",
    timing="convert", choose=True, doc="Rounds two f32 to 16 bits and packs them into one register.",
    example="cvt.rn.f16x2.f32 pair, high, low", notes="a goes to the high half, b to the low half. " + MODES,
)  # fmt: skip
def cvt_pack(round, to):
    mode = ROUND[round]
    bits, fraction = (5, 10) if to == "f16x2" else (8, 7)

    def pack(a, b):
        high = arith.narrow(np.float64(a), bits, fraction, mode)
        return high << 16 | arith.narrow(np.float64(b), bits, fraction, mode)

    return pack
