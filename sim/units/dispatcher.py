"""The block dispatcher: blocks go to SMs that have room, in the order of block numbers.

At a launch the SMs are filled in rounds, one block each. Later a block goes where one has ended;
ends are served in the order of time, then SM. A block starts `block_start_cycles` after the end
that made room, and blocks of one SM start `block_dispatch_cycles` apart.
"""

from __future__ import annotations

from typing import Any

from ..jit import core, poke32
from ..pieces import piece
from ..rows import fill_row
from ..state import BARRIERS, FREE, LANES, NOT_SELECTED, RETIRED, ROW_BYTES, RUNNING, WAIT, sm_at
from . import frontend, l1, registers, scoreboard


@core
def free_slot(sm: Any, spec: Any) -> int:
    """The lowest free block slot, or -1."""
    for slot in range(spec.sm_blocks):
        if sm.blocks[slot].used == 0:
            return slot
    return -1


@core
def start_block(device: Any, sm: Any, spec: Any, slot: int, time: int) -> None:
    """Put the grid's next block into a block slot, and its warps into free warp slots."""
    block = sm.blocks[slot]
    number = device.next_block
    device.next_block += 1
    block.used = 1
    block.number = number
    block.x = number % device.grid_x
    block.y = number // device.grid_x % device.grid_y
    block.z = number // (device.grid_x * device.grid_y)
    block.warps = device.block_warps
    block.live_warps = device.block_warps
    block.ended = 0
    block.live_threads = device.block_threads
    block.shared = slot * device.block_shared
    block.shared_bytes = device.block_shared
    for b in range(BARRIERS):
        block.barriers[b].arrived = 0
        block.barriers[b].expected = 0
        block.barriers[b].pc = -1
    clear_shared(sm, block)
    start = max(time, sm.block_free_at)
    sm.block_free_at = start + spec.device_block_dispatch_cycles
    warp_slot = 0
    for w in range(device.block_warps):
        while sm.warps[warp_slot].used:
            warp_slot += 1
        start_warp(device, sm, spec, warp_slot, slot, w, start)


@core
def clear_shared(sm: Any, block: Any) -> None:
    """Shared memory of a new block reads as zero."""
    base = sm.shared.ctypes.data + block.shared
    for offset in range(0, block.shared_bytes, ROW_BYTES):
        fill_row(base + offset, 0)


@core
def start_warp(device: Any, sm: Any, spec: Any, slot: int, block: int, number: int, time: int) -> None:
    """A fresh warp: registers zero, all its threads at the first instruction."""
    warp = sm.warps[slot]
    threads = min(LANES, device.block_threads - number * LANES)
    warp.used = RUNNING
    warp.slot = slot
    warp.block = block
    warp.number = number
    warp.pc = 0
    warp.active = (1 << threads) - 1
    warp.live = warp.active
    warp.group = -1
    warp.join_pc = -1
    warp.split_count = 0
    warp.row = slot * device.rows_per_warp
    warp.rows = device.rows_per_warp
    warp.age = sm.launched
    sm.launched += 1
    reset_warp(device, warp, time)
    for row in range(device.registers):
        fill_row(registers.register_row(sm, warp, row), 0)
    clear_local(device, sm, spec, slot)
    sub = sm.subcores[slot % spec.sm_subcores]
    local = slot // spec.sm_subcores
    if sub.warps == 0:
        sub.occupied_since = max(time, sub.occupied_until)
    sub.warps += 1
    sub.state[local] = NOT_SELECTED
    frontend.refill(device, sm, spec, sub, warp, time, time)
    scoreboard.refresh(device, spec, sub, warp, local)
    sub.next = min(sub.next, sub.wake[local])


@core
def clear_local(device: Any, sm: Any, spec: Any, slot: int) -> None:
    """Local memory of a new warp's lanes reads as zero."""
    size = LANES * device.local_bytes
    start = device.local + (sm.number * spec.sm_warps + slot) * size
    for offset in range(0, size, 4):
        poke32(start + offset, 0)


@core
def reset_warp(device: Any, warp: Any, time: int) -> None:
    """Nothing is outstanding, nobody waits."""
    warp.fence = 0
    warp.since = time
    warp.wait_until = time
    warp.wait_state = WAIT
    warp.fetch_until = 0
    warp.depend_until = 0
    warp.memory_until = 0
    warp.stores_out = 0
    warp.memory_out = 0
    warp.polls = 0
    warp.spins = 0
    for g in range(LANES):
        warp.groups[g].mask = 0
    registers.clear_ready(warp, device.registers)


@core
def fill(device: Any, spec: Any, time: int) -> None:
    """At the launch: empty L1 caches, and one block to each SM in turn until the grid or the room ends."""
    for number in range(spec.device_sms):
        l1.flush(sm_at(device.sms, number))
    for _ in range(device.sm_block_limit):
        for number in range(spec.device_sms):
            if device.next_block < device.blocks:
                sm = sm_at(device.sms, number)
                start_block(device, sm, spec, free_slot(sm, spec), time)


@core
def earliest_end(device: Any, spec: Any, until: int) -> tuple[int, int, int]:
    """The block end before `until` that is to be served first: (time, SM, slot)."""
    first = until
    found_sm = -1
    found_slot = -1
    for number in range(spec.device_sms):
        sm = sm_at(device.sms, number)
        if sm.ended_blocks:
            for slot in range(spec.sm_blocks):
                block = sm.blocks[slot]
                if block.used == 2 and block.ended < first:
                    first = block.ended
                    found_sm = number
                    found_slot = slot
    return first, found_sm, found_slot


@piece("serve_blocks")
def serve(device: Any, unused: Any, spec: Any, until: int, b: int, c: int) -> int:
    """Free the slots of blocks that ended before `until`, and start the grid's next blocks there."""
    while True:
        time, number, slot = earliest_end(device, spec, until)
        if number < 0:
            return 0
        sm = sm_at(device.sms, number)
        sm.blocks[slot].used = 0
        for w in range(spec.sm_warps):
            if sm.warps[w].used == RETIRED and sm.warps[w].block == slot:
                sm.warps[w].used = FREE
        sm.ended_blocks -= 1
        device.done_blocks += 1
        if device.next_block < device.blocks:
            start_block(device, sm, spec, slot, time + spec.device_block_start_cycles)
            sm.next = min(sm.next, time + spec.device_block_start_cycles)
