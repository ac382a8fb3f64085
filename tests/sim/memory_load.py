"""Closed-loop load for the memory side: every SM keeps a number of requests out until all are answered."""

from __future__ import annotations

from typing import Any

from tinygpu.sim.jit import core
from tinygpu.sim.state import READ, sm_at
from tinygpu.sim.units import cache, heap, memory_side, network

STREAM, RANDOM_SECTORS, RANDOM_LINES, COPY = range(4)


@core
def next_line(pattern: int, sm: int, number: int, sms: int, span: int) -> int:
    """Which line an SM asks for as its request `number`."""
    if pattern in (STREAM, COPY):
        return (number * sms + sm) % span
    return cache.mix(number * sms + sm + 12345) % span


@core
def send_next(sm: Any, spec: Any, pattern: int, number: int, span: int, time: int) -> None:
    """Send an SM's request `number`."""
    entry = sm.coalesced[0]
    entry.line = next_line(pattern, sm.number, number, spec.device_sms, span)
    sectors = 15
    kind = READ
    if pattern == RANDOM_SECTORS:
        sectors = 1 << (cache.mix(number) & 3)
    if pattern == COPY and number & 1:
        kind = 1
        entry.line += span
    network.send(sm, spec, kind, entry, sectors, number & 1023, time)


@core
def take_answers(device: Any, sm: Any, spec: Any, until: int, pattern: int, total: int, span: int) -> int:
    """Take the answers due before `until`, each followed by a new request; the time of the last."""
    last = 0
    while sm.inbox_count and sm.inbox[0].time < until:
        last = sm.inbox[0].time
        heap.pop(network.inbox_address(device, sm), sm.inbox_count)
        sm.inbox_count -= 1
        sm.requests_out -= 1
        if sm.launched < total:
            sm.launched += 1
            send_next(sm, spec, pattern, sm.launched, span, last)
    return last


@core
def drive(device: Any, spec: Any, pattern: int, in_flight: int, total: int, span: int, window: int) -> int:
    """Let every SM send `total` requests, `in_flight` at a time; the cycle of the last answer."""
    for number in range(spec.device_sms):
        sm = sm_at(device.sms, number)
        sm.launched = 0
        for _ in range(in_flight):
            sm.launched += 1
            send_next(sm, spec, pattern, sm.launched, span, device.now)
    last = 0
    busy = 1
    while busy:
        device.now += window
        memory_side.advance(device, spec, device.now)
        busy = 0
        for number in range(spec.device_sms):
            sm = sm_at(device.sms, number)
            last = max(last, take_answers(device, sm, spec, device.now, pattern, total, span))
            busy += sm.requests_out
    return last
