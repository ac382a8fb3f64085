"""Address patterns of a warp's shared access: strides, permutations, tiles, swizzles, broadcasts, ragged
masks.

A pattern is 32 byte offsets, one a lane; -1 means that the lane is inactive. All are multiples of the
access width and lie under `LIMIT`. They are made from fixed seeds, so a record can name a pattern and
everybody gets the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LIMIT = 16384
WIDTHS = (8, 16, 32, 64, 128)
LANES = range(32)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A named access of `width` bits a lane at `offsets` bytes."""

    name: str
    width: int
    offsets: tuple[int, ...]

    @property
    def active(self) -> int:
        """Number of active lanes."""
        return sum(offset >= 0 for offset in self.offsets)


def _elements(width: int) -> dict[str, list[int]]:
    """Element numbers (in units of the width) of every lane, -1 inactive, by pattern name."""
    rng = np.random.default_rng(20240 + width)
    rows: dict[str, list[int]] = {f"stride_{s}": [s * i for i in LANES] for s in range(34)}
    rows["reverse"] = [31 - i for i in LANES]
    for k in range(3):
        rows[f"permutation_{k}"] = [int(v) for v in rng.permutation(32)]
    for span in (48, 64, 256, 1024):
        rows[f"random_{span}"] = [int(v) for v in rng.integers(0, span, 32)]
    for group in (2, 4, 8, 16):
        rows[f"pairs_{group}"] = [i // group for i in LANES]
        rows[f"repeat_{group}"] = [i % group for i in LANES]
    rows["pairs_far"] = [(i // 2) * 33 for i in LANES]
    for pitch in (16, 20, 31, 33, 36, 40):
        rows[f"column_{pitch}"] = [i * pitch + 3 for i in LANES]
        rows[f"tile_8x4_{pitch}"] = [(i // 4) * pitch + i % 4 for i in LANES]
    rows["tile_16x2_33"] = [(i // 2) * 33 + i % 2 for i in LANES]
    rows["xor_column"] = [i * 32 + (5 ^ i) for i in LANES]
    rows["xor_column_8"] = [i * 8 + ((i ^ (i // 8)) & 7) for i in LANES]
    rows["butterfly"] = [i ^ 16 for i in LANES]
    return rows


def _masked(width: int) -> dict[str, list[int]]:
    rng = np.random.default_rng(777 + width)
    masks = {f"first_{n}": [i < n for i in LANES] for n in (1, 5, 8, 13, 17, 31)}
    masks["odd"] = [i % 2 == 1 for i in LANES]
    masks["even"] = [i % 2 == 0 for i in LANES]
    masks["upper"] = [i >= 16 for i in LANES]
    rows: dict[str, list[int]] = {}
    for name, keep in masks.items():
        for s in (1, 2, 8):
            rows[f"{name}_stride_{s}"] = [s * i if keep[i] else -1 for i in LANES]
    for k in range(4):
        bits, where = rng.integers(0, 2, 32), rng.integers(0, 128, 32)
        bits[int(rng.integers(0, 32))] = 1
        rows[f"random_mask_{k}"] = [int(w) if b else -1 for w, b in zip(where, bits, strict=True)]
    return rows


def patterns(width: int) -> list[Pattern]:
    """All patterns of one access width in bits, in a fixed order."""
    size = width // 8
    rows = _elements(width) | _masked(width)
    return [
        Pattern(name, width, tuple(-1 if e < 0 else (e * size) % LIMIT for e in elements))
        for name, elements in rows.items()
    ]


def every_pattern() -> list[Pattern]:
    """The patterns of all widths."""
    return [pattern for width in WIDTHS for pattern in patterns(width)]


def conflicts(degree: int, width: int = 32) -> Pattern:
    """`degree` lanes on one bank, each on its own word; the others on banks of their own (32 bits)."""
    words = [32 * i if i < degree else i for i in LANES]
    return Pattern(f"degree_{degree}", width, tuple(4 * w for w in words))


def matrix_rows() -> list[Pattern]:
    """Row addresses for `ldmatrix`: plain, padded and swizzled tiles of 16-byte rows, and random ones."""
    rng = np.random.default_rng(5)
    rows = {f"pitch_{p}": [i * p for i in LANES] for p in (16, 32, 48, 64, 80, 128, 144, 256, 272)}
    rows["same_row"] = [0] * 32
    rows["xor_128"] = [i * 128 + ((i & 7) ^ 3) * 16 for i in LANES]
    for k in range(6):
        rows[f"random_{k}"] = [int(v) * 16 for v in rng.integers(0, 256, 32)]
    return [Pattern(name, 128, tuple(o % LIMIT for o in offsets)) for name, offsets in rows.items()]
