"""Where L2 keeps a line: home slice, set and way; and the times of its paths."""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..packed import TICKS_PER_CYCLE
from . import cache

ALL_SECTORS = 15


@core
def home_slice(spec: Any, line: int) -> int:
    """The home slice of a line."""
    return cache.spread(line, spec.l2_slices)


@core
def near_slice(spec: Any, home: int, partition: int) -> int:
    """The slice of a partition at the place that `home` has in its own."""
    each = spec.l2_slices // spec.l2_partitions
    return partition * each + home % each


@core
def set_of(memory: Any, spec: Any, number: int, line: int) -> int:
    """Where the set of a line in slice `number` begins; whole rows of slices fill sets in turn."""
    row = line // spec.l2_slices
    place = number * memory.sets + cache.spread(row, memory.sets)
    return cache.set_at(memory.tags, spec.l2_ways, place)


@core
def find(memory: Any, spec: Any, number: int, line: int) -> int:
    """The place of a line in a slice, 0 if it is not there."""
    return cache.find(set_of(memory, spec, number, line), spec.l2_ways, line)


@core
def valid(spec: Any, place: int) -> int:
    """The valid sectors of a place, none for 0."""
    return cache.flags(place, spec.l2_ways) & ALL_SECTORS if place else 0


@core
def touch(memory: Any, spec: Any, place: int) -> None:
    """Note the use of a line."""
    memory.clock += 1
    cache.touch(place, spec.l2_ways, spec.l2_replacement, memory.clock)


@core
def far_out_ticks(spec: Any) -> int:
    """One way from a partition to another."""
    return spec.network_far_cycles // 2 * TICKS_PER_CYCLE


@core
def far_back_ticks(spec: Any) -> int:
    """The way back: what is left of `far_cycles`."""
    return spec.network_far_cycles * TICKS_PER_CYCLE - far_out_ticks(spec)


@core
def hit_ticks(spec: Any) -> int:
    """From a slice's look at a request to the departure of the answer."""
    return spec.l2_hit_cycles * TICKS_PER_CYCLE
