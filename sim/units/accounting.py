"""Where every warp-cycle goes: states are booked to the instruction that a warp stands at (law 1)."""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..state import NO_INSTRUCTION, event_at, profile_at

LONGEST = (1 << 31) - 1  # cycles that one event can hold


@core
def emit(device: Any, sm: Any, warp: Any, state: int, start: int, end: int) -> None:
    """Append a stretch of a warp's life to the trace, as far as it lies in the traced window.

    A very long stretch becomes several events. When there is no room, count what is lost.
    """
    start = max(start, device.trace_from)
    end = min(end, device.trace_until)
    while start < end:
        if device.event_count >= device.event_limit:
            device.dropped += 1
            return
        stop = min(end, start + LONGEST)
        event = event_at(device.events, device.event_count)
        device.event_count += 1
        event.start = start - device.started
        event.cycles = stop - start
        event.pc = warp.pc
        event.active = warp.active
        event.block = sm.blocks[warp.block].number
        event.sm = sm.number
        event.warp = warp.slot
        event.state = state
        start = stop


@core
def book(device: Any, sm: Any, warp: Any, state: int, start: int, end: int) -> None:
    """The warp was in `state` in the cycles [start, end)."""
    profile = profile_at(device.profile, sm.number * device.code_count + warp.pc)
    profile.stall[state] += end - start
    if device.tracing == 1 and sm.number < device.trace_sms:
        emit(device, sm, warp, state, start, end)


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
