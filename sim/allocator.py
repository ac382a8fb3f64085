"""Device memory: allocations at 64-bit addresses with guard gaps, and the bytes of kernel parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..isa.errors import LaunchError, LimitError
from ..isa.program import Program
from .jit import address_of, zeros
from .state import ALLOCATION

BASE = 0x7F0000000000
ALIGNMENT = 512  # of cudaMalloc
GUARD = 512  # bytes between two allocations that belong to nobody

_SCALARS = {
    "s8": "<i1", "u8": "<u1", "s16": "<i2", "u16": "<u2", "s32": "<i4", "u32": "<u4", "b32": "<u4",
    "s64": "<i8", "u64": "<u8", "b64": "<u8", "f16": "<f2", "f32": "<f4", "f64": "<f8",
}  # fmt: skip


@dataclass(frozen=True)
class Allocation:
    """`data` is device memory itself: uint8, C-contiguous, seen by kernels at `address`."""

    name: str
    address: int
    data: NDArray[np.uint8]


class Allocator:
    """Hands out device addresses in order; nothing is reused, so a stale address always faults."""

    def __init__(self, capacity: int) -> None:
        """capacity: bytes of device memory."""
        self.capacity = capacity
        self.used = 0
        self._next = BASE
        self.live: dict[int, Allocation] = {}

    def allocate(self, name: str, size: int) -> Allocation:
        """Zeroed memory of `size` bytes. Raises LimitError when the device is full."""
        if self.used + size > self.capacity:
            raise LimitError(
                f"no room for {name}: {size} bytes wanted, {self.capacity - self.used} free",
                hint=f"the device has {self.capacity} bytes",
            )
        found = Allocation(name, self._next, np.zeros(size, dtype=np.uint8))
        self._next += -(-(size + GUARD) // ALIGNMENT) * ALIGNMENT
        self.used += size
        self.live[found.address] = found
        return found

    def free(self, allocation: Allocation) -> None:
        """Give memory back. Raises LaunchError when it is not allocated."""
        if self.live.pop(allocation.address, None) is None:
            raise LaunchError(f"{allocation.name} is not allocated (freed twice?)")
        self.used -= allocation.data.nbytes


def allocation_table(allocations: Mapping[str, Allocation]) -> NDArray[Any]:
    """What the core checks addresses against, one ALLOCATION record each."""
    table = zeros(max(len(allocations), 1), ALLOCATION)
    for row, allocation in zip(table, allocations.values(), strict=False):
        row.address, row.bytes = allocation.address, allocation.data.nbytes
        row.host = address_of(allocation.data)
    return table[: max(len(allocations), 1)]


def parameter_bytes(program: Program, arguments: Mapping[str, Any], addresses: Mapping[str, int]) -> bytes:
    """The parameter space of a launch. Raises LaunchError for a missing or unfit argument."""
    space = bytearray(program.parameter_bytes)
    for parameter in program.parameters:
        if parameter.type.startswith("ptr"):
            value: Any = addresses[parameter.name]
            piece = int(value).to_bytes(8, "little")
        else:
            value = arguments[parameter.name]
            try:
                piece = np.asarray(value).astype(_SCALARS[parameter.type]).tobytes()
            except (ValueError, TypeError, OverflowError) as error:
                raise LaunchError(f"argument {parameter.name}: {value!r} is no {parameter.type}") from error
        space[parameter.offset : parameter.offset + len(piece)] = piece
    return bytes(space)
