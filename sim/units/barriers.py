"""bar.sync and bar.arrive: sixteen barriers a block, counted in threads that have not exited.

Arrivals of a block are counted one after another (`warp_cycles` each), and the last one releases
all after `base_cycles`. Without a thread count a barrier stands for __syncthreads: every live
thread of the block has to come, to one and the same instruction.
"""

from __future__ import annotations

from typing import Any

from .. import counters as C
from ..jit import core
from ..rows import lowest_lane, popcount
from ..state import BARRIER, BARRIERS
from . import divergence, faults, frontend, scoreboard


@core
def arrive(device: Any, sm: Any, spec: Any, warp: Any, number: int, count: int, mask: int, time: int) -> None:
    """Lanes of a warp's running path arrive at barrier `number`; `count` threads are expected (0: all)."""
    barrier = sm.blocks[warp.block].barriers[number]
    lane = lowest_lane(mask)
    if barrier.arrived == 0:
        barrier.pc = warp.pc
        barrier.expected = count
        barrier.last = time
        barrier.warps = 0
    elif count == 0 and barrier.pc != warp.pc:
        faults.raise_fault(device, sm, warp, faults.BARRIER_PLACES, lane, 0, barrier.pc, time)
    elif barrier.expected != count:
        faults.raise_fault(device, sm, warp, faults.BARRIER_COUNTS, lane, 0, barrier.pc, time)
    if count:
        if mask != warp.live:
            faults.raise_fault(device, sm, warp, faults.BARRIER_DIVERGED, lane, 0, warp.pc, time)
        if (barrier.warps >> warp.number) & 1:
            faults.raise_fault(device, sm, warp, faults.BARRIER_TWICE, lane, 0, barrier.pc, time)
        barrier.warps |= 1 << warp.number
    barrier.arrived += 32 if count else popcount(mask)
    barrier.last = max(barrier.last, time) + spec.barrier_warp_cycles
    if count and barrier.arrived > count:
        faults.raise_fault(device, sm, warp, faults.BARRIER_COUNTS, lane, 0, barrier.pc, time)


@core
def complete(sm: Any, block: Any, number: int) -> bool:
    """Whether everybody has arrived who is expected."""
    barrier = block.barriers[number]
    if barrier.arrived == 0:
        return False
    if barrier.expected:
        return barrier.arrived >= barrier.expected
    return barrier.arrived >= block.live_threads


@core
def check_all(device: Any, sm: Any, spec: Any, block_slot: int, time: int) -> None:
    """Release each barrier of the block that has become complete (an arrival or an exit)."""
    block = sm.blocks[block_slot]
    for number in range(BARRIERS):
        if complete(sm, block, number):
            release(device, sm, spec, block_slot, number, time)


@core
def release(device: Any, sm: Any, spec: Any, block_slot: int, number: int, time: int) -> None:
    """Let the waiting paths go on, and begin the barrier's next generation."""
    barrier = sm.blocks[block_slot].barriers[number]
    until = max(barrier.last, time) + spec.barrier_base_cycles
    barrier.arrived = 0
    barrier.expected = 0
    barrier.pc = -1
    sm.counters[C.BARRIERS] += 1
    device.progress += 1
    for slot in range(spec.sm_warps):
        warp = sm.warps[slot]
        if warp.used and warp.block == block_slot and divergence.waiting_lanes(warp, number):
            free_warp(device, sm, spec, warp, number, until)


@core
def free_warp(device: Any, sm: Any, spec: Any, warp: Any, number: int, until: int) -> None:
    """Paths of one warp that waited for the barrier can run from `until` on."""
    index = 0
    while index < warp.split_count:
        split = warp.splits[index]
        if split.barrier == number:
            pc, mask, group = split.pc, split.mask, split.group
            divergence.remove(warp, index)
            mask |= take_equal(warp, number, pc, group)
            divergence.place(warp, pc, mask, group)
            index = 0
        else:
            index += 1
    if warp.active == 0:
        divergence.select(spec, warp)
        warp.wait_until = until
        warp.wait_state = BARRIER
        sub = sm.subcores[warp.slot % spec.sm_subcores]
        local = warp.slot // spec.sm_subcores
        frontend.refill(device, sm, spec, sub, warp, sm.now, until)
        scoreboard.refresh(device, spec, sub, warp, local)
        sub.next = min(sub.next, sub.wake[local])


@core
def take_equal(warp: Any, number: int, pc: int, group: int) -> int:
    """Take out the other paths that waited at the same place; they go on as one."""
    mask = 0
    index = 0
    while index < warp.split_count:
        split = warp.splits[index]
        if split.barrier == number and split.pc == pc and split.group == group:
            mask |= split.mask
            divergence.remove(warp, index)
        else:
            index += 1
    return mask
