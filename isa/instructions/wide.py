"""Integer arithmetic and logic on 64-bit register pairs; two issue slots, as on the hardware."""
# ruff: noqa: D103 - the entry documents its lane function

from __future__ import annotations

from .. import arith
from ..table import instruction

WIDE = ("s64", "u64")


@instruction(
    "add.{type}", type=WIDE, operands="d:{type}, a:{type}, b:{type}", timing="int64",
    doc="Adds two 64-bit integers.", example="add.u64 next, address, 128", notes="The sum wraps.",
)  # fmt: skip
def add_64(a, b):
    return a + b


@instruction(
    "sub.{type}", type=WIDE, operands="d:{type}, a:{type}, b:{type}", timing="int64",
    doc="Subtracts b from a, 64 bits.", example="sub.s64 ticks, stop, start", notes="The difference wraps.",
)  # fmt: skip
def sub_64(a, b):
    return a - b


@instruction(
    "and.b64", operands="d:b64, a:b64, b:b64", timing="int64",
    doc="Bitwise and of 64 bits.", example="and.b64 line, address, -128",
)  # fmt: skip
def and_b64(a, b):
    return a & b


@instruction(
    "or.b64", operands="d:b64, a:b64, b:b64", timing="int64",
    doc="Bitwise or of 64 bits.", example="or.b64 y, x, 1",
)  # fmt: skip
def or_b64(a, b):
    return a | b


@instruction(
    "xor.b64", operands="d:b64, a:b64, b:b64", timing="int64",
    doc="Bitwise exclusive or of 64 bits.", example="xor.b64 hash, hash, word",
)  # fmt: skip
def xor_b64(a, b):
    return a ^ b


@instruction(
    "not.b64", operands="d:b64, a:b64", timing="int64",
    doc="Flips every one of 64 bits.", example="not.b64 y, x",
)  # fmt: skip
def not_b64(a):
    return ~a


@instruction(
    "shl.b64", operands="d:b64, a:b64, b:u32", timing="int64",
    doc="Shifts 64 bits left, filling with zeros.", example="shl.b64 bytes, i, 2",
    notes="Counts of 64 and more give 0.",
)  # fmt: skip
def shl_b64(a, b):
    return a << b if b < 64 else 0


@instruction(
    "shr.{type}", type=("u64", "b64"), operands="d:{type}, a:{type}, b:u32", timing="int64",
    doc="Shifts 64 bits right, filling with zeros.", example="shr.u64 high, x, 32",
    notes="Counts of 64 and more give 0.",
)  # fmt: skip
def shr_u64(a, b):
    return arith.shr_u64(a, b)


@instruction(
    "shr.s64", operands="d:s64, a:s64, b:u32", timing="int64",
    doc="Shifts 64 bits right, filling with the sign.", example="shr.s64 half, x, 1",
    notes="Rounds toward minus infinity; counts of 64 and more leave 0 or -1.",
)  # fmt: skip
def shr_s64(a, b):
    return a >> (b if b < 63 else 63)
