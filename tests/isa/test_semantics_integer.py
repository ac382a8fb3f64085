"""Integer, bit and 64-bit instructions: exact bits for values worked out by hand."""

from __future__ import annotations

import pytest
from by_hand import evaluate

MIN, MAX, ALL = 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF
MIN64, ALL64 = 0x8000000000000000, 0xFFFFFFFFFFFFFFFF

CASES = [
    ("add.s32", (5, 7), 12), ("add.s32", (MAX, 1), MIN), ("add.u32", (ALL, 1), 0),
    ("add3.s32", (1, 2, 3), 6), ("add3.u32", (ALL, ALL, 3), 1),
    ("sub.s32", (5, 7), 0xFFFFFFFE), ("sub.u32", (0, 1), ALL),
    ("neg.s32", (5,), 0xFFFFFFFB), ("neg.s32", (MIN,), MIN),
    ("abs.s32", (0xFFFFFFFB,), 5), ("abs.s32", (5,), 5), ("abs.s32", (MIN,), MIN),
    ("min.s32", (ALL, 3), ALL), ("min.u32", (ALL, 3), 3),
    ("max.s32", (ALL, 3), 3), ("max.u32", (ALL, 3), ALL),
    ("sad.s32", (ALL, 3, 10), 14), ("sad.u32", (ALL, 3, 10), 6), ("sad.s32", (MIN, MAX, 2), 1),
    ("mul.lo.s32", (0xFFFFFFFD, 5), 0xFFFFFFF1), ("mul.lo.u32", (0x10001, 0x10001), 0x20001),
    ("mul.hi.s32", (ALL, ALL), 0), ("mul.hi.s32", (MIN, MIN), 0x40000000), ("mul.hi.s32", (ALL, 5), ALL),
    ("mul.hi.u32", (ALL, ALL), 0xFFFFFFFE), ("mul.hi.u32", (9, 0xAAAAAAAB), 6),
    ("mad.lo.s32", (0xFFFFFFFD, 5, 20), 5), ("mad.lo.u32", (ALL, ALL, ALL), 0),
    ("mul.wide.s32", (ALL, 5), 0xFFFFFFFFFFFFFFFB), ("mul.wide.s32", (MIN, MIN), 0x4000000000000000),
    ("mul.wide.u32", (ALL, ALL), 0xFFFFFFFE00000001),
    ("mad.wide.s32", (ALL, 4, 0x100), 0xFC), ("mad.wide.s32", (1, 1, ALL64), 0),
    ("mad.wide.u32", (ALL, 4, 0x100), 0x4000000FC), ("mad.wide.u32", (ALL, ALL, ALL64), 0xFFFFFFFE00000000),
    ("lea.u32", (3, 100, 2), 112), ("lea.u32", (3, 1, 31), 0x80000001), ("lea.u32", (ALL, 0x20, 4), 0x10),
]  # fmt: skip

BIT_CASES = [
    ("and.b32", (0xF0F0F0F0, 0xFF00FF00), 0xF000F000), ("or.b32", (0xF0F0F0F0, 0x0F000F00), 0xFFF0FFF0),
    ("xor.b32", (0xF0F0F0F0, 0xFF00FF00), 0x0FF00FF0), ("not.b32", (0x0000FFFF,), 0xFFFF0000),
    ("lop3.b32", (0xF0, 0xCC, 0xAA, 0x96), 0xF0 ^ 0xCC ^ 0xAA),
    ("lop3.b32", (0xF0, 0xCC, 0xAA, 0xE8), 0xE8), ("lop3.b32", (0xF0, 0xCC, 0xAA, 0xCA), 0xCA),
    ("lop3.b32", (0, 0, 0, 0x01), ALL), ("lop3.b32", (5, 6, 7, 0), 0), ("lop3.b32", (5, 6, 7, 0xFF), ALL),
    ("shl.b32", (0x80000001, 1), 2), ("shl.b32", (1, 31), MIN), ("shl.b32", (ALL, 32), 0),
    ("shl.b32", (ALL, ALL), 0),
    ("shr.u32", (MIN, 31), 1), ("shr.u32", (ALL, 32), 0), ("shr.b32", (MIN, 4), 0x08000000),
    ("shr.b32", (ALL, 1 << 31), 0),
    ("shr.s32", (MIN, 31), ALL), ("shr.s32", (MIN, 32), ALL), ("shr.s32", (MAX, 99), 0),
    ("shr.s32", (0xFFFFFFFB, 1), 0xFFFFFFFD),
    ("shf.l.wrap.b32", (0x80000000, 0x12345678, 4), 0x23456788), ("shf.l.wrap.b32", (1, 2, 32), 2),
    ("shf.l.wrap.b32", (0x80000001, 0x80000001, 33), 3),
    ("shf.l.clamp.b32", (0xABCD, 2, 32), 0xABCD), ("shf.l.clamp.b32", (0xABCD, 2, 99), 0xABCD),
    ("shf.l.clamp.b32", (ALL, 0, 1), 1),
    ("shf.r.wrap.b32", (0x12345678, 0xF, 4), 0xF1234567), ("shf.r.wrap.b32", (1, 2, 32), 1),
    ("shf.r.clamp.b32", (1, 0xABCD, 32), 0xABCD), ("shf.r.clamp.b32", (1, 0xABCD, 77), 0xABCD),
    ("shf.r.clamp.b32", (1, 0x80000000, 31), 0),
    ("bfe.u32", (0x12345678, 8, 8), 0x56), ("bfe.u32", (0x12345678, 32, 8), 0), ("bfe.u32", (ALL, 0, 0), 0),
    ("bfe.u32", (ALL, 28, 16), 0xF), ("bfe.u32", (ALL, 0, 32), ALL), ("bfe.u32", (0x56, 256, 260), 6),
    ("bfe.s32", (0x12345688, 0, 8), 0xFFFFFF88), ("bfe.s32", (0x12345678, 0, 8), 0x78),
    ("bfe.s32", (MIN, 28, 16), 0xFFFFFFF8), ("bfe.s32", (MIN, 40, 8), ALL), ("bfe.s32", (ALL, 3, 0), 0),
    ("bfe.s32", (MIN, 0, 255), MIN),
    ("bfi.b32", (0xAB, 0x11111111, 8, 8), 0x1111AB11), ("bfi.b32", (0xFF, 0, 28, 8), 0xF0000000),
    ("bfi.b32", (ALL, 0x1234, 32, 8), 0x1234), ("bfi.b32", (ALL, 0x1234, 4, 0), 0x1234),
    ("bfi.b32", (0x55555555, ALL, 0, 40), 0x55555555),
    ("prmt.b32", (0x33221100, 0x77665544, 0x7531), 0x77553311),
    ("prmt.b32", (0x33221100, 0, 0x0123), 0x00112233), ("prmt.b32", (0x00008000, 0, 0x9998), 0xFFFFFF00),
    ("prmt.b32", (0, 0x80000000, 0xFFF4), 0xFFFFFF00),
    ("popc.b32", (0,), 0), ("popc.b32", (ALL,), 32), ("popc.b32", (0x80010001,), 3),
    ("clz.b32", (0,), 32), ("clz.b32", (1,), 31), ("clz.b32", (MIN,), 0), ("clz.b32", (0x00010000,), 15),
    ("brev.b32", (1,), MIN), ("brev.b32", (0x0000000F,), 0xF0000000), ("brev.b32", (0x12345678,), 0x1E6A2C48),
]  # fmt: skip

WIDE_CASES = [
    ("add.s64", (ALL64, 1), 0), ("add.u64", (0xFFFFFFFF, 1), 0x100000000), ("add.u64", (MIN64, MIN64), 0),
    ("sub.s64", (0, 1), ALL64), ("sub.u64", (0x100000000, 1), 0xFFFFFFFF),
    ("and.b64", (0xFF00FF00FF00FF00, 0xFFFFFFFF00000000), 0xFF00FF0000000000),
    ("or.b64", (MIN64, 1), 0x8000000000000001), ("xor.b64", (ALL64, 1), 0xFFFFFFFFFFFFFFFE),
    ("not.b64", (0x00000000FFFFFFFF,), 0xFFFFFFFF00000000),
    ("shl.b64", (1, 63), MIN64), ("shl.b64", (ALL64, 64), 0), ("shl.b64", (3, 31), 0x180000000),
    ("shr.u64", (MIN64, 63), 1), ("shr.u64", (MIN64, 0), MIN64), ("shr.u64", (ALL64, 64), 0),
    ("shr.b64", (ALL64, 4), 0x0FFFFFFFFFFFFFFF), ("shr.b64", (ALL64, 1 << 31), 0),
    ("shr.s64", (MIN64, 63), ALL64), ("shr.s64", (MIN64, 200), ALL64), ("shr.s64", (5, 1), 2),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "expected"), CASES + BIT_CASES + WIDE_CASES)
def test_exact_bits(name: str, inputs: tuple[int, ...], expected: int) -> None:
    assert evaluate(name, *inputs) == expected


@pytest.mark.parametrize("table", range(0, 256, 17))
def test_lop3_is_its_truth_table(table: int) -> None:
    a, b, c = 0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA
    assert evaluate("lop3.b32", a, b, c, table) == table * 0x01010101


@pytest.mark.parametrize("count", range(0, 70, 3))
def test_funnel_shifts_against_64_bits(count: int) -> None:
    low, high = 0x89ABCDEF, 0x01234567
    both = high << 32 | low
    clamped, wrapped = min(count, 32), count & 31
    assert evaluate("shf.l.clamp.b32", low, high, count) == both << clamped >> 32 & ALL
    assert evaluate("shf.l.wrap.b32", low, high, count) == both << wrapped >> 32 & ALL
    assert evaluate("shf.r.clamp.b32", low, high, count) == both >> clamped & ALL
    assert evaluate("shf.r.wrap.b32", low, high, count) == both >> wrapped & ALL


@pytest.mark.parametrize("start", [0, 5, 31, 32, 255])
@pytest.mark.parametrize("length", [0, 1, 7, 27, 31, 32, 255])
def test_bit_fields_against_the_definition_of_ptx(start: int, length: int) -> None:
    a, b = 0xC5A3F00D, 0x3C3C3C3C
    bit = [a >> i & 1 for i in range(32)]
    sign = bit[min(start + length - 1, 31)] if length else 0
    unsigned = [bit[start + i] if i < length and start + i <= 31 else 0 for i in range(32)]
    signed = [bit[start + i] if i < length and start + i <= 31 else sign for i in range(32)]
    inserted = [b >> i & 1 for i in range(32)]
    for i in range(length):
        if start + i <= 31 and i < 32:
            inserted[start + i] = bit[i]
    for name, inputs, expected in (
        ("bfe.u32", (a, start, length), unsigned),
        ("bfe.s32", (a, start, length), signed),
        ("bfi.b32", (a, b, start, length), inserted),
    ):
        assert evaluate(name, *inputs) == sum(v << i for i, v in enumerate(expected)), name
