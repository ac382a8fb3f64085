"""Faults of a running program: the first one stops the launch; diagnose.fault puts it into words."""

from __future__ import annotations

from typing import Any

from ..jit import core

(
    NONE, UNMAPPED, MISALIGNED, SHARED_BOUNDS, LOCAL_BOUNDS, PARAMETER_BOUNDS, BARRIER_PLACES,
    BARRIER_COUNTS, BARRIER_DIVERGED, BARRIER_NUMBER, TRAP, BAD_RETURN, FELL_OFF, MEMBER_SELF,
    MEMBER_GUARD, BARRIER_TWICE,
) = range(16)  # fmt: skip

WORDS: dict[int, str] = {
    UNMAPPED: "address {address:#x} is outside every allocation",
    MISALIGNED: "address {address:#x} is not aligned to the {width} bytes of the access",
    SHARED_BOUNDS: "shared address {address:#x} is outside the block's {shared} bytes",
    LOCAL_BOUNDS: "local address {address:#x} is outside the thread's {local} bytes",
    PARAMETER_BOUNDS: "parameter address {address:#x} is outside the {parameters} bytes of parameters",
    BARRIER_PLACES: "threads of one block wait for the same barrier at two places",
    BARRIER_COUNTS: "the thread counts given for one barrier do not agree",
    BARRIER_DIVERGED: "a barrier with a thread count was reached by a part of a warp",
    BARRIER_NUMBER: "the thread count of a barrier is no positive multiple of 32",
    TRAP: "trap",
    BAD_RETURN: "the return address {address} is no instruction of the program",
    FELL_OFF: "the program runs past its last instruction",
    MEMBER_SELF: "the member mask {address:#010x} does not name the lane itself",
    MEMBER_GUARD: "a lane named in a member mask does not take part, its guard is false",
    BARRIER_TWICE: "a warp arrives twice in one phase of a barrier",
}


@core
def raise_fault(
    device: Any, sm: Any, warp: Any, kind: int, lane: int, address: int, other_pc: int, time: int
) -> None:
    """Remember the first fault of the launch; everything stops at the end of the cycle."""
    fault = device.fault[0]
    if fault.kind:
        return
    fault.kind = kind
    fault.sm = sm.number
    fault.warp = warp.slot
    fault.block = sm.blocks[warp.block].number
    fault.thread = warp.number * 32 + lane
    fault.lane = lane
    fault.pc = warp.pc
    fault.other_pc = other_pc
    fault.address = address
    fault.time = time
