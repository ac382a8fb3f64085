"""Between an SM and L2: the SM's request port, the way there, the way back, the SM's response port.

Requests leave an SM in order, one at a time; a response takes its bytes of the SM's response port.
No response reaches an SM earlier than `response_cycles` after the request came to L2, and no
request comes to L2 earlier than `request_cycles` after it was made: windows rest on both.
"""

from __future__ import annotations

from typing import Any

from .. import counters as C
from ..jit import core
from ..packed import TICKS_PER_CYCLE
from ..state import READ, RESPONSE, SM, WRITE, field_offset
from . import heap
from .coalesce import SECTOR_BYTES, sector_count

INBOX_OFFSET = field_offset(SM, "inbox")
SM_BYTES = SM.itemsize
assert RESPONSE.itemsize == heap.ENTRY_BYTES


@core
def inbox_address(device: Any, sm: Any) -> int:
    """Where the heap of an SM's responses lies."""
    return device.sms + sm.number * SM_BYTES + INBOX_OFFSET


@core
def room(sm: Any, spec: Any) -> int:
    """How many more requests the SM may have unanswered."""
    return spec.network_outstanding - sm.requests_out


@core
def send(sm: Any, spec: Any, kind: int, entry: Any, sectors: int, name: int, time: int) -> None:
    """Put a request for sectors of the coalesced line `entry` into the outbox at cycle `time`.

    `name` comes back in the answer. The caller has made sure of `room`.
    """
    place = (sm.outbox_head + sm.outbox_count) % spec.network_outstanding
    request = sm.outbox[place]
    count = sector_count(sectors)
    cycles = spec.network_request_packet_cycles
    if kind != READ:
        cycles += count * spec.network_request_sector_cycles
    leaves = max(time, sm.port_free)
    sm.port_free = leaves + cycles
    request.time = (leaves + spec.network_request_cycles) * TICKS_PER_CYCLE
    request.line = entry.line
    request.sm = sm.number
    request.kind = kind
    request.sectors = sectors
    request.id = name
    request.lanes = entry.contention
    request.bytes = entry.bytes
    sm.outbox_count += 1
    sm.requests_out += 1
    count_request(sm, kind, count)


@core
def count_request(sm: Any, kind: int, sectors: int) -> None:
    """Count a request packet and its sectors."""
    sm.counters[C.L2_REQUESTS] += 1
    if kind == READ:
        sm.counters[C.L2_READ_SECTORS] += sectors
    elif kind == WRITE:
        sm.counters[C.L2_WRITE_SECTORS] += sectors
    else:
        sm.counters[C.L2_ATOMIC_SECTORS] += sectors


@core
def pack(sequence: int, kind: int, name: int, sectors: int, level: int) -> int:
    """What a response says, below its sequence number."""
    return sequence << 32 | name << 16 | level << 8 | sectors << 4 | kind


@core
def kind_of(order: int) -> int:
    """READ, WRITE, ATOMIC or REDUCTION."""
    return order & 15


@core
def sectors_of(order: int) -> int:
    """The sectors that came."""
    return order >> 4 & 15


@core
def level_of(order: int) -> int:
    """The deepest level that served it: 2 L2, 3 far L2, 4 DRAM."""
    return order >> 8 & 255


@core
def name_of(order: int) -> int:
    """The `name` that the request was sent with."""
    return order >> 16 & 0xFFFF


@core
def answer(
    device: Any, sm: Any, spec: Any, kind: int, name: int, sectors: int, level: int, ticks: int
) -> int:
    """Send a response that is ready at L2 at `ticks`; the cycle in which the SM has all of it.

    Stores and reductions are answered by an acknowledgement, which carries no data.
    """
    data = sector_count(sectors) * SECTOR_BYTES
    if kind & 1:  # WRITE or REDUCTION
        data = spec.network_acknowledge_bytes
    begin = max(ticks, sm.response_free)
    end = begin + -(-data * TICKS_PER_CYCLE // spec.network_response_bytes_per_cycle)
    sm.response_free = end
    arrival = -(-end // TICKS_PER_CYCLE) + spec.network_response_cycles
    order = pack(sm.response_sequence, kind, name, sectors, level)
    heap.push(inbox_address(device, sm), sm.inbox_count, arrival, order)
    sm.inbox_count += 1
    sm.response_sequence += 1
    return arrival
