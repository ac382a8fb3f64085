"""Integer arithmetic on 32-bit registers; results wrap."""

from __future__ import annotations

from ..table import instruction


@instruction(
    "add.{type}", type=("s32", "u32"), operands="d:{type}, a:{type}, b:{type}", timing="int32",
    doc="Adds two 32-bit integers.", example="add.s32 sum, x, 7", notes="The sum wraps.",
)  # fmt: skip
def add(a, b):
    return a + b
