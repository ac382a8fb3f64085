"""The 16 barriers of a block: who has arrived, who waits, and when they go on.

Without a count a barrier needs every thread of the block that has not exited, all at one
instruction. With a count it needs that many threads; an exited or missing lane of a warp that
takes part counts as arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .errors import FaultError
from .interpreter_operands import bits_reader
from .interpreter_state import Block, Launch, Status, Thread, Warp, fault, place, report, who
from .program import Instruction


@dataclass(slots=True)
class Barrier:
    """One barrier's present phase; count None is the whole block."""

    arrived: set[int] = field(default_factory=set)  # thread indices
    waiting: list[Thread] = field(default_factory=list)
    count: int | None = None
    pc: int = -1  # where the first lane of this phase arrived


class Barriers:
    """The barriers of one block."""

    def __init__(self, launch: Launch, block: Block) -> None:
        """All barriers begin empty."""
        self.launch = launch
        self.block = block
        self.rows: dict[int, Barrier] = {}

    def arrive(self, lanes: Iterable[Thread], number: int, count: int | None, waits: bool) -> None:
        """Lanes of one warp arrive together; those of bar.sync wait."""
        row = self.rows.setdefault(number, Barrier())
        for thread in lanes:
            if row.arrived:
                self._agree(row, thread, number, count)
            else:
                row.count, row.pc = count, thread.pc
            row.arrived.add(thread.index)
            if waits:
                row.waiting.append(thread)
                thread.status = Status.AT_BARRIER
            else:
                thread.pc += 1
        self.settle()

    def _agree(self, row: Barrier, thread: Thread, number: int, count: int | None) -> None:
        """Raise FaultError when a thread arrives otherwise than the others of this phase."""
        program, pc = self.launch.program, thread.pc
        first = place(program, row.pc)
        if thread.index in row.arrived:
            raise fault(self.launch, thread, f"the thread arrives twice in one phase of barrier {number}")
        if row.count != count:
            here, there = ("the whole block" if c is None else f"{c} threads" for c in (count, row.count))
            message = f"barrier {number} is for {here} here and for {there} at {first}"
        elif count is None and row.pc != pc:
            message = f"barrier {number} is reached at two places by one block, here and at {first}"
        else:
            return
        text = f"{message}; {who(thread, self.launch.warp_size)}"
        hint = "all threads of a block must meet at the same bar.sync; use another barrier for a part of them"
        raise FaultError(report(program.instructions[pc], pc, text, hint))

    def settle(self) -> None:
        """Let the barriers go that are complete; called when lanes arrive or exit."""
        for row in self.rows.values():
            if row.arrived and self._complete(row):
                for thread in row.waiting:
                    thread.status = Status.RUNNING
                    thread.pc += 1
                row.arrived.clear()
                row.waiting.clear()

    def _complete(self, row: Barrier) -> bool:
        if row.count is None:
            return all(t.index in row.arrived for t in self.block.threads if t.status is not Status.EXITED)
        return sum(self._share(row, warp) for warp in self.block.warps) >= row.count

    def _share(self, row: Barrier, warp: Warp) -> int:
        """How many lanes of a warp count as arrived."""
        present = [t.index in row.arrived for t in warp.threads]
        if not any(present):
            return 0
        gone = sum(t.status is Status.EXITED and not p for t, p in zip(warp.threads, present, strict=True))
        return sum(present) + gone + self.launch.warp_size - len(warp.threads)

    def waiting(self) -> list[str]:
        """Who waits where, in words."""
        found = []
        for number, row in sorted(self.rows.items()):
            if row.waiting:
                needed = "all threads" if row.count is None else f"{row.count} threads"
                where = place(self.launch.program, row.waiting[0].pc)
                found.append(
                    f"{len(row.waiting)} threads wait at barrier {number} ({where}) for {needed}; "
                    f"{len(row.arrived)} have arrived"
                )
        return found


def barrier_step(
    launch: Launch, instruction: Instruction
) -> tuple[int, Callable[[Thread], int] | None, bool]:
    """A barrier instruction's number, the reader of its count, and whether it waits."""
    source = instruction.sources[0] if instruction.sources else None
    count = bits_reader(launch, source, 1) if source is not None else None
    return instruction.constants[0], count, instruction.opcode.parts["mode"] == "sync"
