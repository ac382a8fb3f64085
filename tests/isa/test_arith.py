"""The scalar arithmetic against independent oracles: exact fractions, NumPy's formats, Python ints."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.isa import arith

floats = st.floats(allow_nan=False, allow_infinity=False)
singles = st.floats(width=32, allow_nan=False, allow_infinity=False)
halves = st.floats(width=16, allow_nan=False, allow_infinity=False)
words = st.integers(0, 0xFFFFFFFF)
longs = st.integers(-(1 << 63), (1 << 63) - 1)


def nearest_f32(exact: Fraction) -> int:
    """The bits of the f32 nearest to a positive or negative fraction, ties to even, by search."""
    sign, exact = (0x80000000, -exact) if exact < 0 else (0, exact)
    low, high = 0, 0x7F800000  # the largest pattern not above the value

    def value(pattern: int) -> Fraction:
        if pattern == 0x7F800000:
            return Fraction(2) ** 128
        return Fraction(float(np.uint32(pattern).view(np.float32)))

    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if value(middle) <= exact else (low, middle - 1)
    if low == 0x7F800000:
        return sign | low
    below, above = exact - value(low), value(low + 1) - exact
    return sign | (low if below < above or (below == above and low % 2 == 0) else low + 1)


@given(singles, singles, singles)
@settings(max_examples=300, deadline=None)
def test_fma32_rounds_the_exact_value_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    with np.errstate(over="ignore"):
        result = arith.f32_bits(arith.fma32(np.float32(a), np.float32(b), np.float32(c)))
    assert result & 0x7FFFFFFF == nearest_f32(exact) & 0x7FFFFFFF
    if exact != 0:
        assert result == nearest_f32(exact)


@given(st.integers(0, 30), st.integers(1, 100), st.booleans(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_fma32_beside_the_ties(shift: int, far: int, minus: bool, odd: bool) -> None:
    """Half a unit of c, plus or minus far less than f64 can hold beside c."""
    c = np.float32(1.0 + (2.0**-23 if odd else 0.0)) * np.float32(2.0**shift)
    step = np.float32(1 + 2.0**-23), np.float32(1 - 2.0**-23)  # the product is 1 - 2^-46
    a = step[0] * np.float32(2.0 ** (shift - 24))
    b = -step[1] if minus else step[1]
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    assert arith.f32_bits(arith.fma32(a, b, c)) == nearest_f32(exact)
    tiny = np.float32(2.0**-far)
    exact = Fraction(float(tiny)) * Fraction(float(tiny)) + Fraction(float(c))
    assert arith.f32_bits(arith.fma32(tiny, tiny, c)) == nearest_f32(exact)


@given(floats, floats, floats)
@settings(max_examples=300, deadline=None)
def test_fma64_rounds_the_exact_value_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    result = arith.fma64(a, b, c)
    if not math.isfinite(result):
        assert abs(exact) >= Fraction(2) ** 1024 - Fraction(2) ** 970
        return
    error = abs(Fraction(result) - exact)
    for neighbour in (math.nextafter(result, math.inf), math.nextafter(result, -math.inf)):
        if math.isfinite(neighbour):
            assert error <= abs(Fraction(neighbour) - exact)


def test_fma64_signs_of_zero_and_infinities() -> None:
    assert math.copysign(1, arith.fma64(-1.0, 0.0, 0.0)) == 1
    assert math.copysign(1, arith.fma64(-1.0, 0.0, -0.0)) == -1
    assert math.copysign(1, arith.fma64(-1.0, 2.0, 2.0)) == 1
    assert math.copysign(1, arith.fma64(-1e-200, 1e-200, 0.0)) == -1
    assert arith.fma64(1e200, 1e200, -math.inf) == -math.inf
    assert math.isnan(arith.fma64(math.inf, 0.0, 1.0))
    assert math.isnan(arith.fma64(1.0, 1.0, math.nan))
    assert arith.fma64(1e300, -1e300, 0.0) == -math.inf


@given(st.one_of(floats, halves, singles))
@settings(max_examples=400, deadline=None)
def test_f16_rounding_agrees_with_numpy(x: float) -> None:
    with np.errstate(over="ignore"):
        assert arith.f16_bits(x) == int(np.float64(x).astype(np.float16).view(np.uint16))


@given(st.one_of(floats, singles))
@settings(max_examples=400, deadline=None)
def test_f32_rounding_agrees_with_numpy(x: float) -> None:
    with np.errstate(over="ignore"):
        assert arith.narrow(x, 8, 23, arith.NEAREST) == int(np.float32(x).view(np.uint32))


def test_every_f16_and_many_bf16_keep_their_value() -> None:
    for pattern in range(0x10000):
        value = float(np.uint16(pattern).view(np.float16))
        if math.isnan(value):
            assert math.isnan(arith.f16_value(pattern))
            continue
        assert arith.f16_value(pattern) == value
        assert arith.f16_bits(arith.f16_value(pattern)) == pattern
    for pattern in range(0, 0x7F80, 11):
        assert arith.bf16_bits(arith.bf16_value(pattern)) == pattern
        assert arith.bf16_value(pattern) == float(np.uint32(pattern << 16).view(np.float32))


@pytest.mark.parametrize(
    ("x", "bits"),
    [
        (1.00390625, 0x3F80), (1.00390625000001, 0x3F81), (1.01171875, 0x3F82), (3.39e38, 0x7F7F),
        (3.39617753e38, 0x7F80), (math.inf, 0x7F80), (-math.inf, 0xFF80), (math.nan, 0x7FFF), (-0.0, 0x8000),
        (9.183549615799121e-41, 0x0001), (4.591774807899561e-41, 0x0000), (4.5917748078995613e-41, 0x0001),
    ],
)  # fmt: skip
def test_bf16_rounding_by_hand(x: float, bits: int) -> None:
    assert arith.bf16_bits(x) == bits


@pytest.mark.parametrize(
    ("x", "nearest", "zero", "down", "up"),
    [
        (1 + 2**-24, 0x3F800000, 0x3F800000, 0x3F800000, 0x3F800001),
        (-(1 + 2**-24), 0xBF800000, 0xBF800000, 0xBF800001, 0xBF800000),
        (1e300, 0x7F800000, 0x7F7FFFFF, 0x7F7FFFFF, 0x7F800000),
        (-1e300, 0xFF800000, 0xFF7FFFFF, 0xFF800000, 0xFF7FFFFF),
        (5e-324, 0, 0, 0, 1), (-5e-324, 0x80000000, 0x80000000, 0x80000001, 0x80000000),
        (math.inf, 0x7F800000, 0x7F800000, 0x7F800000, 0x7F800000), (0.5, *[0x3F000000] * 4),
        (2.0**-126 - 2.0**-150, 0x00800000, 0x007FFFFF, 0x007FFFFF, 0x00800000),
    ],
)  # fmt: skip
def test_narrow_in_each_mode(x: float, nearest: int, zero: int, down: int, up: int) -> None:
    assert [arith.narrow(x, 8, 23, mode) for mode in range(4)] == [nearest, zero, down, up]


@given(halves, halves, halves)
@settings(max_examples=300, deadline=None)
def test_half_fma_rounds_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    result = arith.f16_bits(arith.fma_odd(a, b, c))
    if result & 0x7FFF == 0x7C00:
        assert abs(exact) >= 65520
        return
    error = abs(Fraction(arith.f16_value(result)) - exact)
    for neighbour in (result + 1, result - 1):
        if 0 <= neighbour & 0x7FFF < 0x7C00 and (neighbour ^ result) < 0x8000:
            other = abs(Fraction(arith.f16_value(neighbour)) - exact)
            assert error < other or (error == other and result % 2 == 0)


@given(words, words, words, st.integers(0, 255))
@settings(max_examples=100, deadline=None)
def test_lop3_bit_by_bit(a: int, b: int, c: int, table: int) -> None:
    expected = 0
    for i in range(32):
        row = (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)
        expected |= (table >> row & 1) << i
    assert arith.lop3(a, b, c, table) & 0xFFFFFFFF == expected


@given(words)
def test_counting_bits(a: int) -> None:
    assert arith.popc(a) == bin(a).count("1")
    assert arith.clz(a) == 32 - a.bit_length()
    assert arith.brev(a) == int(f"{a:032b}"[::-1], 2)


@given(words, words, words)
@settings(deadline=None)
def test_prmt_byte_by_byte(a: int, b: int, selector: int) -> None:
    pool = a.to_bytes(4, "little") + b.to_bytes(4, "little")
    picked = []
    for place in range(4):
        digit = selector >> 4 * place & 15
        byte = pool[digit & 7]
        picked.append((0xFF if byte >= 128 else 0) if digit >= 8 else byte)
    assert arith.prmt(a, b, selector) == int.from_bytes(bytes(picked), "little")


@given(longs, longs, st.integers(0, 70))
def test_unsigned_64_bits(a: int, b: int, count: int) -> None:
    mask = (1 << 64) - 1
    assert arith.less_u64(a, b) == ((a & mask) < (b & mask))
    assert arith.shr_u64(a, count) & mask == (a & mask) >> count
    assert arith.u64_f64(a) == float(a & mask)


@given(longs)
def test_integers_to_f32_round_once(a: int) -> None:
    unsigned = a & (1 << 64) - 1
    assert arith.round_f32(arith.s64_odd(a), arith.NEAREST) == np.int64(a).astype(np.float32)
    assert arith.round_f32(arith.u64_odd(a), arith.NEAREST) == np.uint64(unsigned).astype(np.float32)
    assert nearest_f32(Fraction(a)) == arith.narrow(arith.s64_odd(a), 8, 23, 0) or a == 0


@given(floats, st.integers(0, 3))
def test_rounding_to_whole_numbers(x: float, mode: int) -> None:
    expected = (round, math.trunc, math.floor, math.ceil)[mode](x)
    assert arith.round_whole(x, mode) == expected
    assert math.copysign(1, arith.round_whole(x, mode)) == math.copysign(1, x)
    assert arith.to_int(x, mode, -(1 << 31), (1 << 31) - 1) == min(max(expected, -(1 << 31)), (1 << 31) - 1)
    assert arith.to_int(x, mode, -(1 << 63), (1 << 63) - 1) == min(max(expected, -(1 << 63)), (1 << 63) - 1)
    assert arith.to_u64(x, mode) & (1 << 64) - 1 == min(max(expected, 0), (1 << 64) - 1)


def test_nan_becomes_the_integer_zero() -> None:
    assert arith.to_int(math.nan, 0, -5, 5) == 0
    assert arith.to_u64(math.nan, 0) == 0
    assert math.isnan(arith.round_whole(math.nan, 0))
    assert arith.round_whole(-math.inf, 2) == -math.inf


def test_no_approximation_raises_at_its_edges() -> None:
    edges = [0.0, -0.0, 1e-45, -1e-45, 3.4e38, -3.4e38, math.inf, -math.inf, math.nan, -1.0]
    functions = (
        arith.rcp32, arith.sqrt32, arith.rsqrt32, arith.exp2_32, arith.log2_32, arith.sin32, arith.cos32,
        arith.tanh32, arith.saturate, arith.absolute,
    )  # fmt: skip
    with np.errstate(all="ignore"):
        for function in functions:
            for edge in edges:
                assert isinstance(function(np.float32(edge)), np.float32), function.__name__


def test_the_lists_name_every_public_function_once() -> None:
    listed = [f.__name__ for f in arith.PRIMITIVES + arith.PLAIN]
    assert len(set(listed)) == len(listed)
    public = {
        name for name, value in vars(arith).items()
        if callable(value) and getattr(value, "__module__", "") == arith.__name__ and not name.startswith("_")
    }  # fmt: skip
    assert public == set(listed)
    assert set(listed) < set(arith.__all__)


def test_plain_functions_call_only_each_other() -> None:
    """They are compiled as written, so each global they use is a listed function or a module."""
    allowed = {f.__name__ for f in arith.PRIMITIVES + arith.PLAIN} | {"math", "np"}
    for function in arith.PLAIN:
        used = {n for n in function.__code__.co_names if n in vars(arith)}
        assert used <= allowed, function.__name__
