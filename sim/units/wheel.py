"""A wheel of time: a first-in-first-out list of events for each tick, whatever their number.

An event further ahead than the wheel reaches goes to a heap beside it. Events of one tick happen in
the order in which they were scheduled (those of the heap, which were scheduled earlier, first by
kind and number). Two levels of bit masks find the next slot that is not empty.
"""

from __future__ import annotations

from typing import Any

from ..jit import core, peek32, peek64, poke32, poke64
from . import heap
from .coalesce import lane_count

SLOTS = 1 << 17  # 512 cycles ahead
WORDS = SLOTS // 32
GROUPS = WORDS // 32
SLOT_BYTES = 8  # first and last node
NODE_BYTES = 16  # what happens, next node
FAR_BYTES = heap.ENTRY_BYTES


@core
def lowest_bit(bits: int) -> int:
    """The number of the lowest set bit of a word that is not 0."""
    return lane_count((bits & -bits) - 1)


@core
def schedule(memory: Any, what: int, ticks: int) -> None:
    """Let `what` happen at `ticks`, which is not before the present."""
    if ticks - memory.wheel_now >= SLOTS:
        heap.push(memory.far_events, memory.far_count, ticks, what)
        memory.far_count += 1
        return
    node = memory.node_free
    if node:
        memory.node_free = peek32(memory.nodes + NODE_BYTES * node + 8)
    else:
        memory.node_fresh += 1
        node = memory.node_fresh
    poke64(memory.nodes + NODE_BYTES * node, what)
    poke32(memory.nodes + NODE_BYTES * node + 8, 0)
    append(memory, ticks & (SLOTS - 1), node)
    memory.wheel_count += 1


@core
def append(memory: Any, slot: int, node: int) -> None:
    """Put a node at the end of a slot's list."""
    place = memory.slots + SLOT_BYTES * slot
    if peek32(place):
        poke32(memory.nodes + NODE_BYTES * peek32(place + 4) + 8, node)
    else:
        poke32(place, node)
        word = memory.words + 4 * (slot >> 5)
        poke32(word, peek32(word) | 1 << (slot & 31))
        group = memory.groups + 4 * (slot >> 10)
        poke32(group, peek32(group) | 1 << (slot >> 5 & 31))
    poke32(place + 4, node)


@core
def slot_from(memory: Any, start: int) -> int:
    """The first slot from `start` to the end of the array that is not empty, -1 for none."""
    word = start >> 5
    bits = peek32(memory.words + 4 * word) >> (start & 31)
    if bits:
        return start + lowest_bit(bits)
    word += 1
    group = word >> 5
    while group < GROUPS:
        bits = peek32(memory.groups + 4 * group) >> (word & 31)
        if bits:
            word += lowest_bit(bits)
            return word * 32 + lowest_bit(peek32(memory.words + 4 * word))
        group += 1
        word = group << 5
    return -1


@core
def next_ticks(memory: Any) -> int:
    """When the next event is due; there must be one."""
    if memory.wheel_count == 0:
        return peek64(memory.far_events)
    start = memory.wheel_now & (SLOTS - 1)
    slot = slot_from(memory, start)
    if slot < 0:
        slot = slot_from(memory, 0)
    ticks = memory.wheel_now + (slot - start & (SLOTS - 1))
    if memory.far_count:
        return min(ticks, peek64(memory.far_events))
    return ticks


@core
def take(memory: Any, ticks: int) -> int:
    """Take out the first event of the time that `next_ticks` gave; that time is the present now."""
    memory.wheel_now = ticks
    if memory.far_count and peek64(memory.far_events) == ticks:
        what = peek64(memory.far_events + 8)
        heap.pop(memory.far_events, memory.far_count)
        memory.far_count -= 1
        return what
    slot = ticks & (SLOTS - 1)
    place = memory.slots + SLOT_BYTES * slot
    node = peek32(place)
    entry = memory.nodes + NODE_BYTES * node
    what = peek64(entry)
    following = peek32(entry + 8)
    poke32(place, following)
    if following == 0:
        clear(memory, slot)
    poke32(entry + 8, memory.node_free)
    memory.node_free = node
    memory.wheel_count -= 1
    return what


@core
def clear(memory: Any, slot: int) -> None:
    """Note that a slot is empty."""
    word = memory.words + 4 * (slot >> 5)
    bits = peek32(word) & ~(1 << (slot & 31))
    poke32(word, bits)
    if bits == 0:
        group = memory.groups + 4 * (slot >> 10)
        poke32(group, peek32(group) & ~(1 << (slot >> 5 & 31)))
