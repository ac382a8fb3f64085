"""The first-level data cache: sectored, write-through without allocation, lines allotted when they come.

A load looks up every sector that it wants: a hit is in L1, a merge is already on the way, a miss is
requested from L2. It waits on MSHRs, one for each line, until the last of its sectors has come.
"""

from __future__ import annotations

from typing import Any

from .. import counters as C
from ..jit import core
from ..state import ATOMIC, L1_LINES_MAX, MSHR_BUCKETS, READ, REDUCTION, SM, WRITE, code_at, field_offset
from . import cache, coalesce, heap, mshr, network, writeback

# Cache operators as `code.cache` gives them, in the order of isa/instructions/memory.py.
DEFAULT, CA, CG, CS, VOLATILE = range(5)
TAGS_OFFSET = field_offset(SM, "l1_tags")
HIT_LEVEL = 1


@core
def flush(sm: Any) -> None:
    """Forget everything: lines, MSHRs, messages, ports. L1 is invalidated at each launch."""
    if sm.l1_clock:
        for i in range(2 * L1_LINES_MAX):
            sm.l1_tags[i] = 0
    if sm.mshr_count:  # a launch was broken off
        for i in range(MSHR_BUCKETS):
            sm.mshr_buckets[i] = 0
    sm.l1_clock = 0
    sm.mshr_count = 0
    sm.mshr_free = 0
    sm.mshr_fresh = 0
    sm.waiter_count = 0
    sm.waiter_free = 0
    sm.waiter_fresh = 0
    sm.requests_out = 0
    sm.outbox_head = 0
    sm.outbox_count = 0
    sm.inbox_count = 0
    sm.port_free = 0
    sm.response_free = 0
    sm.response_sequence = 0


@core
def set_of(device: Any, sm: Any, spec: Any, line: int) -> int:
    """Where the set of a line begins."""
    base = device.sms + sm.number * network.SM_BYTES + TAGS_OFFSET
    return cache.set_at(base, spec.l1_ways, cache.spread(line, sm.l1_sets))


@core
def place_of(device: Any, sm: Any, spec: Any, line: int) -> int:
    """Where L1 keeps a line, 0 if it does not."""
    return cache.find(set_of(device, sm, spec, line), spec.l1_ways, line) if sm.l1_sets else 0


@core
def present(spec: Any, place: int) -> int:
    """Sectors of a line at a place that are here."""
    return cache.flags(place, spec.l1_ways) if place else 0


@core
def joinable(sm: Any, spec: Any, bypass: bool, line: int) -> int:
    """The MSHR of a line that another load may join, 0 for none."""
    return 0 if bypass else mshr.find(sm, line)


@core
def admits(device: Any, sm: Any, spec: Any, bypass: bool) -> bool:
    """Whether every line of the coalesced load finds an MSHR, a waiter and room for a request."""
    entries = 0
    waiters = 0
    requests = 0
    for i in range(sm.coalesced_lines):
        entry = sm.coalesced[i]
        missing = entry.sectors
        if not bypass:
            missing &= ~present(spec, place_of(device, sm, spec, entry.line))
        if missing:
            waiters += 1
            index = joinable(sm, spec, bypass, entry.line)
            if index == 0:
                entries += 1
                requests += 1
            else:
                if sm.mshrs[index].count >= spec.l1_mshr_merges:
                    return False
                if missing & ~sm.mshrs[index].asked:
                    requests += 1
    fits = sm.mshr_count + entries <= spec.l1_mshrs and requests <= network.room(sm, spec)
    return fits and mshr.waiters_fit(sm, waiters)


@core
def load(device: Any, sm: Any, spec: Any, index: int, operator: int, time: int) -> int:
    """Look up the load `sm.memops[index]`, whose lines are in `sm.coalesced`, at cycle `time`.

    1: accepted; `remaining` is the number of lines to wait for and `level` is 1 when it is 0. 0: an
    MSHR, a place to wait or room for a request is missing; nothing has changed, try again later.
    """
    bypass = operator in (CG, VOLATILE) or spec.l1_enabled == 0
    if not admits(device, sm, spec, bypass):
        return 0
    op = sm.memops[index]
    op.remaining = 0
    op.level = HIT_LEVEL
    for i in range(sm.coalesced_lines):
        if look_up(device, sm, spec, index, i, bypass, time):
            op.remaining += 1
    return 1


@core
def look_up(device: Any, sm: Any, spec: Any, index: int, number: int, bypass: bool, time: int) -> bool:
    """Look up one coalesced line for a load and request what is missing; True if it has to wait."""
    entry = sm.coalesced[number]
    missing = entry.sectors
    if not bypass:
        place = place_of(device, sm, spec, entry.line)
        missing &= ~present(spec, place)
        if missing != entry.sectors:
            sm.l1_clock += 1
            cache.touch(place, spec.l1_ways, spec.l1_replacement, sm.l1_clock)
    wanted = coalesce.sector_count(entry.sectors)
    absent = coalesce.sector_count(missing)
    sm.counters[C.L1_ACCESSES] += wanted
    sm.counters[C.L1_HITS] += wanted - absent
    if missing == 0:
        return False
    holder = joinable(sm, spec, bypass, entry.line)
    if holder == 0:
        holder = mshr.allocate(sm, entry.line, bypass)
    new = missing & ~sm.mshrs[holder].asked
    count = coalesce.sector_count(new)
    sm.counters[C.L1_MISSES] += count
    sm.counters[C.L1_MERGES] += absent - count
    mshr.wait(sm, holder, index, missing)
    if new:
        sm.mshrs[holder].asked |= new
        network.send(sm, spec, READ, entry, new, holder, time)
    return True


@core
def store(device: Any, sm: Any, spec: Any, index: int, time: int) -> int:
    """Send a store's sectors to L2, which acknowledges each line; lines in L1 stay and are current.

    Returns 1 if accepted, 0 if there is no room for the requests (nothing has changed).
    """
    if sm.coalesced_lines > network.room(sm, spec):
        return 0
    op = sm.memops[index]
    op.remaining = 0
    for i in range(sm.coalesced_lines):
        entry = sm.coalesced[i]
        entry.contention = 0
        network.send(sm, spec, WRITE, entry, entry.sectors, op.warp, time)
    sm.warps[op.warp].stores_out += sm.coalesced_lines
    return 1


@core
def atomic(device: Any, sm: Any, spec: Any, index: int, returns: int, time: int) -> int:
    """Send an atomic's sectors to L2, which performs it; what L1 has of them is invalid now.

    `returns` is not 0 if the old values come back: then `remaining` counts the lines; else L2
    acknowledges them like a store's. Returns 1 if accepted, 0 if there is no room.
    """
    if sm.coalesced_lines > network.room(sm, spec):
        return 0
    coalesce.contend(sm, sm.memops[index])
    op = sm.memops[index]
    op.remaining = sm.coalesced_lines if returns else 0
    for i in range(sm.coalesced_lines):
        entry = sm.coalesced[i]
        invalidate(device, sm, spec, entry.line, entry.sectors)
        if returns:
            network.send(sm, spec, ATOMIC, entry, entry.sectors, index, time)
        else:
            network.send(sm, spec, REDUCTION, entry, entry.sectors, op.warp, time)
    if not returns:
        sm.warps[op.warp].stores_out += sm.coalesced_lines
    return 1


@core
def invalidate(device: Any, sm: Any, spec: Any, line: int, sectors: int) -> None:
    """Drop sectors of a line."""
    place = place_of(device, sm, spec, line)
    if place:
        cache.set_flags(place, spec.l1_ways, cache.flags(place, spec.l1_ways) & ~sectors)


@core
def fill(device: Any, sm: Any, spec: Any, line: int, sectors: int) -> None:
    """Sectors of a line have come: keep them, in a new place if the line has none."""
    if sm.l1_sets == 0:
        return
    place = place_of(device, sm, spec, line)
    if place:
        cache.set_flags(place, spec.l1_ways, cache.flags(place, spec.l1_ways) | sectors)
        return
    sm.l1_clock += 1
    sm.random = cache.next_random(sm.random)
    first = set_of(device, sm, spec, line)
    place = cache.victim(first, spec.l1_ways, spec.l1_replacement, sm.random)
    cache.install(place, spec.l1_ways, line, sectors, sm.l1_clock)


@core
def data_cycles(device: Any, spec: Any, op: Any) -> int:
    """From a response at the SM to use: the same data path as a hit's, after the tags."""
    code = code_at(device.code, op.pc)
    words = max(1, code.element_bytes * code.vector // 4)
    return spec.l1_hit_cycles - spec.lsu_entry_cycles + (words - 1) * spec.l1_word_cycles


@core
def respond(device: Any, sm: Any, spec: Any) -> None:
    """Take the first response out of the inbox and do what it makes possible."""
    base = network.inbox_address(device, sm)
    time = sm.inbox[0].time
    order = sm.inbox[0].order
    heap.pop(base, sm.inbox_count)
    sm.inbox_count -= 1
    sm.requests_out -= 1
    sm.counters[C.L2_RESPONSES] += 1
    kind = network.kind_of(order)
    name = network.name_of(order)
    if kind == READ:
        arrive(device, sm, spec, name, network.sectors_of(order), network.level_of(order), time)
    elif kind == ATOMIC:
        advance(device, sm, spec, name, network.level_of(order), time)
    else:
        writeback.acknowledge(device, sm, spec, name, time)


@core
def arrive(device: Any, sm: Any, spec: Any, index: int, sectors: int, level: int, time: int) -> None:
    """Sectors of the line of an MSHR have come: fill L1, serve who waits for nothing else."""
    holder = sm.mshrs[index]
    holder.came |= sectors
    if holder.bypass == 0:
        fill(device, sm, spec, holder.line, sectors)
    previous = 0
    waiter = holder.waiters
    while waiter:
        following = sm.waiters[waiter].next
        if sm.waiters[waiter].sectors & sectors:
            note_level(sm, sm.waiters[waiter].memop, level)
        if sm.waiters[waiter].sectors & ~holder.came:
            previous = waiter
        else:
            memop = sm.waiters[waiter].memop
            mshr.leave(sm, index, waiter, previous)
            advance(device, sm, spec, memop, level, time)
        waiter = following
    if holder.came == holder.asked:
        mshr.free(sm, index)


@core
def note_level(sm: Any, index: int, level: int) -> None:
    """A memory instruction's level is the deepest that served any of its sectors."""
    sm.memops[index].level = max(sm.memops[index].level, level)


@core
def advance(device: Any, sm: Any, spec: Any, index: int, level: int, time: int) -> None:
    """One more line of a memory instruction is here; with the last one it completes."""
    op = sm.memops[index]
    op.level = max(op.level, level)
    op.remaining -= 1
    if op.remaining == 0:
        writeback.complete(device, sm, spec, index, time + data_cycles(device, spec, op))
