"""Numbers of the compiled lanes: bits to values and back, and the compiled twins of isa.arith.

The functions of `arith.PLAIN` compile as they are written; each of `arith.PRIMITIVES` gets its
twin here, mostly one machine instruction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import overload, register_jitable

from ..isa import arith
from .jit import intrinsic

_F32, _F64, _I32, _I64 = ir.FloatType(), ir.DoubleType(), ir.IntType(32), ir.IntType(64)


@intrinsic
def pointer(context: Any, address: Any) -> Any:
    """An address as an untyped pointer."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], ir.IntType(8).as_pointer())

    return types.voidptr(types.int64), generate


@intrinsic
def _bits_f32(context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(builder.trunc(args[0], _I32), _F32)

    return types.float32(types.int64), generate


@intrinsic
def _f32_bits(context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.bitcast(args[0], _I32), _I64)

    return types.int64(types.float32), generate


@intrinsic
def _bits_f64(context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _F64)

    return types.float64(types.int64), generate


@intrinsic
def _f64_bits(context: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _I64)

    return types.int64(types.float64), generate


def _fused(kind: Any) -> Any:
    @intrinsic
    def fused(context: Any, a: Any, b: Any, c: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.fma(*args)

        return kind(kind, kind, kind), generate

    return fused


_fma32 = _fused(types.float32)
_fma64 = _fused(types.float64)

for _function in arith.PLAIN:
    register_jitable(error_model="numpy")(_function)


def _twin(original: Callable[..., Any], implementation: Callable[..., Any]) -> None:
    overload(original, jit_options={"error_model": "numpy"})(implementation)


_twin(arith.f32_bits, lambda x: lambda x: _f32_bits(np.float32(x)))
_twin(arith.f32_value, lambda bits: lambda bits: _bits_f32(np.int64(bits)))
_twin(arith.f64_bits, lambda x: lambda x: _f64_bits(np.float64(x)))
_twin(arith.f64_value, lambda bits: lambda bits: _bits_f64(np.int64(bits)))
_twin(arith.fma32, lambda a, b, c: lambda a, b, c: _fma32(np.float32(a), np.float32(b), np.float32(c)))
_twin(arith.fma64, lambda a, b, c: lambda a, b, c: _fma64(np.float64(a), np.float64(b), np.float64(c)))

_half_value: Any = njit(error_model="numpy")(arith.f16_value)
_brain_value: Any = njit(error_model="numpy")(arith.bf16_value)
_half_bits = njit(error_model="numpy")(arith.f16_bits)
_brain_bits = njit(error_model="numpy")(arith.bf16_bits)


@njit
def signed8(word):  # type: ignore[no-untyped-def]
    """The low byte with sign."""
    return np.int64(np.int8(word & 0xFF))


@njit
def unsigned8(word):  # type: ignore[no-untyped-def]
    """The low byte."""
    return np.int64(word & 0xFF)


@njit
def signed16(word):  # type: ignore[no-untyped-def]
    """The low half with sign."""
    return np.int64(np.int16(word & 0xFFFF))


@njit
def unsigned16(word):  # type: ignore[no-untyped-def]
    """The low half."""
    return np.int64(word & 0xFFFF)


@njit
def signed32(word):  # type: ignore[no-untyped-def]
    """A word with sign."""
    return np.int64(np.int32(word))


@njit
def unsigned32(word):  # type: ignore[no-untyped-def]
    """A word without sign."""
    return np.int64(word)


@njit
def pair(low, high):  # type: ignore[no-untyped-def]
    """Two words as a signed 64-bit pattern."""
    return np.int64(low) | (np.int64(high) << 32)


@njit
def f32_of(word):  # type: ignore[no-untyped-def]
    """The f32 of a word."""
    return _bits_f32(np.int64(word))


@njit
def f64_of(pattern):  # type: ignore[no-untyped-def]
    """The f64 of a 64-bit pattern."""
    return _bits_f64(np.int64(pattern))


@njit
def f16_of(word):  # type: ignore[no-untyped-def]
    """The f16 in the low half of a word, as float64."""
    return _half_value(np.int64(word & 0xFFFF))


@njit
def bf16_of(word):  # type: ignore[no-untyped-def]
    """The bf16 in the low half of a word, as float64."""
    return _brain_value(np.int64(word & 0xFFFF))


@njit
def bits_of_f32(value):  # type: ignore[no-untyped-def]
    """The word of an f32; NaN is the canonical one."""
    single = np.float32(value)
    return _f32_bits(single) if single == single else np.int64(0x7FFFFFFF)


@njit
def bits_of_f64(value):  # type: ignore[no-untyped-def]
    """The pattern of an f64; NaN is the canonical one."""
    return _f64_bits(np.float64(value)) if value == value else np.int64(0x7FF8000000000000)


@njit
def bits_of_f16(value):  # type: ignore[no-untyped-def]
    """The half of a float64 rounded once."""
    return _half_bits(np.float64(value))


@njit
def bits_of_bf16(value):  # type: ignore[no-untyped-def]
    """The bf16 of a float64 rounded once."""
    return _brain_bits(np.float64(value))


@njit
def one_if(value):  # type: ignore[no-untyped-def]
    """A predicate as a word."""
    return np.int64(1) if value else np.int64(0)


__all__ = [
    "bf16_of",
    "bits_of_bf16",
    "bits_of_f16",
    "bits_of_f32",
    "bits_of_f64",
    "f16_of",
    "f32_of",
    "f64_of",
    "one_if",
    "pair",
    "pointer",
    "signed8",
    "signed16",
    "signed32",
    "unsigned8",
    "unsigned16",
    "unsigned32",
]  # fmt: skip
