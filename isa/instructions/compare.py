"""Comparisons that give predicates, logic on predicates, and selection by a predicate."""
# ruff: noqa: D103 - the entry documents its lane function; tables of one-line functions

from __future__ import annotations

from .. import arith
from ..table import instruction

ORDER = ("eq", "ne", "lt", "le", "gt", "ge")
FLOAT = (*ORDER, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
FLOAT_NOTE = (
    "With a NaN the plain comparisons are false, also ne; equ, neu, ltu, leu, gtu, geu are true. "
    "num: no operand is NaN; nan: one is. -0 equals +0."
)

INTEGER_LANES = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip

UNSIGNED_WIDE_LANES = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "lt": lambda a, b: arith.less_u64(a, b), "le": lambda a, b: not arith.less_u64(b, a),
    "gt": lambda a, b: arith.less_u64(b, a), "ge": lambda a, b: not arith.less_u64(a, b),
}  # fmt: skip

FLOAT_LANES = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a < b or a > b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "equ": lambda a, b: not (a < b or a > b), "neu": lambda a, b: a != b,
    "ltu": lambda a, b: not a >= b, "leu": lambda a, b: not a > b,
    "gtu": lambda a, b: not a <= b, "geu": lambda a, b: not a < b,
    "num": lambda a, b: a == a and b == b, "nan": lambda a, b: a != a or b != b,
}  # fmt: skip


@instruction(
    "setp.{cmp}.{type}", cmp=ORDER, type=("s32", "u32", "b32"), operands="p:pred, a:{type}, b:{type}",
    timing="compare", choose=True, only=lambda v: v["type"] != "b32" or v["cmp"] in ("eq", "ne"),
    doc="Compares two 32-bit integers and sets a predicate.", example="setp.lt.s32 inside, i, n",
)  # fmt: skip
def setp(cmp, type):
    return INTEGER_LANES[cmp]


@instruction(
    "setp.{cmp}.{type}", cmp=ORDER, type=("s64", "u64", "b64"), operands="p:pred, a:{type}, b:{type}",
    timing="int64", choose=True, only=lambda v: v["type"] != "b64" or v["cmp"] in ("eq", "ne"),
    doc="Compares two 64-bit integers and sets a predicate.", example="setp.lt.u64 inside, address, stop",
)  # fmt: skip
def setp_64(cmp, type):
    return UNSIGNED_WIDE_LANES[cmp] if type == "u64" else INTEGER_LANES[cmp]


@instruction(
    "setp.{cmp}.f32", cmp=FLOAT, operands="p:pred, a:f32, b:f32", timing="compare", choose=True,
    doc="Compares two f32 and sets a predicate.", example="setp.gt.f32 positive, x, 0.0", notes=FLOAT_NOTE,
)  # fmt: skip
def setp_f32(cmp):
    return FLOAT_LANES[cmp]


@instruction(
    "setp.{cmp}.f64", cmp=FLOAT, operands="p:pred, a:f64, b:f64", timing="fp64", choose=True,
    doc="Compares two f64 and sets a predicate.", example="setp.gt.f64 positive, x, 0.0", notes=FLOAT_NOTE,
)  # fmt: skip
def setp_f64(cmp):
    return FLOAT_LANES[cmp]


@instruction(
    "setp.{cmp}.{type}", cmp=FLOAT, type=("f16", "bf16"), operands="p:pred, a:{type}, b:{type}",
    timing="half", choose=True, doc="Compares two 16-bit floats and sets a predicate.",
    example="setp.gt.f16 positive, x, zero", notes=FLOAT_NOTE,
)  # fmt: skip
def setp_half(cmp, type):
    return FLOAT_LANES[cmp]


# Spelled out, since a compiled lane cannot call a function that it only holds as a value.
AND_LANES = {
    "eq": lambda a, b, q: a == b and q, "ne": lambda a, b, q: a != b and q,
    "lt": lambda a, b, q: a < b and q, "le": lambda a, b, q: a <= b and q,
    "gt": lambda a, b, q: a > b and q, "ge": lambda a, b, q: a >= b and q,
}  # fmt: skip

OR_LANES = {
    "eq": lambda a, b, q: a == b or q, "ne": lambda a, b, q: a != b or q,
    "lt": lambda a, b, q: a < b or q, "le": lambda a, b, q: a <= b or q,
    "gt": lambda a, b, q: a > b or q, "ge": lambda a, b, q: a >= b or q,
}  # fmt: skip


@instruction(
    "setp.{cmp}.{op}.{type}", cmp=ORDER, op=("and", "or"), type=("s32", "u32"),
    operands="p:pred, a:{type}, b:{type}, q:pred", timing="compare", choose=True,
    doc="Compares two 32-bit integers and joins the result with a predicate.",
    example="setp.lt.and.s32 inside, j, n, inside",
)  # fmt: skip
def setp_join(cmp, op, type):
    return (AND_LANES if op == "and" else OR_LANES)[cmp]


@instruction(
    "and.pred", operands="p:pred, q:pred, r:pred", timing="compare",
    doc="And of two predicates.", example="and.pred both, p, !q",
)  # fmt: skip
def and_pred(q, r):
    return q and r


@instruction(
    "or.pred", operands="p:pred, q:pred, r:pred", timing="compare",
    doc="Or of two predicates.", example="or.pred any, p, q",
)  # fmt: skip
def or_pred(q, r):
    return q or r


@instruction(
    "xor.pred", operands="p:pred, q:pred, r:pred", timing="compare",
    doc="Exclusive or of two predicates.", example="xor.pred odd, p, q",
)  # fmt: skip
def xor_pred(q, r):
    return q != r


@instruction(
    "not.pred", operands="p:pred, q:pred", timing="compare",
    doc="Flips a predicate.", example="not.pred outside, inside",
)  # fmt: skip
def not_pred(q):
    return not q
