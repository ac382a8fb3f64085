"""From an assembled program to what the core reads: one record an instruction, and rows of constants.

Immediates and kernel parameters become register rows of their own (32 equal words), so that every
source of an instruction is an address of a row and the core never asks what kind it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..isa.program import (
    TRUE_PREDICATE,
    ZERO_REGISTER,
    Immediate,
    Instruction,
    Parameter,
    Predicate,
    Program,
    Register,
)
from ..isa.table import BYTES, Behaviour
from . import lanes
from .jit import zeros
from .spec import PIPES, TIMING_CLASSES, MachineSpec
from .state import CODE, LANES, LG_THROTTLE, LONG_SCOREBOARD, MIO_THROTTLE, SHORT_SCOREBOARD, WAIT
from .units.collective import REDUCTIONS, SHUFFLES, VOTES
from .units.memory_values import SPACES
from .units.special import NAMES as SPECIAL_NAMES

CACHE_OPERATORS = ("", ".ca", ".cg", ".cs", ".volatile")
ZERO_ROWS = 4
QUEUED_SPACES = ("global", "shared", "local")
MEMORY = (Behaviour.LOAD, Behaviour.STORE, Behaviour.ATOMIC)
LATE_GUARDS = (*MEMORY, Behaviour.BRANCH, Behaviour.CALL, Behaviour.RET, Behaviour.EXIT, Behaviour.VOTE,
               Behaviour.SHUFFLE, Behaviour.BARRIER)  # fmt: skip
# Timing classes whose results are waited for on a counter, as for memory.
COUNTED_CLASSES = ("sfu", "popc", "convert", "special")


@dataclass
class CodeImage:
    """code: CODE records; constants: uint32 [rows, 32]; parameters: (row, byte offset, words)."""

    code: NDArray[Any]
    rows: list[int] = field(default_factory=lambda: [0] * ZERO_ROWS)
    parameters: list[tuple[int, int, int]] = field(default_factory=list)
    known: dict[tuple[str, int, int], int] = field(default_factory=dict)
    communicates: bool = False

    def constant(self, bits: int, words: int) -> int:
        """The first row of an immediate; equal immediates share it."""
        key = ("immediate", bits, words)
        if key not in self.known:
            self.known[key] = len(self.rows)
            self.rows += [bits >> (32 * w) & 0xFFFFFFFF for w in range(words)]
        return self.known[key]

    def parameter(self, offset: int, words: int) -> int:
        """The first row of a kernel parameter; filled at the launch."""
        key = ("parameter", offset, words)
        if key not in self.known:
            self.known[key] = len(self.rows)
            self.parameters.append((len(self.rows), offset, words))
            self.rows += [0] * words
        return self.known[key]

    def constant_rows(self, parameters: bytes) -> NDArray[np.uint32]:
        """All rows with the launch's parameters filled in, uint32 [rows, 32]."""
        words = np.array(self.rows, dtype=np.uint32)
        for row, offset, count in self.parameters:
            for w in range(count):
                piece = parameters[offset + 4 * w : offset + 4 * w + 4].ljust(4, b"\0")
                words[row + w] = int.from_bytes(piece, "little")
        return np.repeat(words[:, None], LANES, axis=1).copy()


def decode(program: Program, spec: MachineSpec) -> CodeImage:
    """Decode a program for a machine; compiles the lanes of the opcodes that it uses."""
    image = CodeImage(zeros(len(program.instructions), CODE))
    for pc, instruction in enumerate(program.instructions):
        row = image.code[pc]
        clear(row)
        _timing(row, instruction, spec)
        _operands(image, row, instruction)
        _behaviour(row, instruction)
        _control(row, instruction)
        image.communicates |= _communicates(instruction)
    _mark_polling(program, image.code)
    return image


def clear(row: Any) -> None:
    """Fields whose empty value is not zero."""
    for name in ("guard", "dest_predicate", "shuffle_predicate", "barrier_count", "target", "reconverge",
                 "constant", "write_counter", "read_counter"):  # fmt: skip
        row[name] = -1
    row["base_kind"] = 2


def _timing(row: Any, instruction: Instruction, spec: MachineSpec) -> None:
    opcode = instruction.opcode
    timing = spec.timing[opcode.timing]
    row["behaviour"] = int(opcode.behaviour)
    row["timing"] = TIMING_CLASSES.index(opcode.timing)
    row["pipe"] = PIPES.index(timing.pipe)
    row["latency_cycles"] = timing.latency_cycles
    row["issue_cycles"] = timing.issue_cycles
    row["port_cycles"] = timing.port_cycles
    row["scoreboard"] = SHORT_SCOREBOARD if opcode.timing in COUNTED_CLASSES else WAIT
    row["guard_late"] = opcode.behaviour in LATE_GUARDS
    row["queued"] = opcode.behaviour == Behaviour.SHUFFLE
    row["throttle"] = MIO_THROTTLE
    if opcode.behaviour in MEMORY:
        space = opcode.parts["space"]
        row["queued"] = space in QUEUED_SPACES
        far = space in ("global", "local")
        row["throttle"] = LG_THROTTLE if far else MIO_THROTTLE
        row["scoreboard"] = LONG_SCOREBOARD if far else SHORT_SCOREBOARD
    elif opcode.behaviour == Behaviour.SHUFFLE:
        row["scoreboard"] = SHORT_SCOREBOARD
    if opcode.behaviour in (Behaviour.COMPUTE, Behaviour.ATOMIC):
        row["function"] = lanes.address(opcode)


def _operands(image: CodeImage, row: Any, instruction: Instruction) -> None:
    if instruction.guard is not None and instruction.guard != Predicate(TRUE_PREDICATE):
        row["guard"] = instruction.guard.index
        row["guard_negated"] = instruction.guard.negated
    for dest in instruction.dests:
        if isinstance(dest, Register):
            if dest.index != ZERO_REGISTER:
                row["dest"], row["dest_words"] = dest.index, dest.words
        elif dest.index != TRUE_PREDICATE:
            row["dest_predicate"] = dest.index
    sources, constants = iter(instruction.sources), iter(instruction.constants)
    count = 0
    for operand in instruction.opcode.operands:
        if operand.role == "source":
            source = next(sources, None)
            if source is not None:
                _source(image, row, count, source)
                count += 1
        elif operand.role == "constant":
            value = next(constants)
            row["constant"] = value
            if instruction.opcode.behaviour == Behaviour.COMPUTE:
                _source(image, row, count, Immediate(value & 0xFFFFFFFF))
                count += 1
    row["source_count"] = count
    row["reuse"] = instruction.reuse
    if instruction.address is not None:
        base, row["offset"] = instruction.address.base, instruction.address.offset
        if isinstance(base, Register) and base.index != ZERO_REGISTER:
            row["base_kind"], row["address_base"], row["base_words"] = 0, base.index, base.words
        elif isinstance(base, Parameter):
            row["base_kind"], row["address_base"] = 1, image.parameter(base.offset, base.words)
            row["base_words"] = base.words


def _source(image: CodeImage, row: Any, index: int, source: Any) -> None:
    kind, number, words, negated = 1, 0, 1, 0
    if isinstance(source, Register):
        words = source.words
        if source.index != ZERO_REGISTER:
            kind, number = 0, source.index
    elif isinstance(source, Immediate):
        words, number = source.words, image.constant(source.bits, source.words)
    elif isinstance(source, Parameter):
        words, number = source.words, image.parameter(source.offset, source.words)
    elif isinstance(source, Predicate):
        kind, number, negated = 2, source.index, int(source.negated)
    row["source_kind"][index] = kind
    row["source"][index] = number
    row["source_words"][index] = words
    row["source_negated"][index] = negated


def _behaviour(row: Any, instruction: Instruction) -> None:
    opcode = instruction.opcode
    parts, behaviour = opcode.parts, opcode.behaviour
    row["target"], row["reconverge"] = instruction.target, instruction.reconverge
    row["signed"] = parts.get("type", "").startswith("s")
    if behaviour in MEMORY:
        row["space"] = SPACES.index(parts["space"])
        row["cache"] = CACHE_OPERATORS.index(parts.get("cop", ""))
        size = BYTES[parts["type"]]
        count = int(parts.get("vec", "").removeprefix(".v") or 1)
        row["element_bytes"], row["vector"] = (4, 4) if size == 16 else (size, count)
    elif behaviour == Behaviour.SHUFFLE:
        row["mode"] = SHUFFLES.index(parts["mode"])
    elif behaviour == Behaviour.VOTE:
        row["mode"] = VOTES.index(parts.get("mode", "activemask"))
    elif behaviour == Behaviour.MATCH:
        row["mode"] = int(parts["mode"] == "all")
    elif behaviour == Behaviour.REDUX:
        row["mode"] = REDUCTIONS.index(parts["op"])
    elif behaviour == Behaviour.SPECIAL:
        row["mode"] = SPECIAL_NAMES.index(getattr(instruction.sources[0], "name", "").removeprefix("%"))
        row["source_count"] = 0
    elif behaviour == Behaviour.BARRIER:
        row["mode"] = int(parts["mode"] == "arrive")
        row["barrier_count"] = 0 if row["source_count"] else -1
    if behaviour in (Behaviour.SHUFFLE, Behaviour.MATCH):
        row["shuffle_predicate"] = row["dest_predicate"]
    if behaviour in (Behaviour.SHUFFLE, Behaviour.MATCH, Behaviour.REDUX, Behaviour.VOTE):
        # `constant` names the source that holds the member mask; activemask has none.
        row["constant"] = row["source_count"] - 1 if row["source_count"] else -1


def _control(row: Any, instruction: Instruction) -> None:
    control = instruction.control
    if control is None:
        return
    row["has_control"] = 1
    row["stall"], row["yield_"], row["wait_mask"] = control.stall, control.yield_, control.wait_mask
    row["write_counter"], row["read_counter"] = control.write_counter, control.read_counter
    row["reuse"] = control.reuse


def _communicates(instruction: Instruction) -> bool:
    """Whether an instruction lets blocks of one launch see each other's writes in order."""
    parts, behaviour = instruction.opcode.parts, instruction.opcode.behaviour
    if parts.get("space") != "global":
        return False
    if behaviour == Behaviour.ATOMIC:
        return True
    return behaviour == Behaviour.LOAD and parts["cop"] in (".cg", ".volatile")


def _mark_polling(program: Program, code: NDArray[Any]) -> None:
    """A backward branch polls when leaving its loop depends on what another lane may change (a lock, a flag).

    polling is 1, or 2 when the loop also reads a clock and so may end by itself.
    """
    for pc, instruction in enumerate(program.instructions):
        if 0 <= instruction.target <= pc and instruction.opcode.behaviour == Behaviour.BRANCH:
            loop = program.instructions[instruction.target : pc + 1]
            if any(i.opcode.behaviour == Behaviour.CALL for i in loop):
                loop = program.instructions
            clocked = any(i.opcode.behaviour == Behaviour.SPECIAL for i in loop)
            code[pc]["polling"] = _polls(loop) * (2 if clocked else 1)


def _polls(loop: Sequence[Instruction]) -> bool:
    """Whether a guarded branch of the loop depends on an atomic's result or a load past L1."""
    seen: set[tuple[bool, int]] = set()
    before = -1
    while len(seen) != before:
        before = len(seen)
        for instruction in loop:
            shared = instruction.opcode.behaviour == Behaviour.ATOMIC
            shared |= instruction.opcode.parts.get("cop") in (".cg", ".volatile")
            base = None if instruction.address is None else instruction.address.base
            if shared or _places((*instruction.sources, base, instruction.guard)) & seen:
                seen |= _places(instruction.dests)
    return any(i.opcode.behaviour == Behaviour.BRANCH and bool(_places((i.guard,)) & seen) for i in loop)


def _places(operands: Sequence[Any]) -> set[tuple[bool, int]]:
    """The registers and predicates among operands, as (is a predicate, number)."""
    found: set[tuple[bool, int]] = set()
    for operand in operands:
        if isinstance(operand, Register):
            found |= {(False, operand.index + word) for word in range(operand.words)}
        elif isinstance(operand, Predicate):
            found.add((True, operand.index))
    return found - {(False, ZERO_REGISTER), (True, TRUE_PREDICATE)}
