"""A set-associative store of sectored tags with a replacement policy; L1 and L2 both use it.

A set lies together in memory: the tags of its ways (line number + 1, 0 for empty), then their
states (a byte of flags below a replacement stamp; flags are four valid sectors below, four dirty
ones above). A place is the address of a tag, and 0 stands for none.
"""

from __future__ import annotations

from ..jit import core, peek64, poke64

# Replacement policies, in the order of the words in spec.py.
LRU, FIFO, RANDOM = range(3)
LINE_BYTES = 16  # a line's tag and state


@core
def mix(value: int) -> int:
    """A hash of 31 bits that spreads neighbours and strides; value is not negative."""
    value = (value ^ (value >> 31)) & 0x7FFFFFFF
    value = ((value ^ (value >> 16)) * 0x45D9F3B) & 0x7FFFFFFF
    value = ((value ^ (value >> 15)) * 0x2C1B3C6D) & 0x7FFFFFFF
    return value ^ (value >> 16)


@core
def spread(value: int, count: int) -> int:
    """Which of `count` places holds a block of addresses, for any count.

    `count` neighbouring values take every place once, in an order rotated by a hash of what is
    above them; so neither a run nor a stride can favour a place for long.
    """
    above = value // count
    return (value - above * count + mix(above)) % count


@core
def set_at(base: int, ways: int, number: int) -> int:
    """Where set `number` of a store at `base` begins."""
    return base + LINE_BYTES * ways * number


@core
def find(first: int, ways: int, line: int) -> int:
    """The place of a line in the set at `first`, 0 if it is not there."""
    for place in range(first, first + 8 * ways, 8):
        if peek64(place) == line + 1:
            return place
    return 0


@core
def line_at(place: int) -> int:
    """The line number at a place; -1 if it is empty."""
    return peek64(place) - 1


@core
def flags(place: int, ways: int) -> int:
    """Valid sectors (bits 0-3) and dirty sectors (bits 4-7) of a place."""
    return peek64(place + 8 * ways) & 255


@core
def set_flags(place: int, ways: int, value: int) -> None:
    """Write what `flags` reads."""
    state = place + 8 * ways
    poke64(state, peek64(state) & ~255 | value)


@core
def touch(place: int, ways: int, policy: int, clock: int) -> None:
    """A hit: only lru cares."""
    if policy == LRU:
        poke64(place + 8 * ways, clock << 8 | flags(place, ways))


@core
def next_random(state: int) -> int:
    """The next state of a generator of 31 bits."""
    return (state * 1103515245 + 12345) & 0x7FFFFFFF


@core
def oldest(first: int, ways: int) -> int:
    """lru and fifo: the place with the smallest stamp, the lowest of equals; empty ones have stamp 0."""
    best = first
    stamp = peek64(first + 8 * ways) >> 8
    for place in range(first + 8, first + 8 * ways, 8):
        other = peek64(place + 8 * ways) >> 8
        if other < stamp:
            best = place
            stamp = other
    return best


@core
def victim(first: int, ways: int, policy: int, random: int) -> int:
    """The place that a new line of the set takes: an empty one, else the policy's choice."""
    if policy == RANDOM:
        empty = find(first, ways, -1)
        return empty if empty else first + (random >> 8) % ways * 8
    return oldest(first, ways)


@core
def install(place: int, ways: int, line: int, value: int, clock: int) -> None:
    """Put a line with these flags into a place; `clock`, above 0, is its stamp under every policy."""
    poke64(place, line + 1)
    poke64(place + 8 * ways, clock << 8 | value)
