"""Issue of loads, stores and atomics: values now, then into the sub-core's memory queue."""

from __future__ import annotations

from typing import Any

from .. import counters as C
from .. import isa_numbers as B
from ..pieces import piece
from ..state import code_at
from . import lsu, memory_values, scoreboard, writeback


@piece("memory")
def memory(device: Any, sm: Any, spec: Any, slot: int, mask: int, time: int) -> int:
    """Loads, stores and atomics: values now, then into the queue (constants answer at once)."""
    warp = sm.warps[slot]
    sub = sm.subcores[slot % spec.sm_subcores]
    code = code_at(device.code, warp.pc)
    index = writeback.allocate(sm, warp, mask, time)
    op = sm.memops[index]
    memory_values.fill_addresses(device, sm, warp, code, op)
    if not memory_values.translate(device, sm, spec, warp, code, op, time):
        writeback.free(sm, index)
        return 0
    if code.behaviour == B.LOAD:
        memory_values.load(sm, warp, code, mask)
    elif code.behaviour == B.STORE:
        memory_values.store(device, sm, warp, code, mask)
        device.progress += 1
    else:
        memory_values.atomic(device, sm, warp, code, mask)
    scoreboard.result_pending(warp, code)
    if code.queued:
        scoreboard.hold_sources(warp, code, 1)
        lsu.enqueue(sm, spec, sub, index)
    else:
        sm.counters[C.CONSTANT_REQUESTS] += 1
        op.dispatched = time
        writeback.complete(device, sm, spec, index, time + spec.l1_constant_cycles)
    return 0
