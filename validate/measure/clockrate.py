"""The SM clock while kernels run: spinning, reading DRAM, copying; bytes a second."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tinygpu.validate.measure.launch import Gpu
from tinygpu.validate.measure.launching import reader
from tinygpu.validate.measure.statistics import estimate

WORDS = 1 << 28
"""64-bit words that a pass reads: 2 GB, many times L2."""

SHAPE = (132 * 2, 1024)
REPEAT = 30


def rate(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """MHz of each block, from a row of cycles and nanoseconds at its start, then at its end."""
    cycles, nanoseconds = table[:, 2] - table[:, 0], table[:, 3] - table[:, 1]
    megahertz: NDArray[np.float64] = 1000.0 * cycles / nanoseconds
    return megahertz


def under_load(gpu: Gpu) -> list[dict[str, Any]]:
    """For each load: MHz of the SM clock, and GB/s from the first block's start to the last one's end."""
    cuda = gpu.cuda
    clock, timer = reader("clock"), reader("timer")

    def spin(data, out, words):  # type: ignore[no-untyped-def]
        begin, since = clock(), timer()
        while clock() - begin < 1000000:
            pass
        _note(out, begin, since)

    def read(data, out, words):  # type: ignore[no-untyped-def]
        begin, since = clock(), timer()
        step = cuda.gridDim.x * cuda.blockDim.x
        total = 0
        for i in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, words, 4 * step):
            total += data[i] + data[i + step] + data[i + 2 * step] + data[i + 3 * step]
        if total == 77:
            out[0, 0] = total
        _note(out, begin, since)

    def copy(data, out, words):  # type: ignore[no-untyped-def]
        begin, since = clock(), timer()
        step = cuda.gridDim.x * cuda.blockDim.x
        half = words // 2
        for i in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, half, step):
            data[half + i] = data[i]
        _note(out, begin, since)

    def note(out, begin, since):  # type: ignore[no-untyped-def]
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            row = cuda.blockIdx.x
            out[row, 0], out[row, 1] = begin, since
            out[row, 2], out[row, 3] = clock(), timer()

    _note = cuda.jit(note, device=True)
    return [_measure(gpu, kernel, name) for name, kernel in (("spin", spin), ("read", read), ("copy", copy))]


def _measure(gpu: Gpu, function: Any, name: str) -> dict[str, Any]:
    kernel = gpu.cuda.jit(function)
    out = gpu.cuda.device_array((SHAPE[0], 4), np.int64)
    steps = WORDS // (4 * SHAPE[0] * SHAPE[1])
    words = steps * 4 * SHAPE[0] * SHAPE[1]
    clocks, rates = [], []
    for _ in range(REPEAT + 2):
        kernel[SHAPE](gpu.buffer, out, words)
        gpu.cuda.synchronize()
        table = out.copy_to_host()
        clocks.append(float(np.median(rate(table))))
        rates.append(8.0 * words / float(table[:, 3].max() - table[:, 1].min()))
    moved = {} if name == "spin" else {"gb_s": estimate(rates[2:]).to_dict()}
    return {"load": name, "sm_mhz": estimate(clocks[2:]).to_dict(), **moved}
