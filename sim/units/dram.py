"""DRAM: channels with a scheduling queue, banks with an open row, one data bus a channel.

Neighbouring `interleave_bytes` lie in one row of one channel; the next ones in another channel.
The scheduler decides as long before the bus is free as a row change takes, so that activates of
one bank overlap transfers of others. Reads go first; writes gather until they fill three quarters
of the queue and then drain to a quarter (or go when there is nothing to read), because turning the
bus around costs time. A refresh closes all rows of a channel and holds it up.
"""

from __future__ import annotations

from typing import Any

from .. import counters as C
from ..jit import core
from ..packed import TICKS_PER_CYCLE
from . import cache, memory_events
from .coalesce import LINE_SHIFT, SECTOR_BYTES, SECTORS
from .memory_records import access_at, bank_at, channel_at, new_access

FR_FCFS, FCFS = range(2)  # in the order of the words in spec.py


@core
def channel_of(spec: Any, line: int) -> int:
    """The channel of a line."""
    return cache.spread((line << LINE_SHIFT) // spec.dram_interleave_bytes, spec.dram_channels)


@core
def row_number(spec: Any, line: int) -> int:
    """The row of a line, counting through all banks of its channel."""
    chunk = (line << LINE_SHIFT) // spec.dram_interleave_bytes
    return chunk // spec.dram_channels // (spec.dram_row_bytes // spec.dram_interleave_bytes)


@core
def bursts(spec: Any, sectors: int) -> int:
    """Bursts that transfer the sectors of a line."""
    if spec.dram_burst_bytes <= SECTOR_BYTES:
        each = -(-SECTOR_BYTES // spec.dram_burst_bytes)
        count = 0
        for i in range(SECTORS):
            count += each * (sectors >> i & 1)
        return count
    group = min(SECTORS, spec.dram_burst_bytes // SECTOR_BYTES)
    count = 0
    for i in range(0, SECTORS, group):
        if sectors >> i & ((1 << group) - 1):
            count += 1
    return count


@core
def append_queue(memory: Any, channel: Any, index: int, now: int) -> None:
    """Put an access at the end of the queue that the scheduler sees."""
    access = access_at(memory.accesses, index)
    access.seen = now
    access.next = 0
    channel.seen += 1
    if access.write:
        channel.writes += 1
        if channel.write_head:
            access_at(memory.accesses, channel.write_tail).next = index
        else:
            channel.write_head = index
        channel.write_tail = index
    else:
        if channel.read_head:
            access_at(memory.accesses, channel.read_tail).next = index
        else:
            channel.read_head = index
        channel.read_tail = index


@core
def append_waiting(memory: Any, channel: Any, index: int) -> None:
    """Put an access behind those that have no place in the queue."""
    access_at(memory.accesses, index).next = 0
    if channel.wait_head:
        access_at(memory.accesses, channel.wait_tail).next = index
    else:
        channel.wait_head = index
    channel.wait_tail = index


@core
def enqueue(
    device: Any, memory: Any, spec: Any, line: int, sectors: int, write: int, owner: int, now: int
) -> None:
    """Read or write sectors of a line; the event DATA of the access tells when it is done."""
    index = new_access(memory)
    access = access_at(memory.accesses, index)
    row = row_number(spec, line)
    access.came = now
    access.row = row // spec.dram_banks + 1
    access.bank = cache.spread(row, spec.dram_banks)
    access.bursts = bursts(spec, sectors)
    access.sectors = sectors
    access.write = write
    access.owner = owner
    number = channel_of(spec, line)
    channel = channel_at(memory.channels, number)
    if channel.seen < spec.dram_queue_entries:
        append_queue(memory, channel, index, now)
    else:
        append_waiting(memory, channel, index)
    if channel.scheduled == 0:
        decide(device, memory, spec, number, now)


@core
def lead_ticks(spec: Any) -> int:
    """How long before the bus is free the scheduler decides."""
    return spec.dram_precharge_ticks + spec.dram_activate_ticks + spec.dram_column_ticks


@core
def decide(device: Any, memory: Any, spec: Any, number: int, now: int) -> None:
    """Choose accesses until the bus is taken far enough ahead, then come back in time."""
    channel = channel_at(memory.channels, number)
    lead = lead_ticks(spec)
    while channel.seen and channel.bus_free - lead <= now:
        commit(device, memory, spec, number, choose(memory, spec, number, now), now)
        if channel.wait_head:
            index = channel.wait_head
            channel.wait_head = access_at(memory.accesses, index).next
            append_queue(memory, channel, index, now)
    if channel.seen:
        channel.scheduled = 1
        memory_events.schedule(memory, memory_events.DECIDE, number, channel.bus_free - lead)


@core
def choose(memory: Any, spec: Any, number: int, now: int) -> int:
    """Take the next access out of a channel's queue."""
    channel = channel_at(memory.channels, number)
    if spec.dram_order == FCFS:
        return unlink(memory, channel, 0, 1 if fcfs_writes(memory, channel) else 0)
    reads = channel.seen - channel.writes
    if reads == 0 or 4 * channel.writes >= 3 * spec.dram_queue_entries:
        channel.draining = 1
    elif channel.writes == 0 or 4 * channel.writes <= spec.dram_queue_entries:
        channel.draining = 0
    head = channel.write_head if channel.draining else channel.read_head
    previous = first_ready(memory, spec, number, head, now)
    return unlink(memory, channel, previous, channel.draining)


@core
def fcfs_writes(memory: Any, channel: Any) -> bool:
    """Whether the oldest access of the queue is a write; of two of the same tick the read is first."""
    if channel.read_head == 0 or channel.write_head == 0:
        return channel.read_head == 0
    read = access_at(memory.accesses, channel.read_head)
    return access_at(memory.accesses, channel.write_head).came < read.came


@core
def first_ready(memory: Any, spec: Any, number: int, head: int, now: int) -> int:
    """FR-FCFS: the oldest that hits an open row, else the oldest whose bank is ready, else the oldest.

    The oldest of all goes first once it has been in the queue for `patience_cycles`. Returns the
    access before the chosen one, 0 for the head.
    """
    if now - access_at(memory.accesses, head).seen > spec.dram_patience_cycles * TICKS_PER_CYCLE:
        return 0
    banks = number * spec.dram_banks
    ready = -1
    previous = 0
    index = head
    while index:
        access = access_at(memory.accesses, index)
        bank = bank_at(memory.banks, banks + access.bank)
        if bank.row == access.row:
            return previous
        if ready < 0 and bank.ready <= now:
            ready = previous
        previous = index
        index = access.next
    return max(ready, 0)


@core
def unlink(memory: Any, channel: Any, previous: int, write: int) -> int:
    """Take the access after `previous` (0: the head) out of the reads or the writes."""
    if previous == 0:
        index = channel.write_head if write else channel.read_head
    else:
        index = access_at(memory.accesses, previous).next
    following = access_at(memory.accesses, index).next
    if previous:
        access_at(memory.accesses, previous).next = following
    elif write:
        channel.write_head = following
    else:
        channel.read_head = following
    if following == 0:
        if write:
            channel.write_tail = previous
        else:
            channel.read_tail = previous
    channel.seen -= 1
    channel.writes -= write
    return index


@core
def refreshes_before(spec: Any, number: int, ticks: int) -> int:
    """Refreshes of a channel that have begun by `ticks`; channels take turns."""
    if spec.dram_refresh_interval_ticks == 0:
        return 0
    shift = spec.dram_refresh_interval_ticks * (number + 1) // spec.dram_channels
    return (ticks + shift) // spec.dram_refresh_interval_ticks


@core
def after_refresh(spec: Any, number: int, ticks: int) -> int:
    """The first time from `ticks` on at which the channel does not refresh."""
    if spec.dram_refresh_interval_ticks == 0:
        return ticks
    shift = spec.dram_refresh_interval_ticks * (number + 1) // spec.dram_channels
    phase = (ticks + shift) % spec.dram_refresh_interval_ticks
    return ticks + max(0, spec.dram_refresh_ticks - phase)


@core
def commit(device: Any, memory: Any, spec: Any, number: int, index: int, now: int) -> None:
    """Give an access its bank, its row and its place on the bus."""
    access = access_at(memory.accesses, index)
    channel = channel_at(memory.channels, number)
    bank = bank_at(memory.banks, number * spec.dram_banks + access.bank)
    column = after_refresh(spec, number, max(now, bank.ready))
    refreshes = refreshes_before(spec, number, column)
    if refreshes != bank.refreshes:
        bank.row = 0
        bank.refreshes = refreshes
    if bank.row != access.row:
        column += spec.dram_activate_ticks
        if bank.row:
            column += spec.dram_precharge_ticks
        bank.row = access.row
        device.counters[C.DEV_DRAM_ROW_MISSES] += 1
        device.counters[C.DEV_DRAM_ROW_HITS] += access.bursts - 1
    else:
        device.counters[C.DEV_DRAM_ROW_HITS] += access.bursts
    free = channel.bus_free
    if access.write != channel.bus_write:
        free += spec.dram_turnaround_ticks
        channel.bus_write = access.write
    begin = max(column + spec.dram_column_ticks, free)
    end = begin + access.bursts * spec.dram_burst_ticks
    bank.ready = end - spec.dram_column_ticks
    channel.bus_free = end
    device.counters[C.DEV_DRAM_BUSY_TICKS] += end - begin
    if access.write:
        device.counters[C.DEV_DRAM_WRITE_BURSTS] += access.bursts
        memory_events.schedule(memory, memory_events.DATA, index, end)
    else:
        device.counters[C.DEV_DRAM_READ_BURSTS] += access.bursts
        memory_events.schedule(memory, memory_events.DATA, index, end + spec.dram_path_ticks)
