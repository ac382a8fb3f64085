"""The end of a warp and of a block: nothing is freed while memory still owes an answer."""

from __future__ import annotations

from typing import Any

from .. import counters as C
from ..jit import core
from ..pieces import piece
from ..rows import popcount
from ..state import DRAIN, NEVER, RETIRED, RUNNING
from . import accounting, barriers, divergence


@core
def exit_lanes(device: Any, sm: Any, spec: Any, warp: Any, mask: int, time: int) -> None:
    """Lanes of `mask` have executed exit; the warp ends with its last lane."""
    from_block = sm.blocks[warp.block]
    device.progress += 1
    warp.live &= ~mask
    warp.active &= ~mask
    from_block.live_threads -= popcount(mask)
    divergence.drop_lanes(warp, mask)
    for i in range(warp.split_count):
        if warp.splits[i].barrier == divergence.SYNC:
            warp.splits[i].barrier = divergence.FREE
    if warp.active == 0 and warp.live:
        divergence.select(spec, warp)
    barriers.check_all(device, sm, spec, warp.block, time)


@piece("retire")
def try_retire(device: Any, sm: Any, spec: Any, slot: int, time: int, c: int) -> int:
    """A warp without lanes retires once its memory instructions have ended.

    Its slot stays its block's until the block ends, as do the registers.
    """
    warp = sm.warps[slot]
    if warp.used != RUNNING:
        return 0
    sub = sm.subcores[warp.slot % spec.sm_subcores]
    local = warp.slot // spec.sm_subcores
    warp.depend_until = NEVER
    warp.depend_state = DRAIN
    sub.wake[local] = NEVER
    if warp.memory_out or warp.stores_out:
        return 0
    ended = max(time, warp.since, warp.memory_until)
    accounting.book_until(device, sm, sub, warp, local, ended)
    warp.used = RETIRED
    sub.in_active_set[local] = 0
    sub.warps -= 1
    sub.occupied_until = max(sub.occupied_until, ended)
    if sub.warps == 0:
        sub.occupied += max(0, sub.occupied_until - sub.occupied_since)
    sm.drained = max(sm.drained, ended)
    block = sm.blocks[warp.block]
    block.live_warps -= 1
    block.ended = max(block.ended, ended)
    if block.live_warps == 0:
        block.used = 2
        sm.ended_blocks += 1
        sm.counters[C.BLOCKS] += 1
    return 0
