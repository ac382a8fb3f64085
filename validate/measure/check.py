"""Correctness before time: the values that benchmark kernels compute, against Python's own arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tinygpu.isa.errors import WrongResult
from tinygpu.validate.measure import arithmetic, global_memory, shared_memory
from tinygpu.validate.measure import patterns_shared as ps
from tinygpu.validate.measure.body import Body
from tinygpu.validate.measure.launch import Gpu, Point

WORD = 0xFFFFFFFF
Y0, Y1, Y6, Y7 = 0x3F7FFFF0, 0x3C000000, 5, 0x5A5A1234
"""Operands as `arithmetic.ONCE` sets them."""


def _float(bits: int) -> float:
    return float(np.uint32(bits).view(np.float32))


def _bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def fma(x: int) -> int:
    """One step of the FFMA chain on bits: the exact product and sum, rounded once to binary32."""
    exact = Fraction(_float(x)) * Fraction(_float(Y0)) + Fraction(_float(Y1))
    return _bits(round_to_binary32(exact))


def round_to_binary32(exact: Fraction) -> float:
    """The normal binary32 number next to a positive fraction, ties to even."""
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    if Fraction(2) ** exponent > exact:
        exponent -= 1
    scale = Fraction(2) ** (exponent - 23)
    return float(round(exact / scale) * scale)


STEPS: dict[str, Callable[[int], int]] = {
    "ffma": fma,
    "imad": lambda x: (x * Y6 + Y7) & WORD,
    "shf": lambda x: ((Y7 << 7) | (x >> 25)) & WORD,
    "brev": lambda x: (int(f"{x:032b}"[::-1], 2) + Y6) & WORD,
    "isetp_sel": lambda x: Y7 if (x - (1 << 32) if x >> 31 else x) < Y6 else 7,
}
"""What one line of a unit does to lane 0's 32 bits."""


def expected(name: str) -> int:
    """Bits of lane 0 after all parts of the unit's latency body."""
    seed = 0x3F800001 if arithmetic.UNITS[name].seed == arithmetic.F32 else 0
    for _ in range(sum(arithmetic.latency(arithmetic.UNITS[name]).counts)):
        seed = STEPS[name](seed)
    return seed


def _value(gpu: Gpu, body: Body, point: Point) -> int:
    values = gpu.run(body, point, 1)[:, 0, body.stamps + 1]
    if len(np.unique(values)) != 1:
        raise WrongResult(f"{body.name}: repetitions differ: {values[:4]}")
    return int(values[0])


def run(gpu: Gpu) -> int:
    """Checks units and chases; the number of checks; WrongResult names the first that fails."""
    for name in STEPS:
        found, wanted = _value(gpu, arithmetic.latency(arithmetic.UNITS[name]), Point()), expected(name)
        if found != wanted:
            raise WrongResult(f"{name}: the GPU computes {found:#010x}, not {wanted:#010x}")
    chases = 0
    for width in (32, 64, 128):
        body = shared_memory.chase(width)
        rows = [p for p in ps.patterns(width) if p.offsets[0] >= 0]
        starts = {_value(gpu, body, Point(table=p.offsets, reps=2)) - p.offsets[0] for p in rows}
        if len(starts) != 1:
            raise WrongResult(
                f"{body.name}: chases do not return to their own addresses: {sorted(starts)[:4]}"
            )
        chases += len(rows)
    body = global_memory.chase(64, "ca", False)
    for row in (0, 64, 4096):
        if (
            _value(gpu, body, Point(table=tuple(row + 8 * i for i in ps.LANES))) != 0
        ):  # last address xor first
            raise WrongResult(f"{body.name}: the chase left its address")
    return len(STEPS) + chases + 3
