"""Memory instructions from issue to completion: their records, and what completion sets free."""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..pieces import caller
from ..state import NEVER, code_at, memory_event_at
from . import accounting, scoreboard

try_retire = caller("retire")


@core
def allocate(sm: Any, warp: Any, mask: int, time: int) -> int:
    """A record for a memory instruction that issues now; the caller has checked that one is free."""
    index = sm.memop_free
    if index < 0:
        index = sm.memop_top
        sm.memop_top += 1
        sm.memops[index].next = -1
    op = sm.memops[index]
    sm.memop_free = op.next
    sm.memop_count += 1
    op.used = 1
    op.warp = warp.slot
    op.pc = warp.pc
    op.mask = mask
    op.issued = time
    op.dispatched = -1
    op.ready = 0
    op.remaining = 0
    op.level = 0
    op.sectors = 0
    op.wavefronts = 0
    warp.memory_out += 1
    return index


@core
def free(sm: Any, index: int) -> None:
    """Give the record back."""
    op = sm.memops[index]
    op.used = 0
    op.next = sm.memop_free
    sm.memop_free = index
    sm.memop_count -= 1


@core
def complete(device: Any, sm: Any, spec: Any, index: int, time: int) -> None:
    """The memory instruction has all its data (or is on its way for good) at `time`."""
    op = sm.memops[index]
    warp = sm.warps[op.warp]
    code = code_at(device.code, op.pc)
    for r in range(code.dest, code.dest + code.dest_words):
        warp.writers[r] -= 1
        warp.ready[r] = max(warp.ready[r], time)
    if code.dest_predicate >= 0:
        warp.predicate_ready[code.dest_predicate] = time
        warp.predicate_guard[code.dest_predicate] = time
    op.ready = time
    if device.tracing == 1 and sm.number < device.trace_sms:
        emit(device, sm, op)
    warp.memory_out -= 1
    warp.memory_until = max(warp.memory_until, time)
    sm.drained = max(sm.drained, time)
    free(sm, index)
    if sm.memop_count == spec.lsu_pending - 1:
        # Warps of any sub-core may have waited for a record.
        for number in range(spec.sm_subcores):
            sm.subcores[number].next = min(sm.subcores[number].next, sm.now)
    lift_fence(device, sm, spec, warp, sm.now)
    wake(device, sm, spec, warp, sm.now)


@core
def wake(device: Any, sm: Any, spec: Any, warp: Any, time: int) -> None:
    """Something that the warp may have waited for has changed at `time`."""
    sub = sm.subcores[warp.slot % spec.sm_subcores]
    local = warp.slot // spec.sm_subcores
    if sub.wake[local] == NEVER:
        accounting.book_until(device, sm, sub, warp, local, time)
    scoreboard.refresh(device, spec, sub, warp, local)
    sub.next = min(sub.next, max(sub.wake[local], time))
    if warp.live == 0:
        try_retire(device, sm, spec, warp.slot, time, 0)


@core
def acknowledge(device: Any, sm: Any, spec: Any, slot: int, time: int) -> None:
    """L2 has taken a store or a reduction of the warp."""
    warp = sm.warps[slot]
    warp.stores_out -= 1
    sm.drained = max(sm.drained, time)
    if warp.stores_out == 0:
        lift_fence(device, sm, spec, warp, time)
        wake(device, sm, spec, warp, time)


@core
def lift_fence(device: Any, sm: Any, spec: Any, warp: Any, time: int) -> None:
    """A fence ends when the warp's loads have their data and L2 has taken its stores."""
    if warp.fence == 0 or warp.memory_out or warp.stores_out:
        return
    sub = sm.subcores[warp.slot % spec.sm_subcores]
    accounting.book_until(device, sm, sub, warp, warp.slot // spec.sm_subcores, time)
    warp.fence = 0
    warp.wait_until = max(warp.wait_until, warp.memory_until, time)


@core
def emit(device: Any, sm: Any, op: Any) -> None:
    """Append the memory instruction to the trace."""
    if op.issued < device.trace_from or op.issued >= device.trace_until:
        return
    if device.memory_event_count >= device.memory_event_limit:
        device.dropped += 1
        return
    event = memory_event_at(device.memory_events, device.memory_event_count)
    device.memory_event_count += 1
    event.issued = op.issued - device.started
    event.dispatched = op.dispatched - device.started
    event.completed = op.ready - device.started
    event.pc = op.pc
    event.sectors = op.sectors
    event.wavefronts = op.wavefronts
    event.sm = sm.number
    event.warp = op.warp
    event.level = op.level
