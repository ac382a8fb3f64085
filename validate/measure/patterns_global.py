"""Address patterns of a warp's global access: strides, misalignment, tiles, random, ragged masks.

A pattern is 32 byte offsets from a buffer that starts on a 4096-byte boundary; -1 means that the lane is
inactive.
"""

from __future__ import annotations

import numpy as np

from tinygpu.validate.measure.patterns_shared import LANES, Pattern

WIDTHS = (8, 16, 32, 64, 128)


def patterns(width: int) -> list[Pattern]:
    """All patterns of one access width in bits, in a fixed order; offsets under 64 KB."""
    size = width // 8
    rng = np.random.default_rng(990 + width)
    rows: dict[str, list[int]] = {
        f"stride_{s}": [s * i for i in LANES] for s in (*range(10), 12, 16, 17, 32, 33, 64)
    }
    for shift in (1, 2, 3, 5, 7, 15):
        rows[f"shifted_{shift}"] = [i + shift for i in LANES]
    for pitch in (32, 33, 64, 100):
        rows[f"tile_8x4_{pitch}"] = [(i // 4) * pitch + i % 4 for i in LANES]
        rows[f"tile_4x8_{pitch}"] = [(i // 8) * pitch + i % 8 for i in LANES]
    for span in (32, 128, 512, 2048):
        rows[f"random_{span}"] = [int(v) for v in rng.integers(0, span, 32)]
    rows["permutation"] = [int(v) for v in rng.permutation(32)]
    for group in (2, 8, 32):
        rows[f"pairs_{group}"] = [i // group for i in LANES]
    for n in (1, 3, 8, 17):
        rows[f"first_{n}"] = [i if i < n else -1 for i in LANES]
    rows["odd"] = [i if i % 2 else -1 for i in LANES]
    for k in range(3):
        bits, where = rng.integers(0, 2, 32), rng.integers(0, 1024, 32)
        bits[int(rng.integers(0, 32))] = 1
        rows[f"random_mask_{k}"] = [int(w) if b else -1 for w, b in zip(where, bits, strict=True)]
    return [Pattern(name, width, tuple(-1 if e < 0 else e * size for e in row)) for name, row in rows.items()]


def every_pattern() -> list[Pattern]:
    """The patterns of all widths."""
    return [pattern for width in WIDTHS for pattern in patterns(width)]


def distinct_lines(lines: int, size: int = 8) -> Pattern:
    """A warp spread evenly over `lines` lines of 128 bytes, `size` bytes a lane, each on its own word."""
    per_line = 32 // lines
    offsets = [(i // per_line) * 128 + (i % per_line) * size for i in LANES]
    return Pattern(f"lines_{lines}", size * 8, tuple(offsets))
