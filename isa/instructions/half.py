"""Floating point in 16 bits, one value or two packed in a register; NaN is 0x7fff.

Lane functions see the values as f64. A sum of two halves or a fused multiply-add is rounded to
odd there, so that the engine's rounding to 16 bits is the only one that counts.
"""
# ruff: noqa: D103 - the entry documents its lane function

from __future__ import annotations

from .. import arith
from ..table import instruction

HALF = ("f16", "bf16", "f16x2", "bf16x2")
NOTE = "One rounding to nearest even; a NaN result is 0x7fff; denormals are kept. x2 works on both halves."


@instruction(
    "add.{type}", type=HALF, operands="d:{type}, a:{type}, b:{type}", timing="half",
    doc="Adds 16-bit floats.", example="add.f16x2 sum, x, y", notes=NOTE,
)  # fmt: skip
def add_half(a, b):
    return arith.fma_odd(a, 1.0, b)


@instruction(
    "sub.{type}", type=HALF, operands="d:{type}, a:{type}, b:{type}", timing="half",
    doc="Subtracts b from a, 16-bit floats.", example="sub.f16x2 d, x, y", notes=NOTE,
)  # fmt: skip
def sub_half(a, b):
    return arith.fma_odd(b, -1.0, a)


@instruction(
    "mul.{type}", type=HALF, operands="d:{type}, a:{type}, b:{type}", timing="half",
    doc="Multiplies 16-bit floats.", example="mul.bf16x2 y, x, scale", notes=NOTE,
)  # fmt: skip
def mul_half(a, b):
    return a * b


@instruction(
    "fma.{type}", type=HALF, operands="d:{type}, a:{type}, b:{type}, c:{type}", timing="half",
    doc="Multiplies a by b and adds c with one rounding, 16-bit floats.", example="fma.f16x2 acc, x, y, acc",
    notes=NOTE,
)  # fmt: skip
def fma_half(a, b, c):
    return arith.fma_odd(a, b, c)


@instruction(
    "min.{type}", type=HALF, operands="d:{type}, a:{type}, b:{type}", timing="half",
    doc="Takes the smaller of 16-bit floats.", example="min.f16x2 low, low, x",
    notes="If one is NaN the other one is the result; -0 is smaller than +0.",
)  # fmt: skip
def min_half(a, b):
    return arith.minimum(a, b)


@instruction(
    "max.{type}", type=HALF, operands="d:{type}, a:{type}, b:{type}", timing="half",
    doc="Takes the larger of 16-bit floats.", example="max.f16x2 y, x, zero",
    notes="If one is NaN the other one is the result; +0 is larger than -0.",
)  # fmt: skip
def max_half(a, b):
    return arith.maximum(a, b)


@instruction(
    "abs.{type}", type=HALF, operands="d:{type}, a:{type}", timing="half",
    doc="Clears the sign of 16-bit floats.", example="abs.f16x2 y, x", notes=NOTE,
)  # fmt: skip
def abs_half(a):
    return arith.absolute(a)


@instruction(
    "neg.{type}", type=HALF, operands="d:{type}, a:{type}", timing="half",
    doc="Flips the sign of 16-bit floats.", example="neg.bf16x2 y, x", notes=NOTE,
)  # fmt: skip
def neg_half(a):
    return -a
