"""Bit patterns of constants, and the NumPy types that hold a kernel's arguments."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any

from .errors import InputError
from .table import BYTES

# How an array argument of a type is held; bf16 has no NumPy type and is held as its bits.
DTYPES: Mapping[str, str] = {
    "s8": "int8", "u8": "uint8", "b8": "uint8", "s16": "int16", "u16": "uint16", "b16": "uint16",
    "s32": "int32", "u32": "uint32", "b32": "uint32", "s64": "int64", "u64": "uint64",
    "b64": "uint64", "f16": "float16", "bf16": "uint16", "f32": "float32", "f64": "float64",
    "f16x2": "uint32", "bf16x2": "uint32",
}  # fmt: skip

_FLOATS: Mapping[str, tuple[str, int]] = {"f16": ("e", 16), "f32": ("f", 32), "f64": ("d", 64)}


def is_float(type_: str) -> bool:
    """Whether a type is a floating-point type, packed ones included."""
    return type_.startswith(("f", "bf"))


def encode(value: float, type_: str) -> int:
    """The unsigned bit pattern of a number in a type.

    Integers of n bits take -2^(n-1) .. 2^n - 1, so that both -1 and 0xffffffff can be
    written; b types take a number with a point as f32 or f64; a packed type takes the same
    half twice. Raises InputError when the value does not fit.
    """
    if type_.endswith("x2"):
        half = encode(value, type_[:-2])
        return half << 16 | half
    if type_ == "bf16":
        return _encode_bf16(value)
    if isinstance(value, float) and type_ in ("b32", "b64"):
        type_ = "f32" if type_ == "b32" else "f64"
    if type_ in _FLOATS:
        return _encode_float(value, *_FLOATS[type_])
    if isinstance(value, float):
        raise InputError(f"{value} is not an integer", hint=f"the operand has the type {type_}")
    bits = BYTES[type_] * 8
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise InputError(f"the constant {value} does not fit into {bits} bits")
    return int(value) & ((1 << bits) - 1)


def _encode_float(value: float, code: str, bits: int) -> int:
    try:
        packed = struct.pack("<" + code, float(value))
    except OverflowError:
        raise InputError(f"the constant {value} is too large for f{bits}") from None
    return int.from_bytes(packed, "little")


def _encode_bf16(value: float) -> int:
    """Round once to bfloat16: 8 significant bits, the exponents of f32."""
    try:
        value = float(value)
    except OverflowError:
        raise InputError(f"the constant {value} is too large for bf16") from None
    if math.isfinite(value) and value:
        mantissa, exponent = math.frexp(value)
        quantum = max(exponent - 8, -133)  # 2^-133 is the smallest subnormal step
        rounded = math.ldexp(round(math.ldexp(mantissa, exponent - quantum)), quantum)
        value = math.copysign(rounded, value)
    return _encode_float(value, "f", 32) >> 16


def decode(bits: int, type_: str) -> float:
    """The number of a bit pattern: float for f16, f32, f64, a signed or unsigned int else."""
    if type_ in _FLOATS:
        code, width = _FLOATS[type_]
        return float(struct.unpack("<" + code, bits.to_bytes(width // 8, "little"))[0])
    if type_ == "bf16":
        return decode(bits << 16, "f32")
    width = BYTES[type_] * 8
    if type_.startswith("s") and bits >> (width - 1):
        return bits - (1 << width)
    return bits


def bf16_bits(array: Any) -> Any:
    """The bfloat16 patterns (uint16) of numbers, rounded to nearest even from float32."""
    import numpy

    single = numpy.asarray(array, dtype=numpy.float32)
    wide = single.view(numpy.uint32).astype(numpy.uint64)
    rounded = (wide + 0x7FFF + ((wide >> 16) & 1)) >> 16
    quiet = (wide >> 16) | 0x40
    return numpy.where(numpy.isnan(single), quiet, rounded).astype(numpy.uint16)


def bf16_values(bits: Any) -> Any:
    """The float32 values of bfloat16 patterns."""
    import numpy

    return (numpy.asarray(bits).astype(numpy.uint32) << 16).view(numpy.float32)
