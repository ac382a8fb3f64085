"""The device through time: SMs in windows, then the memory side, then the block dispatcher.

A window is no longer than the shortest path from an SM to L2 or back, so nothing that an SM does in
a window can reach another unit within it, and the order in which SMs are served cannot be seen.
Only values could tell: a program whose blocks can see each other's writes (atomics, volatile or L2
loads) is therefore served cycle by cycle, in the order of SM numbers.
"""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..pieces import caller, piece
from ..state import NEVER, sm_at
from . import memory_side
from . import sm as streaming_multiprocessor

run_sm = caller("run_sm")
advance_memory = caller("memory_advance")
serve_blocks = caller("serve_blocks")

FINISHED, PAUSED, FAULT, STUCK = range(4)


@piece("memory_advance")
def memory_advance(device: Any, unused: Any, spec: Any, until: int, b: int, c: int) -> int:
    """Advance L2 and DRAM."""
    memory_side.advance(device, spec, until)
    return 0


@core
def earliest(device: Any, spec: Any) -> int:
    """The next cycle in which any SM has something to do, NEVER if none has."""
    time = NEVER
    for number in range(spec.device_sms):
        time = min(time, sm_at(device.sms, number).next)
    return time


@core
def earliest_ended(device: Any, spec: Any) -> int:
    """The end of the first block that the dispatcher has yet to see, NEVER if there is none."""
    time = NEVER
    for number in range(spec.device_sms):
        sm = sm_at(device.sms, number)
        if sm.ended_blocks:
            for slot in range(spec.sm_blocks):
                if sm.blocks[slot].used == 2:
                    time = min(time, sm.blocks[slot].ended)
    return time


@core
def refresh_next(device: Any, spec: Any) -> None:
    """Answers and new blocks may have given an SM something to do earlier than it knew."""
    for number in range(spec.device_sms):
        sm = sm_at(device.sms, number)
        sm.next = streaming_multiprocessor.next_event(sm, spec, sm.now)


@core
def run_sms(device: Any, spec: Any, start: int, end: int) -> None:
    """All SMs from `start` to `end`: one after another, or cycle by cycle if blocks communicate."""
    if device.communicates:
        time = start
        while time < end and device.fault[0].kind == 0:
            for number in range(spec.device_sms):
                sm = sm_at(device.sms, number)
                if sm.next <= time:
                    run_sm(device, sm, spec, time + 1, 0, 0)
            time = max(time + 1, earliest(device, spec))
        return
    for number in range(spec.device_sms):
        sm = sm_at(device.sms, number)
        if sm.next < end:
            run_sm(device, sm, spec, end, 0, 0)


@core
def run(device: Any, spec: Any, until: int) -> int:
    """Advance to cycle `until` at most; says why it came back."""
    while device.now < until:
        refresh_next(device, spec)
        start = min(earliest(device, spec), memory_side.next_event(device, spec))
        start = min(start, earliest_ended(device, spec))
        if start == NEVER:
            return FINISHED if device.done_blocks == device.blocks else STUCK
        start = max(start, device.now)
        if start >= until:
            device.now = until
            return PAUSED
        end = start + device.window  # whole windows only, so that bursts cannot be seen in any result
        run_sms(device, spec, start, end)
        if device.fault[0].kind:
            return FAULT
        first = sm_at(device.sms, 0)  # pieces take an SM; these two have no use for it
        advance_memory(device, first, spec, end, 0, 0)
        serve_blocks(device, first, spec, end, 0, 0)
        device.now = end
    return PAUSED
