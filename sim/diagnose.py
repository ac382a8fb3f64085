"""Faults, deadlocks and warnings in words: which block, thread and line, and who waits for whom."""

from __future__ import annotations

from typing import Any

from ..isa.errors import DeadlockError, Diagnostic, FaultError
from ..isa.program import Program
from .machine_state import MachineState
from .state import RUNNING, STATES
from .units import divergence, faults


def line_of(program: Program, pc: int) -> str:
    """`file:line: text` of an instruction."""
    if not 0 <= pc < len(program.instructions):
        return f"instruction {pc}"
    where = program.instructions[pc].source_line
    if where is None:
        return f"instruction {pc}"
    return f"{where.file}:{where.line}: {where.text.strip()}"


def located(program: Program, pc: int, message: str) -> str:
    """A finding at an instruction as a compiler would print it: place, line, caret."""
    where = program.instructions[pc].source_line if 0 <= pc < len(program.instructions) else None
    if where is None:
        return f"instruction {pc}: error: {message}"
    text = where.text.rstrip()
    width = len(text.split("//")[0].rstrip()) - where.column + 1
    return Diagnostic(where.file, where.line, where.column, message, text, width).render()


def thread_of(thread: int, block: tuple[int, int, int]) -> str:
    """A linear thread number as (x, y, z)."""
    return f"({thread % block[0]}, {thread // block[0] % block[1]}, {thread // (block[0] * block[1])})"


def fault(state: MachineState, program: Program, block: tuple[int, int, int]) -> FaultError:
    """The error of the launch's first fault."""
    record, row = state.device[0].fault[0], state.device[0]
    text = faults.WORDS[int(record.kind)].format(
        address=int(record.address),
        width=int(record.other_pc),
        shared=int(row.block_shared_bytes),
        local=int(row.local_bytes),
        parameters=int(row.parameter_bytes),
    )
    grid = (int(row.grid_x), int(row.grid_y), int(row.grid_z))
    message = located(program, int(record.pc), f"fault: {text}") + (
        f"\n    block {thread_of(int(record.block), grid)}, thread {thread_of(int(record.thread), block)}, "
        f"lane {int(record.lane)}, SM {int(record.sm)}, cycle {int(record.time) - int(row.started)}"
    )
    if record.kind in (faults.BARRIER_PLACES, faults.BARRIER_COUNTS):
        message += f"\n    the others wait at {line_of(program, int(record.other_pc))}"
    return FaultError(message, hint=_hint(state, record))


def _hint(state: MachineState, record: Any) -> str:
    """For an address outside of everything: the nearest allocation."""
    if record.kind != faults.UNMAPPED:
        return ""
    names = state.allocation_names
    address, nearest, best = int(record.address), "", None
    for name, start, size in names:
        distance = max(start - address, address - (start + size) + 1, 0)
        if best is None or distance < best:
            best = distance
            nearest = f"it is {start - address} bytes before {name}"
            if address >= start:
                nearest = f"it is byte {address - start} of {name}, which has {size} bytes"
    return nearest


def _paths(warp: Any) -> list[tuple[int, int, str]]:
    """(pc, lanes, what it waits for) of every path of a warp that cannot run."""
    found = []
    for i in range(int(warp.split_count)):
        split = warp.splits[i]
        if split.barrier == divergence.SYNC:
            why = "the other lanes of its member mask"
        elif split.barrier == divergence.FREE:
            why = "a turn (the path above it on the stack waits)"
        else:
            why = f"barrier {int(split.barrier)}"
        pc = int(split.pc) - (1 if 0 <= split.barrier < divergence.SYNC else 0)
        found.append((pc, int(split.mask), why))
    for group in warp.groups:
        if group.mask and group.arrived:
            missing = int(group.mask) & ~int(group.arrived)
            found.append((int(group.pc), int(group.arrived), f"lanes {missing:#010x} to come together"))
    return found


def where_are_they(state: MachineState, program: Program, block: tuple[int, int, int], most: int = 8) -> str:
    """The wait-for list: each warp that has not ended, where it stands and what it waits for."""
    rows: list[str] = []
    hidden = 0
    for sm in state.sms:
        for slot in range(state.spec.sm.warps):
            warp = sm.warps[slot]
            if warp.used != RUNNING:
                continue
            if len(rows) >= most:
                hidden += 1
                continue
            number = int(sm.blocks[int(warp.block)].number)
            place = f"SM {int(sm.number)} block {number} warp {int(warp.number)}: "
            rows.append(place + _stand(warp, program))
    if hidden:
        rows.append(f"... and {hidden} more warps")
    return "\n".join(rows)


def _stand(warp: Any, program: Program) -> str:
    """Where the paths of one warp stand."""
    parts = []
    if warp.active:
        parts.append(f"lanes {int(warp.active):#010x} at {line_of(program, int(warp.pc))}")
    for pc, mask, why in _paths(warp):
        parts.append(f"lanes {mask:#010x} at {line_of(program, pc)} wait for {why}")
    if not parts:
        parts.append(f"waits in state {STATES[int(warp.depend_state)]}")
    return "\n    ".join(parts)


def spinning(state: MachineState, polls: int) -> bool:
    """Whether every warp waits, or has polled memory `polls` times since anything changed anywhere."""
    warps = state.sms["warps"]
    used = warps["used"] == RUNNING
    spins = (warps["spun_at"] == state.device[0].progress) & (warps["spins"] >= polls)
    waits = (warps["active"] == 0) & (warps["memory_out"] == 0)
    return bool((spins & used).any() and (spins | waits)[used].all())


def deadlock(
    state: MachineState, program: Program, block: tuple[int, int, int], polling: bool = False
) -> DeadlockError:
    """Nothing can move any more, or those that can only poll what nobody changes."""
    policy = state.spec.divergence.policy
    hint = ""
    if policy == "stack":
        hint = "under --divergence independent the paths of a warp take turns"
    waiting = where_are_they(state, program, block)
    what = "every warp that can go on polls memory that nobody changes" if polling else "no warp can go on"
    row = state.device[0]
    return DeadlockError(
        f"deadlock: {what} after cycle {int(row.now) - int(row.started)}\n{waiting}", hint=hint
    )


def warnings(state: MachineState, program: Program) -> list[str]:
    """What the run should tell although it ended well."""
    row = state.device[0]
    found = []
    if row.stale_shuffles:
        found.append(
            f"{int(row.stale_shuffles)} shuffles read a lane that did not take part, "
            f"last at {line_of(program, int(row.stale_pc))}"
        )
    return found
