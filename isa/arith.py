"""Exact scalar arithmetic that lane functions call; both engines compute with these functions.

Values are plain scalars: integers as int, f32 as numpy.float32, all other floats as float
(binary64). 64-bit integers are signed patterns. `PLAIN` functions run in Python and compile in
numba as they are written; `PRIMITIVES` need a compiled twin (a bit cast, a fused multiply-add).
Rounding modes are numbers: 0 nearest even, 1 toward zero, 2 toward minus, 3 toward plus infinity.
No function raises for any value.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

F32 = np.float32
Float = TypeVar("Float", np.float32, float)

NEAREST, ZERO, DOWN, UP = 0, 1, 2, 3

# --- primitives: overloaded by the compiled engine -------------------------------------------


def f32_bits(x: F32) -> int:
    """The 32 bits of an f32, without sign."""
    return int(np.float32(x).view(np.uint32))


def f32_value(bits: int) -> F32:
    """The f32 with the low 32 bits of `bits`."""
    return np.uint32(bits & 0xFFFFFFFF).view(np.float32)


def f64_bits(x: float) -> int:
    """The 64 bits of an f64 as a signed pattern."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def f64_value(bits: int) -> float:
    """The f64 with the low 64 bits of `bits`."""
    return float(struct.unpack("<d", struct.pack("<Q", bits & 0xFFFFFFFFFFFFFFFF))[0])


def fma32(a: F32, b: F32, c: F32) -> F32:
    """a * b + c in f32, rounded once to nearest even."""
    return np.float32(fma_odd(np.float64(a), np.float64(b), np.float64(c)))


def fma64(a: float, b: float, c: float) -> float:
    """a * b + c in f64, rounded once to nearest even."""
    product = a * b
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        if math.isfinite(a) and math.isfinite(b):
            return c  # the product may overflow on its way, the exact one does not
        return product + c
    if a == 0.0 or b == 0.0:
        return product + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return exact.numerator / exact.denominator  # Python rounds this quotient correctly
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


# --- integers --------------------------------------------------------------------------------


def less_u64(a: int, b: int) -> bool:
    """a < b for two 64-bit patterns read without sign."""
    return a < b if (a < 0) == (b < 0) else b < 0


def shr_u64(a: int, count: int) -> int:
    """A 64-bit pattern shifted right with zeros; count 0 or more, 64 and more gives 0."""
    if count >= 64:
        return 0
    if count == 0:
        return a
    return (a >> count) & ((1 << (64 - count)) - 1)


def popc(a: int) -> int:
    """The number of ones in 32 bits."""
    a = a - ((a >> 1) & 0x55555555)
    a = (a & 0x33333333) + ((a >> 2) & 0x33333333)
    a = (a + (a >> 4)) & 0x0F0F0F0F
    return ((a * 0x01010101) & 0xFFFFFFFF) >> 24


def clz(a: int) -> int:
    """The number of leading zeros of 32 bits; 32 for zero."""
    if a == 0:
        return 32
    count = 0
    for step in (16, 8, 4, 2, 1):
        if a < 1 << (32 - step):
            count += step
            a = a << step
    return count


def brev(a: int) -> int:
    """32 bits in reverse order."""
    a = ((a >> 1) & 0x55555555) | ((a & 0x55555555) << 1)
    a = ((a >> 2) & 0x33333333) | ((a & 0x33333333) << 2)
    a = ((a >> 4) & 0x0F0F0F0F) | ((a & 0x0F0F0F0F) << 4)
    a = ((a >> 8) & 0x00FF00FF) | ((a & 0x00FF00FF) << 8)
    return (a >> 16) | ((a & 0xFFFF) << 16)


def lop3(a: int, b: int, c: int, table: int) -> int:
    """Bitwise function of three words; bit 4 a + 2 b + c of `table` is the result's bit."""
    result = 0
    if table & 1:
        result |= ~a & ~b & ~c
    if table & 2:
        result |= ~a & ~b & c
    if table & 4:
        result |= ~a & b & ~c
    if table & 8:
        result |= ~a & b & c
    if table & 16:
        result |= a & ~b & ~c
    if table & 32:
        result |= a & ~b & c
    if table & 64:
        result |= a & b & ~c
    if table & 128:
        result |= a & b & c
    return result


def funnel(low: int, high: int, shift: int) -> int:
    """The 64 bits high:low shifted right by 0 to 32; the result's low 32 bits count."""
    return ((high << 32) | low) >> shift


def bfe_u(a: int, start: int, length: int) -> int:
    """Bits start .. start + length - 1 of a word, zero-extended; counts are taken mod 256."""
    start, length = start & 255, length & 255
    if start > 31:
        return 0
    field = a >> start
    return field if length > 31 else field & ((1 << length) - 1)


def bfe_s(a: int, start: int, length: int) -> int:
    """As bfe_u, of a signed word: bits above the field repeat its highest bit."""
    start, length = start & 255, length & 255
    if length == 0:
        return 0
    field = a >> (start if start < 31 else 31)
    if length > 31:
        return field
    sign = 1 << (length - 1)
    return ((field & ((1 << length) - 1)) ^ sign) - sign


def bfi(a: int, b: int, start: int, length: int) -> int:
    """`b` with the low `length` bits of `a` put in at bit `start`; counts mod 256."""
    start, length = start & 255, length & 255
    if start > 31 or length == 0:
        return b
    mask = ((1 << (length if length < 32 else 32)) - 1) << start
    return (b & ~mask) | ((a << start) & mask)


def prmt(a: int, b: int, selector: int) -> int:
    """Four bytes picked from b:a; bit 3 of a selector nibble repeats the byte's sign instead."""
    pool = a | (b << 32)
    result = 0
    for place in range(4):
        nibble = (selector >> (4 * place)) & 15
        byte = (pool >> (8 * (nibble & 7))) & 255
        if nibble & 8:
            byte = 255 if byte & 128 else 0
        result |= byte << (8 * place)
    return result


# --- formats of floating point ---------------------------------------------------------------


def narrow(x: float, exponent_bits: int, fraction_bits: int, mode: int) -> int:
    """The bits of an f64 rounded once to a smaller IEEE format.

    Formats: (5, 10) f16, (8, 7) bf16, (8, 23) f32. A NaN becomes all ones under a zero sign.
    Overflow gives infinity, or the largest number when the mode points to zero from there.
    """
    bits = f64_bits(x)
    negative = bits < 0
    exponent = (bits >> 52) & 0x7FF
    fraction = bits & 0xFFFFFFFFFFFFF
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    sign = (1 << (exponent_bits + fraction_bits)) if negative else 0
    if exponent == 0x7FF:
        if fraction != 0:
            return (1 << (exponent_bits + fraction_bits)) - 1
        return sign | infinity
    if exponent == 0:
        exponent = 1
    else:
        fraction |= 1 << 52
    target = exponent - 1023 + (1 << (exponent_bits - 1)) - 1
    shift = 52 - fraction_bits
    if target < 1:  # below the normal range: drop more bits
        shift = shift + 1 - target if shift + 1 - target < 54 else 54
        target = 1
    kept = fraction >> shift
    rest = fraction & ((1 << shift) - 1)
    half = 1 << (shift - 1)
    if (
        (mode == 0 and (rest > half or (rest == half and kept & 1 == 1)))
        or (mode == 2 and negative and rest > 0)
        or (mode == 3 and not negative and rest > 0)
    ):
        kept += 1
    result = ((target - 1) << fraction_bits) + kept
    if result >= infinity:
        toward_zero = mode == 1 or (mode == 2 and not negative) or (mode == 3 and negative)
        result = infinity - 1 if toward_zero else infinity
    return sign | result


def f16_bits(x: float) -> int:
    """The 16 bits of an f64 rounded once to f16, nearest even; NaN is 0x7fff."""
    return narrow(x, 5, 10, 0)


def bf16_bits(x: float) -> int:
    """The 16 bits of an f64 rounded once to bf16, nearest even; NaN is 0x7fff."""
    return narrow(x, 8, 7, 0)


def f16_value(bits: int) -> float:
    """The value of the f16 in the low 16 bits; exact."""
    exponent = (bits >> 10) & 31
    fraction = bits & 0x3FF
    sign = (bits >> 15) & 1
    if exponent == 0:
        small = float(fraction) * 5.9604644775390625e-08  # 2 ** -24
        return -small if sign == 1 else small
    wide = 0x7FF if exponent == 31 else exponent - 15 + 1023
    return f64_value((sign << 63) | (wide << 52) | (fraction << 42))


def bf16_value(bits: int) -> float:
    """The value of the bf16 in the low 16 bits; exact."""
    return np.float64(f32_value((bits & 0xFFFF) << 16))


def round_f32(x: float, mode: int) -> F32:
    """An f64 rounded once to f32."""
    return f32_value(narrow(x, 8, 23, mode))


def round_f16(x: float, mode: int) -> float:
    """An f64 rounded once to the values of f16."""
    return f16_value(narrow(x, 5, 10, mode))


def round_bf16(x: float, mode: int) -> float:
    """An f64 rounded once to the values of bf16."""
    return bf16_value(narrow(x, 8, 7, mode))


def fma_odd(a: float, b: float, c: float) -> float:
    """a * b + c for values of f32 or less, rounded to odd in f64.

    The product is exact in f64. A result rounded to odd may be rounded once more, to at most 51
    bits, and equals the exact result rounded once (Boldo and Melquiond, 2008).
    """
    product = a * b
    total = product + c
    if not (-math.inf < total < math.inf):
        return total
    back = total - product  # TwoSum of Knuth: `error` is what the addition lost
    error = (product - (total - back)) + (c - back)
    bits = f64_bits(total)
    if error == 0.0 or bits & 1 == 1:
        return total
    return f64_value(bits + 1 if (error > 0.0) == (total > 0.0) else bits - 1)


# --- floating point --------------------------------------------------------------------------


def minimum(a: Float, b: Float) -> Float:
    """The smaller; the other one if one is NaN; -0 is smaller than +0."""
    if a != a:
        return b
    if b != b:
        return a
    if a == b:
        return a if math.copysign(1.0, a) < 0.0 else b
    return a if a < b else b


def maximum(a: Float, b: Float) -> Float:
    """The larger; the other one if one is NaN; +0 is larger than -0."""
    if a != a:
        return b
    if b != b:
        return a
    if a == b:
        return b if math.copysign(1.0, a) < 0.0 else a
    return a if a > b else b


def saturate(x: F32) -> F32:
    """Clamped to [0, 1]; NaN and -0 give +0."""
    if x > np.float32(0.0):
        return x if x < np.float32(1.0) else np.float32(1.0)
    return np.float32(0.0)


def absolute(x: Float) -> Float:
    """The value without its sign, -0 included."""
    return -x if math.copysign(1.0, x) < 0.0 else x


def rcp32(x: F32) -> F32:
    """1 / x; a zero gives the infinity of its sign."""
    wide = np.float64(x)
    if wide == 0.0:
        return np.float32(math.copysign(math.inf, wide))
    return np.float32(1.0 / wide)


def sqrt32(x: F32) -> F32:
    """The square root; -0 stays, below zero is NaN."""
    wide = np.float64(x)
    return np.float32(math.sqrt(wide)) if wide >= 0.0 else np.float32(math.nan)


def rsqrt32(x: F32) -> F32:
    """1 / sqrt(x); a zero gives the infinity of its sign, below zero is NaN."""
    wide = np.float64(x)
    if wide == 0.0:
        return np.float32(math.copysign(math.inf, wide))
    return np.float32(1.0 / math.sqrt(wide)) if wide > 0.0 else np.float32(math.nan)


def exp2_32(x: F32) -> F32:
    """2 to the power of x."""
    wide = np.float64(x)
    if wide >= 128.0:
        return np.float32(math.inf)
    if wide < -151.0:
        return np.float32(0.0)
    return np.float32(2.0**wide)


def log2_32(x: F32) -> F32:
    """The logarithm to base 2; a zero gives minus infinity, below zero is NaN."""
    wide = np.float64(x)
    if wide == 0.0:
        return np.float32(-math.inf)
    if not wide > 0.0:
        return np.float32(math.nan)
    return np.float32(math.log2(wide)) if wide < math.inf else np.float32(math.inf)


def sin32(x: F32) -> F32:
    """The sine of x radians; an infinity is NaN."""
    wide = np.float64(x)
    return np.float32(math.sin(wide)) if -math.inf < wide < math.inf else np.float32(math.nan)


def cos32(x: F32) -> F32:
    """The cosine of x radians; an infinity is NaN."""
    wide = np.float64(x)
    return np.float32(math.cos(wide)) if -math.inf < wide < math.inf else np.float32(math.nan)


def tanh32(x: F32) -> F32:
    """The hyperbolic tangent."""
    return np.float32(math.tanh(np.float64(x)))


# --- between integers and floats -------------------------------------------------------------


def round_whole(x: float, mode: int) -> float:
    """An f64 rounded to a whole number; the sign stays, also of a zero; NaN and infinity too."""
    if not (-4503599627370496.0 < x < 4503599627370496.0):  # 2 ** 52: whole already
        return x
    low = float(math.floor(x))
    rest = x - low
    if mode == 0:
        up = rest > 0.5 or (rest == 0.5 and low * 0.5 != math.floor(low * 0.5))
    elif mode == 1:
        up = x < 0.0 and rest > 0.0
    else:
        up = mode == 3 and rest > 0.0
    return math.copysign(low + 1.0 if up else low, x)


def to_int(x: float, mode: int, low: int, high: int) -> int:
    """An f64 rounded to an integer and clamped to [low, high]; NaN gives 0."""
    if x != x:
        return 0
    whole = round_whole(x, mode)
    if whole >= 9223372036854775808.0:  # 2 ** 63
        return high
    if whole <= -9223372036854775808.0:
        return low
    number = int(whole)
    return low if number < low else high if number > high else number


def to_u64(x: float, mode: int) -> int:
    """An f64 rounded to an unsigned 64-bit integer and clamped; NaN gives 0."""
    if x != x:
        return 0
    whole = round_whole(x, mode)
    if whole <= 0.0:
        return 0
    if whole >= 18446744073709551616.0:  # 2 ** 64
        return -1
    if whole >= 9223372036854775808.0:
        return int(whole - 9223372036854775808.0) + (-1 << 63)
    return int(whole)


def s64_odd(a: int) -> float:
    """A signed 64-bit integer as f64, rounded to odd: it may be rounded once more, to f32."""
    if -(1 << 53) < a < (1 << 53):
        return float(a)
    return float((a >> 11) | (1 if a & 0x7FF else 0)) * 2048.0


def u64_odd(a: int) -> float:
    """As s64_odd for a pattern read without sign."""
    if a >= 0:
        return s64_odd(a)
    return float(shr_u64(a, 11) | (1 if a & 0x7FF else 0)) * 2048.0


def u64_f64(a: int) -> float:
    """A 64-bit pattern read without sign as f64, nearest even."""
    if a >= 0:
        return float(a)
    return float(shr_u64(a, 1) | (a & 1)) * 2.0


PRIMITIVES = (f32_bits, f32_value, f64_bits, f64_value, fma32, fma64)

PLAIN = (
    less_u64, shr_u64, popc, clz, brev, lop3, funnel, bfe_u, bfe_s, bfi, prmt,
    narrow, f16_bits, bf16_bits, f16_value, bf16_value, round_f32, round_f16, round_bf16, fma_odd,
    minimum, maximum, saturate, absolute, rcp32, sqrt32, rsqrt32, exp2_32, log2_32, sin32, cos32, tanh32,
    round_whole, to_int, to_u64, s64_odd, u64_odd, u64_f64,
)  # fmt: skip

# The names that lane functions may call; the constants of the modes come with them.
__all__: list[Any] = [  # noqa: PLE0604 - built from the functions themselves
    *(f.__name__ for f in PRIMITIVES + PLAIN),
    "NEAREST", "ZERO", "DOWN", "UP",
]  # fmt: skip
