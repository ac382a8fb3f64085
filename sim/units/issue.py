"""Issue of one instruction: its values now, its time to the scoreboard, its warp on to the next."""

from __future__ import annotations

from typing import Any

from .. import counters as C
from .. import isa_numbers as B
from ..jit import core, peek32
from ..pieces import caller, piece
from ..rows import call_row, lowest_lane, pack_mask, popcount
from ..state import (
    BARRIER,
    BRANCH_RESOLVING,
    LANES,
    MEMBAR,
    NEVER,
    NOT_SELECTED,
    ROW_BYTES,
    SELECTED,
    SLEEPING,
    WAIT,
    code_at,
    profile_at,
)
from . import (
    accounting,
    barriers,
    collective,
    divergence,
    faults,
    frontend,
    lsu,
    memory_values,
    registers,
    retire,
    scoreboard,
    special,
    writeback,
)

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
        frontend.follow(device, sm, spec, sub, warp, old, warp.pc, time)
    scoreboard.refresh(device, spec, sub, warp, local)
    return 0


@core
def count(device: Any, sm: Any, sub: Any, warp: Any, code: Any, mask: int) -> None:
    """Count an issue for the SM, the scheduler and the instruction."""
    lanes = popcount(mask)
    sub.issued += 1
    sm.counters[C.WARP_INSTRUCTIONS] += 1
    sm.counters[C.THREAD_INSTRUCTIONS] += lanes
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


@piece("memory")
def memory(device: Any, sm: Any, spec: Any, slot: int, mask: int, time: int) -> int:
    """Loads, stores and atomics: values now, then into the queue (constants answer at once)."""
    warp = sm.warps[slot]
    sub = sm.subcores[slot % spec.sm_subcores]
    code = code_at(device.code, warp.pc)
    index = writeback.allocate(sm, warp, mask, time)
    op = sm.memops[index]
    memory_values.fill_addresses(device, sm, warp, code, op)
    if not memory_values.translate(device, sm, spec, warp, code, op, time):
        writeback.free(sm, index)
        return 0
    if code.behaviour == B.LOAD:
        memory_values.load(sm, warp, code, mask)
    elif code.behaviour == B.STORE:
        memory_values.store(device, sm, warp, code, mask)
    else:
        memory_values.atomic(device, sm, warp, code, mask)
    scoreboard.result_pending(warp, code)
    if code.queued:
        scoreboard.hold_sources(warp, code, 1)
        lsu.enqueue(sm, spec, sub, index)
    else:
        sm.counters[C.CONSTANT_REQUESTS] += 1
        op.dispatched = time
        writeback.complete(device, sm, spec, index, time + spec.l1_constant_cycles)
    return 0


@piece("warp_wide")
def warp_wide(device: Any, sm: Any, spec: Any, slot: int, mask: int, time: int) -> int:
    """Shuffle, vote, match, redux: first all lanes that the member mask names have to be here."""
    warp = sm.warps[slot]
    sub = sm.subcores[slot % spec.sm_subcores]
    code = code_at(device.code, warp.pc)
    if code.constant >= 0 and not together(device, sm, spec, warp, code, code.constant, time):
        return 0
    mask = warp.active
    if code.guard >= 0:
        mask &= registers.predicate_value(warp, code.guard, code.guard_negated)
    if code.behaviour == B.SHUFFLE:
        if collective.shuffle(device, sm, warp, code, mask):
            device.stale_shuffles += 1
            device.stale_pc = warp.pc
        index = writeback.allocate(sm, warp, mask, time)
        scoreboard.result_pending(warp, code)
        scoreboard.hold_sources(warp, code, 1)
        lsu.enqueue(sm, spec, sub, index)
        return 1
    if code.behaviour == B.VOTE:
        collective.vote(sm, warp, code, mask)
    elif code.behaviour == B.MATCH:
        collective.match(device, sm, warp, code, mask)
    else:
        collective.reduce(device, sm, warp, code, mask)
    scoreboard.result_fixed(warp, code, spec.bypass_guard_extra_cycles, time)
    return 1


@core
def together(device: Any, sm: Any, spec: Any, warp: Any, code: Any, operand: int, time: int) -> bool:
    """Whether the lanes of the member mask run as one path; if not, this path waits for the others."""
    needed = collective.member_lanes(device, sm, warp, code, operand) & warp.live
    if needed & ~warp.active == 0:
        return True
    if divergence.gather(warp, needed):
        return True
    wait_for_others(spec, warp, divergence.SYNC, warp.pc, time)
    return False


@core
def wait_for_others(spec: Any, warp: Any, barrier: int, pc: int, time: int) -> None:
    """Park the running path; what the warp waits for is booked as barrier if no other path can run."""
    divergence.park(spec, warp, barrier, pc)
    if warp.active == 0:
        warp.depend_until = NEVER
        warp.depend_state = BARRIER


@piece("control")
def control(device: Any, sm: Any, spec: Any, slot: int, mask: int, time: int) -> int:
    """Carry out an instruction that decides where, when and whether its warp goes on."""
    warp = sm.warps[slot]
    code = code_at(device.code, warp.pc)
    behaviour = code.behaviour
    pc = warp.pc
    if behaviour == B.BRANCH:
        branch(sm, spec, warp, code, mask, time)
    elif behaviour == B.CALL:
        call(sm, spec, warp, code, mask, time)
    elif behaviour == B.RET:
        ret(device, sm, spec, warp, code, mask, time)
    elif behaviour == B.EXIT:
        leave(device, sm, spec, warp, mask, time)
    elif mask == 0:
        divergence.go(spec, warp, pc + 1)
    elif behaviour == B.BARRIER:
        barrier(device, sm, spec, warp, code, time)
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
        warp.wait_until = time + code.latency_cycles
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
def branch(sm: Any, spec: Any, warp: Any, code: Any, mask: int, time: int) -> None:
    """Lanes whose guard holds go to the target, the others fall through."""
    sm.counters[C.BRANCHES] += 1
    warp.wait_until = time + spec.issue_branch_stall_cycles
    warp.wait_state = BRANCH_RESOLVING
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
def call(sm: Any, spec: Any, warp: Any, code: Any, mask: int, time: int) -> None:
    """Lanes whose guard holds keep the next instruction's index and go to the function."""
    out = registers.scratch(sm, registers.OUTPUT_ROW)
    registers.fill_row(out, warp.pc + 1)
    registers.write_row(sm, warp, code.dest, out, mask)
    scoreboard.result_fixed(warp, code, spec.bypass_guard_extra_cycles, time)
    branch(sm, spec, warp, code, mask, time)


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
        if stay:
            # The path goes on before the books of the others are settled.
            retire.exit_lanes(device, sm, spec, warp, mask, time)
            divergence.go(spec, warp, pc + 1)
        else:
            retire.exit_lanes(device, sm, spec, warp, mask, time)
    else:
        divergence.go(spec, warp, pc + 1)


@core
def barrier(device: Any, sm: Any, spec: Any, warp: Any, code: Any, time: int) -> None:
    """bar.sync waits for the others, bar.arrive (mode 1) only counts."""
    threads = 0
    if code.barrier_count >= 0:
        row = registers.source_row(device, sm, warp, code, code.barrier_count)
        threads = peek32(row + 4 * lowest_lane(warp.active))
        if threads == 0 or threads % LANES:
            lane = lowest_lane(warp.active)
            faults.raise_fault(device, sm, warp, faults.BARRIER_NUMBER, lane, threads, 0, time)
    barriers.arrive(device, sm, spec, warp, code.constant, threads, time)
    slot = warp.block
    if code.mode == 1:
        divergence.go(spec, warp, warp.pc + 1)
    else:
        wait_for_others(spec, warp, code.constant, warp.pc + 1, time)
    barriers.check_all(device, sm, spec, slot, time)
