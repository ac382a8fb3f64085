"""The second-level cache: slices in partitions, sectored, write-back, atomics at the home slice.

Each line has a home slice. An SM asks in its own partition: if the home is elsewhere, the slice at
the same place of its own partition may have a copy, or fetches one from the home. Stores and
atomics go to the home and drop the other partitions' copies of what they write, at once. Only time
and tags are modelled; a store is taken to cover its sectors whole (L2 keeps byte masks).
"""

from __future__ import annotations

from typing import Any

from .. import counters as C
from ..jit import core
from ..packed import TICKS_PER_CYCLE
from ..state import READ, WRITE
from . import cache, dram, l2_misses, memory_events
from .coalesce import SECTOR_BYTES, sector_count
from .l2_places import (
    far_back_ticks,
    far_out_ticks,
    find,
    hit_ticks,
    home_slice,
    near_slice,
    set_of,
    touch,
    valid,
)
from .memory_records import (
    COPY,
    HOME,
    access_at,
    free_access,
    free_transaction,
    miss_at,
    new_transaction,
    port_at,
    slice_at,
    transaction_at,
)

NEAR_LEVEL, FAR_LEVEL, DRAM_LEVEL = 2, 3, 4


@core
def accept(device: Any, memory: Any, spec: Any, index: int, now: int) -> None:
    """An SM's request has come to L2: send it to the slice of its partition, or across."""
    request = transaction_at(memory.transactions, index)
    home = home_slice(spec, request.line)
    partition = request.sm % spec.l2_partitions
    near = near_slice(spec, home, partition)
    if near == home:
        enqueue(device, memory, spec, index, 2 * home + HOME, now)
    elif request.kind == READ and spec.l2_near_copies:
        enqueue(device, memory, spec, index, 2 * near + COPY, now)
    else:
        request.far = 1
        memory_events.schedule(memory, memory_events.FORWARD, index, now + far_out_ticks(spec))


@core
def accept_home(device: Any, memory: Any, spec: Any, index: int, now: int) -> None:
    """A request from another partition has come to its home slice."""
    home = home_slice(spec, transaction_at(memory.transactions, index).line)
    enqueue(device, memory, spec, index, 2 * home + HOME, now)


@core
def enqueue(device: Any, memory: Any, spec: Any, index: int, number: int, now: int) -> None:
    """Put a request at the end of the input queue of a port."""
    port = port_at(memory.ports, number)
    transaction_at(memory.transactions, index).next = 0
    if port.head:
        transaction_at(memory.transactions, port.tail).next = index
    else:
        port.head = index
    port.tail = index
    serve(device, memory, spec, number >> 1, now)


@core
def serve(device: Any, memory: Any, spec: Any, number: int, now: int) -> None:
    """Let a slice look at its next request, if it is free; its two ports take turns.

    A port whose oldest request finds no MSHR is passed over; it is tried again when one is freed.
    """
    part = slice_at(memory.slices, number)
    if part.scheduled:
        return
    if part.free <= now:
        for i in range(2):
            role = part.turn ^ i
            ticks = serve_port(device, memory, spec, 2 * number + role, now)
            if ticks:
                part.turn = role ^ 1
                part.free = now + ticks
                break
    waiting = port_at(memory.ports, 2 * number).head | port_at(memory.ports, 2 * number + 1).head
    if waiting and part.free > now:
        part.scheduled = 1
        memory_events.schedule(memory, memory_events.SERVE, number, part.free)


@core
def serve_port(device: Any, memory: Any, spec: Any, number: int, now: int) -> int:
    """Serve the oldest request of a port; the ticks that it takes of the slice, 0 if none can go."""
    port = port_at(memory.ports, number)
    index = port.head
    if index == 0:
        return 0
    request = transaction_at(memory.transactions, index)
    following = request.next
    ticks = sector_count(request.sectors) * SECTOR_BYTES * TICKS_PER_CYCLE // spec.l2_slice_bytes_per_cycle
    if request.kind == WRITE:
        done = write(device, memory, spec, index, number, now)
    else:
        done = look_up(device, memory, spec, index, number, now)
    if not done:
        return 0
    port.head = following
    return max(ticks, 1)


@core
def look_up(device: Any, memory: Any, spec: Any, index: int, number: int, now: int) -> bool:
    """A load or an atomic looks for its sectors; False if it has to be tried again."""
    request = transaction_at(memory.transactions, index)
    place = find(memory, spec, number >> 1, request.line)
    missing = request.sectors & ~valid(spec, place)
    miss = 0
    if missing:
        miss = l2_misses.find(memory, number, request.line)
        if miss == 0:
            if not has_room(memory, spec, number):
                return False
            miss = l2_misses.allocate(memory, number, request.line)
    if place:
        touch(memory, spec, place)
    new = 0
    if missing:
        new = missing & ~miss_at(memory.misses, miss).asked
    if request.kind == READ:
        count_load(device, request, number & 1, missing, new)
    if missing:
        request.missing = missing
        l2_misses.wait(memory, miss, index)
        if new:
            fetch(device, memory, spec, miss, new, now)
    elif request.kind == READ:
        far = request.far or request.sm < 0
        finish(memory, spec, index, FAR_LEVEL if far else NEAR_LEVEL, now + hit_ticks(spec))
    else:
        perform(device, memory, spec, index, number >> 1, NEAR_LEVEL, now)
    return True


@core
def has_room(memory: Any, spec: Any, number: int) -> bool:
    """Whether a port can wait for one more line, or send one more dirty line to DRAM."""
    port = port_at(memory.ports, number)
    return port.misses + port.writes < spec.l2_mshrs


@core
def count_load(device: Any, request: Any, role: int, missing: int, new: int) -> None:
    """Count the sectors of a load. Those that a copy's slice fetches are sorted at the home slice."""
    wanted = sector_count(request.sectors)
    absent = sector_count(missing)
    fetched = sector_count(new)
    if request.sm >= 0:
        device.counters[C.DEV_L2_ACCESSES] += wanted
    if request.far or request.sm < 0:
        device.counters[C.DEV_L2_FAR_HITS] += wanted - absent
    else:
        device.counters[C.DEV_L2_HITS] += wanted - absent
    device.counters[C.DEV_L2_MERGES] += absent - fetched
    if role == HOME:
        device.counters[C.DEV_L2_MISSES] += fetched


@core
def fetch(device: Any, memory: Any, spec: Any, index: int, sectors: int, now: int) -> None:
    """Get sectors of a missing line: the home slice reads DRAM, a copy's slice asks the home slice."""
    miss = miss_at(memory.misses, index)
    miss.asked |= sectors
    if miss.port & 1 == HOME:
        dram.enqueue(device, memory, spec, miss.line, sectors, 0, index, now)
        return
    number = new_transaction(memory)
    copy = transaction_at(memory.transactions, number)
    copy.line = miss.line
    copy.sm = -1
    copy.kind = READ
    copy.sectors = sectors
    copy.name = index
    copy.lanes = 0
    copy.missing = 0
    copy.far = 0
    copy.level = 0
    memory_events.schedule(memory, memory_events.FORWARD, number, now + far_out_ticks(spec))


@core
def finish(memory: Any, spec: Any, index: int, level: int, ticks: int) -> None:
    """A request is done at its slice at `ticks`: send the answer to its SM, or the copy to its slice."""
    request = transaction_at(memory.transactions, index)
    request.level = max(request.level, level)
    if request.sm < 0:
        memory_events.schedule(memory, memory_events.RETURN, index, ticks + far_back_ticks(spec))
    elif request.far:
        memory_events.schedule(memory, memory_events.RESPONSE, index, ticks + far_back_ticks(spec))
    else:
        memory_events.schedule(memory, memory_events.RESPONSE, index, ticks)


@core
def perform(device: Any, memory: Any, spec: Any, index: int, number: int, level: int, now: int) -> None:
    """The atomic unit of a slice: lanes on one address one after another, sectors at its own pace."""
    request = transaction_at(memory.transactions, index)
    part = slice_at(memory.slices, number)
    sectors = sector_count(request.sectors)
    cycles = max(sectors * spec.l2_atomic_sector_cycles, request.lanes * spec.l2_atomic_lane_cycles)
    part.atomic_free = max(now, part.atomic_free) + cycles * TICKS_PER_CYCLE
    device.counters[C.DEV_L2_ATOMICS] += sectors
    place = find(memory, spec, number, request.line)
    if place:
        kept = cache.flags(place, spec.l2_ways)
        cache.set_flags(place, spec.l2_ways, kept | request.sectors << 4)
    drop_copies(memory, spec, number, request.line, request.sectors)
    level = FAR_LEVEL if request.far and level == NEAR_LEVEL else level
    finish(memory, spec, index, level, part.atomic_free + hit_ticks(spec))


@core
def write(device: Any, memory: Any, spec: Any, index: int, number: int, now: int) -> bool:
    """A store puts its sectors into its home slice; False if a dirty line cannot leave for it yet."""
    request = transaction_at(memory.transactions, index)
    through = spec.l2_write_back == 0
    place = find(memory, spec, number >> 1, request.line)
    if (through or place == 0) and not has_room(memory, spec, number):
        return False
    if place == 0:
        place = make_place(device, memory, spec, number, request.line, now)
    else:
        touch(memory, spec, place)
    sectors = cache.flags(place, spec.l2_ways) | request.sectors
    if through:
        port_at(memory.ports, number).writes += 1
        dram.enqueue(device, memory, spec, request.line, request.sectors, 1, number, now)
    else:
        sectors |= request.sectors << 4
    cache.set_flags(place, spec.l2_ways, sectors)
    drop_copies(memory, spec, number >> 1, request.line, request.sectors)
    device.counters[C.DEV_L2_WRITES] += sector_count(request.sectors)
    finish(memory, spec, index, FAR_LEVEL if request.far else NEAR_LEVEL, now + hit_ticks(spec))
    return True


@core
def make_place(device: Any, memory: Any, spec: Any, number: int, line: int, now: int) -> int:
    """A place for a new line in the slice of a port; a dirty line that leaves goes to DRAM."""
    memory.clock += 1
    memory.random = cache.next_random(memory.random)
    first = set_of(memory, spec, number >> 1, line)
    place = cache.victim(first, spec.l2_ways, spec.l2_replacement, memory.random)
    dirty = cache.flags(place, spec.l2_ways) >> 4
    if dirty:
        leaving = cache.line_at(place)
        port_at(memory.ports, number).writes += 1
        device.counters[C.DEV_L2_WRITE_BACKS] += sector_count(dirty)
        dram.enqueue(device, memory, spec, leaving, dirty, 1, number, now)
    cache.install(place, spec.l2_ways, line, 0, memory.clock)
    return place


@core
def drop_copies(memory: Any, spec: Any, home: int, line: int, sectors: int) -> None:
    """Invalidate sectors of a line in the partitions that are not its home."""
    if spec.l2_partitions == 1 or spec.l2_near_copies == 0:
        return
    for partition in range(spec.l2_partitions):
        near = near_slice(spec, home, partition)
        if near != home:
            place = find(memory, spec, near, line)
            if place:
                kept = cache.flags(place, spec.l2_ways) & ~sectors
                cache.set_flags(place, spec.l2_ways, kept)


@core
def fill(device: Any, memory: Any, spec: Any, index: int, sectors: int, level: int, now: int) -> None:
    """Sectors of a missing line have come: keep them, serve who waits for nothing else."""
    miss = miss_at(memory.misses, index)
    number = miss.port
    place = find(memory, spec, number >> 1, miss.line)
    if place == 0:
        place = make_place(device, memory, spec, number, miss.line, now)
    kept = cache.flags(place, spec.l2_ways)
    cache.set_flags(place, spec.l2_ways, kept | sectors)
    miss.came |= sectors
    release(device, memory, spec, index, sectors, level, now)
    if miss.came == miss.asked:
        l2_misses.free(memory, index)
        serve(device, memory, spec, number >> 1, now)


@core
def release(device: Any, memory: Any, spec: Any, index: int, sectors: int, level: int, now: int) -> None:
    """Let the transactions go that waited for these sectors last; the others wait on, in order."""
    miss = miss_at(memory.misses, index)
    waiting = miss.head
    miss.head = 0
    miss.tail = 0
    while waiting:
        request = transaction_at(memory.transactions, waiting)
        following = request.next
        if request.missing & sectors:
            request.level = max(request.level, level)
        if request.missing & ~miss.came:
            l2_misses.wait(memory, index, waiting)
        elif request.kind != READ:
            perform(device, memory, spec, waiting, miss.port >> 1, level, now)
        elif miss.port & 1 == HOME:
            finish(memory, spec, waiting, level, now + hit_ticks(spec))
        else:
            finish(memory, spec, waiting, level, now)
        waiting = following


@core
def copy_came(device: Any, memory: Any, spec: Any, index: int, now: int) -> None:
    """The home slice's answer has come to the slice that fetches a copy."""
    copy = transaction_at(memory.transactions, index)
    miss = copy.name
    sectors = copy.sectors
    level = copy.level
    free_transaction(memory, index)
    fill(device, memory, spec, miss, sectors, level, now)


@core
def data_came(device: Any, memory: Any, spec: Any, index: int, now: int) -> None:
    """A DRAM access is done: a read fills its line, a write leaves room at its port."""
    access = access_at(memory.accesses, index)
    owner = access.owner
    sectors = access.sectors
    written = access.write
    free_access(memory, index)
    if written:
        port_at(memory.ports, owner).writes -= 1
        serve(device, memory, spec, owner >> 1, now)
    else:
        fill(device, memory, spec, owner, sectors, DRAM_LEVEL, now)
