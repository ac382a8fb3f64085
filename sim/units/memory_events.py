"""The memory side's events: a heap ordered by time, then by kind, then by the number of the thing."""

from __future__ import annotations

from typing import Any

from ..jit import core, peek64
from . import heap

# What happens, in the order in which events of one tick are handled.
ARRIVAL = 0  # the oldest request of SM n comes to L2
FORWARD = 1  # transaction n comes to the home slice in another partition
RETURN = 2  # the copy that transaction n fetched comes to its slice
DATA = 3  # DRAM access n is done
SERVE = 4  # slice n can look at its next request
DECIDE = 5  # DRAM channel n can choose its next access
RESPONSE = 6  # the answer to transaction n leaves L2
KIND_SHIFT = 40


@core
def schedule(memory: Any, kind: int, number: int, ticks: int) -> None:
    """Let something happen at `ticks`."""
    heap.push(memory.events, memory.event_count, ticks, kind << KIND_SHIFT | number)
    memory.event_count += 1


@core
def first_time(memory: Any) -> int:
    """When the next event is due; there must be one."""
    return peek64(memory.events)


@core
def first_order(memory: Any) -> int:
    """Kind and number of the next event."""
    return peek64(memory.events + 8)


@core
def drop_first(memory: Any) -> None:
    """Take the next event out."""
    heap.pop(memory.events, memory.event_count)
    memory.event_count -= 1


@core
def delay_first(memory: Any, ticks: int) -> None:
    """Let the next event happen again at `ticks`, instead of taking it out."""
    heap.sink(memory.events, memory.event_count, ticks, first_order(memory))
