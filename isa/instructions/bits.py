"""Bitwise logic, shifts and bit fields on 32-bit registers."""
# ruff: noqa: D103 - the entry documents its lane function

from __future__ import annotations

from .. import arith
from ..table import instruction


@instruction(
    "and.b32", operands="d:b32, a:b32, b:b32", timing="int32",
    doc="Bitwise and.", example="and.b32 low, x, 31",
)  # fmt: skip
def and_(a, b):
    return a & b


@instruction(
    "or.b32", operands="d:b32, a:b32, b:b32", timing="int32",
    doc="Bitwise or.", example="or.b32 y, x, 1",
)  # fmt: skip
def or_(a, b):
    return a | b


@instruction(
    "xor.b32", operands="d:b32, a:b32, b:b32", timing="int32",
    doc="Bitwise exclusive or.", example="xor.b32 swizzled, column, row",
)  # fmt: skip
def xor(a, b):
    return a ^ b


@instruction(
    "not.b32", operands="d:b32, a:b32", timing="int32",
    doc="Flips every bit.", example="not.b32 y, x",
)  # fmt: skip
def not_(a):
    return ~a


@instruction(
    "lop3.b32", operands="d:b32, a:b32, b:b32, c:b32, #lut:u32", timing="int32",
    doc="Any bitwise function of three words, given by its truth table.", example="lop3.b32 y, a, b, c, 0x96",
    notes="The table is the function of a = 0xF0, b = 0xCC, c = 0xAA: 0x96 is a ^ b ^ c, "
    "0xE8 the majority, 0xCA selects b where a is 1 and c where it is 0.",
)  # fmt: skip
def lop3(a, b, c, lut):
    return arith.lop3(a, b, c, lut)


@instruction(
    "shl.b32", operands="d:b32, a:b32, b:u32", timing="int32",
    doc="Shifts left, filling with zeros.", example="shl.b32 bytes, i, 2",
    notes="Counts of 32 and more give 0.",
)  # fmt: skip
def shl(a, b):
    return a << b if b < 32 else 0


@instruction(
    "shr.{type}", type=("u32", "b32"), operands="d:{type}, a:{type}, b:u32", timing="int32",
    doc="Shifts right, filling with zeros.", example="shr.u32 warp, thread, 5",
    notes="Counts of 32 and more give 0.",
)  # fmt: skip
def shr(a, b):
    return a >> b if b < 32 else 0


@instruction(
    "shr.s32", operands="d:s32, a:s32, b:u32", timing="int32",
    doc="Shifts right, filling with the sign.", example="shr.s32 half, x, 1",
    notes="Rounds toward minus infinity; counts of 32 and more leave 0 or -1.",
)  # fmt: skip
def shr_s32(a, b):
    return a >> (b if b < 31 else 31)


@instruction(
    "shf.l.{mode}.b32", mode=("wrap", "clamp"), operands="d:b32, a:b32, b:b32, c:u32", timing="int32",
    choose=True, doc="Shifts the 64 bits b:a left and keeps the high word.",
    example="shf.l.wrap.b32 rotated, x, x, 5",
    notes="wrap takes the count mod 32, clamp stops at 32, where the result is a.",
)  # fmt: skip
def shf_l(mode):
    def wrap(a, b, c):
        return arith.funnel(a, b, 32 - (c & 31))

    def clamp(a, b, c):
        return arith.funnel(a, b, 32 - c if c < 32 else 0)

    return wrap if mode == "wrap" else clamp


@instruction(
    "shf.r.{mode}.b32", mode=("wrap", "clamp"), operands="d:b32, a:b32, b:b32, c:u32", timing="int32",
    choose=True, doc="Shifts the 64 bits b:a right and keeps the low word.",
    example="shf.r.clamp.b32 y, low, high, 8",
    notes="wrap takes the count mod 32, clamp stops at 32, where the result is b.",
)  # fmt: skip
def shf_r(mode):
    def wrap(a, b, c):
        return arith.funnel(a, b, c & 31)

    def clamp(a, b, c):
        return arith.funnel(a, b, c if c < 32 else 32)

    return wrap if mode == "wrap" else clamp


@instruction(
    "bfe.u32", operands="d:u32, a:u32, b:u32, c:u32", timing="int32",
    doc="Takes c bits of a from bit b up, zero-extended.", example="bfe.u32 byte, word, 8, 8",
    notes="b and c count mod 256; bits above the word are 0.",
)  # fmt: skip
def bfe(a, b, c):
    return arith.bfe_u(a, b, c)


@instruction(
    "bfe.s32", operands="d:s32, a:s32, b:u32, c:u32", timing="int32",
    doc="Takes c bits of a from bit b up, sign-extended.", example="bfe.s32 byte, word, 8, 8",
    notes="b and c count mod 256; bits above the word repeat its sign; a length of 0 gives 0.",
)  # fmt: skip
def bfe_s32(a, b, c):
    return arith.bfe_s(a, b, c)


@instruction(
    "bfi.b32", operands="d:b32, a:b32, b:b32, c:u32, e:u32", timing="int32",
    doc="Puts the low e bits of a into b at bit c.", example="bfi.b32 packed, byte, packed, 8, 8",
    notes="c and e count mod 256; what would fall above bit 31 is dropped; a length of 0 gives b.",
)  # fmt: skip
def bfi(a, b, c, e):
    return arith.bfi(a, b, c, e)


@instruction(
    "prmt.b32", operands="d:b32, a:b32, b:b32, c:b32", timing="int32",
    doc="Picks four bytes of b:a, one by each hexadecimal digit of c.",
    example="prmt.b32 swapped, x, 0, 0x0123",
    notes="Digits 0-3 are the bytes of a, 4-7 of b; 8 more repeats that byte's sign over the whole byte.",
)  # fmt: skip
def prmt(a, b, c):
    return arith.prmt(a, b, c)


@instruction(
    "popc.b32", operands="d:u32, a:b32", timing="popc",
    doc="Counts the ones of a word.", example="popc.b32 lanes, ballot",
)  # fmt: skip
def popc(a):
    return arith.popc(a)


@instruction(
    "clz.b32", operands="d:u32, a:b32", timing="popc",
    doc="Counts the leading zeros of a word.", example="clz.b32 zeros, x", notes="Of 0: 32.",
)  # fmt: skip
def clz(a):
    return arith.clz(a)


@instruction(
    "brev.b32", operands="d:b32, a:b32", timing="popc",
    doc="Reverses the order of a word's bits.", example="brev.b32 y, x",
    notes="The lowest one of x is at bit clz(brev(x)).",
)  # fmt: skip
def brev(a):
    return arith.brev(a)
