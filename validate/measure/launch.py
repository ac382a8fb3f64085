"""Runs benchmark kernels on the GPU present, and turns stamps into cycles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tinygpu.validate.measure import device, global_memory
from tinygpu.validate.measure.body import Body
from tinygpu.validate.measure.kernel import compiled, numba_cuda
from tinygpu.validate.measure.statistics import elapsed, span

PRIMABLE = 1 << 25
"""Bytes that surely fit L2."""

WARM = 4
"""Repetitions at the start of every launch that are thrown away: caches fill, instructions arrive."""


@dataclass(frozen=True, slots=True)
class Point:
    """One launch shape of a body: warps a block, blocks, loop counts, byte offset of each lane, two
    numbers.

    `table` repeats over the threads of the grid; None means all zero, `"linear"` means thread times `step`
    bytes. `iters` are the loop counts to run with: two of them where a slope is taken. `reps` repetitions
    are kept of each launch; `gap` cycles pass between them. `prime` bytes from the start of the buffer are
    read before the launch where they fit L2; where they do not, other memory is read, so that none of them
    is in L2. `label` holds what the record prints.
    """

    label: dict[str, Any] = field(default_factory=dict)
    warps: int = 1
    blocks: int = 1
    iters: tuple[int, ...] = (1,)
    table: tuple[int, ...] | None = None
    step: int = 0
    pa: int = 0
    pb: int = 0
    reps: int = 32
    gap: int = 2000
    prime: int = 0

    def offsets(self) -> NDArray[np.int64]:
        """Byte offset of each thread, repeating: int64 of at least 32 entries."""
        if self.step:
            return np.arange(self.warps * self.blocks * 32, dtype=np.int64) * self.step
        if self.table is None:
            return np.zeros(32, dtype=np.int64)
        return np.array(self.table, dtype=np.int64)


class Gpu:
    """The GPU present: compiled kernels by body, and one buffer of `size` bytes that experiments share.

    MissingError when there is no GPU, or no numba-cuda.
    """

    def __init__(self, size: int) -> None:
        device.query()
        self.cuda = numba_cuda()
        self.size = size
        self.buffer = self.cuda.device_array(size // 8, np.int64)
        self.address = int(self.buffer.__cuda_array_interface__["data"][0])
        self._kernels: dict[str, Any] = {}

    def randomize(self) -> None:
        """Fills the buffer with random bits, 64 MB repeated: zeros would measure a kinder memory."""
        chunk = np.random.default_rng(7).integers(-(1 << 62), 1 << 62, 1 << 23, dtype=np.int64)
        piece = self.cuda.to_device(chunk)
        for start in range(0, self.size // 8, len(chunk)):
            self.buffer[start : start + len(chunk)].copy_to_device(piece[: self.size // 8 - start])

    def prime(self, size: int) -> None:
        """Brings the first `size` bytes into L2, or, if they are too many, fills L2 with the end of the
        buffer."""
        flush = 1 << 28
        first, size = (0, size) if size <= PRIMABLE else (self.size - flush - (1 << 24), flush)
        share = 16 * 32 * 32 * 132
        body = global_memory.stream(128, 4)
        point = Point(
            warps=32, blocks=132, step=16, pa=share, pb=(1 << size.bit_length()) - 1, reps=1 - WARM, gap=0
        )
        self.run(body, point, -(-size // (4 * share)), first)

    def fill(self, values: NDArray[np.int64]) -> None:
        """Copies int64 `values` to the start of the buffer."""
        self.buffer[: len(values)].copy_to_device(values)

    def kernel(self, body: Body) -> Any:
        """The body's kernel, compiled once."""
        key = body.digest()
        if key not in self._kernels:
            self._kernels[key] = compiled(body)
        return self._kernels[key]

    def registers(self, body: Body) -> int:
        """Registers a thread of the body's kernel."""
        used = self.kernel(body).get_regs_per_thread()
        return int(used if isinstance(used, int) else next(iter(used.values())))

    def run(self, body: Body, point: Point, iters: int, first: int = 0) -> NDArray[np.uint32]:
        """Stamps of one launch on the buffer from byte `first`: uint32 of shape (reps, rows, columns); rows
        are warps or lanes."""
        if point.prime:
            self.prime(point.prime)
        threads = point.warps * 32
        rows = point.blocks * (threads if body.every_lane else point.warps)
        reps = point.reps + WARM
        out = self.cuda.device_array((reps, rows, body.columns), np.uint32)
        table = self.cuda.to_device(point.offsets())
        start = int(out.__cuda_array_interface__["data"][0])
        arguments = (table, self.address + first, start, 0, iters, reps, point.gap, point.pa, point.pb)
        self.kernel(body)[point.blocks, threads](*arguments)
        self.cuda.synchronize()
        return out.copy_to_host()[WARM:]  # type: ignore[no-any-return]


def latencies(body: Body, stamps: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Cycles an operation from the last two parts, which differ only in their number of operations."""
    k = len(body.parts) - 1
    short = elapsed(stamps[..., k - 1], stamps[..., k])
    long = elapsed(stamps[..., k], stamps[..., k + 1])
    each: NDArray[np.float64] = (long - short) / (body.counts[k] - body.counts[k - 1])
    means: NDArray[np.float64] = each.mean(axis=1)
    return means


def spans(body: Body, stamps: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Cycles from the first warp's start to the last warp's end, of shape (reps, SMs)."""
    sm = stamps[0, :, body.stamps]
    begin, end = stamps[..., 0], stamps[..., len(body.parts)]
    return np.stack([span(begin[:, sm == s], end[:, sm == s]) for s in np.unique(sm)], axis=1)


def intervals(body: Body, stamps: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Cycles between successive stamps of every row: shape (reps, rows, parts)."""
    return elapsed(stamps[..., : len(body.parts)], stamps[..., 1 : len(body.parts) + 1])
