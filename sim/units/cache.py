"""A set-associative store of sectored tags with a replacement policy; L1 and L2 both use it.

It lies in memory as `lines` tags (line number + 1, 0 for empty), then `lines` replacement stamps,
then `lines` bytes of flags: four valid sectors below, four dirty ones above. A place is
set * ways + way.
"""

from __future__ import annotations

from ..jit import core, peek8, peek64, poke8, poke64

# Replacement policies, in the order of the words in spec.py.
LRU, FIFO, RANDOM = range(3)
STORE_BYTES = 17  # a line's tag, stamp and flags


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
def find(base: int, ways: int, first: int, line: int) -> int:
    """The place of a line in the set that starts at place `first`, -1 if it is not there."""
    for place in range(first, first + ways):
        if peek64(base + 8 * place) == line + 1:
            return place
    return -1


@core
def flags(base: int, lines: int, place: int) -> int:
    """Valid sectors (bits 0-3) and dirty sectors (bits 4-7) of a place."""
    return peek8(base + 16 * lines + place)


@core
def set_flags(base: int, lines: int, place: int, value: int) -> None:
    """Write what `flags` reads."""
    poke8(base + 16 * lines + place, value)


@core
def touch(base: int, lines: int, place: int, policy: int, clock: int) -> None:
    """A hit: only lru cares."""
    if policy == LRU:
        poke64(base + 8 * (lines + place), clock)


@core
def next_random(state: int) -> int:
    """The next state of a generator of 31 bits."""
    return (state * 1103515245 + 12345) & 0x7FFFFFFF


@core
def oldest(base: int, lines: int, ways: int, first: int) -> int:
    """lru and fifo: the place with the smallest stamp, the lowest of equals."""
    best = first
    stamp = peek64(base + 8 * (lines + first))
    for place in range(first + 1, first + ways):
        other = peek64(base + 8 * (lines + place))
        if other < stamp:
            best = place
            stamp = other
    return best


@core
def victim(base: int, lines: int, ways: int, first: int, policy: int, random: int) -> int:
    """The place that a new line of the set takes: an empty one, else the policy's choice."""
    empty = find(base, ways, first, -1)
    if empty >= 0:
        return empty
    if policy == RANDOM:
        return first + (random >> 8) % ways
    return oldest(base, lines, ways, first)


@core
def install(base: int, lines: int, place: int, line: int, value: int, clock: int) -> None:
    """Put a line with these flags into a place; all policies stamp it."""
    poke64(base + 8 * place, line + 1)
    poke64(base + 8 * (lines + place), clock)
    poke8(base + 16 * lines + place, value)


@core
def line_at(base: int, place: int) -> int:
    """The line number at a place; -1 if it is empty."""
    return peek64(base + 8 * place) - 1
