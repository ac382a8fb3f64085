"""Lines that L2 slices wait for: found by a hash of line and port, each with its waiting requests."""

from __future__ import annotations

from typing import Any

from ..jit import core, peek32, poke32
from . import cache
from .memory_records import free_miss, miss_at, new_miss, port_at, transaction_at


@core
def bucket_address(memory: Any, port: int, line: int) -> int:
    """Where the first miss of a hash bucket is noted."""
    return memory.buckets + 4 * ((cache.mix(line) ^ port) & memory.bucket_mask)


@core
def find(memory: Any, port: int, line: int) -> int:
    """The miss of a line at a port, 0 for none."""
    index = peek32(bucket_address(memory, port, line))
    while index:
        miss = miss_at(memory.misses, index)
        if miss.line == line and miss.port == port:
            break
        index = miss.next
    return index


@core
def allocate(memory: Any, port: int, line: int) -> int:
    """A new miss of a line at a port."""
    index = new_miss(memory)
    miss = miss_at(memory.misses, index)
    miss.line = line
    miss.port = port
    miss.asked = 0
    miss.came = 0
    miss.head = 0
    miss.tail = 0
    bucket = bucket_address(memory, port, line)
    miss.next = peek32(bucket)
    poke32(bucket, index)
    port_at(memory.ports, port).misses += 1
    return index


@core
def free(memory: Any, index: int) -> None:
    """All that was asked has come: the miss leaves its bucket and its port."""
    miss = miss_at(memory.misses, index)
    bucket = bucket_address(memory, miss.port, miss.line)
    other = peek32(bucket)
    if other == index:
        poke32(bucket, miss.next)
    else:
        while miss_at(memory.misses, other).next != index:
            other = miss_at(memory.misses, other).next
        miss_at(memory.misses, other).next = miss.next
    port_at(memory.ports, miss.port).misses -= 1
    free_miss(memory, index)


@core
def wait(memory: Any, index: int, transaction: int) -> None:
    """A transaction waits for the line, behind those that do already."""
    miss = miss_at(memory.misses, index)
    transaction_at(memory.transactions, transaction).next = 0
    if miss.head:
        transaction_at(memory.transactions, miss.tail).next = transaction
    else:
        miss.head = transaction
    miss.tail = transaction
