"""One SM through a window of time: answers, memory pipe, sub-cores, then on to the next event."""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..pieces import caller, piece
from ..state import NEVER
from . import l1, subcore

lsu_step = caller("lsu_step")
take_response = caller("respond")


@piece("respond")
def respond(device: Any, sm: Any, spec: Any, a: int, b: int, c: int) -> int:
    """Handle the first response in the inbox."""
    l1.respond(device, sm, spec)
    return 0


@piece("run_sm")
def run(device: Any, sm: Any, spec: Any, until: int, b: int, c: int) -> int:
    """Handle every event of the SM before cycle `until`; cycles without one cost nothing."""
    if sm.lsu_blocked:
        sm.lsu_next = min(sm.lsu_next, sm.next)
    time = next_event(sm, spec, sm.now)
    while time < until and device.fault[0].kind == 0:
        sm.now = time
        while sm.inbox_count > 0 and sm.inbox[0].time <= time:
            take_response(device, sm, spec, 0, 0, 0)
            if sm.lsu_blocked:
                sm.lsu_next = time
        if sm.lsu_next <= time:
            lsu_step(device, sm, spec, time, 0, 0)
        for number in range(spec.sm_subcores):
            if sm.subcores[number].next <= time:
                subcore.step(device, sm, spec, number, time)
        time = next_event(sm, spec, time + 1)
    sm.next = time
    return 0


@core
def next_event(sm: Any, spec: Any, earliest: int) -> int:
    """The next cycle in which something happens in the SM, NEVER when it only waits."""
    time = sm.lsu_next
    if sm.inbox_count > 0:
        time = min(time, sm.inbox[0].time)
    for number in range(spec.sm_subcores):
        time = min(time, sm.subcores[number].next)
    return max(time, earliest) if time < NEVER else NEVER
