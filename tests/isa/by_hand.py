"""Programs put together without the assembler, so that the table and the interpreter stand alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tinygpu.isa import table
from tinygpu.isa.interpreter import InterpreterResult, Memory, interpret
from tinygpu.isa.program import (
    Address,
    Immediate,
    Instruction,
    Parameter,
    Predicate,
    Program,
    Register,
    SharedArray,
    SourceLine,
    Special,
)

PT, NOT_PT = Predicate(7), Predicate(7, negated=True)


def r(index: int, words: int = 1) -> Register:
    """A register, or several consecutive ones."""
    return Register(index, words)


def p(index: int, negated: bool = False) -> Predicate:
    """A predicate."""
    return Predicate(index, negated)


def at(base: Register | Parameter | None = None, offset: int = 0) -> Address:
    """An address operand."""
    return Address(base, offset)


def ins(name: str, *operands: Any, guard: Predicate | None = None, target: int = -1) -> Instruction:
    """One instruction; operands stand in the order of the opcode's list, ints are immediates."""
    opcode = table.opcode(name)
    assert opcode is not None, name
    specs = [o for o in opcode.operands if o.role != "label"]
    dests: list[Any] = []
    sources: list[Any] = []
    constants: list[int] = []
    address = None
    given = list(operands)
    for spec in specs:
        skip = spec.optional and (not given or (spec.type == "pred") != isinstance(given[0], Predicate))
        if skip:
            continue
        operand = given.pop(0)
        if spec.role == "constant":
            constants.append(operand)
        elif spec.role == "address":
            address = operand
        elif spec.role == "dest":
            dests.append(operand)
        else:
            sources.append(Immediate(operand, max(spec.words, 1)) if isinstance(operand, int) else operand)
    assert not given, f"{name}: too many operands"
    return Instruction(
        opcode, tuple(dests), tuple(sources), address, guard, target, constants=tuple(constants)
    )


def program(*instructions: Instruction, registers: int = 16, shared: int = 0, local: int = 0) -> Program:
    """A kernel; instruction i stands at line i + 1 of `hand.s`, and an exit is added at the end."""
    placed = []
    for index, one in enumerate((*instructions, ins("exit"))):
        line = SourceLine("hand.s", index + 1, 1, one.opcode.name)
        placed.append(replace(one, source_line=line))
    arrays = (SharedArray("S", "b8", (shared,), 0, shared),) if shared else ()
    return Program("hand", tuple(placed), shared=arrays, registers=registers, local_bytes=local)


def run(
    *instructions: Instruction,
    block: Any = 32,
    grid: Any = 1,
    memory: Memory | None = None,
    parameters: bytes = b"",
    registers: int = 16,
    shared: int = 0,
    local: int = 0,
    **options: Any,
) -> InterpreterResult:
    """Interpret instructions as a kernel."""
    kernel = program(*instructions, registers=registers, shared=shared, local=local)
    return interpret(kernel, grid, block, parameters, memory or Memory(), **options)


def evaluate(name: str, *bits: int | bool) -> int | bool:
    """The bits that one lane of an opcode that computes makes of its sources' bits."""
    opcode = table.opcode(name)
    assert opcode is not None, name
    dest = opcode.dests[0]
    operands: list[Any] = [p(0) if dest.type == "pred" else r(0, dest.words)]
    operands += [(PT if b else NOT_PT) if isinstance(b, bool) else b for b in bits]
    result = run(ins(name, *operands), block=1)
    if dest.type == "pred":
        return bool(result.predicates[0, 0] & 1)
    words = result.registers[0, 0, : dest.words]
    return sum(int(w) << 32 * i for i, w in enumerate(words))


def special(name: str) -> Special:
    """A special register as an operand."""
    return Special(name)
