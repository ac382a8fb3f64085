"""Issue of instructions in which lanes of a warp meet: shuffle, vote, match, redux, warp barrier.

A lane waits until every lane that its member mask names has come to the instruction or has exited
(the rule since Volta). Lanes of one path with different masks are different meetings.
"""

from __future__ import annotations

from typing import Any

from .. import isa_numbers as B
from ..jit import core, peek32
from ..pieces import piece
from ..rows import lowest_lane
from ..state import BARRIER, LANES, NEVER, code_at
from . import collective, divergence, faults, lsu, registers, scoreboard, writeback


@piece("warp_wide")
def warp_wide(device: Any, sm: Any, spec: Any, slot: int, mask: int, time: int) -> int:
    """Carry out a warp-wide instruction; 0 if its path has to wait for other lanes first."""
    warp = sm.warps[slot]
    sub = sm.subcores[slot % spec.sm_subcores]
    code = code_at(device.code, warp.pc)
    if code.constant >= 0:
        if not together(device, sm, spec, warp, code, code.constant, time):
            return 0
        mask = executing(warp, code)
        meet(device, sm, warp, code, mask, time)
    else:
        collective.vote(sm, warp, code, mask)
    if code.behaviour == B.SHUFFLE:
        index = writeback.allocate(sm, warp, mask, time)
        scoreboard.result_pending(warp, code)
        scoreboard.hold_sources(warp, code, 1)
        lsu.enqueue(sm, spec, sub, index)
    else:
        scoreboard.result_fixed(warp, code, spec.bypass_guard_extra_cycles, time)
    return 1


@core
def executing(warp: Any, code: Any) -> int:
    """Lanes of the running path whose guard holds."""
    if code.guard < 0:
        return warp.active
    return warp.active & registers.predicate_value(warp, code.guard, code.guard_negated)


@core
def meet(device: Any, sm: Any, warp: Any, code: Any, mask: int, time: int) -> None:
    """The lanes with one and the same member mask do it together, one such party after another."""
    row = registers.source_row(device, sm, warp, code, code.constant)
    left = mask
    while left:
        named = peek32(row + 4 * lowest_lane(left))
        party = 0
        for lane in range(LANES):
            if (left >> lane) & 1 and peek32(row + 4 * lane) == named:
                party |= 1 << lane
        left &= ~party
        act(device, sm, warp, code, party)


@core
def act(device: Any, sm: Any, warp: Any, code: Any, party: int) -> None:
    """What the lanes of one meeting compute."""
    if code.behaviour == B.SHUFFLE:
        if collective.shuffle(device, sm, warp, code, party):
            device.stale_shuffles += 1
            device.stale_pc = warp.pc
    elif code.behaviour == B.VOTE:
        collective.vote(sm, warp, code, party)
    elif code.behaviour == B.MATCH:
        collective.match(device, sm, warp, code, party)
    elif code.behaviour == B.REDUX:
        collective.reduce(device, sm, warp, code, party)


@core
def named_lanes(device: Any, sm: Any, warp: Any, code: Any, operand: int, time: int) -> int:
    """All lanes that the executing lanes name; each has to name itself, and nobody who is guarded off."""
    row = registers.source_row(device, sm, warp, code, operand)
    mask = executing(warp, code)
    needed = 0
    for lane in range(LANES):
        if (mask >> lane) & 1:
            named = peek32(row + 4 * lane)
            if not (named >> lane) & 1:
                faults.raise_fault(device, sm, warp, faults.MEMBER_SELF, lane, named, 0, time)
            needed |= named
    needed &= warp.live
    off = needed & warp.active & ~mask
    if off:
        faults.raise_fault(device, sm, warp, faults.MEMBER_GUARD, lowest_lane(off), needed, 0, time)
    return needed


@core
def together(device: Any, sm: Any, spec: Any, warp: Any, code: Any, operand: int, time: int) -> bool:
    """Whether all named lanes run as one path; if not, this path waits for the others."""
    needed = named_lanes(device, sm, warp, code, operand, time)
    while needed & ~warp.active:
        if not divergence.gather(warp, needed):
            wait_for_others(spec, warp, divergence.SYNC, warp.pc, time)
            return False
        needed = named_lanes(device, sm, warp, code, operand, time)
    return True


@core
def wait_for_others(spec: Any, warp: Any, barrier: int, pc: int, time: int) -> None:
    """Park the running path; what the warp waits for is booked as barrier if no other path can run."""
    divergence.park(spec, warp, barrier, pc)
    if warp.active == 0:
        warp.depend_until = NEVER
        warp.depend_state = BARRIER
