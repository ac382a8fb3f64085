"""The memory side of the device: the outboxes of all SMs, L2 and DRAM, event by event in one fixed order.

Events of one tick are handled by kind, then by number; an SM's requests arrive in the order in
which it sent them. So the answers depend neither on the order in which SMs ran nor on the windows
in which time advances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import address_of, core, peek8, poke8, zeros
from ..packed import TICKS_PER_CYCLE
from ..spec import MachineSpec
from ..state import NEVER, OUTBOX, sm_at
from . import cache, dram, heap, l2, memory_events, network
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
    if memory.event_count == 0:
        return NEVER
    return memory_events.first_time(memory) // TICKS_PER_CYCLE


@core
def advance(device: Any, spec: Any, until: int) -> None:
    """Handle every event before cycle `until`.

    The SMs must have run up to `until - network.request_cycles` at least, so that no request that
    arrives before `until` is still to be sent.
    """
    memory = memory_at(device.memory, 0)
    look_for_requests(device, memory, spec)
    limit = until * TICKS_PER_CYCLE
    while memory.event_count:
        now = memory_events.first_time(memory)
        if now >= limit:
            break
        handle(device, memory, spec, memory_events.first_order(memory), now)


@core
def look_for_requests(device: Any, memory: Any, spec: Any) -> None:
    """Make an event of the oldest request of each SM that has one and is not among the events."""
    for number in range(spec.device_sms):
        sm = sm_at(device.sms, number)
        if sm.outbox_count and peek8(memory.queued + number) == 0:
            poke8(memory.queued + number, 1)
            time = sm.outbox[sm.outbox_head].time
            memory_events.schedule(memory, memory_events.ARRIVAL, number, time)


@core
def handle(device: Any, memory: Any, spec: Any, order: int, now: int) -> None:
    """Let the first event happen."""
    kind = order >> memory_events.KIND_SHIFT
    number = order & ((1 << memory_events.KIND_SHIFT) - 1)
    if kind == memory_events.ARRIVAL:
        take_request(device, memory, spec, number, now)
        return
    memory_events.drop_first(memory)
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
    """Move the oldest request of an SM from its outbox to L2; the event is then its next request's."""
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
    sm.outbox_head = (sm.outbox_head + 1) % OUTBOX
    sm.outbox_count -= 1
    if sm.outbox_count:
        memory_events.delay_first(memory, sm.outbox[sm.outbox_head].time)
    else:
        poke8(memory.queued + number, 0)
        memory_events.drop_first(memory)
    l2.accept(device, memory, spec, index, now)


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
        events = transactions + accesses + device.sms + l2_spec.slices + spec.dram.channels
        buckets = 1 << (2 * misses - 1).bit_length()
        self.arrays: dict[str, np.ndarray[Any, Any]] = {
            "transactions": zeros(transactions + 1, TRANSACTION),
            "misses": zeros(misses + 1, MISS),
            "ports": zeros(ports, PORT),
            "slices": zeros(l2_spec.slices, SLICE),
            "accesses": zeros(accesses + 1, ACCESS),
            "channels": zeros(spec.dram.channels, CHANNEL),
            "banks": zeros(spec.dram.channels * spec.dram.banks, BANK),
            "events": zeros(events * heap.ENTRY_BYTES, np.uint8),
            "buckets": zeros(buckets, np.uint32),
            "tags": zeros(lines * cache.STORE_BYTES, np.uint8),
            "queued": zeros(device.sms, np.uint8),
        }
        self.record = zeros(1, MEMORY)
        row = self.record[0]
        for name, array in self.arrays.items():
            row[name] = address_of(array)
        row["bucket_mask"] = buckets - 1
        row["sets"] = sets
        row["lines"] = lines
        self.address = address_of(self.record)

    def reset(self) -> None:
        """Drop every request and event, as after a launch that was broken off, and start time anew.

        The contents of L2 stay.
        """
        row = self.record[0]
        for name, array in self.arrays.items():
            used = row[name[:-1] + "_fresh"] + 1 if name in ("transactions", "misses") else len(array)
            if name == "accesses":
                used = row["access_fresh"] + 1
            if name not in ("tags", "events"):
                array[:used] = np.zeros(1, array.dtype)[0]
        row["event_count"] = 0
        for name in ("transaction", "miss", "access"):
            for field in ("free", "fresh", "count"):
                row[f"{name}_{field}"] = 0

    def flush(self) -> None:
        """Empty L2 without writing anything back."""
        self.arrays["tags"][:] = 0

    def check_idle(self) -> None:
        """Raise AssertionError unless every queue, pool and MSHR is empty, as after every launch."""
        row = self.record[0]
        for name in ("event_count", "transaction_count", "miss_count", "access_count"):
            assert row[name] == 0, f"{name} is {row[name]}, not 0"
        for name in ("head", "misses", "writes"):
            assert not self.arrays["ports"][name].any(), f"an L2 port still has {name}"
        for name in ("seen", "writes", "scheduled", "wait_head"):
            assert not self.arrays["channels"][name].any(), f"a DRAM channel still has {name}"
        assert not self.arrays["slices"]["scheduled"].any(), "an L2 slice is still scheduled"
        assert not self.arrays["queued"].any(), "an SM's request is still among the events"
        assert not self.arrays["buckets"].any(), "a miss is still in its bucket"
