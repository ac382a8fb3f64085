"""The memory side of the device: the outboxes of all SMs, L2 and DRAM, event by event in one fixed order.

In one tick the requests that arrive come first, by SM number, and then the other events in the
order in which they were scheduled. So the answers depend neither on the order in which SMs ran nor
on the windows in which time advances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import address_of, core, peek8, peek64, poke8, zeros
from ..packed import TICKS_PER_CYCLE
from ..spec import MachineSpec
from ..state import NEVER, sm_at
from . import dram, heap, l2, memory_events, network, wheel
from .coalesce import LINE_SHIFT
from .memory_records import (
    ACCESS,
    BANK,
    CHANNEL,
    MEMORY,
    MISS,
    PORT,
    SLICE,
    TRANSACTION,
    channel_at,
    free_transaction,
    memory_at,
    new_transaction,
    slice_at,
    transaction_at,
)


@core
def next_event(device: Any, spec: Any) -> int:
    """The cycle of the next event that `advance` knows of, NEVER when the memory side is idle."""
    memory = memory_at(device.memory, 0)
    time = NEVER
    if memory.arrival_count:
        time = peek64(memory.arrivals) // TICKS_PER_CYCLE
    if memory.wheel_count + memory.far_count:
        time = min(time, wheel.next_ticks(memory) // TICKS_PER_CYCLE)
    return time


@core
def advance(device: Any, spec: Any, until: int) -> None:
    """Handle every event before cycle `until`.

    The SMs must have run up to `until - network.request_cycles` at least, so that no request that
    arrives before `until` is still to be sent.
    """
    memory = memory_at(device.memory, 0)
    look_for_requests(device, memory, spec)
    limit = until * TICKS_PER_CYCLE
    while memory.arrival_count and peek64(memory.arrivals) < limit:
        now = peek64(memory.arrivals)
        run_events(device, memory, spec, now)
        memory.wheel_now = now
        take_request(device, memory, spec, peek64(memory.arrivals + 8), now)
    run_events(device, memory, spec, limit)


@core
def run_events(device: Any, memory: Any, spec: Any, limit: int) -> None:
    """Handle every event before the tick `limit`, other than arrivals."""
    while memory.wheel_count + memory.far_count:
        now = wheel.next_ticks(memory)
        if now >= limit:
            break
        handle(device, memory, spec, wheel.take(memory, now), now)


@core
def look_for_requests(device: Any, memory: Any, spec: Any) -> None:
    """Note the oldest request of each SM that has one and is not among the arrivals."""
    for number in range(spec.device_sms):
        sm = sm_at(device.sms, number)
        if sm.outbox_count and peek8(memory.queued + number) == 0:
            poke8(memory.queued + number, 1)
            heap.push(memory.arrivals, memory.arrival_count, sm.outbox[sm.outbox_head].time, number)
            memory.arrival_count += 1


@core
def handle(device: Any, memory: Any, spec: Any, what: int, now: int) -> None:
    """Let an event happen."""
    kind = memory_events.kind_of(what)
    number = memory_events.number_of(what)
    if kind == memory_events.RESPONSE:
        respond(device, memory, spec, number, now)
    elif kind == memory_events.DATA:
        l2.data_came(device, memory, spec, number, now)
    elif kind == memory_events.SERVE:
        slice_at(memory.slices, number).scheduled = 0
        l2.serve(device, memory, spec, number, now)
    elif kind == memory_events.DECIDE:
        channel_at(memory.channels, number).scheduled = 0
        dram.decide(device, memory, spec, number, now)
    elif kind == memory_events.FORWARD:
        l2.accept_home(device, memory, spec, number, now)
    else:
        l2.copy_came(device, memory, spec, number, now)


@core
def take_request(device: Any, memory: Any, spec: Any, number: int, now: int) -> None:
    """Move the oldest request of an SM from its outbox to L2."""
    sm = sm_at(device.sms, number)
    request = sm.outbox[sm.outbox_head]
    index = new_transaction(memory)
    transaction = transaction_at(memory.transactions, index)
    transaction.line = request.line
    transaction.sm = number
    transaction.kind = request.kind
    transaction.sectors = request.sectors
    transaction.name = request.id
    transaction.lanes = request.lanes
    transaction.missing = 0
    transaction.far = 0
    transaction.level = 0
    next_arrival(memory, spec, sm, number)
    l2.accept(device, memory, spec, index, now)


@core
def next_arrival(memory: Any, spec: Any, sm: Any, number: int) -> None:
    """The first arrival is that of this SM and has been taken: the SM's next request stands for it now."""
    sm.outbox_head = (sm.outbox_head + 1) % spec.network_outstanding
    sm.outbox_count -= 1
    if sm.outbox_count:
        time = sm.outbox[sm.outbox_head].time
        heap.sink(memory.arrivals, memory.arrival_count, time, number)
    else:
        poke8(memory.queued + number, 0)
        heap.pop(memory.arrivals, memory.arrival_count)
        memory.arrival_count -= 1


@core
def respond(device: Any, memory: Any, spec: Any, index: int, now: int) -> None:
    """Send the answer to a transaction to its SM; the transaction ends."""
    request = transaction_at(memory.transactions, index)
    sm = sm_at(device.sms, request.sm)
    network.answer(device, sm, spec, request.kind, request.name, request.sectors, request.level, now)
    free_transaction(memory, index)


class MemorySide:
    """The arrays of the memory side of one device; `address` is what `device.memory` has to hold.

    They live as long as this object. L2 keeps its contents from launch to launch until `flush`.
    """

    def __init__(self, spec: MachineSpec) -> None:
        """Allocate for the worst case: every SM has all its requests out, every slice all its misses."""
        self.spec = spec
        device, l2_spec = spec.device, spec.l2
        ports = 2 * l2_spec.slices
        misses = ports * l2_spec.mshrs
        accesses = 8 * misses  # each miss fetches four sectors at most, and pushes out as many dirty ones
        transactions = device.sms * spec.network.outstanding + 4 * misses
        sets = l2_spec.bytes // (l2_spec.slices * l2_spec.ways << LINE_SHIFT)
        lines = l2_spec.slices * sets * l2_spec.ways
        events = transactions + accesses + l2_spec.slices + spec.dram.channels
        buckets = 1 << (2 * misses - 1).bit_length()
        self.arrays: dict[str, np.ndarray[Any, Any]] = {
            "transactions": zeros(transactions + 1, TRANSACTION),
            "misses": zeros(misses + 1, MISS),
            "ports": zeros(ports, PORT),
            "slices": zeros(l2_spec.slices, SLICE),
            "accesses": zeros(accesses + 1, ACCESS),
            "channels": zeros(spec.dram.channels, CHANNEL),
            "banks": zeros(spec.dram.channels * spec.dram.banks, BANK),
            "nodes": zeros((events + 1) * wheel.NODE_BYTES, np.uint8),
            "slots": zeros(wheel.SLOTS * wheel.SLOT_BYTES, np.uint8),
            "words": zeros(wheel.WORDS, np.uint32),
            "groups": zeros(wheel.GROUPS, np.uint32),
            "far_events": zeros(events * wheel.FAR_BYTES, np.uint8),
            "arrivals": zeros(device.sms * heap.ENTRY_BYTES, np.uint8),
            "buckets": zeros(buckets, np.uint32),
            "tags": zeros(2 * lines, np.int64),
            "queued": zeros(device.sms, np.uint8),
        }
        self.record = zeros(1, MEMORY)
        row = self.record[0]
        for name, array in self.arrays.items():
            row[name] = address_of(array)
        row["bucket_mask"] = buckets - 1
        row["sets"] = sets
        self.address = address_of(self.record)

    def reset(self) -> None:
        """Drop every request and event, as after a launch that was broken off, and start time anew.

        The contents of L2 stay.
        """
        row = self.record[0]
        pools = {"transactions": "transaction", "misses": "miss", "accesses": "access"}
        for name, array in self.arrays.items():
            if name in pools:
                array = array[: row[pools[name] + "_fresh"] + 1]
            if name not in ("tags", "nodes", "far_events", "arrivals"):
                array[:] = np.zeros(1, array.dtype)[0]
        for name in MEMORY.names or ():
            if name.endswith(("_free", "_fresh", "_count", "_now")):
                row[name] = 0

    def begin_launch(self) -> None:
        """Make sure that nothing is left of the last launch, which may have been broken off."""
        row = self.record[0]
        if any(row[name] for name in MEMORY.names or () if name.endswith("_count")):
            self.reset()

    def flush(self) -> None:
        """Empty L2 without writing anything back."""
        self.arrays["tags"][:] = 0

    def check_idle(self) -> None:
        """Raise AssertionError unless every queue, pool and MSHR is empty, as after every launch."""
        row = self.record[0]
        for name in MEMORY.names or ():
            assert not name.endswith("_count") or row[name] == 0, f"{name} is {row[name]}, not 0"
        for name in ("head", "misses", "writes"):
            assert not self.arrays["ports"][name].any(), f"an L2 port still has {name}"
        for name in ("seen", "writes", "scheduled", "wait_head"):
            assert not self.arrays["channels"][name].any(), f"a DRAM channel still has {name}"
        assert not self.arrays["slices"]["scheduled"].any(), "an L2 slice is still scheduled"
        assert not self.arrays["queued"].any(), "an SM's request is still among the events"
        assert not self.arrays["buckets"].any(), "a miss is still in its bucket"
