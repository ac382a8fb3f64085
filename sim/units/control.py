"""Issue of instructions that decide where, when and whether a warp goes on."""

from __future__ import annotations

from typing import Any

from .. import counters as C
from .. import isa_numbers as B
from ..jit import core, peek32
from ..pieces import piece
from ..rows import fill_row, lowest_lane
from ..state import BRANCH_RESOLVING, LANES, MEMBAR, NEVER, SLEEPING, code_at
from . import barriers, divergence, faults, registers, retire, scoreboard
from .warp_wide import executing, together, wait_for_others


@piece("control")
def control(device: Any, sm: Any, spec: Any, slot: int, mask: int, time: int) -> int:
    """Carry out an instruction that decides where, when and whether its warp goes on."""
    warp = sm.warps[slot]
    code = code_at(device.code, warp.pc)
    behaviour = code.behaviour
    pc = warp.pc
    if behaviour == B.BRANCH:
        branch(device, sm, spec, warp, code, mask, time)
    elif behaviour == B.CALL:
        call(device, sm, spec, warp, code, mask, time)
    elif behaviour == B.RET:
        ret(device, sm, spec, warp, code, mask, time)
    elif behaviour == B.EXIT:
        leave(device, sm, spec, warp, mask, time)
    elif mask == 0:
        divergence.go(spec, warp, pc + 1)
    elif behaviour == B.BARRIER:
        barrier(device, sm, spec, warp, code, mask, time)
    elif behaviour == B.WARP_BARRIER:
        if together(device, sm, spec, warp, code, 0, time):
            warp.wait_until = time + code.latency_cycles
            divergence.go(spec, warp, pc + 1)
    else:
        rest(device, sm, spec, warp, code, mask, time)
    return 0


@core
def rest(device: Any, sm: Any, spec: Any, warp: Any, code: Any, mask: int, time: int) -> None:
    """Fence, nanosleep, trap, nop."""
    if code.behaviour == B.FENCE:
        warp.wait_until = max(time + code.latency_cycles, warp.memory_until)
        warp.wait_state = MEMBAR
        if warp.stores_out or warp.memory_out:
            warp.fence = 1
            warp.depend_until = NEVER
            warp.depend_state = MEMBAR
    elif code.behaviour == B.SLEEP:
        row = registers.source_row(device, sm, warp, code, 0)
        longest = 0
        for lane in range(LANES):
            if (mask >> lane) & 1:
                longest = max(longest, peek32(row + 4 * lane))
        warp.wait_until = time + max(1, int(longest * spec.device_clock_mhz / 1000))
        warp.wait_state = SLEEPING
    elif code.behaviour == B.TRAP:
        faults.raise_fault(device, sm, warp, faults.TRAP, lowest_lane(mask), 0, 0, time)
    divergence.go(spec, warp, warp.pc + 1)


@core
def branch(device: Any, sm: Any, spec: Any, warp: Any, code: Any, mask: int, time: int) -> None:
    """Lanes whose guard holds go to the target, the others fall through."""
    sm.counters[C.BRANCHES] += 1
    warp.wait_until = time + spec.issue_branch_stall_cycles
    warp.wait_state = BRANCH_RESOLVING
    if mask and code.target <= warp.pc:
        count_spins(device, warp, code)
    if mask == 0:
        divergence.go(spec, warp, warp.pc + 1)
    elif mask == warp.active:
        divergence.go(spec, warp, code.target)
    else:
        sm.counters[C.DIVERGENT_BRANCHES] += 1
        divergence.part(spec, warp, mask, code.target, code.reconverge)
    if code.polling and mask and warp.active:
        divergence.yield_turn(spec, warp)


@core
def count_spins(device: Any, warp: Any, code: Any) -> None:
    """Count how often the warp has polled since anything changed, for the watchdog of the engine."""
    if code.polling != 1 or warp.spun_at != device.progress:
        warp.spun_at = device.progress
        warp.spins = 0
    warp.spins += code.polling == 1


@core
def call(device: Any, sm: Any, spec: Any, warp: Any, code: Any, mask: int, time: int) -> None:
    """Lanes whose guard holds keep the next instruction's index and go to the function."""
    out = registers.scratch(sm, registers.OUTPUT_ROW)
    fill_row(out, warp.pc + 1)
    registers.write_row(sm, warp, code.dest, out, mask)
    scoreboard.result_fixed(warp, code, spec.bypass_guard_extra_cycles, time)
    branch(device, sm, spec, warp, code, mask, time)


@core
def ret(device: Any, sm: Any, spec: Any, warp: Any, code: Any, mask: int, time: int) -> None:
    """Lanes go where their register says; each place at a time parts from the rest."""
    sm.counters[C.BRANCHES] += 1
    warp.wait_until = time + spec.issue_branch_stall_cycles
    warp.wait_state = BRANCH_RESOLVING
    row = registers.source_row(device, sm, warp, code, 0)
    stay = warp.active & ~mask
    group = warp.group
    pc = warp.pc
    if stay:
        divergence.place(warp, pc + 1, stay, group)
    places = 0
    left = mask
    while left:
        lane = lowest_lane(left)
        target = peek32(row + 4 * lane)
        if target >= device.code_count:
            faults.raise_fault(device, sm, warp, faults.BAD_RETURN, lane, target, 0, time)
            return
        same = 0
        for other in range(LANES):
            if (left >> other) & 1 and peek32(row + 4 * other) == target:
                same |= 1 << other
        left &= ~same
        places += 1
        divergence.place(warp, target, same, group)
    if places + (1 if stay else 0) > 1:
        sm.counters[C.DIVERGENT_BRANCHES] += 1
    divergence.select(spec, warp)


@core
def leave(device: Any, sm: Any, spec: Any, warp: Any, mask: int, time: int) -> None:
    """Lanes whose guard holds end; the others go on."""
    pc = warp.pc
    if mask:
        stay = warp.active & ~mask
        retire.exit_lanes(device, sm, spec, warp, mask, time)
        if stay:
            divergence.go(spec, warp, pc + 1)
    else:
        divergence.go(spec, warp, pc + 1)


@core
def barrier(device: Any, sm: Any, spec: Any, warp: Any, code: Any, mask: int, time: int) -> None:
    """bar.sync waits for the others, bar.arrive (mode 1) only counts; lanes guarded off go on."""
    threads = 0
    if code.barrier_count >= 0:
        # A counted barrier is for whole warps: lanes that have parted come together first.
        if mask == warp.active and mask != warp.live:
            if not divergence.gather(warp, warp.live):
                wait_for_others(spec, warp, divergence.SYNC, warp.pc, time)
                return
            mask = executing(warp, code)
        row = registers.source_row(device, sm, warp, code, code.barrier_count)
        threads = peek32(row + 4 * lowest_lane(mask))
        if threads == 0 or threads % LANES:
            faults.raise_fault(device, sm, warp, faults.BARRIER_NUMBER, lowest_lane(mask), threads, 0, time)
    barriers.arrive(device, sm, spec, warp, code.constant, threads, mask, time)
    slot = warp.block
    stay = warp.active & ~mask
    if code.mode == 1:
        divergence.go(spec, warp, warp.pc + 1)
    elif stay:
        divergence.push(warp, warp.pc + 1, mask, warp.group, code.constant)
        warp.active = stay
        divergence.go(spec, warp, warp.pc + 1)
    else:
        wait_for_others(spec, warp, code.constant, warp.pc + 1, time)
    barriers.check_all(device, sm, spec, slot, time)
