"""What a launch costs: an empty kernel back to back, and the time from a block's end to its successor's
start."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinygpu.validate.measure.kernel import numba_cuda
from tinygpu.validate.measure.launch import Gpu
from tinygpu.validate.measure.statistics import estimate

_READ = {"clock": "mov.u64 $0, %clock64;", "timer": "mov.u64 $0, %globaltimer;", "sm": "mov.u32 $0, %smid;"}


def reader(register: str) -> Any:
    """A device function that reads `clock` (SM cycles), `timer` (nanoseconds) or `sm` (number)."""
    numba_cuda()
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic

    kind = types.int32 if register == "sm" else types.int64
    letter = "=r" if register == "sm" else "=l"

    def read(typing):  # type: ignore[no-untyped-def]
        def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
            word = ir.FunctionType(ir.IntType(32 if register == "sm" else 64), [])
            return builder.call(
                ir.InlineAsm(word, _READ[register], letter + ",~{memory}", side_effect=True), []
            )

        return kind(), emit

    return intrinsic(read)


def empty(gpu: Gpu, repeat: int = 40, batch: int = 200) -> list[dict[str, Any]]:
    """Microseconds a launch of an empty kernel, launched back to back, for some grids (events around a
    batch)."""
    cuda = gpu.cuda

    def nothing(out):  # type: ignore[no-untyped-def]
        return

    kernel = cuda.jit(nothing)
    out = cuda.device_array(1, np.int64)
    rows = []
    for blocks, threads in ((1, 32), (132, 128), (132, 1024), (1320, 256), (13200, 256), (132000, 256)):
        samples = []
        for _ in range(repeat + 3):
            begin, end = cuda.event(), cuda.event()
            begin.record()
            for _ in range(batch):
                kernel[blocks, threads](out)
            end.record()
            end.synchronize()
            samples.append(1000.0 * cuda.event_elapsed_time(begin, end) / batch)
        rows.append(
            {"blocks": blocks, "threads": threads, "unit": "microseconds", **estimate(samples[3:]).to_dict()}
        )
    return rows


def succession(gpu: Gpu) -> list[dict[str, Any]]:
    """Blocks that fill an SM one after another: cycles from a block's last clock read to its successor's
    first.

    Also the spread of the first blocks' starts over the device, in nanoseconds of the global timer, and the
    number of blocks that an SM held at once.
    """
    cuda = gpu.cuda
    clock, timer, smid = reader("clock"), reader("timer"), reader("sm")

    def blocks(out, spin):  # type: ignore[no-untyped-def]
        begin = clock()
        now = timer()
        while clock() - begin < spin:
            pass
        if cuda.threadIdx.x == 0:
            row = cuda.blockIdx.x
            out[row, 1] = now
            out[row, 2] = smid()
            out[row, 3] = timer()
            out[row, 0] = begin
            out[row, 4] = clock()

    kernel = cuda.jit(blocks)
    rows = []
    for threads in (32, 128, 256, 512, 1024):
        grid = 132 * (2048 // max(threads, 64)) * 4
        out = cuda.device_array((grid, 5), np.int64)
        for _ in range(3):
            kernel[grid, threads](out, 20000)
            cuda.synchronize()
        rows.append({"threads": threads, "blocks": grid, **_gaps(out.copy_to_host())})
    return rows


def _gaps(table: np.ndarray[Any, Any]) -> dict[str, Any]:
    gaps, held = [], []
    for sm in np.unique(table[:, 2]):
        mine = table[table[:, 2] == sm]
        begins, ends = np.sort(mine[:, 0]), np.sort(mine[:, 4])
        resident = int((begins < ends[0]).sum())
        held.append(resident)
        gaps += list((begins[resident:] - ends[: len(begins) - resident]).astype(float))
    starts = np.sort(table[:, 1])[: sum(held)]
    return {
        "resident": int(np.median(held)),
        "unit": "cycles",
        "first_wave_ns": int(starts[-1] - starts[0]),
        **estimate(gaps).to_dict(),
    }
