"""Moves between registers, from immediates, parameters and special registers, and selection.

A move copies bits: its operands are b32 and b64, whatever the type says. The type tells how a
literal is written, and does not touch a NaN.
"""
# ruff: noqa: D103 - the entry documents its lane function

from __future__ import annotations

from ..table import Behaviour, instruction

WORD = ("b32", "u32", "s32", "f32")
PAIR = ("b64", "u64", "s64", "f64")


def _bits(text):
    """An operand list in which T is the untyped word of the variant's type, with its literal."""

    def operands(words):
        size = "b" + words["type"][1:]
        literal = "" if words["type"] == size else f"({words['type']})"
        return text.replace("T", size + literal)

    return operands


@instruction(
    "mov.{type}", type=WORD, operands=_bits("d:T, a:T"), timing="int32",
    doc="Copies a 32-bit register, immediate, parameter or special register.", example="mov.u32 i, %tid.x",
    notes="From a special register it is the instruction s2r, which the assembler writes.",
)  # fmt: skip
def mov(a):
    return a


@instruction(
    "mov.{type}", type=PAIR, operands=_bits("d:T, a:T"), timing="int64",
    doc="Copies a 64-bit register pair, immediate or parameter.", example="mov.u64 address, A",
)  # fmt: skip
def mov_64(a):
    return a


@instruction(
    "mov.pred", operands="p:pred, q:pred", timing="compare",
    doc="Copies a predicate.", example="mov.pred p, q",
)  # fmt: skip
def mov_pred(q):
    return q


@instruction(
    "selp.{type}", type=WORD, operands=_bits("d:T, a:T, b:T, p:pred"), timing="int32",
    doc="Takes a where the predicate holds and b elsewhere.", example="selp.f32 y, x, 0.0, inside",
)  # fmt: skip
def selp(a, b, p):
    return a if p else b


@instruction(
    "selp.{type}", type=PAIR, operands=_bits("d:T, a:T, b:T, p:pred"), timing="int64",
    doc="Takes the 64-bit a where the predicate holds and b elsewhere.", example="selp.b64 y, x, z, inside",
)  # fmt: skip
def selp_64(a, b, p):
    return a if p else b


@instruction(
    "s2r.{type}", type=("u32", "s32", "b32", "u64", "s64", "b64"), operands="d:{type}, a:{type}",
    timing="special", behaviour=Behaviour.SPECIAL,
    doc="Reads a special register; written as mov.", example="mov.u32 lane, %laneid",
    notes="A clock read gives the cycle of its issue. 64-bit special registers need a 64-bit type.",
)  # fmt: skip
def s2r(a):
    return a
