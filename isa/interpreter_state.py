"""What the reference interpreter keeps for threads, warps and blocks, and how it names them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from .errors import Diagnostic, FaultError
from .interpreter_memory import Window
from .program import Instruction, Program

Triple = tuple[int, int, int]


class Status(IntEnum):
    """What a thread is doing."""

    RUNNING = 0
    AT_BARRIER = 1
    EXITED = 2


@dataclass(slots=True, eq=False)
class Thread:
    """One lane's state: registers as unsigned 32-bit ints, predicates as a bit mask."""

    index: int  # in its block
    lane: int
    tid: Triple
    block: Block
    registers: list[int]
    local: Window
    predicates: int = 0
    pc: int = 0
    status: Status = Status.RUNNING
    ran: int = 0  # the warp's step at which it last ran, for fairness


@dataclass(slots=True, eq=False)
class Warp:
    """The threads of a warp, at most 32; the last warp of a block may have fewer."""

    index: int
    threads: list[Thread]
    steps: int = 0
    spins: int = 0  # backward branches in a row while other lanes waited
    fair_until: int = 0


@dataclass(slots=True, eq=False)
class Block:
    """A block's threads and shared memory; ctaid is its place in the grid."""

    index: int
    ctaid: Triple
    shared: Window
    threads: list[Thread] = field(default_factory=list)
    warps: list[Warp] = field(default_factory=list)


@dataclass(slots=True)
class Launch:
    """What all threads of a launch share; `steps` counts executed warp instructions."""

    program: Program
    grid: Triple
    block: Triple
    parameters: bytes
    warp_size: int
    steps: int = 0
    thread_instructions: int = 0
    warnings: dict[int, str] = field(default_factory=dict)  # by program counter


def make_block(launch: Launch, index: int) -> Block:
    """A block's state at its start: everything zero, every thread at the first instruction."""
    nx, ny, _ = launch.grid
    block = Block(
        index=index,
        ctaid=(index % nx, index // nx % ny, index // (nx * ny)),
        shared=Window("shared", bytearray(launch.program.shared_bytes)),
    )
    bx, by, bz = launch.block
    for number in range(bx * by * bz):
        block.threads.append(
            Thread(
                index=number,
                lane=number % launch.warp_size,
                tid=(number % bx, number // bx % by, number // (bx * by)),
                block=block,
                registers=[0] * launch.program.registers,
                local=Window("local", bytearray(launch.program.local_bytes)),
            )
        )
    for start in range(0, len(block.threads), launch.warp_size):
        warp = Warp(start // launch.warp_size, block.threads[start : start + launch.warp_size])
        block.warps.append(warp)
    return block


def place(program: Program, pc: int) -> str:
    """Where an instruction was written: `file:line`, or its index."""
    line = program.instructions[pc].source_line
    return f"{line.file}:{line.line}" if line else f"instruction {pc}"


def report(instruction: Instruction, pc: int, message: str, hint: str = "") -> str:
    """A finding at an instruction as text: position, reason, source line, hint."""
    line = instruction.source_line
    if line is None:
        text = f"instruction {pc} ({instruction.opcode.name}): error: {message}"
        return text + (f"\n    hint: {hint}" if hint else "")
    return Diagnostic(
        line.file, line.line, line.column, message, line.text, width=len(instruction.opcode.name), hint=hint
    ).render()


def who(thread: Thread, warp_size: int = 32) -> str:
    """A thread by its place: thread, block, warp, lane."""
    x, y, z = thread.tid
    i, j, k = thread.block.ctaid
    warp = thread.index // warp_size
    return f"thread ({x}, {y}, {z}) of block ({i}, {j}, {k}), warp {warp} lane {thread.lane}"


def fault(launch: Launch, thread: Thread, message: str, hint: str = "") -> FaultError:
    """The error of a lane that did something illegal at its present instruction."""
    instruction = launch.program.instructions[thread.pc]
    text = f"{message}; {who(thread, launch.warp_size)}"
    return FaultError(report(instruction, thread.pc, text, hint))
