"""Shared-memory banks: how many wavefronts a warp's access takes.

32 banks of 4 bytes, bank = (address / 4) mod 32. A phase is the set of lanes that the hardware
serves together; it takes as many wavefronts as the busiest bank has distinct words. The rule was
held against an H200's profiler on more than a thousand access patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...isa.errors import InputError
from ..jit import core, zeros
from ..state import LANES, MEMOP

LOAD, STORE, ATOMIC, LDMATRIX = range(4)
BANK_BYTES = 4
ROW_BYTES = 128  # 32 banks of 4 bytes
FULL = (1 << LANES) - 1


@core
def pairs_equal(op: Any, distance: int) -> bool:
    """Whether every active lane whose partner (lane xor distance) is active has the partner's address."""
    for lane in range(LANES):
        partner = lane ^ distance
        both = (op.mask >> lane) & (op.mask >> partner) & 1
        if partner > lane and both and op.address[lane] != op.address[partner]:
            return False
    return True


@core
def phase_lanes(kind: int, size: int, op: Any) -> int:
    """Neighbouring lanes that are served together, for an access of `size` bytes a lane."""
    if kind == LDMATRIX:
        return 8  # one matrix: eight rows of 16 bytes
    lanes = LANES
    if size > 8:
        lanes = 8
    elif size > 4:
        lanes = 16
    if kind == LOAD and lanes < LANES and (pairs_equal(op, 1) or pairs_equal(op, 2)):
        lanes *= 2
    return lanes


@core
def busiest(op: Any, mask: int, shift: int) -> int:
    """The most distinct units of 2**shift bytes in one bank group, over the lanes of `mask`.

    A lane's access is one naturally aligned unit of at least a word, so it fills its bank group.
    """
    groups = ROW_BYTES >> shift
    taken = 0
    units = 0
    previous = -1
    for lane in range(LANES):
        unit = op.address[lane] >> shift
        if (mask >> lane) & 1 and unit != previous:
            taken |= 1 << (unit & (groups - 1))
            units += 1
            previous = unit
    if units <= 1:
        return units
    while taken:
        taken &= taken - 1
        units -= 1
    if units == 0:  # every unit has its bank group for itself
        return 1
    return busiest_by_pairs(op, mask, shift)


@core
def busiest_by_pairs(op: Any, mask: int, shift: int) -> int:
    """`busiest` without any assumption: compares all pairs of lanes."""
    groups = ROW_BYTES >> shift
    first = 0  # lanes that are the first with their unit
    for lane in range(LANES):
        unit = op.address[lane] >> shift
        seen = 0
        for other in range(lane):
            seen |= (op.address[other] >> shift == unit) & (mask >> other)
        first |= (~seen & (mask >> lane) & 1) << lane
    return most_in_one_group(op, first, shift, groups)


@core
def most_in_one_group(op: Any, mask: int, shift: int, groups: int) -> int:
    """The most lanes of `mask` whose units fall into one bank group."""
    most = 0
    for lane in range(LANES):
        group = (op.address[lane] >> shift) & (groups - 1)
        count = 0
        for other in range(LANES):
            count += ((op.address[other] >> shift) & (groups - 1) == group) & (mask >> other)
        if (mask >> lane) & 1:
            most = max(most, count)
    return most


@core
def unit_shift(size: int) -> int:
    """log2 of the bytes that a lane takes of the banks: a word at least."""
    if size > 8:
        return 4
    return 3 if size > 4 else 2


@core
def wavefronts(kind: int, size: int, op: Any) -> tuple[int, int]:
    """(wavefronts, phases) of a memory instruction; conflicts are their difference.

    `size` is the bytes a lane moves (LDMATRIX: 4, 8 or 16 for x1, x2 or x4, whose rows the first 8,
    16 or 32 lanes point at). `op` needs `mask` and the byte addresses `address`; each address is a
    multiple of the size (LDMATRIX: of 16). A phase without an active lane costs nothing.
    """
    lanes = phase_lanes(kind, size, op)
    shift = unit_shift(size)
    mask = op.mask & FULL
    if kind == LDMATRIX:
        shift = 4
        mask &= (1 << (2 * size)) - 1
    total = 0
    phases = 0
    for start in range(0, LANES, lanes):
        part = mask & (((1 << lanes) - 1) << start)
        if part:
            phases += 1
            if kind == ATOMIC:
                total += most_in_one_group(op, part, shift, ROW_BYTES >> shift)
            else:
                total += busiest(op, part, shift)
    return total, phases


OPERATIONS = {"load": LOAD, "store": STORE, "atomic": ATOMIC, "ldmatrix": LDMATRIX}
WIDTHS = {
    "load": (8, 16, 32, 64, 128),
    "store": (8, 16, 32, 64, 128),
    "atomic": (32, 64),
    "ldmatrix": (32, 64, 128),  # bits a lane receives: x1, x2, x4
}


class BankCount(NamedTuple):
    """What a shared-memory access costs in wavefronts."""

    wavefronts: int
    phases: int
    conflicts: int


def bank_conflicts(
    operation: str, width: int, addresses: Sequence[int] | np.ndarray[Any, Any], mask: int = FULL
) -> BankCount:
    """Count the wavefronts of one warp's shared-memory access.

    `operation` is load, store, atomic or ldmatrix; `width` the bits a lane moves (ldmatrix: 32, 64,
    128 for x1, x2, x4); `addresses` 32 byte addresses, one a lane; bit i of `mask` says that lane i
    is active. Raises InputError for an unknown operation or width, another number of addresses, or
    an active lane whose address is negative or not a multiple of its width (ldmatrix: of 16 bytes).
    """
    if operation not in OPERATIONS:
        raise InputError(f"unknown operation {operation!r}", hint="one of " + ", ".join(OPERATIONS))
    if width not in WIDTHS[operation]:
        words = ", ".join(map(str, WIDTHS[operation]))
        raise InputError(f"{operation} of {width} bits does not exist", hint=f"widths: {words}")
    places = np.asarray(addresses, dtype=np.int64)
    if places.shape != (LANES,):
        raise InputError(f"{places.size} addresses for a warp of {LANES} lanes")
    unit = 16 if operation == "ldmatrix" else width // 8
    used = (1 << width // 4) - 1 if operation == "ldmatrix" else FULL
    for lane in range(LANES):
        if mask & used & (1 << lane) and (places[lane] < 0 or places[lane] % unit):
            raise InputError(f"lane {lane}: address {places[lane]} is not a multiple of {unit} bytes")
    op = zeros(1, MEMOP)[0]
    op.mask = mask & FULL
    op.address[:] = places
    total, phases = wavefronts(OPERATIONS[operation], width // 8, op)
    return BankCount(int(total), int(phases), int(total - phases))
