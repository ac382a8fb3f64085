"""A sub-core in one cycle: which warps could issue, what holds the others, who is picked."""

from __future__ import annotations

from typing import Any

from .. import schedulers
from ..jit import core
from ..pieces import caller
from ..state import DISPATCH_STALL, MATH_PIPE_THROTTLE, NEVER, NOT_SELECTED, code_at
from . import accounting, registers

issue = caller("issue")


@core
def obstacle(sm: Any, spec: Any, sub: Any, warp: Any, code: Any, time: int) -> tuple[int, int]:
    """What keeps a warp from issuing although its operands are there: (state, until), or (-1, 0)."""
    if sub.pipe_free[code.pipe] > time:
        return MATH_PIPE_THROTTLE, sub.pipe_free[code.pipe]
    if code.queued and (sub.queue_count >= spec.lsu_queue_entries or sm.memop_count >= spec.lsu_pending):
        return code.throttle, NEVER
    until = registers.bank_wait(spec, sub, code, warp.slot, time)
    if until > time:
        return DISPATCH_STALL, until
    return -1, 0


@core
def step(device: Any, sm: Any, spec: Any, number: int, time: int) -> None:
    """Decide this cycle's issue, and when there is next something to decide."""
    sub = sm.subcores[number]
    if sub.port_free > time:
        sub.next = sub.port_free
        return
    schedulers.prepare(spec, sub, time)
    best = -1
    best_priority = NEVER
    candidates = 0
    following = NEVER
    for slot in range(number, spec.sm_warps, spec.sm_subcores):
        local = slot // spec.sm_subcores
        wake = sub.wake[local]
        if wake <= time:
            warp = sm.warps[slot]
            state, until = obstacle(sm, spec, sub, warp, code_at(device.code, warp.pc), time)
            if state < 0:
                candidates += 1
                rank = schedulers.priority(spec, sub, warp, local)
                if rank < best_priority:
                    best = slot
                    best_priority = rank
                accounting.mark(device, sm, sub, warp, local, NOT_SELECTED, time)
            else:
                accounting.mark(device, sm, sub, warp, local, state, time)
                following = min(following, until)
        else:
            following = min(following, wake)
    sub.next = following
    if best >= 0:
        issue(device, sm, spec, best, time, 0)
        if candidates > 1:
            following = time + 1
        sub.next = max(min(sub.next, following, sub.wake[best // spec.sm_subcores]), sub.port_free)
