"""Floating point in 64 bits: IEEE rounding to nearest even, NaN is 0x7ff8000000000000."""
# ruff: noqa: D103 - the entry documents its lane function

from __future__ import annotations

from .. import arith
from ..table import instruction

NAN = "A NaN result is 0x7ff8000000000000; denormals are kept."


@instruction(
    "add.f64", operands="d:f64, a:f64, b:f64", timing="fp64",
    doc="Adds two f64.", example="add.f64 sum, x, 1.5", notes=NAN,
)  # fmt: skip
def add_f64(a, b):
    return a + b


@instruction(
    "sub.f64", operands="d:f64, a:f64, b:f64", timing="fp64",
    doc="Subtracts b from a in f64.", example="sub.f64 d, x, mean", notes=NAN,
)  # fmt: skip
def sub_f64(a, b):
    return a - b


@instruction(
    "mul.f64", operands="d:f64, a:f64, b:f64", timing="fp64",
    doc="Multiplies two f64.", example="mul.f64 y, x, 0.5", notes=NAN,
)  # fmt: skip
def mul_f64(a, b):
    return a * b


@instruction(
    "fma.f64", operands="d:f64, a:f64, b:f64, c:f64", timing="fp64",
    doc="Multiplies a by b and adds c in f64 with one rounding.", example="fma.f64 acc, x, y, acc",
    notes="The product is not rounded before the sum. " + NAN,
)  # fmt: skip
def fma_f64(a, b, c):
    return arith.fma64(a, b, c)


@instruction(
    "min.f64", operands="d:f64, a:f64, b:f64", timing="fp64",
    doc="Takes the smaller of two f64.", example="min.f64 low, low, x",
    notes="If one is NaN the other one is the result; -0 is smaller than +0.",
)  # fmt: skip
def min_f64(a, b):
    return arith.minimum(a, b)


@instruction(
    "max.f64", operands="d:f64, a:f64, b:f64", timing="fp64",
    doc="Takes the larger of two f64.", example="max.f64 high, high, x",
    notes="If one is NaN the other one is the result; +0 is larger than -0.",
)  # fmt: skip
def max_f64(a, b):
    return arith.maximum(a, b)


@instruction(
    "abs.f64", operands="d:f64, a:f64", timing="fp64",
    doc="Clears the sign of an f64.", example="abs.f64 y, x", notes=NAN,
)  # fmt: skip
def abs_f64(a):
    return arith.absolute(a)


@instruction(
    "neg.f64", operands="d:f64, a:f64", timing="fp64",
    doc="Flips the sign of an f64.", example="neg.f64 y, x", notes=NAN,
)  # fmt: skip
def neg_f64(a):
    return -a
