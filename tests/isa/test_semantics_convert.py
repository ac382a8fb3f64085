"""Conversions: exact bits at the edges, and against independent oracles over many values."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from by_hand import evaluate

ALL, MIN, MIN64, ALL64 = 0xFFFFFFFF, 0x80000000, 1 << 63, (1 << 64) - 1
INF, NINF, NAN, QNAN = 0x7F800000, 0xFF800000, 0x7FFFFFFF, 0x7FC00000

INTEGER = [
    ("cvt.s8.s32", (0x1FF,), ALL), ("cvt.s8.s32", (0x17F,), 0x7F), ("cvt.u8.s32", (ALL,), 0xFF),
    ("cvt.s16.s32", (0x18000,), 0xFFFF8000), ("cvt.u16.u32", (0x12345678,), 0x5678),
    ("cvt.s32.s8", (0x80,), 0xFFFFFF80), ("cvt.s32.u8", (0xF80,), 0x80),
    ("cvt.u32.s16", (0x8000,), 0xFFFF8000),
    ("cvt.s64.s32", (ALL,), ALL64), ("cvt.s64.u32", (ALL,), ALL), ("cvt.u64.s32", (MIN,), 0xFFFFFFFF80000000),
    ("cvt.u32.u64", (0x1234567890,), 0x34567890), ("cvt.s32.s64", (ALL64,), ALL),
    ("cvt.u64.s64", (ALL64,), ALL64),
    ("cvt.sat.s8.s32", (300,), 127), ("cvt.sat.s8.s32", (0xFFFFFED4,), 0xFFFFFF80),
    ("cvt.sat.u8.s32", (ALL,), 0),
    ("cvt.sat.u8.u32", (ALL,), 255), ("cvt.sat.s32.u32", (ALL,), 0x7FFFFFFF), ("cvt.sat.u32.s32", (ALL,), 0),
    ("cvt.sat.s32.s64", (1 << 40,), 0x7FFFFFFF), ("cvt.sat.s32.s64", (MIN64,), MIN),
    ("cvt.sat.s32.u64", (ALL64,), 0x7FFFFFFF), ("cvt.sat.s64.u64", (ALL64,), MIN64 - 1),
    ("cvt.sat.u64.s32", (ALL,), 0), ("cvt.sat.u64.s64", (5,), 5), ("cvt.sat.u16.s8", (0x80,), 0),
]  # fmt: skip

# 2.5 = 40200000, 3.5 = 40600000, -2.5 = c0200000, 0.3 = 3e99999a, -0.3 = be99999a
TO_INTEGER = [
    ("cvt.rni.s32.f32", (0x40200000,), 2), ("cvt.rni.s32.f32", (0x40600000,), 4),
    ("cvt.rni.s32.f32", (0xC0200000,), 0xFFFFFFFE), ("cvt.rzi.s32.f32", (0xC0200000,), 0xFFFFFFFE),
    ("cvt.rmi.s32.f32", (0xC0200000,), 0xFFFFFFFD), ("cvt.rpi.s32.f32", (0xC0200000,), 0xFFFFFFFE),
    ("cvt.rpi.s32.f32", (0x3E99999A,), 1), ("cvt.rmi.s32.f32", (0xBE99999A,), ALL),
    ("cvt.rzi.s32.f32", (INF,), 0x7FFFFFFF), ("cvt.rzi.s32.f32", (NINF,), MIN),
    ("cvt.rzi.s32.f32", (QNAN,), 0),
    ("cvt.rzi.s32.f32", (0x4F000000,), 0x7FFFFFFF), ("cvt.rzi.s32.f32", (0xCF000000,), MIN),
    ("cvt.rzi.u32.f32", (0xBF800000,), 0), ("cvt.rzi.u32.f32", (0x4F800000,), ALL),
    ("cvt.rzi.u32.f32", (0x4F7FFFFF,), 0xFFFFFF00), ("cvt.rzi.u32.f32", (NAN,), 0),
    ("cvt.rzi.s8.f32", (0x43480000,), 127), ("cvt.rzi.s8.f32", (0xC3480000,), 0xFFFFFF80),
    ("cvt.rni.u8.f32", (0x437F8000,), 255), ("cvt.rni.u8.f32", (0x437E8000,), 254),
    ("cvt.rzi.u16.f32", (INF,), 65535),
    ("cvt.rzi.s64.f32", (0x5F000000,), MIN64 - 1), ("cvt.rzi.s64.f32", (0xDF000000,), MIN64),
    ("cvt.rzi.s64.f32", (0xBF800000,), ALL64), ("cvt.rzi.s64.f32", (QNAN,), 0),
    ("cvt.rzi.u64.f32", (0x5F000000,), MIN64), ("cvt.rzi.u64.f32", (0x5F800000,), ALL64),
    ("cvt.rzi.u64.f32", (0xBF800000,), 0), ("cvt.rzi.u64.f32", (0x5F7FFFFF,), 0xFFFFFF0000000000),
    ("cvt.rpi.u64.f64", (0x3FD3333333333333,), 1), ("cvt.rni.s32.f64", (0x41DFFFFFFFE00000,), 0x7FFFFFFF),
    ("cvt.rni.s32.f64", (0x41DFFFFFFFC00000,), 0x7FFFFFFF), ("cvt.rzi.s32.f16", (0x7BFF,), 65504),
    ("cvt.rzi.s32.f16", (0xFC00,), MIN), ("cvt.rzi.s32.bf16", (0xC049,), 0xFFFFFFFD),
    ("cvt.rmi.s32.f16", (0xB800,), ALL), ("cvt.rzi.u8.bf16", (0x7F80,), 255),
]  # fmt: skip

FROM_INTEGER = [
    ("cvt.rn.f32.s32", (ALL,), 0xBF800000), ("cvt.rn.f32.u32", (ALL,), 0x4F800000),
    ("cvt.rz.f32.u32", (ALL,), 0x4F7FFFFF), ("cvt.rm.f32.s32", (0x80000001,), 0xCF000000),
    ("cvt.rp.f32.s32", (0x80000001,), 0xCEFFFFFF), ("cvt.rn.f32.s32", (0x01000001,), 0x4B800000),
    ("cvt.rn.f32.s32", (0x01000003,), 0x4B800002), ("cvt.rn.f32.s8", (0x80,), 0xC3000000),
    ("cvt.rn.f32.u8", (0x1FF,), 0x437F0000), ("cvt.rn.f32.s64", (ALL64,), 0xBF800000),
    ("cvt.rn.f32.u64", (ALL64,), 0x5F800000), ("cvt.rn.f32.u64", (MIN64,), 0x5F000000),
    # A value a little above the tie of f32, which f64 would round down onto the tie.
    ("cvt.rn.f32.s64", (0x4000004000000001,), 0x5E800001),
    ("cvt.rn.f32.u64", (0x8000008000000001,), 0x5F000001),
    ("cvt.rn.f32.s64", (0x4000004000000000,), 0x5E800000),
    ("cvt.rn.f64.s32", (MIN,), 0xC1E0000000000000), ("cvt.rn.f64.u64", (ALL64,), 0x43F0000000000000),
    ("cvt.rn.f64.u64", (0x8000000000000401,), 0x43E0000000000001),
    ("cvt.rn.f64.s64", (ALL64,), 0xBFF0000000000000),
    ("cvt.rn.f64.u64", (0x8000000000000400,), 0x43E0000000000000),
    ("cvt.rn.f64.u32", (ALL,), 0x41EFFFFFFFE00000),
    ("cvt.rn.f16.s32", (65519,), 0x7BFF), ("cvt.rn.f16.s32", (65520,), 0x7C00),
    ("cvt.rn.f16.s32", (2049,), 0x6800),
    ("cvt.rn.f16.s64", (2051,), 0x6802), ("cvt.rn.bf16.u8", (255,), 0x437F),
    ("cvt.rn.bf16.s32", (257,), 0x4380),
    ("cvt.rn.bf16.u64", (0x0181_0000_0000_0001,), 0x5BC1),
]  # fmt: skip

FLOAT = [
    ("cvt.f32.f16", (0x3C00,), 0x3F800000), ("cvt.f32.f16", (0x0001,), 0x33800000),
    ("cvt.f32.f16", (0xFC00,), NINF),
    ("cvt.f32.f16", (0x7C01,), NAN), ("cvt.f32.f16", (0xBEEF8000,), 0x80000000),
    ("cvt.f32.bf16", (0xBF81,), 0xBF810000),
    ("cvt.f32.bf16", (0x7F81,), NAN), ("cvt.f32.bf16", (0x0001,), 0x00010000),
    ("cvt.f64.f16", (0x3C01,), 0x3FF0040000000000), ("cvt.f64.bf16", (0x8000,), MIN64),
    ("cvt.f64.f32", (0x00000001,), 0x36A0000000000000), ("cvt.f64.f32", (QNAN,), 0x7FF8000000000000),
    ("cvt.rn.f32.f64", (0x3FF0000010000000,), 0x3F800000),
    ("cvt.rn.f32.f64", (0x3FF0000010000001,), 0x3F800001),
    ("cvt.rp.f32.f64", (0x3FF0000000000001,), 0x3F800001),
    ("cvt.rm.f32.f64", (0xBFF0000000000001,), 0xBF800001),
    ("cvt.rz.f32.f64", (0xBFF0000000000001,), 0xBF800000), ("cvt.rn.f32.f64", (0x47EFFFFFF0000000,), INF),
    ("cvt.rz.f32.f64", (0x7FEFFFFFFFFFFFFF,), 0x7F7FFFFF), ("cvt.rp.f32.f64", (0x0000000000000001,), 1),
    ("cvt.rn.f32.f64", (0x36A0000000000000,), 1), ("cvt.rn.f32.f64", (0x3690000000000000,), 0),
    ("cvt.rn.f16.f32", (0x3F800000,), 0x3C00), ("cvt.rn.f16.f32", (0x477FF000,), 0x7C00),
    ("cvt.rn.f16.f32", (0x477FEFFF,), 0x7BFF), ("cvt.rz.f16.f32", (INF,), 0x7C00),
    ("cvt.rz.f16.f32", (0x7F000000,), 0x7BFF),
    ("cvt.rp.f16.f32", (0xFF000000,), 0xFBFF), ("cvt.rm.f16.f32", (0xFF000000,), 0xFC00),
    ("cvt.rn.f16.f32", (0x33000000,), 0), ("cvt.rn.f16.f32", (0x33000001,), 1), ("cvt.rp.f16.f32", (1,), 1),
    ("cvt.rn.f16.f32", (QNAN,), 0x7FFF), ("cvt.rn.f16.f64", (0x3FF0020000000000,), 0x3C00),
    ("cvt.rn.f16.f64", (0x3FF0020000000001,), 0x3C01), ("cvt.rn.bf16.f32", (0x3F808000,), 0x3F80),
    ("cvt.rn.bf16.f32", (0x3F818000,), 0x3F82), ("cvt.rn.bf16.f32", (0x3F808001,), 0x3F81),
    ("cvt.rz.bf16.f32", (0x7F7FFFFF,), 0x7F7F), ("cvt.rn.bf16.f32", (0x7F7FFFFF,), 0x7F80),
    ("cvt.rn.bf16.f64", (0x3FF0100000000001,), 0x3F81), ("cvt.rn.bf16.f16", (0x3C0F,), 0x3F82),
    ("cvt.rn.f16.bf16", (0x4780,), 0x7C00), ("cvt.rn.f16.bf16", (0x3F81,), 0x3C08),
    ("cvt.sat.f32.f32", (0x40000000,), 0x3F800000), ("cvt.sat.f32.f32", (0xBF800000,), 0),
    ("cvt.sat.f32.f32", (QNAN,), 0),
    ("cvt.sat.f32.f32", (0x3F000000,), 0x3F000000), ("cvt.sat.f32.f32", (0x80000000,), 0),
    ("cvt.rni.f32.f32", (0x40200000,), 0x40000000), ("cvt.rmi.f32.f32", (0xC0200000,), 0xC0400000),
    ("cvt.rpi.f32.f32", (0xBE99999A,), 0x80000000), ("cvt.rzi.f32.f32", (0x3F7FFFFF,), 0),
    ("cvt.rni.f32.f32", (NINF,), NINF), ("cvt.rni.f32.f32", (QNAN,), NAN),
    ("cvt.rni.f32.f32", (0x4B800001,), 0x4B800001),
    ("cvt.rmi.f64.f64", (0xC004000000000000,), 0xC008000000000000), ("cvt.rni.f16.f16", (0x4100,), 0x4000),
    ("cvt.rpi.f16.f16", (0x0001,), 0x3C00), ("cvt.rni.f64.f64", (0x3FE0000000000000,), 0),
    ("cvt.rn.f16x2.f32", (0x3F800000, 0x40000000), 0x3C004000),
    ("cvt.rn.f16x2.f32", (QNAN, 0xC7800000), 0x7FFFFC00),
    ("cvt.rz.f16x2.f32", (0x47800000, 0xC7800000), 0x7BFFFBFF),
    ("cvt.rn.bf16x2.f32", (0x3F808001, 0xBF800000), 0x3F81BF80),
    ("cvt.rz.bf16x2.f32", (0x3F80FFFF, 0), 0x3F800000),
]  # fmt: skip

CASES = INTEGER + TO_INTEGER + FROM_INTEGER + FLOAT


@pytest.mark.parametrize(("name", "inputs", "expected"), CASES)
def test_exact_bits(name: str, inputs: tuple[int, ...], expected: int) -> None:
    assert hex(int(evaluate(name, *inputs))) == hex(expected)


PATTERNS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0x7FFFFFFF, MIN, ALL, MIN64, ALL64, MIN64 - 1)
WIDTHS = {"s8": 8, "u8": 8, "s16": 16, "u16": 16, "s32": 32, "u32": 32, "s64": 64, "u64": 64}


def bounds(type_: str) -> tuple[int, int]:
    half = 1 << WIDTHS[type_] - 1
    return (-half, half - 1) if type_[0] == "s" else (0, 2 * half - 1)


@pytest.mark.parametrize(("to", "src"), [p for p in itertools.product(WIDTHS, WIDTHS) if p[0] != p[1]])
def test_integer_conversions_keep_the_low_bits_or_clamp(to: str, src: str) -> None:
    wide = 64 if WIDTHS[to] == 64 else 32
    bits_to, bits_src = WIDTHS[to], WIDTHS[src]
    low, high = bounds(to)
    least, most = bounds(src)
    for pattern in PATTERNS:
        given = pattern & (1 << bits_src) - 1
        value = given - (1 << bits_src) if src[0] == "s" and given >> bits_src - 1 else given
        kept = value & (1 << bits_to) - 1
        wrapped = kept - (1 << bits_to) if to[0] == "s" and kept >> bits_to - 1 else kept
        assert evaluate(f"cvt.{to}.{src}", given) == wrapped & (1 << wide) - 1
        if least < low or most > high:
            assert evaluate(f"cvt.sat.{to}.{src}", given) == min(max(value, low), high) & (1 << wide) - 1


def test_every_f16_goes_to_f32_and_back() -> None:
    for pattern in range(0, 0x10000, 37):
        value = np.uint16(pattern).view(np.float16)
        wide = evaluate("cvt.f32.f16", pattern)
        if np.isnan(value):
            assert wide == NAN
            continue
        assert wide == int(np.float32(value).view(np.uint32))
        assert evaluate("cvt.rn.f16.f32", int(wide)) == pattern


def _fraction(pattern: int) -> Fraction:
    return Fraction(float(np.uint32(pattern).view(np.float32)))


@pytest.mark.parametrize("to", ["f16", "bf16"])
def test_directed_rounding_encloses_the_value(to: str) -> None:
    """rm and rp are the neighbours around the value, rz is the one nearer to zero, rn the nearest."""
    generator = np.random.default_rng(7)
    back = {"f16": "cvt.f32.f16", "bf16": "cvt.f32.bf16"}[to]
    for exponent in generator.integers(100, 140, 60):
        sign, fraction = int(generator.integers(0, 2)), int(generator.integers(0, 1 << 23))
        pattern = sign << 31 | int(exponent) << 23 | fraction
        exact = _fraction(pattern)
        around = {m: evaluate(f"cvt.{m}.{to}.f32", pattern) for m in ("rn", "rz", "rm", "rp")}
        value = {m: _fraction(int(evaluate(back, int(b)))) for m, b in around.items()}
        assert value["rm"] <= exact <= value["rp"]
        assert value["rz"] == (value["rm"] if exact > 0 else value["rp"])
        assert abs(value["rn"] - exact) == min(abs(value["rm"] - exact), abs(value["rp"] - exact))
        assert (int(around["rp"]) - int(around["rm"])) in (0, 1, -1, 0x8000)
