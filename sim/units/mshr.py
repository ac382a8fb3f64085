"""Miss status holding registers of an SM: lines on the way, and who waits for which sectors."""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..state import MSHR_BUCKETS, WAITERS_MAX
from . import cache


@core
def bucket_of(line: int) -> int:
    """The hash bucket of a line."""
    return cache.mix(line) & (MSHR_BUCKETS - 1)


@core
def find(sm: Any, line: int) -> int:
    """The MSHR of a line, 0 for none."""
    index = sm.mshr_buckets[bucket_of(line)]
    while index and sm.mshrs[index].line != line:
        index = sm.mshrs[index].next
    return index


@core
def allocate(sm: Any, line: int, bypass: bool) -> int:
    """A new MSHR for a line; one that bypasses L1 cannot be found by others."""
    index = sm.mshr_free
    if index:
        sm.mshr_free = sm.mshrs[index].next
    else:
        sm.mshr_fresh += 1
        index = sm.mshr_fresh
    sm.mshr_count += 1
    holder = sm.mshrs[index]
    holder.line = line
    holder.asked = 0
    holder.came = 0
    holder.waiters = 0
    holder.count = 0
    holder.bypass = 1 if bypass else 0
    holder.next = 0
    if not bypass:
        bucket = bucket_of(line)
        holder.next = sm.mshr_buckets[bucket]
        sm.mshr_buckets[bucket] = index
    return index


@core
def free(sm: Any, index: int) -> None:
    """All that was asked has come: take the MSHR out of its bucket."""
    holder = sm.mshrs[index]
    if holder.bypass == 0:
        bucket = bucket_of(holder.line)
        other = sm.mshr_buckets[bucket]
        if other == index:
            sm.mshr_buckets[bucket] = holder.next
        else:
            while sm.mshrs[other].next != index:
                other = sm.mshrs[other].next
            sm.mshrs[other].next = holder.next
    holder.next = sm.mshr_free
    sm.mshr_free = index
    sm.mshr_count -= 1


@core
def waiters_fit(sm: Any, count: int) -> bool:
    """Whether that many more can wait."""
    return sm.waiter_count + count <= WAITERS_MAX


@core
def wait(sm: Any, index: int, memop: int, sectors: int) -> None:
    """A memory instruction waits for sectors of the line, behind those that do already."""
    waiter = sm.waiter_free
    if waiter:
        sm.waiter_free = sm.waiters[waiter].next
    else:
        sm.waiter_fresh += 1
        waiter = sm.waiter_fresh
    sm.waiter_count += 1
    sm.waiters[waiter].memop = memop
    sm.waiters[waiter].sectors = sectors
    sm.waiters[waiter].next = 0
    holder = sm.mshrs[index]
    holder.count += 1
    if holder.waiters == 0:
        holder.waiters = waiter
        return
    last = holder.waiters
    while sm.waiters[last].next:
        last = sm.waiters[last].next
    sm.waiters[last].next = waiter


@core
def leave(sm: Any, index: int, waiter: int, previous: int) -> None:
    """Take a waiter out; `previous` is the one before it, 0 if it is the first."""
    following = sm.waiters[waiter].next
    if previous:
        sm.waiters[previous].next = following
    else:
        sm.mshrs[index].waiters = following
    sm.mshrs[index].count -= 1
    sm.waiters[waiter].next = sm.waiter_free
    sm.waiter_free = waiter
    sm.waiter_count -= 1
