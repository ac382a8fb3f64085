"""A binary min-heap of (time, order) pairs of 64-bit integers in memory, for events and inboxes."""

from __future__ import annotations

from ..jit import core, peek64, poke64

ENTRY_BYTES = 16


@core
def push(base: int, count: int, time: int, order: int) -> None:
    """Add a pair to a heap of `count` entries at address `base`; the caller counts one more."""
    place = count
    while place > 0:
        above = (place - 1) >> 1
        entry = base + ENTRY_BYTES * above
        other = peek64(entry)
        if other < time or (other == time and peek64(entry + 8) <= order):
            break
        move(base, above, place)
        place = above
    write(base, place, time, order)


@core
def pop(base: int, count: int) -> None:
    """Take the smallest pair (entry 0) out of a heap of `count` entries; the caller counts one less."""
    last = base + ENTRY_BYTES * (count - 1)
    sink(base, count - 1, peek64(last), peek64(last + 8))


@core
def sink(base: int, count: int, time: int, order: int) -> None:
    """Replace the smallest pair of a heap of `count` entries by another one."""
    place = 0
    while 2 * place + 1 < count:
        below = 2 * place + 1
        entry = base + ENTRY_BYTES * below
        smallest = peek64(entry)
        if below + 1 < count:
            right = peek64(entry + ENTRY_BYTES)
            if right < smallest or (right == smallest and peek64(entry + 24) < peek64(entry + 8)):
                below += 1
                entry += ENTRY_BYTES
                smallest = right
        if time < smallest or (time == smallest and order <= peek64(entry + 8)):
            break
        move(base, below, place)
        place = below
    write(base, place, time, order)


@core
def move(base: int, source: int, target: int) -> None:
    """Copy one entry over another."""
    poke64(base + ENTRY_BYTES * target, peek64(base + ENTRY_BYTES * source))
    poke64(base + ENTRY_BYTES * target + 8, peek64(base + ENTRY_BYTES * source + 8))


@core
def write(base: int, place: int, time: int, order: int) -> None:
    """Write one entry."""
    poke64(base + ENTRY_BYTES * place, time)
    poke64(base + ENTRY_BYTES * place + 8, order)
