"""Where every warp-cycle goes: states are booked to the instruction that a warp stands at (law 1)."""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..state import NO_INSTRUCTION, event_at, profile_at


@core
def emit(device: Any, sm: Any, warp: Any, state: int, start: int, cycles: int) -> None:
    """Append one stretch of a warp's life to the trace; when it is full, count what is lost."""
    if start < device.trace_from or start >= device.trace_until:
        return
    if device.event_count >= device.event_limit:
        device.dropped += 1
        return
    event = event_at(device.events, device.event_count)
    device.event_count += 1
    event.start = start - device.started
    event.cycles = cycles
    event.pc = warp.pc
    event.active = warp.active
    event.block = sm.blocks[warp.block].number
    event.sm = sm.number
    event.warp = warp.slot
    event.state = state


@core
def book(device: Any, sm: Any, warp: Any, state: int, start: int, end: int) -> None:
    """The warp was in `state` in the cycles [start, end)."""
    profile = profile_at(device.profile, sm.number * device.code_count + warp.pc)
    profile.stall[state] += end - start
    if device.tracing == 1 and sm.number < device.trace_sms:
        emit(device, sm, warp, state, start, end - start)


@core
def book_until(device: Any, sm: Any, sub: Any, warp: Any, local: int, end: int) -> None:
    """Book everything before `end`: own stall, then fetch, then operands, then the scheduler's word."""
    start = warp.since
    if start >= end:
        return
    stop = min(warp.wait_until, end)
    if start < stop:
        book(device, sm, warp, warp.wait_state, start, stop)
        start = stop
    stop = min(warp.fetch_until, end)
    if start < stop:
        book(device, sm, warp, NO_INSTRUCTION, start, stop)
        start = stop
    stop = min(warp.depend_until, end)
    if start < stop:
        book(device, sm, warp, warp.depend_state, start, stop)
        start = stop
    if start < end:
        book(device, sm, warp, sub.state[local], start, end)
    warp.since = end


@core
def mark(device: Any, sm: Any, sub: Any, warp: Any, local: int, state: int, time: int) -> None:
    """From `time` on the warp could issue but for `state` (a throttle, or not selected)."""
    if sub.state[local] != state:
        book_until(device, sm, sub, warp, local, time)
        sub.state[local] = state
