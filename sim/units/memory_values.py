"""What loads, stores and atomics do to registers and memory, at the issue of the instruction.

Addresses are checked first for every lane, so a faulting instruction changes nothing. Lanes of an
atomic take their turns in the order 0 to 31.
"""

from __future__ import annotations

from typing import Any

from ..jit import core, peek8, peek16, peek32, peek64, poke8, poke16, poke32, poke64
from ..rows import call_cell, lowest_lane
from ..state import LANES, NEVER, ROW_BYTES, allocation_at
from . import faults
from .registers import FULL, register_row, source_row

SPACES = ("global", "shared", "local", "param", "const")
GLOBAL, SHARED, LOCAL, PARAM, CONST = range(5)


@core
def fill_addresses(device: Any, sm: Any, warp: Any, code: Any, op: Any) -> None:
    """Put every lane's address into the memory operation (also of lanes that do not take part)."""
    if code.base_kind == 2:
        for lane in range(LANES):
            op.address[lane] = code.offset
        return
    if code.base_kind == 0:
        row = register_row(sm, warp, code.address_base)
    else:
        row = device.constants + code.address_base * ROW_BYTES
    if code.base_words == 2:
        for lane in range(LANES):
            high = peek32(row + ROW_BYTES + 4 * lane)
            op.address[lane] = (peek32(row + 4 * lane) | (high << 32)) + code.offset
    else:
        for lane in range(LANES):
            op.address[lane] = (peek32(row + 4 * lane) + code.offset) & 0xFFFFFFFF


@core
def lowest_highest(op: Any) -> tuple[int, int, int]:
    """The smallest and the largest address of the active lanes, and all their bits together."""
    low = NEVER
    high = -NEVER
    bits = 0
    for lane in range(LANES):
        if (op.mask >> lane) & 1:
            address = op.address[lane]
            low = min(low, address)
            high = max(high, address)
            bits |= address
    return low, high, bits


@core
def find_allocation(device: Any, address: int, last: int) -> int:
    """The allocation that holds the bytes from `address` to `last`, or -1."""
    for i in range(device.allocation_count):
        allocation = allocation_at(device.allocations, i)
        if allocation.address <= address and last < allocation.address + allocation.bytes:
            return i
    return -1


@core
def fault_lane(
    device: Any, sm: Any, warp: Any, op: Any, kind: int, low: int, high: int, size: int, time: int
) -> None:
    """Name the first active lane whose address is misaligned or outside [low, high)."""
    for lane in range(LANES):
        if (op.mask >> lane) & 1:
            address = op.address[lane]
            if kind == faults.MISALIGNED:
                bad = address & (size - 1) != 0
            else:
                bad = address < low or address + size > high
            if bad:
                faults.raise_fault(device, sm, warp, kind, lane, address, size, time)
                return


@core
def translate_global(
    device: Any, sm: Any, warp: Any, op: Any, low: int, high: int, size: int, time: int
) -> bool:
    """Host addresses of a global access; False after a fault."""
    i = find_allocation(device, low, high + size - 1)
    if i >= 0:
        allocation = allocation_at(device.allocations, i)
        delta = allocation.host - allocation.address
        for lane in range(LANES):
            sm.host[lane] = op.address[lane] + delta
        return True
    for lane in range(LANES):
        if (op.mask >> lane) & 1:
            address = op.address[lane]
            i = find_allocation(device, address, address + size - 1)
            if i < 0:
                faults.raise_fault(device, sm, warp, faults.UNMAPPED, lane, address, size, time)
                return False
            allocation = allocation_at(device.allocations, i)
            sm.host[lane] = address - allocation.address + allocation.host
    return True


@core
def translate_local(device: Any, sm: Any, spec: Any, warp: Any, op: Any, size: int) -> None:
    """Host addresses of a local access; the memory system sees its words of all lanes side by side.

    A unit is a word, or the whole of a wider access: both fill the same lines.
    """
    width = max(4, size)
    per_warp = device.local_bytes * LANES
    home = (sm.number * spec.sm_warps + warp.slot) * per_warp
    for lane in range(LANES):
        address = op.address[lane]
        sm.host[lane] = device.local + home + lane * device.local_bytes + address
        unit = address // width
        op.address[lane] = LOCAL_WINDOW + home + unit * width * LANES + width * lane + address % width


# Local memory has addresses of its own for the caches, above every allocation.
LOCAL_WINDOW = 1 << 46


@core
def translate(device: Any, sm: Any, spec: Any, warp: Any, code: Any, op: Any, time: int) -> bool:
    """Check every active lane and find where its bytes lie on the host; False after a fault."""
    size = code.element_bytes * code.vector
    low, high, bits = lowest_highest(op)
    if bits & (size - 1):
        fault_lane(device, sm, warp, op, faults.MISALIGNED, 0, 0, size, time)
        return False
    if code.space == GLOBAL:
        return translate_global(device, sm, warp, op, low, high, size, time)
    kind = faults.SHARED_BOUNDS
    limit = device.block_shared_bytes
    delta = sm.shared.ctypes.data + sm.blocks[warp.block].shared
    if code.space == LOCAL:
        kind = faults.LOCAL_BOUNDS
        limit = device.local_bytes
    elif code.space != SHARED:
        kind = faults.PARAMETER_BOUNDS
        limit = device.parameter_bytes
        delta = device.parameters
    if low < 0 or high + size > limit:
        fault_lane(device, sm, warp, op, kind, 0, limit, size, time)
        return False
    if code.space == LOCAL:
        translate_local(device, sm, spec, warp, op, size)
        return True
    for lane in range(LANES):
        sm.host[lane] = op.address[lane] + delta
    return True


@core
def read_small(host: int, size: int, signed: int) -> int:
    """One or two bytes, extended to a word."""
    if size == 1:
        value = peek8(host)
        return value - 256 if signed and value > 127 else value
    value = peek16(host)
    return value - 65536 if signed and value > 32767 else value


@core
def load(sm: Any, warp: Any, code: Any, mask: int) -> None:
    """Registers take the bytes at the lanes' host addresses, one element of the vector at a time."""
    size = code.element_bytes
    for v in range(code.vector):
        if size == 8:
            row = register_row(sm, warp, code.dest + 2 * v)
            for lane in range(LANES):
                if (mask >> lane) & 1:
                    host = sm.host[lane] + 8 * v
                    poke32(row + 4 * lane, peek32(host))
                    poke32(row + ROW_BYTES + 4 * lane, peek32(host + 4))
        elif size == 4:
            row = register_row(sm, warp, code.dest + v)
            for lane in range(LANES):
                if (mask >> lane) & 1:
                    poke32(row + 4 * lane, peek32(sm.host[lane] + 4 * v))
        else:
            row = register_row(sm, warp, code.dest + v)
            for lane in range(LANES):
                if (mask >> lane) & 1:
                    poke32(row + 4 * lane, read_small(sm.host[lane] + size * v, size, code.signed))


@core
def store(device: Any, sm: Any, warp: Any, code: Any, mask: int) -> None:
    """Memory takes the words of the source; where lanes meet, the highest lane wins."""
    size = code.element_bytes
    row = source_row(device, sm, warp, code, 0)
    for v in range(code.vector):
        for lane in range(LANES):
            if (mask >> lane) & 1:
                host = sm.host[lane] + size * v
                word = peek32(row + 4 * lane)
                if size == 4:
                    poke32(host, word)
                elif size == 8:
                    poke32(host, word)
                    poke32(host + 4, peek32(row + ROW_BYTES + 4 * lane))
                elif size == 2:
                    poke16(host, word)
                else:
                    poke8(host, word)
        row += 2 * ROW_BYTES if size == 8 else ROW_BYTES


@core
def wide_word(row: int, lane: int, size: int) -> int:
    """A lane's value of 4 or 8 bytes in the rows at `row`."""
    value = peek32(row + 4 * lane)
    if size == 8:
        value |= peek32(row + ROW_BYTES + 4 * lane) << 32
    return value


@core
def atomic(device: Any, sm: Any, warp: Any, code: Any, mask: int) -> None:
    """Each lane in its turn: the cell takes its new value, the destination the old one."""
    size = code.element_bytes
    b_row = source_row(device, sm, warp, code, 0)
    c_row = source_row(device, sm, warp, code, 1) if code.source_count > 1 else b_row
    left = mask
    while left:
        lane = lowest_lane(left)
        left &= left - 1
        host = sm.host[lane]
        old = peek64(host) if size == 8 else peek32(host)
        new = call_cell(code.function, old, wide_word(b_row, lane, size), wide_word(c_row, lane, size))
        if (new ^ old) & (-1 if size == 8 else FULL):
            device.progress += 1
        if size == 8:
            poke64(host, new)
        else:
            poke32(host, new)
        if code.dest_words:
            row = register_row(sm, warp, code.dest)
            poke32(row + 4 * lane, old)
            if size == 8:
                poke32(row + ROW_BYTES + 4 * lane, old >> 32)
