"""Instructions that concern one lane alone: computing, memory, atomics, special registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .interpreter_memory import AccessError, Memory, Window
from .interpreter_operands import address_reader, bits_reader, bits_writer, value_reader, value_writer
from .interpreter_state import Launch, Thread, fault
from .interpreter_values import HALF_OF, MASK32, MASK64, decoder, encoder, halfwise
from .program import Immediate, Instruction, Special
from .special import lane_mask
from .table import BYTES, WORDS, Behaviour

LaneStep = Callable[[Thread], None]
Space = Callable[[Thread], "Memory | Window"]


def lane_step(launch: Launch, memory: Memory, instruction: Instruction) -> LaneStep | None:
    """What the instruction does to one lane, or None when it concerns more than one."""
    makers: dict[Behaviour, Callable[[Launch, Memory, Instruction], LaneStep]] = {
        Behaviour.COMPUTE: _compute,
        Behaviour.LOAD: _load,
        Behaviour.STORE: _store,
        Behaviour.ATOMIC: _atomic,
        Behaviour.SPECIAL: _special,
        Behaviour.TRAP: _trap,
    }
    behaviour = instruction.opcode.behaviour
    if behaviour in (Behaviour.NOP, Behaviour.FENCE, Behaviour.SLEEP):
        return lambda thread: None
    maker = makers.get(behaviour)
    return maker(launch, memory, instruction) if maker else None


def _compute(launch: Launch, memory: Memory, instruction: Instruction) -> LaneStep:
    opcode = instruction.opcode
    lane: Callable[..., Any] | None = opcode.lane
    assert lane is not None
    dest = opcode.dests[0].type
    readers = [
        value_reader(launch, source, spec.type)
        for source, spec in zip(instruction.sources, opcode.sources, strict=True)
    ]
    readers += [value_reader(launch, Immediate(c), "u32") for c in instruction.constants]
    if dest in HALF_OF:
        lane = halfwise(lane, HALF_OF[dest])
    write = value_writer(instruction.dests[0], dest)
    if len(readers) == 1:
        (first,) = readers
        return lambda thread: write(thread, lane(first(thread)))
    if len(readers) == 2:
        first, second = readers
        return lambda thread: write(thread, lane(first(thread), second(thread)))
    if len(readers) == 3:
        first, second, third = readers
        return lambda thread: write(thread, lane(first(thread), second(thread), third(thread)))
    return lambda thread: write(thread, lane(*(read(thread) for read in readers)))


def _space(launch: Launch, memory: Memory, name: str) -> Space:
    """The function that gives a thread's view of a memory space."""
    if name == "global":
        return lambda thread: memory
    if name == "shared":
        return lambda thread: thread.block.shared
    if name == "local":
        return lambda thread: thread.local
    bank = Window(name, launch.parameters)
    return lambda thread: bank


def _access(launch: Launch, thread: Thread, error: AccessError) -> Exception:
    return fault(launch, thread, error.message, error.hint)


def _load(launch: Launch, memory: Memory, instruction: Instruction) -> LaneStep:
    assert instruction.address is not None
    space_name = instruction.opcode.parts["space"]
    space = _space(launch, memory, space_name)
    address = address_reader(launch, instruction.address, space_name)
    spec = instruction.opcode.dests[0]
    size = BYTES[spec.type] * spec.vector
    write = bits_writer(instruction.dests[0], spec.words)
    extend = encoder(spec.type) if spec.type in ("s8", "s16") else None

    def step(thread: Thread) -> None:
        try:
            bits = space(thread).load(address(thread), size)
        except AccessError as error:
            raise _access(launch, thread, error) from None
        write(thread, extend(bits) if extend else bits)

    return step


def _store(launch: Launch, memory: Memory, instruction: Instruction) -> LaneStep:
    assert instruction.address is not None
    space_name = instruction.opcode.parts["space"]
    space = _space(launch, memory, space_name)
    address = address_reader(launch, instruction.address, space_name)
    spec = instruction.opcode.sources[0]
    size = BYTES[spec.type] * spec.vector
    mask = (1 << 8 * size) - 1
    read = bits_reader(launch, instruction.sources[0], spec.words)

    def step(thread: Thread) -> None:
        try:
            space(thread).store(address(thread), size, read(thread) & mask)
        except AccessError as error:
            raise _access(launch, thread, error) from None

    return step


def _atomic(launch: Launch, memory: Memory, instruction: Instruction) -> LaneStep:
    assert instruction.address is not None
    opcode = instruction.opcode
    lane: Callable[..., Any] | None = opcode.lane
    assert lane is not None
    space_name, type_ = opcode.parts["space"], opcode.parts["type"]
    space = _space(launch, memory, space_name)
    address = address_reader(launch, instruction.address, space_name)
    readers = [value_reader(launch, source, type_) for source in instruction.sources]
    decode, encode, size = decoder(type_), encoder(type_), BYTES[type_]
    write = bits_writer(instruction.dests[0], WORDS[type_]) if instruction.dests else None

    def step(thread: Thread) -> None:
        try:
            cell, place = space(thread), address(thread)
            old = cell.load(place, size)
            new = encode(lane(decode(old), *(read(thread) for read in readers)))
            cell.store(place, size, new)
        except AccessError as error:
            raise _access(launch, thread, error) from None
        if write:
            write(thread, old)

    return step


def _special(launch: Launch, memory: Memory, instruction: Instruction) -> LaneStep:
    source = instruction.sources[0]
    assert isinstance(source, Special)
    write = bits_writer(instruction.dests[0], instruction.opcode.dests[0].words)
    mask = MASK64 if instruction.opcode.dests[0].words == 2 else MASK32
    name = source.name.removeprefix("%")
    return lambda thread: write(thread, special_value(launch, thread, name) & mask)


def special_value(launch: Launch, thread: Thread, name: str) -> int:
    """The value of a special register; the clocks count executed warp instructions."""
    stem, _, axis = name.partition(".")
    if axis:
        triples = {
            "tid": thread.tid, "ntid": launch.block, "ctaid": thread.block.ctaid, "nctaid": launch.grid,
        }  # fmt: skip
        return triples[stem]["xyz".index(axis)]
    if stem.startswith("lanemask"):
        return lane_mask(stem, thread.lane)
    values = {
        "laneid": thread.lane, "warpid": thread.index // launch.warp_size, "smid": 0, "nsmid": 1,
        "nwarpid": -(-len(thread.block.threads) // launch.warp_size), "gridid": 0,
        "clock": launch.steps, "clock64": launch.steps, "globaltimer": launch.steps,
    }  # fmt: skip
    return values[stem]


def _trap(launch: Launch, memory: Memory, instruction: Instruction) -> LaneStep:
    def step(thread: Thread) -> None:
        raise fault(launch, thread, "the program stopped itself with trap")

    return step
