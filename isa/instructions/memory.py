"""Loads and stores of 8 to 128 bits."""
# ruff: noqa: D103 - these have no lane function: the engines carry them out

from __future__ import annotations

from ..table import BYTES, Behaviour, instruction

BYTE = ("s8", "u8", "b8", "s16", "u16", "b16", "f16", "bf16")
WORD = ("s32", "u32", "b32", "f32", "f16x2", "bf16x2")
PAIR = ("s64", "u64", "b64", "f64")
TYPES = (*BYTE, *WORD, *PAIR, "b128")
SPACES = ("global", "shared", "local", "param", "const")
CACHE = ("", ".ca", ".cg", ".cs", ".volatile")
VECTORS = ("", ".v2", ".v4")

EDGES = (
    "The address must be a multiple of the bytes of the whole access, and all of it must lie in one "
    "allocation; otherwise the launch stops with the block, the thread and the line. Vectors are of 32- or "
    "64-bit elements, 128 bits at most. "
)


def exists(words):
    """Whether the hardware has this combination of space, cache operator, vector and type."""
    count = int(words["vec"].removeprefix(".v") or 1)
    size = BYTES[words["type"]]
    if count > 1 and (size < 4 or size * count > 16):
        return False
    if words["cop"] == ".volatile":
        return words["space"] in ("global", "shared")
    return words["cop"] == "" or words["space"] == "global"


def address(words):
    """The address operand: a register pair for global memory, one register for the rest."""
    return "[a]:u64" if words["space"] == "global" else "[a]:u32"


@instruction(
    "ld.{space}{cop}{vec}.{type}", space=SPACES, cop=CACHE, vec=VECTORS, type=TYPES, only=exists,
    operands=lambda v: f"d:{v['type']}*{v['vec']}, {address(v)}", timing="memory", behaviour=Behaviour.LOAD,
    doc="Loads from memory.", example="ld.global.v4.f32 {a, b, c, d}, [address + 16]",
    notes=EDGES + "Signed 8- and 16-bit values are sign-extended to the register, others zero-extended. "
    ".ca keeps the line in L1 and L2, .cg in L2 only, .cs marks it to leave first; .volatile always asks "
    "memory. param and const both name the launch's constant bank, which holds the kernel's parameters.",
)  # fmt: skip
def ld():
    pass


@instruction(
    "st.{space}{cop}{vec}.{type}", space=SPACES[:3], cop=CACHE, vec=VECTORS, type=TYPES, only=exists,
    operands=lambda v: f"{address(v)}, v:{v['type']}*{v['vec']}", timing="memory", behaviour=Behaviour.STORE,
    doc="Stores to memory.", example="st.shared.f32 [As + place], x",
    notes=EDGES + "8- and 16-bit types store the low bits of the register. When lanes of one warp store to "
    "the same byte, the highest lane's value stays.",
)  # fmt: skip
def st():
    pass
