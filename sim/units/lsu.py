"""The memory path of an SM: from the sub-cores' queues through one shared pipe to shared memory or L1.

A memory instruction stays in its sub-core's queue for `entry_cycles` at least, and a sub-core hands
one over every `dispatch_cycles`. The shared pipe takes one instruction at a time and is busy for
its wavefronts or its tag look-ups, whichever is longer (counted in quarter-cycles).
"""

from __future__ import annotations

from typing import Any

from .. import counters as C
from ..isa_numbers import ATOMIC, LOAD, SHUFFLE, STORE
from ..jit import core
from ..pieces import piece
from ..state import NEVER, QUEUE, code_at, profile_at
from . import banks, coalesce, l1, scoreboard, writeback
from .memory_values import LOCAL, SHARED


@core
def enqueue(sm: Any, spec: Any, sub: Any, index: int) -> None:
    """Put a memory instruction that has just issued into its sub-core's queue."""
    place = (sub.queue_head + sub.queue_count) % QUEUE
    sub.queue[place] = index
    sub.queue_count += 1
    if sub.queue_count == 1:
        sm.lsu_next = min(sm.lsu_next, max(head_time(sm, spec, sub), (sm.lsu_free + 3) // 4))


@core
def head_time(sm: Any, spec: Any, sub: Any) -> int:
    """The first cycle in which the sub-core could hand over its oldest memory instruction."""
    if sub.queue_count == 0:
        return NEVER
    op = sm.memops[sub.queue[sub.queue_head]]
    return max(op.issued + spec.lsu_entry_cycles, sub.dispatch_free)


@piece("lsu_step")
def step(device: Any, sm: Any, spec: Any, time: int, b: int, c: int) -> int:
    """Hand over at most one instruction, from the next sub-core in turn that has one."""
    sm.lsu_next = NEVER
    if sm.lsu_free <= 4 * time:
        for i in range(spec.sm_subcores):
            number = (sm.lsu_turn + 1 + i) % spec.sm_subcores
            sub = sm.subcores[number]
            if head_time(sm, spec, sub) <= time:
                if dispatch(device, sm, spec, sub, time):
                    sm.lsu_turn = number
                    break
                sm.lsu_blocked = 1
                return 0
    sm.lsu_blocked = 0
    first = NEVER
    for number in range(spec.sm_subcores):
        first = min(first, head_time(sm, spec, sm.subcores[number]))
    if first < NEVER:
        sm.lsu_next = max(first, (sm.lsu_free + 3) // 4, time + 1)
    return 0


@core
def dispatch(device: Any, sm: Any, spec: Any, sub: Any, time: int) -> bool:
    """Hand over the oldest memory instruction of a sub-core; False if it has to be tried again."""
    index = sub.queue[sub.queue_head]
    op = sm.memops[index]
    code = code_at(device.code, op.pc)
    if code.behaviour == SHUFFLE:
        quarters = shuffle(device, sm, spec, index, time)
    elif code.space == SHARED:
        quarters = shared(device, sm, spec, index, code, time)
    else:
        quarters = through_l1(device, sm, spec, index, code, time)
        if quarters == 0:
            return False
    quarters = max(quarters, 4 * spec.lsu_instruction_cycles)
    sm.counters[C.LSU_BUSY_QUARTERS] += quarters
    # An instruction that follows on begins where the one before ended, be it within a cycle.
    start = sm.lsu_free if sm.lsu_free > 4 * (time - 1) else 4 * time
    sm.lsu_free = start + quarters
    sub.queue_head = (sub.queue_head + 1) % QUEUE
    sub.queue_count -= 1
    gap = op.wavefronts * spec.lsu_subcore_wavefront_cycles
    sub.dispatch_free = time + max(spec.lsu_dispatch_cycles, gap)
    sub.next = min(sub.next, time)
    return True


@core
def read_sources(device: Any, sm: Any, spec: Any, op: Any, code: Any, time: int) -> None:
    """The instruction has read its registers; younger writers may go on."""
    op.dispatched = time
    warp = sm.warps[op.warp]
    scoreboard.hold_sources(warp, code, -1)
    sub = sm.subcores[op.warp % spec.sm_subcores]
    if sub.wake[op.warp // spec.sm_subcores] == NEVER and warp.live:
        writeback.wake(device, sm, spec, warp, time)


@core
def shuffle(device: Any, sm: Any, spec: Any, index: int, time: int) -> int:
    """A shuffle passes the pipe as one wavefront."""
    op = sm.memops[index]
    op.wavefronts = 1
    code = code_at(device.code, op.pc)
    read_sources(device, sm, spec, op, code, time)
    writeback.complete(device, sm, spec, index, time + spec.shared_shuffle_cycles - spec.lsu_entry_cycles)
    return 4 * spec.lsu_wavefront_cycles


@core
def count_shared(device: Any, sm: Any, op: Any, code: Any, wavefronts: int, conflicts: int) -> None:
    """Count a shared access for the SM and for its instruction."""
    first = C.SHARED_LOAD_REQUESTS
    if code.behaviour == STORE:
        first = C.SHARED_STORE_REQUESTS
    elif code.behaviour == ATOMIC:
        first = C.SHARED_ATOMIC_REQUESTS
    sm.counters[first] += 1
    sm.counters[first + 3] += wavefronts
    sm.counters[first + 6] += conflicts
    profile = profile_at(device.profile, sm.number * device.code_count + op.pc)
    profile.requests += 1
    profile.wavefronts += wavefronts
    profile.conflicts += conflicts


@core
def shared(device: Any, sm: Any, spec: Any, index: int, code: Any, time: int) -> int:
    """A shared access: its wavefronts decide how long the pipe is busy and when the data is there."""
    op = sm.memops[index]
    size = code.element_bytes * code.vector
    kind = banks.LOAD
    if code.behaviour == STORE:
        kind = banks.STORE
    elif code.behaviour == ATOMIC:
        kind = banks.ATOMIC
    wavefronts, phases = banks.wavefronts(kind, size, op)
    conflicts = wavefronts - phases
    op.wavefronts = wavefronts
    count_shared(device, sm, op, code, wavefronts, conflicts)
    read_sources(device, sm, spec, op, code, time)
    ready = time - spec.lsu_entry_cycles + conflicts * spec.shared_conflict_cycles
    if code.behaviour == ATOMIC:
        ready += spec.shared_atomic_cycles
    else:
        words = max(1, size // 4)
        ready += spec.shared_load_cycles + (words - 1) * spec.shared_word_cycles
    writeback.complete(device, sm, spec, index, ready)
    return 4 * wavefronts * spec.lsu_wavefront_cycles


@core
def count_global(device: Any, sm: Any, op: Any, code: Any, lines: int, sectors: int) -> None:
    """Count a global or local access for the SM and for its instruction."""
    if code.space == LOCAL:
        sm.counters[C.LOCAL_LOAD_REQUESTS if code.behaviour == LOAD else C.LOCAL_STORE_REQUESTS] += 1
        sm.counters[C.LOCAL_SECTORS] += sectors
    else:
        first = C.GLOBAL_LOAD_REQUESTS
        if code.behaviour == STORE:
            first = C.GLOBAL_STORE_REQUESTS
        elif code.behaviour == ATOMIC:
            first = C.GLOBAL_ATOMIC_REQUESTS
        sm.counters[first] += 1
        sm.counters[first + 3] += sectors
    profile = profile_at(device.profile, sm.number * device.code_count + op.pc)
    profile.requests += 1
    profile.lines += lines
    profile.sectors += sectors


@core
def through_l1(device: Any, sm: Any, spec: Any, index: int, code: Any, time: int) -> int:
    """A global or local access: tags, then hit, miss, or a message to L2; 0 if it must be tried again."""
    op = sm.memops[index]
    size = code.element_bytes * code.vector
    lines, sectors = coalesce.coalesce(sm, op, size)
    if code.behaviour == LOAD:
        accepted = l1.load(device, sm, spec, index, code.cache, time)
    elif code.behaviour == STORE:
        accepted = l1.store(device, sm, spec, index, time)
    else:
        accepted = l1.atomic(device, sm, spec, index, code.dest_words, time)
    if not accepted:
        return 0
    wavefronts, _ = banks.wavefronts(banks.LOAD, size, op)
    op.sectors = sectors
    op.wavefronts = wavefronts
    count_global(device, sm, op, code, lines, sectors)
    profile = profile_at(device.profile, sm.number * device.code_count + op.pc)
    profile.wavefronts += wavefronts
    read_sources(device, sm, spec, op, code, time)
    if op.remaining == 0:
        words = max(1, size // 4)
        ready = time - spec.lsu_entry_cycles + spec.l1_hit_cycles + (words - 1) * spec.l1_word_cycles
        writeback.complete(device, sm, spec, index, ready if code.behaviour == LOAD else time)
    tags = spec.l1_tag_base_quarters + spec.l1_tag_line_quarters * lines
    return max(4 * wavefronts * spec.lsu_wavefront_cycles, tags)
