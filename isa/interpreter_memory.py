"""The memory that the reference interpreter works on: allocations at addresses, and their limits."""

from __future__ import annotations

import bisect
from collections.abc import Iterable
from typing import Any

from .errors import InputError, TinygpuError

Buffer = Any  # a bytearray, or a C-contiguous NumPy array of any type


class AccessError(TinygpuError):
    """An access that no allocation allows; the interpreter turns it into a FaultError."""


class Memory:
    """Global memory: allocations `(address, buffer, name)`, changed in place by a launch.

    Buffers are bytearrays or C-contiguous arrays; they may not overlap. Raises InputError.
    """

    def __init__(self, allocations: Iterable[tuple[int, Buffer, str]] = ()) -> None:
        """Take the allocations; the buffers stay the caller's and see every store."""
        rows = [(int(address), memoryview(buffer), name) for address, buffer, name in allocations]
        rows.sort(key=lambda row: row[0])
        self._views = [view.cast("B") if view.nbytes else memoryview(bytearray()) for _, view, _ in rows]
        self._starts = [address for address, _, _ in rows]
        self._names = [name for _, _, name in rows]
        for index in range(1, len(rows)):
            if self._starts[index - 1] + len(self._views[index - 1]) > self._starts[index]:
                raise InputError(f"allocations {self._names[index - 1]} and {self._names[index]} overlap")

    def _place(self, address: int, size: int, action: str) -> tuple[memoryview, int]:
        """The buffer and the offset in it of an access that is allowed."""
        index = bisect.bisect_right(self._starts, address) - 1
        if index >= 0:
            offset = address - self._starts[index]
            view = self._views[index]
            if offset + size <= len(view):
                if address % size:
                    raise AccessError(_misaligned("global", address, size, action))
                return view, offset
        raise AccessError(
            f"{size}-byte {action} of global address {address:#x} lies outside of every allocation",
            hint=self._nearest(address),
        )

    def _nearest(self, address: int) -> str:
        """Where the nearest allocation lies, in words."""
        if not self._starts:
            return "there is no allocation at all"
        spans = zip(self._names, self._starts, self._views, strict=True)

        def distance(span: tuple[str, int, memoryview]) -> int:
            _, start, view = span
            return max(start - address, address - start - len(view), 0)

        name, start, view = min(spans, key=distance)
        if address < start:
            return f"{name} begins {start - address} bytes further, at {start:#x}"
        return f"{name} ({len(view)} bytes at {start:#x}): the access begins at its byte {address - start}"

    def load(self, address: int, size: int) -> int:
        """`size` bytes as an unsigned number, little endian; raises AccessError."""
        view, offset = self._place(address, size, "load")
        return int.from_bytes(view[offset : offset + size], "little")

    def store(self, address: int, size: int, bits: int) -> None:
        """Store an unsigned number of `size` bytes; raises AccessError."""
        view, offset = self._place(address, size, "store")
        if view.readonly:
            raise AccessError(f"{size}-byte store to read-only memory at {address:#x}")
        view[offset : offset + size] = bits.to_bytes(size, "little")


class Window:
    """A space with addresses from 0: shared, local, or the constant bank with the parameters."""

    def __init__(self, name: str, data: bytearray | bytes) -> None:
        """`name` is for messages; a `bytes` object makes the space read-only."""
        self.name = name
        self.data = data

    def _check(self, address: int, size: int, action: str) -> None:
        if address + size > len(self.data):
            raise AccessError(
                f"{size}-byte {action} of {self.name} address {address:#x} lies outside of the space",
                hint=f"the {self.name} space of this kernel has {len(self.data)} bytes",
            )
        if address % size:
            raise AccessError(_misaligned(self.name, address, size, action))

    def load(self, address: int, size: int) -> int:
        """`size` bytes as an unsigned number, little endian; raises AccessError."""
        self._check(address, size, "load")
        return int.from_bytes(self.data[address : address + size], "little")

    def store(self, address: int, size: int, bits: int) -> None:
        """Store an unsigned number of `size` bytes; raises AccessError."""
        self._check(address, size, "store")
        assert isinstance(self.data, bytearray)  # the table has no store to a read-only space
        self.data[address : address + size] = bits.to_bytes(size, "little")


def _misaligned(space: str, address: int, size: int, action: str) -> str:
    return f"misaligned {size}-byte {action}: {space} address {address:#x} is no multiple of {size}"
