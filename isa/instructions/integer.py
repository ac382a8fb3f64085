"""Integer arithmetic on 32-bit registers; results wrap."""
# ruff: noqa: D103 - the entry documents its lane function

from __future__ import annotations

from ..table import instruction

INT = ("s32", "u32")


@instruction(
    "add.{type}", type=INT, operands="d:{type}, a:{type}, b:{type}", timing="int32",
    doc="Adds two 32-bit integers.", example="add.s32 sum, x, 7", notes="The sum wraps.",
)  # fmt: skip
def add(a, b):
    return a + b


@instruction(
    "add3.{type}", type=INT, operands="d:{type}, a:{type}, b:{type}, c:{type}", timing="int32",
    doc="Adds three 32-bit integers in one slot.", example="add3.s32 sum, x, y, 7", notes="The sum wraps.",
)  # fmt: skip
def add3(a, b, c):
    return a + b + c


@instruction(
    "sub.{type}", type=INT, operands="d:{type}, a:{type}, b:{type}", timing="int32",
    doc="Subtracts b from a.", example="sub.s32 rest, x, 1", notes="The difference wraps.",
)  # fmt: skip
def sub(a, b):
    return a - b


@instruction(
    "neg.s32", operands="d:s32, a:s32", timing="int32",
    doc="Changes the sign of an integer.", example="neg.s32 y, x", notes="-2147483648 stays as it is.",
)  # fmt: skip
def neg(a):
    return -a


@instruction(
    "abs.s32", operands="d:s32, a:s32", timing="int32",
    doc="Takes the absolute value of an integer.", example="abs.s32 y, x",
    notes="-2147483648 stays as it is.",
)  # fmt: skip
def abs_(a):
    return -a if a < 0 else a


@instruction(
    "min.{type}", type=INT, operands="d:{type}, a:{type}, b:{type}", timing="int32",
    doc="Takes the smaller of two integers.", example="min.s32 y, x, 255",
)  # fmt: skip
def min_(a, b):
    return a if a < b else b


@instruction(
    "max.{type}", type=INT, operands="d:{type}, a:{type}, b:{type}", timing="int32",
    doc="Takes the larger of two integers.", example="max.s32 y, x, 0",
)  # fmt: skip
def max_(a, b):
    return a if a > b else b


@instruction(
    "sad.{type}", type=INT, operands="d:u32, a:{type}, b:{type}, c:u32", timing="int32",
    doc="Adds the absolute difference of a and b to c.", example="sad.s32 total, x, y, total",
    notes="The difference is exact, the sum wraps.",
)  # fmt: skip
def sad(a, b, c):
    return c + (a - b if a > b else b - a)


@instruction(
    "mul.lo.{type}", type=INT, operands="d:{type}, a:{type}, b:{type}", timing="imad",
    doc="Multiplies two integers and keeps the low 32 bits of the product.", example="mul.lo.s32 y, x, 12",
    notes="There is no division instruction: divide by a constant with mul.hi and a shift, by a power of "
    "two with shr, or through rcp.approx.f32 and a correction; the remainder is x - q * y.",
)  # fmt: skip
def mul_lo(a, b):
    return a * b


@instruction(
    "mul.hi.{type}", type=INT, operands="d:{type}, a:{type}, b:{type}", timing="imad_wide",
    doc="Multiplies two integers and keeps the high 32 bits of the product.",
    example="mul.hi.u32 y, x, 0xAAAAAAAB",
)  # fmt: skip
def mul_hi(a, b):
    return (a * b) >> 32


@instruction(
    "mad.lo.{type}", type=INT, operands="d:{type}, a:{type}, b:{type}, c:{type}", timing="imad",
    doc="Multiplies a by b and adds c, low 32 bits.", example="mad.lo.s32 i, row, 64, column",
    notes="The result wraps.",
)  # fmt: skip
def mad_lo(a, b, c):
    return a * b + c


@instruction(
    "mul.wide.s32", operands="d:s64, a:s32, b:s32", timing="imad_wide",
    doc="Multiplies two signed 32-bit integers to 64 bits.", example="mul.wide.s32 offset, i, 4",
    notes="Exact for all values.",
)  # fmt: skip
def mul_wide(a, b):
    return a * b


@instruction(
    "mul.wide.u32", operands="d:u64, a:u32, b:u32", timing="imad_wide",
    doc="Multiplies two unsigned 32-bit integers to 64 bits.", example="mul.wide.u32 offset, i, 4",
    notes="Exact for all values.",
)  # fmt: skip
def mul_wide_u32(a, b):
    return a * b


@instruction(
    "mad.wide.s32", operands="d:s64, a:s32, b:s32, c:s64", timing="imad_wide",
    doc="Multiplies two signed 32-bit integers to 64 bits and adds a 64-bit integer: an array's address.",
    example="mad.wide.s32 address, i, 4, A", notes="The product is exact, the sum wraps at 64 bits.",
)  # fmt: skip
def mad_wide(a, b, c):
    return a * b + c


@instruction(
    "mad.wide.u32", operands="d:u64, a:u32, b:u32, c:u64", timing="imad_wide",
    doc="Multiplies two unsigned 32-bit integers to 64 bits and adds a 64-bit integer.",
    example="mad.wide.u32 address, i, 4, A", notes="The product is exact, the sum wraps at 64 bits.",
)  # fmt: skip
def mad_wide_u32(a, b, c):
    return a * b + c


@instruction(
    "lea.u32", operands="d:u32, a:u32, b:u32, #shift:u32", timing="int32",
    doc="Scales a by a power of two and adds b: an address in shared memory.",
    example="lea.u32 place, i, As, 2",
    notes="d = (a << shift) + b, wrapping; the shift is a constant of 0 to 31.",
)  # fmt: skip
def lea(a, b, shift):
    return (a << shift) + b
