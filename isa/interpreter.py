"""The reference interpreter: what a program computes, one lane at a time, without any timing.

It shares nothing with the simulator but the instruction table, so that each can be held
against the other. A warp executes, at each step, its lanes with the smallest program counter;
on structured code that is the order of reconvergence at immediate post-dominators.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .errors import DeadlockError, LaunchError, LimitError
from .interpreter_barrier import Barriers, barrier_step
from .interpreter_lanes import lane_step
from .interpreter_memory import Memory
from .interpreter_operands import bits_reader, bits_writer, predicate_reader
from .interpreter_state import Block, Launch, Status, Thread, Triple, Warp, fault, make_block, place
from .interpreter_warp import COLLECTIVE, meetings, warp_step
from .program import Instruction, Program
from .table import Behaviour

__all__ = ["InterpreterResult", "Memory", "interpret"]

SLICE = 2048  # warp instructions of a block before the next block has its turn
PATIENCE = 256  # backward branches in a row, while other lanes wait, before those get a turn


@dataclass(frozen=True, slots=True)
class InterpreterResult:
    """The threads' last state and what was executed.

    registers: uint32 [blocks, threads, registers]; predicates: uint8 bit masks [blocks,
    threads]. executed counts warp instructions, thread_instructions the lanes in them (with
    those whose guard is false). warnings: one text for each instruction that earned one.
    """

    registers: NDArray[np.uint32]
    predicates: NDArray[np.uint8]
    executed: int
    thread_instructions: int
    warnings: list[str] = field(default_factory=list)


def interpret(
    program: Program,
    grid: Sequence[int] | int,
    block: Sequence[int] | int,
    parameters: bytes,
    memory: Memory,
    *,
    warp_size: int = 32,
    max_steps: int = 20_000_000,
) -> InterpreterResult:
    """Run a launch to its end; `memory` holds the results.

    grid, block: up to three sizes, x first. parameters: the parameter space as bytes, laid out
    as `program.parameters` says. Raises LaunchError for shapes that cannot be, FaultError for
    what a lane did, DeadlockError when nothing can move, LimitError after `max_steps` warp
    instructions.
    """
    launch = Launch(program, triple(grid, "grid"), triple(block, "block"), bytes(parameters), warp_size)
    if len(launch.parameters) < program.parameter_bytes:
        needed = program.parameter_bytes
        raise LaunchError(f"the kernel takes {needed} parameter bytes, not {len(parameters)}")
    if not 1 <= warp_size <= 32:
        raise LaunchError(f"a warp has 1 to 32 lanes, not {warp_size}")
    runner = _Runner(launch, memory, max_steps)
    with np.errstate(all="ignore"):
        runner.run()
    return InterpreterResult(
        registers=runner.registers,
        predicates=runner.predicates,
        executed=launch.steps,
        thread_instructions=launch.thread_instructions,
        warnings=[launch.warnings[pc] for pc in sorted(launch.warnings)],
    )


def triple(shape: Sequence[int] | int, name: str) -> Triple:
    """Three sizes of at least 1; raises LaunchError."""
    sizes = (shape,) if isinstance(shape, int) else tuple(int(s) for s in shape)
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise LaunchError(f"the {name} {sizes} must be one to three sizes of at least 1")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


# What a group of lanes at one instruction does; the first list has those whose guard holds.
# The result says whether anything happened.
Step = Callable[["_BlockRun", Warp, list[Thread], list[Thread]], bool]


class _Runner:
    """A launch: its instructions as functions, and its blocks taking turns."""

    def __init__(self, launch: Launch, memory: Memory, max_steps: int) -> None:
        self.launch = launch
        self.memory = memory
        self.max_steps = max_steps
        self.steps = [self._step(i) for i in launch.program.instructions]
        self.guards = [predicate_reader(i.guard) if i.guard else None for i in launch.program.instructions]
        shape = math.prod(launch.grid), math.prod(launch.block)
        self.registers = np.zeros((*shape, launch.program.registers), np.uint32)
        self.predicates = np.zeros(shape, np.uint8)

    def run(self) -> None:
        """Blocks take turns in the order of their numbers until all have ended."""
        runs = (_BlockRun(self, make_block(self.launch, i)) for i in range(math.prod(self.launch.grid)))
        unfinished = [run for run in runs if not self._turn(run)]
        while unfinished:
            unfinished = [run for run in unfinished if not self._turn(run)]

    def _turn(self, run: _BlockRun) -> bool:
        """Let a block run for a slice; keep its registers and say so when it has ended."""
        if not run.turn():
            return False
        number = run.block.index
        self.registers[number] = [t.registers for t in run.block.threads]
        self.predicates[number] = [t.predicates for t in run.block.threads]
        return True

    def _step(self, instruction: Instruction) -> Step:
        """The function that carries out an instruction for a group of lanes."""
        behaviour = instruction.opcode.behaviour
        alone = lane_step(self.launch, self.memory, instruction)
        if alone is not None:
            return _each(alone)
        if behaviour in COLLECTIVE:
            return self._together(instruction)
        if behaviour is Behaviour.BARRIER:
            return self._barrier(instruction)
        return self._jump(instruction)

    def _together(self, instruction: Instruction) -> Step:
        mask, meet = warp_step(self.launch, instruction)

        def step(run: _BlockRun, warp: Warp, active: list[Thread], group: list[Thread]) -> bool:
            complete, waiting = meetings(self.launch, warp, active, mask)
            if active and not complete:
                return False
            for named, party in complete:
                meet(warp, party, named)
            for thread in group:
                if thread not in waiting:
                    thread.pc += 1
            return True

        return step

    def _barrier(self, instruction: Instruction) -> Step:
        number, count, waits = barrier_step(self.launch, instruction)

        def step(run: _BlockRun, warp: Warp, active: list[Thread], group: list[Thread]) -> bool:
            for thread in group:
                if thread not in active:
                    thread.pc += 1
            if active:
                counts: set[int | None] = {count(t) if count else None for t in active}
                self._check_count(active[0], counts)
                run.barriers.arrive(active, number, counts.pop(), waits)
            return True

        return step

    def _check_count(self, thread: Thread, counts: set[int | None]) -> None:
        size = self.launch.warp_size
        for count in counts:
            if len(counts) > 1 or (count is not None and (count % size or count == 0)):
                values = ", ".join(str(c) for c in sorted(c or 0 for c in counts))
                message = f"a barrier's thread count must be one multiple of {size}, not {values}"
                raise fault(self.launch, thread, message)

    def _jump(self, instruction: Instruction) -> Step:
        behaviour, target = instruction.opcode.behaviour, instruction.target
        read = bits_reader(self.launch, instruction.sources[0], 1) if instruction.sources else None
        write = bits_writer(instruction.dests[0], 1) if instruction.dests else None
        end = len(self.launch.program.instructions)

        def step(run: _BlockRun, warp: Warp, active: list[Thread], group: list[Thread]) -> bool:
            following = group[0].pc + 1
            if behaviour is Behaviour.BRANCH and target < following and len(group) < run.live(warp):
                warp.spins += 1
            taken = set(map(id, active)) if len(active) < len(group) else None
            for thread in group:
                if taken is not None and id(thread) not in taken:
                    thread.pc = following
                elif behaviour is Behaviour.EXIT:
                    thread.status = Status.EXITED
                elif read is not None:
                    back = read(thread)
                    if back >= end:
                        raise fault(self.launch, thread, f"ret to instruction {back} of only {end}")
                    thread.pc = back
                else:
                    if write is not None:
                        write(thread, following)
                    thread.pc = target
            if behaviour is Behaviour.EXIT and active:
                run.barriers.settle()
            return True

        return step


def _each(alone: Callable[[Thread], None]) -> Step:
    """A step in which every active lane acts for itself, lane 0 first."""

    def step(run: _BlockRun, warp: Warp, active: list[Thread], group: list[Thread]) -> bool:
        for thread in active:
            alone(thread)
        for thread in group:
            thread.pc += 1
        return True

    return step


class _BlockRun:
    """A block in progress: picks a warp, and the lanes of it that go next."""

    def __init__(self, runner: _Runner, block: Block) -> None:
        self.runner = runner
        self.launch = runner.launch
        self.block = block
        self.barriers = Barriers(runner.launch, block)

    def live(self, warp: Warp) -> int:
        """Lanes of a warp that have not exited and do not wait at a barrier."""
        return sum(t.status is Status.RUNNING for t in warp.threads)

    def turn(self) -> bool:
        """Run every warp for a while; True when all threads have exited."""
        moved = False
        for warp in self.block.warps:
            for _ in range(SLICE // len(self.block.warps) + 1):
                if not self.advance(warp):
                    break
                moved = True
        if all(t.status is Status.EXITED for t in self.block.threads):
            return True
        if not moved:
            raise DeadlockError(self._why())
        return False

    def advance(self, warp: Warp) -> bool:
        """One step of a warp; False when none of its lanes can go on."""
        groups: dict[int, list[Thread]] = {}
        for thread in warp.threads:
            if thread.status is Status.RUNNING:
                groups.setdefault(thread.pc, []).append(thread)
        return any(self._execute(warp, pc, groups[pc]) for pc in self._order(warp, groups))

    def _order(self, warp: Warp, groups: dict[int, list[Thread]]) -> list[int]:
        """Program counters in the order to try: smallest first, unless lanes spin too long.

        A lane that holds a lock may stand behind lanes that spin for it. After PATIENCE
        backward branches the lanes that waited longest go first, for as many steps.
        """
        if len(groups) <= 1:
            warp.spins = 0
        if warp.spins > PATIENCE:
            warp.spins, warp.fair_until = 0, warp.steps + 2 * PATIENCE
        if warp.steps < warp.fair_until:
            return sorted(groups, key=lambda pc: (min(t.ran for t in groups[pc]), pc))
        return sorted(groups)

    def _execute(self, warp: Warp, pc: int, group: list[Thread]) -> bool:
        runner, launch = self.runner, self.launch
        if pc >= len(runner.steps):  # running off the end is the end
            for thread in group:
                thread.status = Status.EXITED
            self.barriers.settle()
            return True
        guard = runner.guards[pc]
        active = group if guard is None else [t for t in group if guard(t)]
        if not runner.steps[pc](self, warp, active, group):
            return False
        warp.steps += 1
        for thread in group:
            thread.ran = warp.steps
        launch.steps += 1
        launch.thread_instructions += len(group)
        if launch.steps > runner.max_steps:
            raise LimitError(
                f"the program did not end within {runner.max_steps} warp instructions",
                hint=f"last executed: {place(launch.program, pc)}; raise max_steps if it is no endless loop",
            )
        return True

    def _why(self) -> str:
        """The deadlock in words: who waits for whom, at which lines."""
        rows = self.barriers.waiting()
        program = self.launch.program
        for warp in self.block.warps:
            stuck: dict[int, list[Thread]] = {}
            for thread in warp.threads:
                if thread.status is Status.RUNNING:
                    stuck.setdefault(thread.pc, []).append(thread)
            for pc, lanes in sorted(stuck.items()):
                name = program.instructions[pc].opcode.name
                numbers = ", ".join(str(t.lane) for t in lanes)
                rows.append(
                    f"warp {warp.index}: lanes {numbers} wait at {name} ({place(program, pc)}) "
                    "for other lanes of their membermask"
                )
        i, j, k = self.block.ctaid
        return f"deadlock in block ({i}, {j}, {k}):\n" + "\n".join(f"    {row}" for row in rows)
