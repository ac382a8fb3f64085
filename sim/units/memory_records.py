"""State of the memory side: what L2 slices, DRAM channels and the requests between them consist of.

All links are entry numbers, and entry 0 of a pool is never used: a link of 0 is "none". Times are
ticks. The arrays are sized for the worst case by memory_side.py; pages never used take no memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import core, record_at

# A request on its way through L2: of an SM, or of a slice that fetches a copy for its partition.
TRANSACTION = np.dtype(
    [
        ("line", "i8"),
        ("sm", "i8"),  # -1: a slice fetches a copy
        ("kind", "i8"),
        ("sectors", "i8"),
        ("name", "i8"),  # of the SM's request; the miss that a fetched copy is for
        ("lanes", "i8"),  # atomics: most lanes on one address
        ("missing", "i8"),  # sectors that it waits for
        ("far", "i8"),  # has to cross to its SM's partition
        ("level", "i8"),
        ("next", "i8"),
    ],
    align=True,
)

# A line that a slice waits for (its MSHR).
MISS = np.dtype(
    [
        ("line", "i8"),
        ("port", "i8"),
        ("asked", "i8"),
        ("came", "i8"),
        ("head", "i8"),  # transactions that wait
        ("tail", "i8"),
        ("next", "i8"),  # of its hash bucket, or of the free list
    ],
    align=True,
)

# A slice has two input queues, each with its own misses: one for lines whose home it is, one for
# copies of far lines. Only so can two partitions that wait for each other never stand still.
PORT = np.dtype(
    [
        ("head", "i8"),
        ("tail", "i8"),
        ("misses", "i8"),
        ("writes", "i8"),  # dirty lines on their way to DRAM
    ],
    align=True,
)
HOME, COPY = range(2)  # port number = 2 * slice + role

SLICE = np.dtype(
    [
        ("free", "i8"),  # can look at the next request
        ("atomic_free", "i8"),
        ("turn", "i8"),  # role that is served next
        ("scheduled", "i8"),
    ],
    align=True,
)

# An access of a line in a DRAM channel's queue.
ACCESS = np.dtype(
    [
        ("came", "i8"),
        ("seen", "i8"),  # when the scheduler's queue had a place for it
        ("row", "i8"),
        ("bank", "i8"),
        ("bursts", "i8"),
        ("sectors", "i8"),
        ("write", "i8"),
        ("owner", "i8"),  # the miss of a read, the port of a write
        ("next", "i8"),
    ],
    align=True,
)

CHANNEL = np.dtype(
    [
        ("bus_free", "i8"),
        ("bus_write", "i8"),  # direction of the last burst
        ("draining", "i8"),  # the queue's writes go first
        ("seen", "i8"),  # accesses in the scheduler's queue
        ("writes", "i8"),  # of these, writes
        ("scheduled", "i8"),
        ("read_head", "i8"),
        ("read_tail", "i8"),
        ("write_head", "i8"),
        ("write_tail", "i8"),
        ("wait_head", "i8"),  # accesses that have no place in the queue yet
        ("wait_tail", "i8"),
    ],
    align=True,
)

BANK = np.dtype(
    [
        ("row", "i8"),  # open row + 1, 0 for none
        ("ready", "i8"),  # takes the next command
        ("refreshes", "i8"),  # refreshes of the channel when it was last used
    ],
    align=True,
)

MEMORY = np.dtype(
    [
        ("transactions", "i8"),  # addresses of the arrays
        ("misses", "i8"),
        ("ports", "i8"),
        ("slices", "i8"),
        ("accesses", "i8"),
        ("channels", "i8"),
        ("banks", "i8"),
        ("arrivals", "i8"),  # heap of the oldest request of each SM
        ("nodes", "i8"),  # these five are the wheel of time, and the heap of what is beyond it
        ("slots", "i8"),
        ("words", "i8"),
        ("groups", "i8"),
        ("far_events", "i8"),
        ("buckets", "i8"),
        ("tags", "i8"),
        ("queued", "i8"),  # one byte an SM: its oldest request is among the arrivals
        ("arrival_count", "i8"),
        ("wheel_now", "i8"),
        ("wheel_count", "i8"),
        ("far_count", "i8"),
        ("bucket_mask", "i8"),
        ("sets", "i8"),  # of a slice
        ("clock", "i8"),  # of replacement
        ("random", "i8"),
        ("node_free", "i8"),
        ("node_fresh", "i8"),
        ("transaction_free", "i8"),
        ("transaction_fresh", "i8"),
        ("transaction_count", "i8"),
        ("miss_free", "i8"),
        ("miss_fresh", "i8"),
        ("miss_count", "i8"),
        ("access_free", "i8"),
        ("access_fresh", "i8"),
        ("access_count", "i8"),
    ],
    align=True,
)

transaction_at = record_at(TRANSACTION)
miss_at = record_at(MISS)
port_at = record_at(PORT)
slice_at = record_at(SLICE)
access_at = record_at(ACCESS)
channel_at = record_at(CHANNEL)
bank_at = record_at(BANK)
memory_at = record_at(MEMORY)


@core
def new_transaction(memory: Any) -> int:
    """Take a transaction out of the pool."""
    index = memory.transaction_free
    if index:
        memory.transaction_free = transaction_at(memory.transactions, index).next
    else:
        memory.transaction_fresh += 1
        index = memory.transaction_fresh
    memory.transaction_count += 1
    return index


@core
def free_transaction(memory: Any, index: int) -> None:
    """Give a transaction back to the pool."""
    transaction_at(memory.transactions, index).next = memory.transaction_free
    memory.transaction_free = index
    memory.transaction_count -= 1


@core
def new_miss(memory: Any) -> int:
    """Take a miss out of the pool."""
    index = memory.miss_free
    if index:
        memory.miss_free = miss_at(memory.misses, index).next
    else:
        memory.miss_fresh += 1
        index = memory.miss_fresh
    memory.miss_count += 1
    return index


@core
def free_miss(memory: Any, index: int) -> None:
    """Give a miss back to the pool."""
    miss_at(memory.misses, index).next = memory.miss_free
    memory.miss_free = index
    memory.miss_count -= 1


@core
def new_access(memory: Any) -> int:
    """Take a DRAM access out of the pool."""
    index = memory.access_free
    if index:
        memory.access_free = access_at(memory.accesses, index).next
    else:
        memory.access_fresh += 1
        index = memory.access_fresh
    memory.access_count += 1
    return index


@core
def free_access(memory: Any, index: int) -> None:
    """Give a DRAM access back to the pool."""
    access_at(memory.accesses, index).next = memory.access_free
    memory.access_free = index
    memory.access_count -= 1
