"""Atomic operations; a lane function maps the old value and the operands to the new value."""
# ruff: noqa: D103 - the entry documents its lane function

from __future__ import annotations

from .. import arith
from ..table import Behaviour, instruction

SPACES = ("global", "shared")
OPS = ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch")
TYPES = {
    "add": ("s32", "u32", "f32", "s64", "u64", "f64"),
    "min": ("s32", "u32", "s64", "u64"), "max": ("s32", "u32", "s64", "u64"),
    "inc": ("u32",), "dec": ("u32",), "and": ("b32", "b64"), "or": ("b32", "b64"),
    "xor": ("b32", "b64"), "exch": ("b32", "b64"),
}  # fmt: skip

LANES = {
    "add": lambda old, b: old + b,
    "min": lambda old, b: old if old < b else b,
    "max": lambda old, b: old if old > b else b,
    "inc": lambda old, b: 0 if old >= b else old + 1,
    "dec": lambda old, b: b if old == 0 or old > b else old - 1,
    "and": lambda old, b: old & b,
    "or": lambda old, b: old | b,
    "xor": lambda old, b: old ^ b,
    "exch": lambda old, b: b,
}
UNSIGNED_WIDE = {
    "min": lambda old, b: old if arith.less_u64(old, b) else b,
    "max": lambda old, b: b if arith.less_u64(old, b) else old,
}

NOTE = (
    "Natural alignment. Lanes of one instruction act one after another, lane 0 first. Integers wrap, and "
    "no carry leaves the value. inc counts to b and starts again at 0, dec counts down and starts again at b."
)


def exists(words):
    """Whether this operation exists for the type."""
    return words["type"] in TYPES[words["op"]]


def address(words):
    """The address operand: a register pair for global memory, one register for shared."""
    return "[a]:u64" if words["space"] == "global" else "[a]:u32"


def lane(op, type):
    """The function of the old value and b."""
    return UNSIGNED_WIDE[op] if type == "u64" and op in UNSIGNED_WIDE else LANES[op]


ALL_TYPES = ("s32", "u32", "b32", "f32", "s64", "u64", "b64", "f64")


@instruction(
    "atom.{space}.{op}.{type}", space=SPACES, op=OPS, type=ALL_TYPES, only=exists,
    operands=lambda v: f"d:{v['type']}, {address(v)}, b:{v['type']}", timing="memory", choose=True,
    behaviour=Behaviour.ATOMIC, doc="Changes a value in memory as one step and returns the old one.",
    example="atom.global.add.u32 old, [counter], 1", notes=NOTE,
)  # fmt: skip
def atom(space, op, type):
    return lane(op, type)


@instruction(
    "atom.{space}.{op}.{type}", space=SPACES, op=("cas",), type=("b32", "b64"),
    operands=lambda v: f"d:{v['type']}, {address(v)}, b:{v['type']}, c:{v['type']}", timing="memory",
    behaviour=Behaviour.ATOMIC, doc="Stores c where memory holds b, as one step, and returns the old value.",
    example="atom.global.cas.b32 old, [lock], 0, 1",
    notes="Compares bits. Natural alignment. Lanes act one after another, lane 0 first.",
)  # fmt: skip
def atom_cas(old, b, c):
    return c if old == b else old


@instruction(
    "red.{space}.{op}.{type}", space=SPACES, op=OPS[:-1], type=ALL_TYPES, only=exists,
    operands=lambda v: f"{address(v)}, b:{v['type']}", timing="memory", choose=True,
    behaviour=Behaviour.ATOMIC, doc="Changes a value in memory as one step and returns nothing.",
    example="red.shared.add.u32 [bins + place], 1", notes=NOTE,
)  # fmt: skip
def red(space, op, type):
    return lane(op, type)
