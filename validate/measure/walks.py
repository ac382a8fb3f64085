"""Pointer walks through memory: latency against footprint, and the latency of each line by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tinygpu.validate.measure import global_memory
from tinygpu.validate.measure.launch import Gpu, Point, intervals, latencies
from tinygpu.validate.measure.statistics import estimate

LINE = 128
KB, MB = 1 << 10, 1 << 20
FOOTPRINTS = tuple(n * KB for n in (8, 64, 128, 160, 192, 208, 224, 240, 256, 320, 512)) + tuple(
    n * MB
    for n in (
        1,
        2,
        4,
        8,
        12,
        16,
        20,
        24,
        26,
        28,
        30,
        32,
        36,
        40,
        44,
        48,
        52,
        56,
        60,
        64,
        80,
        96,
        128,
        256,
        512,
        1024,
    )
)


def cycle(lines: int, base: int, seed: int = 1) -> NDArray[np.int64]:
    """A buffer image of `lines` lines in which each line's first word points to the next of one random cycle.

    Returns int64 of 16 words a line; `base` is the buffer's address.
    """
    order = np.random.default_rng(seed).permutation(lines)
    image = np.zeros((lines, LINE // 8), dtype=np.int64)
    image[order, 0] = base + LINE * np.roll(order, -1).astype(np.int64)
    return image.reshape(-1)


def footprints(gpu: Gpu, operator: str, sizes: tuple[int, ...] = FOOTPRINTS) -> list[dict[str, Any]]:
    """Cycles a step of a random walk over each footprint, after a warm lap (no lap beyond 128 MB)."""
    body = global_memory.walk(operator)
    rows = []
    for size in sizes:
        lines = size // LINE
        gpu.fill(cycle(lines, gpu.address))
        if size <= 128 * MB:
            gpu.run(body, Point(reps=1, gap=0), max(lines // 8, 1) // 5 + 1)  # five repetitions make a lap
        stamps = gpu.run(body, Point(reps=32, gap=0), 64)
        steps = intervals(body, stamps)[:, 0, 0] / (8 * 64)
        rows.append({"bytes": size, "operator": operator, **estimate(steps).to_dict()})
    return rows


def lines(gpu: Gpu, count: int = 4096, step: int = LINE) -> dict[str, Any]:
    """Latency of L2 hits of `count` lines, one by one, from the SM of block 0: a histogram and the series."""
    body = global_memory.line_chase("cg")
    cycles = latencies(body, gpu.run(body, Point(reps=count, pa=step, gap=0), 1))
    values, times = np.unique(np.round(cycles).astype(int), return_counts=True)
    histogram = {str(v): int(n) for v, n in zip(values, times, strict=True)}
    return {
        "step": step,
        **estimate(cycles).to_dict(),
        "histogram": histogram,
        "series": [round(float(c), 2) for c in cycles[:512]],
    }


def per_sm(gpu: Gpu, blocks: int, count: int = 64) -> list[dict[str, Any]]:
    """Median L2 hit latency of the same `count` lines seen from every SM."""
    body = global_memory.line_chase("cg")
    stamps = gpu.run(body, Point(blocks=blocks, reps=count, pa=8 * LINE, gap=20000), 1)
    rows = []
    for row in range(stamps.shape[1]):
        one = stamps[:, row : row + 1]
        rows.append({"sm": int(one[0, 0, body.stamps]), **estimate(latencies(body, one)).to_dict()})
    return rows
