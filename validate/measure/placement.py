"""Which warps of a block share a sub-core: every pair of warps is timed while the others stand aside."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinygpu.validate.measure import control
from tinygpu.validate.measure.launch import Gpu, Point, intervals

SIZES = (2, 4, 5, 6, 7, 8, 10, 12)


def sharing(gpu: Gpu) -> list[dict[str, Any]]:
    """For blocks of some sizes: the groups of warps that share a special-function unit, and their hardware
    numbers."""
    body = control.placement()
    rows = []
    for warps in SIZES:
        slow = np.zeros((warps, warps), dtype=bool)
        for i in range(warps):
            for j in range(i):
                table = np.full(32 * warps, -1, dtype=np.int64)
                table[32 * i : 32 * i + 32] = table[32 * j : 32 * j + 32] = 0
                stamps = gpu.run(body, Point(warps=warps, table=tuple(int(t) for t in table), reps=4), 6)
                pair = intervals(body, stamps)[:, [i, j], 0]
                slow[i, j] = slow[j, i] = float(np.median(pair.max(axis=1))) > 1.5 * 8 * 64 * 6
        numbers = [int(n) for n in stamps[0, :, 2]]
        rows.append({"warps": warps, "groups": _groups(slow), "hardware_warps": numbers})
    return rows


def _groups(slow: np.ndarray[Any, Any]) -> list[list[int]]:
    """Sets of warps that are slow together, each set once, in order."""
    found: list[list[int]] = []
    for i in range(len(slow)):
        mine = sorted({i, *(int(j) for j in np.flatnonzero(slow[i]))})
        if mine not in found:
            found.append(mine)
    return found
