"""Special registers: what a thread, a warp and an SM know of themselves, and the clocks."""

from __future__ import annotations

from typing import Any

from ..jit import core, poke32
from ..rows import fill_row
from ..state import LANES, ROW_BYTES
from .registers import OUTPUT_ROW, scratch, write_row

# In the order of `NAMES`; decode.py gives an instruction the number of its register.
NAMES = (
    "tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "ctaid.y", "ctaid.z",
    "nctaid.x", "nctaid.y", "nctaid.z", "laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid",
    "clock", "clock64", "globaltimer", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_ge",
    "lanemask_gt",
)  # fmt: skip


@core
def thread_value(device: Any, warp: Any, number: int, lane: int) -> int:
    """A register that differs from lane to lane."""
    thread = warp.number * LANES + lane
    if number == 0:
        return thread % device.block_x
    if number == 1:
        return thread // device.block_x % device.block_y
    if number == 2:
        return thread // (device.block_x * device.block_y)
    if number == 12:
        return lane
    below = (1 << lane) - 1
    if number == 21:
        return 1 << lane
    if number == 22:
        return below
    if number == 23:
        return (below << 1) | 1
    if number == 24:
        return 0xFFFFFFFF & ~below
    return 0xFFFFFFFE & ~(below << 1)


@core
def shape_value(device: Any, block: Any, number: int) -> int:
    """Block and grid: the same for all threads of a block."""
    if number == 3:
        return device.block_x
    if number == 4:
        return device.block_y
    if number == 5:
        return device.block_z
    if number == 6:
        return block.x
    if number == 7:
        return block.y
    if number == 8:
        return block.z
    if number == 9:
        return device.grid_x
    return device.grid_y if number == 10 else device.grid_z


@core
def machine_value(device: Any, sm: Any, spec: Any, warp: Any, number: int, time: int) -> int:
    """The warp's place in the machine, and time."""
    if number == 13:
        return warp.number
    if number == 14:
        return device.block_warps
    if number == 15:
        return sm.number
    if number == 16:
        return spec.device_sms
    if number == 17:
        return device.launches
    if number == 20:
        return int(time * 1000 / spec.device_clock_mhz)
    return time


@core
def read(device: Any, sm: Any, spec: Any, warp: Any, code: Any, mask: int, time: int) -> None:
    """Put a special register into the destination of the instruction."""
    out = scratch(sm, OUTPUT_ROW)
    number = code.mode
    if number <= 2 or number == 12 or number >= 21:
        for lane in range(LANES):
            poke32(out + 4 * lane, thread_value(device, warp, number, lane))
        high = 0
    else:
        if number <= 11:
            value = shape_value(device, sm.blocks[warp.block], number)
        else:
            value = machine_value(device, sm, spec, warp, number, time)
        fill_row(out, value & 0xFFFFFFFF)
        high = value >> 32
    write_row(sm, warp, code.dest, out, mask)
    if code.dest_words == 2:
        fill_row(out + ROW_BYTES, high)
        write_row(sm, warp, code.dest + 1, out + ROW_BYTES, mask)
