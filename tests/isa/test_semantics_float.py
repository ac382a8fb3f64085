"""Floating-point instructions of 16, 32 and 64 bits: exact bits, worked out by hand."""

from __future__ import annotations

import pytest
from by_hand import evaluate

ONE, TWO, HALF, NEG1 = 0x3F800000, 0x40000000, 0x3F000000, 0xBF800000
INF, NINF, QNAN, NAN = 0x7F800000, 0xFF800000, 0x7FC00001, 0x7FFFFFFF
NZERO, TINY, BIG = 0x80000000, 0x00000001, 0x7F7FFFFF
EPS1 = 0x3F800001  # 1 + 2^-23

SINGLE = [
    ("add.f32", (ONE, TWO), 0x40400000), ("add.f32", (INF, NINF), NAN), ("add.f32", (QNAN, ONE), NAN),
    ("add.f32", (ONE, 0x33800000), ONE),  # 1 + 2^-24: a tie, to even
    ("add.f32", (EPS1, 0x33800000), 0x3F800002), ("add.f32", (BIG, BIG), INF),
    ("add.f32", (NZERO, 0), 0), ("add.f32", (NZERO, NZERO), NZERO), ("add.f32", (TINY, TINY), 2),
    ("add.sat.f32", (ONE, ONE), ONE), ("add.sat.f32", (NEG1, HALF), 0), ("add.sat.f32", (INF, NINF), 0),
    ("add.sat.f32", (HALF, 0x3E800000), 0x3F400000),
    ("sub.f32", (ONE, TWO), NEG1), ("sub.f32", (ONE, ONE), 0), ("sub.f32", (INF, INF), NAN),
    ("sub.sat.f32", (TWO, HALF), ONE),
    ("mul.f32", (TWO, HALF), ONE), ("mul.f32", (INF, 0), NAN), ("mul.f32", (NEG1, 0), NZERO),
    ("mul.f32", (TINY, HALF), 0), ("mul.f32", (0x00000003, HALF), 2),  # 1.5 denormal units: tie to even
    ("mul.f32", (EPS1, EPS1), 0x3F800002), ("mul.sat.f32", (TWO, NEG1), 0),
    ("fma.f32", (TWO, HALF, ONE), TWO), ("fma.f32", (INF, 0, ONE), NAN), ("fma.f32", (NEG1, 0, 0), 0),
    ("fma.f32", (NEG1, 0, NZERO), NZERO),
    # (1 + 2^-23)^2 - (1 + 2^-22) = 2^-46, lost if the product is rounded first.
    ("fma.f32", (EPS1, EPS1, 0xBF800002), 0x28800000),
    # 2^127 * 2 - 2^127: the product alone overflows.
    ("fma.f32", (0x7F000000, TWO, 0xFF000000), 0x7F000000),
    # 2^-24 (1 - 2^-46) added to an odd number stays under the tie; f64 in between would reach it.
    ("fma.f32", (0x39800001, 0x397FFFFE, EPS1), EPS1),
    ("fma.sat.f32", (TWO, TWO, ONE), ONE), ("fma.sat.f32", (TWO, NEG1, ONE), 0),
    ("min.f32", (ONE, TWO), ONE), ("min.f32", (QNAN, TWO), TWO), ("min.f32", (TWO, QNAN), TWO),
    ("min.f32", (QNAN, QNAN), NAN), ("min.f32", (0, NZERO), NZERO), ("min.f32", (NZERO, 0), NZERO),
    ("max.f32", (ONE, TWO), TWO), ("max.f32", (QNAN, NINF), NINF), ("max.f32", (NZERO, 0), 0),
    ("max.f32", (0, NZERO), 0), ("max.f32", (QNAN, QNAN), NAN),
    ("abs.f32", (NEG1,), ONE), ("abs.f32", (NZERO,), 0), ("abs.f32", (QNAN,), NAN),
    ("neg.f32", (ONE,), NEG1), ("neg.f32", (0,), NZERO), ("neg.f32", (QNAN,), NAN),
    ("rcp.approx.f32", (TWO,), HALF), ("rcp.approx.f32", (0,), INF), ("rcp.approx.f32", (NZERO,), NINF),
    ("rcp.approx.f32", (NINF,), NZERO), ("rcp.approx.f32", (0x40400000,), 0x3EAAAAAB),
    ("rcp.approx.f32", (QNAN,), NAN), ("rcp.approx.f32", (TINY,), INF),
    ("rcp.approx.f32", (0x7F000000,), 0x00400000),  # 2^-127, a denormal, is kept
    ("rsqrt.approx.f32", (0x40800000,), HALF), ("rsqrt.approx.f32", (0,), INF),
    ("rsqrt.approx.f32", (NZERO,), NINF), ("rsqrt.approx.f32", (NEG1,), NAN), ("rsqrt.approx.f32", (INF,), 0),
    ("sqrt.approx.f32", (0x40800000,), TWO), ("sqrt.approx.f32", (TWO,), 0x3FB504F3),
    ("sqrt.approx.f32", (NZERO,), NZERO), ("sqrt.approx.f32", (NEG1,), NAN), ("sqrt.approx.f32", (INF,), INF),
    ("ex2.approx.f32", (0,), ONE), ("ex2.approx.f32", (0xC1200000,), 0x3A800000),
    ("ex2.approx.f32", (0x43000000,), INF), ("ex2.approx.f32", (NINF,), 0),
    ("ex2.approx.f32", (0xC3150000,), TINY),  # 2^-149
    ("ex2.approx.f32", (HALF,), 0x3FB504F3), ("ex2.approx.f32", (QNAN,), NAN),
    ("lg2.approx.f32", (0x41000000,), 0x40400000), ("lg2.approx.f32", (0,), NINF),
    ("lg2.approx.f32", (NZERO,), NINF), ("lg2.approx.f32", (NEG1,), NAN), ("lg2.approx.f32", (INF,), INF),
    ("lg2.approx.f32", (TINY,), 0xC3150000),
    ("sin.approx.f32", (0,), 0), ("sin.approx.f32", (NZERO,), NZERO), ("sin.approx.f32", (INF,), NAN),
    ("sin.approx.f32", (0x3FC90FDB,), ONE),  # the f32 nearest to pi / 2
    ("cos.approx.f32", (0,), ONE), ("cos.approx.f32", (NINF,), NAN),
    ("cos.approx.f32", (0x3FC90FDB,), 0xB33BBD2E),  # -4.371139e-08
    ("tanh.approx.f32", (INF,), ONE), ("tanh.approx.f32", (NZERO,), NZERO),
    ("tanh.approx.f32", (HALF,), 0x3EEC9A9F),  # 0.46211717
]  # fmt: skip

D1, D2, DHALF, DNEG1, DINF = (
    0x3FF0000000000000, 0x4000000000000000, 0x3FE0000000000000, 0xBFF0000000000000, 0x7FF0000000000000,
)  # fmt: skip
DNAN, DNZERO, DEPS1 = 0x7FF8000000000000, 0x8000000000000000, 0x3FF0000000000001

DOUBLE = [
    ("add.f64", (D1, D2), 0x4008000000000000), ("add.f64", (DINF, 0xFFF0000000000000), DNAN),
    ("add.f64", (0x7FF0000000000001, D1), DNAN),
    ("sub.f64", (D1, D2), DNEG1), ("sub.f64", (D1, D1), 0),
    ("mul.f64", (D2, DHALF), D1), ("mul.f64", (DINF, 0), DNAN), ("mul.f64", (DNEG1, 0), DNZERO),
    ("fma.f64", (D2, DHALF, D1), D2), ("fma.f64", (DEPS1, DEPS1, 0xBFF0000000000002), 0x3970000000000000),
    ("fma.f64", (DNEG1, 0, 0), 0), ("fma.f64", (DNEG1, 0, DNZERO), DNZERO), ("fma.f64", (DINF, 0, D1), DNAN),
    ("fma.f64", (0x7FE0000000000000, D2, 0xFFE0000000000000), 0x7FE0000000000000),
    ("fma.f64", (0x7FE0000000000000, D2, 0xFFF0000000000000), 0xFFF0000000000000),
    ("fma.f64", (0x7FE0000000000000, D2, D1), DINF),
    ("fma.f64", (DEPS1, DNEG1, DEPS1), 0),
    ("min.f64", (D1, D2), D1), ("min.f64", (DNAN, D2), D2), ("min.f64", (0, DNZERO), DNZERO),
    ("max.f64", (D1, D2), D2), ("max.f64", (D1, DNAN), D1), ("max.f64", (DNZERO, 0), 0),
    ("abs.f64", (DNEG1,), D1), ("abs.f64", (DNZERO,), 0),
    ("neg.f64", (D1,), DNEG1), ("neg.f64", (0,), DNZERO),
]  # fmt: skip

# f16: 1 = 3c00, 2 = 4000, -1 = bc00, 0.5 = 3800, inf = 7c00, largest 65504 = 7bff, least 0001.
# bf16: 1 = 3f80, 2 = 4000, -1 = bf80, inf = 7f80. Packed words hold high and low half.
HALVES = [
    ("add.f16", (0x3C00, 0x4000), 0x4200), ("add.f16", (0x7BFF, 0x7BFF), 0x7C00),
    ("add.f16", (0x7C00, 0xFC00), 0x7FFF), ("add.f16", (0x3C00, 0x1000), 0x3C00),  # 1 + 2^-11: tie
    ("add.f16", (0x3C01, 0x1000), 0x3C02), ("add.f16", (0xABCD3C00, 0x4000), 0x4200),
    ("add.bf16", (0x3F80, 0x4000), 0x4040), ("add.bf16", (0x3F80, 0x3B80), 0x3F80),  # 1 + 2^-8: tie
    ("add.bf16", (0x3F81, 0x3B80), 0x3F82),
    ("add.f16x2", (0x3C004000, 0x40003C00), 0x42004200), ("add.f16x2", (0x7C000001, 0xFC000001), 0x7FFF0002),
    ("add.bf16x2", (0x3F804000, 0x40004000), 0x40404080),
    ("sub.f16", (0x3C00, 0x4000), 0xBC00), ("sub.f16x2", (0x3C004000, 0x40003C00), 0xBC003C00),
    ("sub.bf16", (0x4000, 0x4000), 0), ("sub.bf16x2", (0x40003F80, 0x3F804000), 0x3F80BF80),
    ("mul.f16", (0x4000, 0x3800), 0x3C00), ("mul.f16", (0x0001, 0x3800), 0x0000),
    ("mul.f16", (0x0003, 0x3800), 0x0002), ("mul.bf16", (0x4000, 0xBF80), 0xC000),
    ("mul.f16x2", (0x40003C00, 0x38004200), 0x3C004200), ("mul.bf16x2", (0x40003F80, 0x3F804040), 0x40004040),
    ("fma.f16", (0x3C01, 0x3C01, 0xBC02), 0x0010),  # 2^-20, a denormal: rounds once
    ("fma.f16", (0x4000, 0x3800, 0x3C00), 0x4000), ("fma.f16", (0x7C00, 0, 0x3C00), 0x7FFF),
    ("fma.bf16", (0x3F81, 0x3F81, 0xBF82), 0x3880),  # 2^-14
    ("fma.f16x2", (0x40004000, 0x38004000, 0x3C003C00), 0x40004500),
    ("fma.bf16x2", (0x40004000, 0x40003F80, 0x3F803F80), 0x40A04040),
    ("min.f16", (0x3C00, 0x4000), 0x3C00), ("min.f16", (0x7E00, 0x4000), 0x4000),
    ("min.f16x2", (0x3C00BC00, 0x40004000), 0x3C00BC00), ("min.bf16", (0, 0x8000), 0x8000),
    ("min.bf16x2", (0x3F804000, 0x40003F80), 0x3F803F80),
    ("max.f16", (0x3C00, 0x4000), 0x4000), ("max.f16x2", (0x3C00BC00, 0x40000000), 0x40000000),
    ("max.bf16", (0x7FC0, 0xBF80), 0xBF80), ("max.bf16x2", (0x3F804000, 0x40003F80), 0x40004000),
    ("abs.f16", (0xBC00,), 0x3C00), ("abs.bf16", (0xBF80,), 0x3F80), ("abs.f16x2", (0x8000BC00,), 0x00003C00),
    ("abs.bf16x2", (0xBF803F80,), 0x3F803F80),
    ("neg.f16", (0x3C00,), 0xBC00), ("neg.bf16", (0xBF80,), 0x3F80), ("neg.f16x2", (0x00003C00,), 0x8000BC00),
    ("neg.bf16x2", (0xBF803F80,), 0x3F80BF80),
]  # fmt: skip

CASES = SINGLE + DOUBLE + HALVES


@pytest.mark.parametrize(("name", "inputs", "expected"), CASES)
def test_exact_bits(name: str, inputs: tuple[int, ...], expected: int) -> None:
    assert hex(int(evaluate(name, *inputs))) == hex(expected)


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_packed_halves_do_not_disturb_each_other(type_: str) -> None:
    values = [0x3C00, 0xBC01, 0x7BFF, 0x0001, 0x8000, 0x7C00, 0x7E01]
    for low in values:
        for high in values:
            packed = evaluate(f"fma.{type_}x2", high << 16 | low, low << 16 | high, 0x3C003C00)
            assert packed & 0xFFFF == evaluate(f"fma.{type_}", low, high, 0x3C00)
            assert packed >> 16 == evaluate(f"fma.{type_}", high, low, 0x3C00)
