"""Issue of one instruction: its values now, its time to the scoreboard, its warp on to the next."""

from __future__ import annotations

from typing import Any

from .. import counters as C
from .. import isa_numbers as B
from ..jit import core
from ..pieces import caller, piece
from ..rows import call_row, pack_mask, popcount
from ..state import NOT_SELECTED, ROW_BYTES, SELECTED, WAIT, code_at, profile_at
from . import accounting, divergence, faults, frontend, registers, scoreboard, special

LAST_VALUE = B.SPECIAL  # behaviours up to here produce values and go on to the next instruction

issue_memory = caller("memory")
issue_warp_wide = caller("warp_wide")
issue_control = caller("control")
try_retire = caller("retire")


@piece("issue")
def issue(device: Any, sm: Any, spec: Any, slot: int, time: int, c: int) -> int:
    """The scheduler has picked the warp in this cycle."""
    warp = sm.warps[slot]
    sub = sm.subcores[slot % spec.sm_subcores]
    code = code_at(device.code, warp.pc)
    local = warp.slot // spec.sm_subcores
    accounting.book_until(device, sm, sub, warp, local, time)
    accounting.book(device, sm, warp, SELECTED, time, time + 1)
    warp.since = time + 1
    sub.state[local] = NOT_SELECTED
    mask = warp.active
    if code.guard >= 0:
        mask &= registers.predicate_value(warp, code.guard, code.guard_negated)
    count(device, sm, sub, warp, code, mask)
    registers.collect(spec, sub, code, warp.slot, time)
    sub.last = warp.slot
    sub.port_free = time + code.port_cycles
    sub.pipe_free[code.pipe] = time + code.issue_cycles
    warp.wait_until = time + 1
    warp.wait_state = WAIT
    old = warp.pc
    if code.behaviour <= LAST_VALUE:
        if values(device, sm, spec, sub, warp, code, mask, time):
            divergence.go(spec, warp, old + 1)
    else:
        issue_control(device, sm, spec, slot, mask, time)
    if warp.live == 0:
        try_retire(device, sm, spec, slot, time + 1, 0)
        return 0
    if warp.active:
        if warp.pc >= device.code_count:
            warp.pc = old
            faults.raise_fault(device, sm, warp, faults.FELL_OFF, 0, 0, 0, time)
            return 0
        frontend.follow(device, sm, spec, sub, warp, old, time)
    scoreboard.refresh(device, spec, sub, warp, local)
    return 0


@core
def count(device: Any, sm: Any, sub: Any, warp: Any, code: Any, mask: int) -> None:
    """Count an issue for the SM, the scheduler and the instruction."""
    lanes = popcount(warp.active)
    sub.issued += 1
    sm.counters[C.WARP_INSTRUCTIONS] += 1
    sm.counters[C.THREAD_INSTRUCTIONS] += lanes
    sm.counters[C.THREAD_INSTRUCTIONS_ON] += popcount(mask)
    if code.timing == 0:
        sm.counters[C.FP32_OPERATIONS] += 1
    profile = profile_at(device.profile, sm.number * device.code_count + warp.pc)
    profile.issued += 1
    profile.lanes += lanes


@core
def values(device: Any, sm: Any, spec: Any, sub: Any, warp: Any, code: Any, mask: int, time: int) -> bool:
    """Carry out an instruction that goes on to the next one; False if the warp has to wait first."""
    behaviour = code.behaviour
    if behaviour == B.COMPUTE:
        if mask:
            compute(device, sm, warp, code, mask)
        scoreboard.result_fixed(warp, code, spec.bypass_guard_extra_cycles, time)
        return True
    if behaviour == B.SPECIAL:
        special.read(device, sm, spec, warp, code, mask, time)
        scoreboard.result_fixed(warp, code, spec.bypass_guard_extra_cycles, time)
        return True
    if mask == 0:
        return True
    if behaviour <= B.ATOMIC:
        issue_memory(device, sm, spec, warp.slot, mask, time)
        return True
    return issue_warp_wide(device, sm, spec, warp.slot, mask, time) != 0


@core
def compute(device: Any, sm: Any, warp: Any, code: Any, mask: int) -> None:
    """Run the row function of the opcode over all lanes, and merge its result under the mask."""
    out = registers.scratch(sm, registers.OUTPUT_ROW)
    a = registers.source_row(device, sm, warp, code, 0)
    b = a
    c = a
    d = a
    if code.source_count > 1:
        b = registers.source_row(device, sm, warp, code, 1)
        if code.source_count > 2:
            c = registers.source_row(device, sm, warp, code, 2)
            if code.source_count > 3:
                d = registers.source_row(device, sm, warp, code, 3)
    call_row(code.function, out, a, b, c, d)
    for word in range(code.dest_words):
        registers.write_row(sm, warp, code.dest + word, out + word * ROW_BYTES, mask)
    if code.dest_predicate >= 0:
        registers.write_predicate(warp, code.dest_predicate, pack_mask(out), mask)
