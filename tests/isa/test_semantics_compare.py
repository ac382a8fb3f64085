"""Comparisons, predicate logic, moves and selection."""

from __future__ import annotations

import itertools

import pytest
from by_hand import evaluate

ALL, QNAN, NINF, NZERO = 0xFFFFFFFF, 0x7FC00000, 0xFF800000, 0x80000000
ONE, TWO = 0x3F800000, 0x40000000

CASES = [
    ("setp.eq.s32", (5, 5), True), ("setp.lt.s32", (ALL, 0), True), ("setp.lt.u32", (ALL, 0), False),
    ("setp.ne.b32", (ALL, 0), True), ("setp.eq.b32", (ALL, ALL), True),
    ("setp.lt.s64", (ALL << 32, 0), True), ("setp.lt.u64", (ALL << 32, 0), False),
    ("setp.gt.u64", (1 << 63, (1 << 63) - 1), True), ("setp.ge.u64", (1 << 63, 1 << 63), True),
    ("setp.le.u64", (0, 1 << 63), True), ("setp.ne.b64", (1 << 63, 0), True), ("setp.eq.b64", (7, 7), True),
    ("setp.lt.f32", (ONE, TWO), True), ("setp.eq.f32", (0, NZERO), True),
    ("setp.lt.f64", (0x3FF0000000000000, 0x4000000000000000), True),
    ("setp.nan.f64", (0x7FF8000000000000, 0), True),
    ("setp.gt.f16", (0x4000, 0x3C00), True), ("setp.eq.bf16", (0x8000, 0), True),
    ("setp.nan.f16", (0x7C01, 0), True), ("setp.ltu.bf16", (0x7FC0, 0), True),
    ("setp.lt.and.s32", (ALL, 0, True), True), ("setp.lt.and.s32", (ALL, 0, False), False),
    ("setp.lt.and.u32", (ALL, 0, True), False), ("setp.eq.or.s32", (1, 2, True), True),
    ("setp.eq.or.u32", (1, 2, False), False), ("setp.ge.or.s32", (2, 2, False), True),
    ("and.pred", (True, True), True), ("and.pred", (True, False), False),
    ("or.pred", (False, False), False), ("or.pred", (False, True), True),
    ("xor.pred", (True, True), False), ("xor.pred", (True, False), True),
    ("not.pred", (True,), False), ("not.pred", (False,), True), ("mov.pred", (True,), True),
    ("mov.b32", (0xDEADBEEF,), 0xDEADBEEF), ("mov.u32", (7,), 7), ("mov.s32", (ALL,), ALL),
    ("mov.f32", (0x7F800001,), 0x7F800001),  # a move keeps the bits of a NaN
    ("mov.b64", (0xDEADBEEF12345678,), 0xDEADBEEF12345678), ("mov.u64", (1 << 63,), 1 << 63),
    ("mov.s64", (1,), 1), ("mov.f64", (0x7FF0000000000001,), 0x7FF0000000000001),
    ("selp.b32", (1, 2, True), 1), ("selp.b32", (1, 2, False), 2), ("selp.u32", (1, 2, True), 1),
    ("selp.s32", (ALL, 2, True), ALL), ("selp.f32", (0xFFC00001, 2, True), 0xFFC00001),
    ("selp.b64", (1 << 40, 2, True), 1 << 40), ("selp.u64", (1 << 63, 2, False), 2),
    ("selp.s64", (1 << 63, 2, True), 1 << 63),
    ("selp.f64", (3, 0x7FF0000000000001, False), 0x7FF0000000000001),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "expected"), CASES)
def test_exact_results(name: str, inputs: tuple[int, ...], expected: int | bool) -> None:
    assert evaluate(name, *inputs) == expected


# For a < b, a == b, a > b, and one operand NaN: the answers of each comparison.
ANSWERS = {
    "eq": (0, 1, 0, 0), "ne": (1, 0, 1, 0), "lt": (1, 0, 0, 0), "le": (1, 1, 0, 0), "gt": (0, 0, 1, 0),
    "ge": (0, 1, 1, 0), "equ": (0, 1, 0, 1), "neu": (1, 0, 1, 1), "ltu": (1, 0, 0, 1), "leu": (1, 1, 0, 1),
    "gtu": (0, 0, 1, 1), "geu": (0, 1, 1, 1), "num": (1, 1, 1, 0), "nan": (0, 0, 0, 1),
}  # fmt: skip
VALUES = {
    "f32": (ONE, TWO, QNAN), "f64": (0x3FF0000000000000, 0x4000000000000000, 0x7FF8000000000000),
    "f16": (0x3C00, 0x4000, 0x7E00), "bf16": (0x3F80, 0x4000, 0x7FC0),
}  # fmt: skip


@pytest.mark.parametrize(("cmp", "type_"), list(itertools.product(ANSWERS, VALUES)))
def test_float_comparisons(cmp: str, type_: str) -> None:
    one, two, nan = VALUES[type_]
    pairs = ((one, two), (one, one), (two, one), (nan, one), (one, nan), (nan, nan))
    less, equal, more, unordered = map(bool, ANSWERS[cmp])
    expected = [less, equal, more, unordered, unordered, unordered]
    assert [evaluate(f"setp.{cmp}.{type_}", *pair) for pair in pairs] == expected


@pytest.mark.parametrize("cmp", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("type_", ["s32", "u32", "s64", "u64"])
def test_integer_comparisons(cmp: str, type_: str) -> None:
    width = int(type_[1:])
    top = 1 << width - 1
    for a, b in itertools.product((0, 1, top - 1, top, top + 1, 2 * top - 1), repeat=2):
        x, y = (v - 2 * top if type_[0] == "s" and v >= top else v for v in (a, b))
        place = 0 if x < y else 1 if x == y else 2
        answer = bool(ANSWERS[cmp][place])
        assert evaluate(f"setp.{cmp}.{type_}", a, b) is answer
        if width == 32:
            for other in (False, True):
                assert evaluate(f"setp.{cmp}.and.{type_}", a, b, other) is (answer and other)
                assert evaluate(f"setp.{cmp}.or.{type_}", a, b, other) is (answer or other)
