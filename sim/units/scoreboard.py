"""When a warp's next instruction may issue: an interlock over its registers and predicates.

Read after write and write after write wait for the producer, write after read for the memory
instruction that has yet to read the register. A producer of fixed latency leaves the cycle at
which its result is there; one of variable latency is counted in `writers` until it completes.
"""

from __future__ import annotations

from typing import Any

from .. import isa_numbers as B
from ..jit import core
from ..spec import PIPES
from ..state import NEVER, SHORT_SCOREBOARD, WAIT, code_at

FMA = PIPES.index("fma")
INT = PIPES.index("int")


@core
def producer_code(pipe: int, state: int) -> int:
    """What `warp.producer` keeps of a register's producer: its pipe, and how a wait is called."""
    return (pipe + 1) | (state << 4)


@core
def extra_cycles(spec: Any, producer: int, code: Any) -> int:
    """Cycles beyond the producer's latency until this consumer may issue (the bypass rules)."""
    pipe = (producer & 15) - 1
    if pipe < 0 or producer >> 4 != WAIT:
        return 0
    if code.queued or code.behaviour == B.LOAD or code.behaviour == B.BARRIER:
        return spec.bypass_address_extra_cycles
    if (pipe == FMA and code.pipe == INT) or (pipe == INT and code.pipe == FMA):
        return spec.bypass_cross_pipe_extra_cycles
    return 0


@core
def await_source(spec: Any, warp: Any, code: Any, register: int, words: int) -> None:
    """Raise depend_until to when `words` registers from `register` can be read by the instruction."""
    for r in range(register, register + words):
        producer = warp.producer[r]
        until = NEVER if warp.writers[r] else warp.ready[r] + extra_cycles(spec, producer, code)
        if until > warp.depend_until:
            warp.depend_until = until
            warp.depend_state = producer >> 4


@core
def await_dest(warp: Any, code: Any) -> None:
    """Raise depend_until to when the destination may be written: older reads and writes first."""
    for r in range(code.dest, code.dest + code.dest_words):
        state = warp.producer[r] >> 4
        if warp.writers[r]:
            until = NEVER
        elif warp.readers[r]:
            until = NEVER
            state = SHORT_SCOREBOARD
        else:
            # Results of one register arrive in program order.
            until = warp.ready[r] - code.latency_cycles + 1
        if until > warp.depend_until:
            warp.depend_until = until
            warp.depend_state = state


@core
def await_predicates(warp: Any, code: Any) -> None:
    """Raise depend_until to when guard, predicate sources and predicate destinations are free."""
    if code.guard >= 0:
        await_predicate(warp, code, code.guard)
    for i in range(code.source_count):
        if code.source_kind[i] == 2:
            await_predicate(warp, code, code.source[i])
    if code.dest_predicate >= 0:
        until = warp.predicate_ready[code.dest_predicate]
        if until < NEVER:
            until += 1 - code.latency_cycles
        if until > warp.depend_until:
            warp.depend_until = until
            warp.depend_state = warp.predicate_state[code.dest_predicate]


@core
def await_predicate(warp: Any, code: Any, predicate: int) -> None:
    """Raise depend_until to when the instruction can read a predicate."""
    until = warp.predicate_guard[predicate] if code.guard_late else warp.predicate_ready[predicate]
    if until > warp.depend_until:
        warp.depend_until = until
        warp.depend_state = warp.predicate_state[predicate]


@core
def refresh(device: Any, spec: Any, sub: Any, warp: Any, local: int) -> None:
    """Find when the instruction at the warp's pc could issue, and tell the scheduler."""
    if warp.active == 0 or warp.fence:
        sub.wake[local] = NEVER
        return
    code = code_at(device.code, warp.pc)
    warp.depend_until = 0
    for i in range(code.source_count):
        if code.source_kind[i] == 0:
            await_source(spec, warp, code, code.source[i], code.source_words[i])
    if code.base_kind == 0:
        await_source(spec, warp, code, code.address_base, code.base_words)
    if code.dest_words:
        await_dest(warp, code)
    await_predicates(warp, code)
    sub.wake[local] = max(warp.wait_until, warp.fetch_until, warp.depend_until)


@core
def result_fixed(warp: Any, code: Any, guard_extra: int, time: int) -> None:
    """An instruction of fixed latency issued at `time`: when its results can be used."""
    ready = time + code.latency_cycles
    for r in range(code.dest, code.dest + code.dest_words):
        warp.ready[r] = ready
        warp.producer[r] = producer_code(code.pipe, code.scoreboard)
    if code.dest_predicate >= 0:
        warp.predicate_ready[code.dest_predicate] = ready
        warp.predicate_guard[code.dest_predicate] = ready + guard_extra
        warp.predicate_state[code.dest_predicate] = code.scoreboard


@core
def result_pending(warp: Any, code: Any) -> None:
    """An instruction of variable latency issued: its destination is not there until it completes."""
    for r in range(code.dest, code.dest + code.dest_words):
        warp.writers[r] += 1
        warp.producer[r] = producer_code(0, code.scoreboard)
    if code.dest_predicate >= 0:
        warp.predicate_ready[code.dest_predicate] = NEVER
        warp.predicate_guard[code.dest_predicate] = NEVER
        warp.predicate_state[code.dest_predicate] = code.scoreboard


@core
def hold_sources(warp: Any, code: Any, change: int) -> None:
    """A queued instruction will read its registers later (+1), or has read them now (-1)."""
    for i in range(code.source_count):
        if code.source_kind[i] == 0:
            for r in range(code.source[i], code.source[i] + code.source_words[i]):
                warp.readers[r] = int(warp.readers[r]) + change
    if code.base_kind == 0:
        for r in range(code.address_base, code.address_base + code.base_words):
            warp.readers[r] = int(warp.readers[r]) + change
