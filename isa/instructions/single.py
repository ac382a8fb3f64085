"""Floating point in 32 bits: IEEE rounding to nearest even, denormals kept, NaN is 0x7fffffff."""
# ruff: noqa: D103 - the entry documents its lane function

from __future__ import annotations

from .. import arith
from ..table import instruction

SAT = ("", ".sat")
NAN = "A NaN result is 0x7fffffff; denormals are kept. .sat clamps to [0, 1] and turns NaN into +0."
APPROX = "Computed in f64 and rounded to f32, so at least as exact as the hardware's unit; "


@instruction(
    "add{sat}.f32", sat=SAT, operands="d:f32, a:f32, b:f32", timing="fp32", choose=True,
    doc="Adds two f32.", example="add.f32 sum, x, 1.5", notes=NAN,
)  # fmt: skip
def add_f32(sat):
    def plain(a, b):
        return a + b

    def clamped(a, b):
        return arith.saturate(a + b)

    return clamped if sat else plain


@instruction(
    "sub{sat}.f32", sat=SAT, operands="d:f32, a:f32, b:f32", timing="fp32", choose=True,
    doc="Subtracts b from a.", example="sub.f32 d, x, mean", notes=NAN,
)  # fmt: skip
def sub_f32(sat):
    def plain(a, b):
        return a - b

    def clamped(a, b):
        return arith.saturate(a - b)

    return clamped if sat else plain


@instruction(
    "mul{sat}.f32", sat=SAT, operands="d:f32, a:f32, b:f32", timing="fp32", choose=True,
    doc="Multiplies two f32.", example="mul.f32 y, x, 0.5", notes=NAN,
)  # fmt: skip
def mul_f32(sat):
    def plain(a, b):
        return a * b

    def clamped(a, b):
        return arith.saturate(a * b)

    return clamped if sat else plain


@instruction(
    "fma{sat}.f32", sat=SAT, operands="d:f32, a:f32, b:f32, c:f32", timing="fp32", choose=True,
    doc="Multiplies a by b and adds c with one rounding.", example="fma.f32 acc, x, y, acc",
    notes="The product is not rounded before the sum. " + NAN,
)  # fmt: skip
def fma(sat):
    def plain(a, b, c):
        return arith.fma32(a, b, c)

    def clamped(a, b, c):
        return arith.saturate(arith.fma32(a, b, c))

    return clamped if sat else plain


@instruction(
    "min.f32", operands="d:f32, a:f32, b:f32", timing="int32",
    doc="Takes the smaller of two f32.", example="min.f32 low, low, x",
    notes="If one is NaN the other one is the result; -0 is smaller than +0.",
)  # fmt: skip
def min_f32(a, b):
    return arith.minimum(a, b)


@instruction(
    "max.f32", operands="d:f32, a:f32, b:f32", timing="int32",
    doc="Takes the larger of two f32.", example="max.f32 y, x, 0.0",
    notes="If one is NaN the other one is the result; +0 is larger than -0.",
)  # fmt: skip
def max_f32(a, b):
    return arith.maximum(a, b)


@instruction(
    "abs.f32", operands="d:f32, a:f32", timing="fp32",
    doc="Clears the sign of an f32.", example="abs.f32 y, x", notes="A NaN result is 0x7fffffff.",
)  # fmt: skip
def abs_f32(a):
    return arith.absolute(a)


@instruction(
    "neg.f32", operands="d:f32, a:f32", timing="fp32",
    doc="Flips the sign of an f32.", example="neg.f32 y, x", notes="A NaN result is 0x7fffffff.",
)  # fmt: skip
def neg_f32(a):
    return -a


@instruction(
    "rcp.approx.f32", operands="d:f32, a:f32", timing="sfu",
    doc="The reciprocal.", example="rcp.approx.f32 scale, sum",
    notes=APPROX + "rcp(0) = +inf, rcp(-0) = -inf, rcp(inf) = 0. Division x / y is x times rcp(y).",
)  # fmt: skip
def rcp(a):
    return arith.rcp32(a)


@instruction(
    "rsqrt.approx.f32", operands="d:f32, a:f32", timing="sfu",
    doc="The reciprocal of the square root.", example="rsqrt.approx.f32 scale, variance",
    notes=APPROX + "rsqrt(0) = +inf, rsqrt(-0) = -inf, below zero NaN, rsqrt(inf) = 0.",
)  # fmt: skip
def rsqrt(a):
    return arith.rsqrt32(a)


@instruction(
    "sqrt.approx.f32", operands="d:f32, a:f32", timing="sfu",
    doc="The square root.", example="sqrt.approx.f32 norm, sum",
    notes=APPROX + "sqrt(-0) = -0, below zero NaN.",
)  # fmt: skip
def sqrt(a):
    return arith.sqrt32(a)


@instruction(
    "ex2.approx.f32", operands="d:f32, a:f32", timing="sfu",
    doc="2 to the power of a.", example="ex2.approx.f32 p, x",
    notes=APPROX + "from 128 up +inf, ex2(-inf) = 0. exp(x) is ex2(x * 1.4426950408889634).",
)  # fmt: skip
def ex2(a):
    return arith.exp2_32(a)


@instruction(
    "lg2.approx.f32", operands="d:f32, a:f32", timing="sfu",
    doc="The logarithm to base 2.", example="lg2.approx.f32 bits, x",
    notes=APPROX + "lg2(0) = -inf, below zero NaN. log(x) is lg2(x) * 0.6931471805599453.",
)  # fmt: skip
def lg2(a):
    return arith.log2_32(a)


@instruction(
    "sin.approx.f32", operands="d:f32, a:f32", timing="sfu",
    doc="The sine of an angle in radians.", example="sin.approx.f32 y, x",
    notes=APPROX + "sin(-0) = -0, of an infinity NaN.",
)  # fmt: skip
def sin(a):
    return arith.sin32(a)


@instruction(
    "cos.approx.f32", operands="d:f32, a:f32", timing="sfu",
    doc="The cosine of an angle in radians.", example="cos.approx.f32 y, x",
    notes=APPROX + "of an infinity NaN.",
)  # fmt: skip
def cos(a):
    return arith.cos32(a)


@instruction(
    "tanh.approx.f32", operands="d:f32, a:f32", timing="sfu",
    doc="The hyperbolic tangent.", example="tanh.approx.f32 y, x",
    notes=APPROX + "tanh(inf) = 1, tanh(-0) = -0.",
)  # fmt: skip
def tanh(a):
    return arith.tanh32(a)
