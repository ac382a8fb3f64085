"""The special registers: what a thread can ask about itself, its launch and the clock."""

from __future__ import annotations

import difflib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """A special register, written `%name`; type is u32 or u64."""

    name: str
    type: str
    doc: str


def _three(name: str, doc: str) -> list[SpecialRegister]:
    """The registers of a triple: x runs fastest."""
    return [SpecialRegister(f"{name}.{axis}", "u32", doc.format(axis=axis)) for axis in "xyz"]


_ALL = [
    *_three("tid", "the thread's place in its block along {axis}"),
    *_three("ntid", "threads of a block along {axis}"),
    *_three("ctaid", "the block's place in the grid along {axis}"),
    *_three("nctaid", "blocks of the grid along {axis}"),
    SpecialRegister("laneid", "u32", "the thread's lane in its warp, 0 to 31"),
    SpecialRegister("warpid", "u32", "the warp's number in its block"),
    SpecialRegister("nwarpid", "u32", "warps of a block, the last one counted even when it is ragged"),
    SpecialRegister("smid", "u32", "the SM that the block runs on; depends on the machine"),
    SpecialRegister("nsmid", "u32", "SMs of the device; depends on the machine"),
    SpecialRegister("gridid", "u32", "the launch's number"),
    SpecialRegister("clock", "u32", "the low 32 bits of the SM's cycle counter"),
    SpecialRegister("clock64", "u64", "the SM's cycle counter"),
    SpecialRegister("globaltimer", "u64", "simulated nanoseconds since the device started"),
    SpecialRegister("lanemask_eq", "u32", "one bit, at this lane"),
    SpecialRegister("lanemask_lt", "u32", "the lanes below this one"),
    SpecialRegister("lanemask_le", "u32", "the lanes up to this one"),
    SpecialRegister("lanemask_gt", "u32", "the lanes above this one"),
    SpecialRegister("lanemask_ge", "u32", "the lanes from this one up"),
]

# By name, without the percent sign; the order is that of the reference page.
SPECIAL: dict[str, SpecialRegister] = {register.name: register for register in _ALL}

# What does not depend on the machine or on time: both engines give the same value.
FIXED = frozenset(SPECIAL) - {"smid", "nsmid", "gridid", "clock", "clock64", "globaltimer"}


def nearest(name: str) -> str:
    """The special register whose name is most like `name`, or nothing."""
    close = difflib.get_close_matches(name.removeprefix("%"), SPECIAL, n=1)
    return close[0] if close else ""


def lane_mask(name: str, lane: int) -> int:
    """The value of `lanemask_eq` and its like in a lane (32 bits)."""
    below = (1 << lane) - 1
    masks = {
        "lanemask_eq": 1 << lane,
        "lanemask_lt": below,
        "lanemask_le": below | 1 << lane,
        "lanemask_gt": 0xFFFFFFFF & ~(below | 1 << lane),
        "lanemask_ge": 0xFFFFFFFF & ~below,
    }
    return masks[name]
