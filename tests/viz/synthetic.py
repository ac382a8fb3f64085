"""Traces made by a few lines of Python, so that pictures and reports are tested without the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinygpu.sim.state import EVENT, MEMORY_EVENT, STATES
from tinygpu.sim.tracefile import TraceData

LISTING = [
    ("ld.global.f32", "memory"), ("st.shared.f32", "memory"), ("bar.sync", "barrier"),
    ("ld.shared.f32", "memory"), ("fma.f32", "fp32"), ("add.s32", "int32"), ("bra", "branch"),
    ("st.global.f32", "memory"),
]  # fmt: skip


def events(rows: list[tuple[int, int, str, int]], *, sm: int = 0, block: int = 0) -> np.ndarray[Any, Any]:
    """EVENT records from (warp, cycles, state, pc) rows; each warp's rows follow one another from 0."""
    table = np.zeros(len(rows), EVENT)
    now: dict[int, int] = {}
    for record, (warp, cycles, state, pc) in zip(table, rows, strict=True):
        record["start"], record["cycles"] = now.get(warp, 0), cycles
        now[warp] = now.get(warp, 0) + cycles
        record["state"], record["pc"], record["warp"] = STATES.index(state), pc, warp
        record["sm"], record["block"], record["active"] = sm, block, 0xFFFFFFFF
    return table


def meta(**more: Any) -> dict[str, Any]:
    """The meta of a synthetic run; keywords replace its entries."""
    rows = [
        {"text": text, "timing": timing, "file": "demo.s", "line": 10 + i, "source": text + " ..."}
        for i, (text, timing) in enumerate(LISTING)
    ]
    base = {
        "program": "demo", "machine": "tiny", "clock_mhz": 1000.0, "device_sms": 2, "subcores": 4,
        "grid": [4, 1, 1], "block": [128, 1, 1], "states": list(STATES), "listing": rows,
    }  # fmt: skip
    return base | more


def busy_trace(
    *, warps: int, cycles: int, sms: int = 1, block_warps: int = 4, seed: int = 0, loop: int = 6, **more: Any
) -> TraceData:
    """Warps that load, wait, meet at a barrier and compute, until about `cycles` cycles have passed."""
    random = np.random.default_rng(seed)
    parts = []
    for sm in range(sms):
        for warp in range(warps):
            parts.append(_warp_life(random, sm, warp, cycles, block_warps, warps, loop))
    table = np.concatenate(parts)
    memory = np.zeros(0, MEMORY_EVENT)
    return TraceData(table, memory, meta(cycles=cycles, **more))


def _warp_life(
    random: np.random.Generator, sm: int, warp: int, cycles: int, block_warps: int, warps: int, loop: int
) -> np.ndarray[Any, Any]:
    rows: list[tuple[int, int, int]] = []  # state, cycles, pc
    number = STATES.index
    now = int(random.integers(0, 20))
    starts = []
    while now < cycles:
        starts.append((now, len(rows)))
        for _ in range(loop):
            phase = [
                (number("no_instruction"), int(random.integers(1, 12)), 0), (number("selected"), 1, 0),
                (number("long_scoreboard"), int(random.integers(30, 120)), 1), (number("selected"), 1, 1),
                (number("short_scoreboard"), int(random.integers(4, 20)), 2), (number("selected"), 1, 2),
                (number("barrier"), int(random.integers(1, 60)), 3), (number("selected"), 1, 3),
                (number("short_scoreboard"), 23, 4),
            ]  # fmt: skip
            for _ in range(12):
                phase += [
                    (number("selected"), 1, 4),
                    (number("wait"), 3, 5),
                    (number("not_selected"), int(random.integers(1, 4)), 5),
                ]
            phase += [(number("selected"), 1, 6), (number("branch_resolving"), 5, 0)]
            rows += phase
        now += sum(c for _, c, _ in rows[starts[-1][1] :])
    table = np.zeros(len(rows), EVENT)
    table["state"] = [s for s, _, _ in rows]
    table["cycles"] = [c for _, c, _ in rows]
    table["pc"] = [p for _, _, p in rows]
    first = starts[0][0]
    table["start"] = first + np.concatenate([[0], np.cumsum(table["cycles"])[:-1]])
    for index, (_, row) in enumerate(starts):
        table["block"][row:] = warp // block_warps + index * max(1, warps // block_warps)
    table["sm"], table["warp"], table["active"] = sm, warp, 0xFFFFFFFF
    return table
