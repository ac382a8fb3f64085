"""Bit patterns of registers and memory to the values that lane functions see, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import arith
from .table import BYTES

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF

# The type of one half of a packed type.
HALF_OF = {"f16x2": "f16", "bf16x2": "bf16"}


def signed(bits: int, width: int) -> int:
    """The low `width` bits as a two's complement number."""
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def _signed_reader(width: int) -> Callable[[int], int]:
    return lambda bits: signed(bits, width)


def _unsigned_reader(width: int) -> Callable[[int], int]:
    mask = (1 << width) - 1
    return lambda bits: bits & mask


_DECODE: dict[str, Callable[[int], Any]] = {
    "s8": _signed_reader(8), "s16": _signed_reader(16), "s32": _signed_reader(32),
    "s64": _signed_reader(64), "u64": _signed_reader(64), "b64": _signed_reader(64),
    "u8": _unsigned_reader(8), "b8": _unsigned_reader(8), "u16": _unsigned_reader(16),
    "b16": _unsigned_reader(16), "u32": _unsigned_reader(32), "b32": _unsigned_reader(32),
    "f16x2": _unsigned_reader(32), "bf16x2": _unsigned_reader(32), "b128": _unsigned_reader(128),
    "f16": arith.f16_value, "bf16": arith.bf16_value, "f32": arith.f32_value, "f64": arith.f64_value,
    "pred": bool,
}  # fmt: skip


def decoder(type_: str) -> Callable[[int], Any]:
    """The function from the unsigned bits of a register or memory cell to a value."""
    return _DECODE[type_]


def _encode_f32(value: Any) -> int:
    return 0x7FFFFFFF if value != value else arith.f32_bits(value)


def _encode_f64(value: Any) -> int:
    return 0x7FF8000000000000 if value != value else arith.f64_bits(value) & MASK64


_ENCODE: dict[str, Callable[[Any], int]] = {
    "s8": lambda v: signed(v, 8) & MASK32, "s16": lambda v: signed(v, 16) & MASK32,
    "f16": arith.f16_bits, "bf16": arith.bf16_bits, "f32": _encode_f32, "f64": _encode_f64,
    "pred": bool,
}  # fmt: skip


def encoder(type_: str) -> Callable[[Any], int]:
    """The function from a lane function's result to the bits of the registers of `type_`.

    Integers wrap, small signed ones fill a register with their sign, f16 and bf16 are rounded
    once to nearest even, and every NaN becomes the canonical one.
    """
    found = _ENCODE.get(type_)
    if found is not None:
        return found
    mask = (1 << 8 * BYTES[type_]) - 1
    return lambda value: int(value) & mask


def halfwise(lane: Callable[..., Any], half: str) -> Callable[..., int]:
    """A lane function of f16 or bf16 applied to both halves of packed words (bits in and out)."""
    read, write = decoder(half), encoder(half)

    def packed(*words: int) -> int:
        low = write(lane(*(read(w & 0xFFFF) for w in words)))
        high = write(lane(*(read(w >> 16) for w in words)))
        return low | high << 16

    return packed
