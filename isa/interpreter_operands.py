"""Operands of an instruction as functions of a thread, made once a launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .interpreter_state import Launch, Thread
from .interpreter_values import MASK32, decoder, encoder
from .program import (
    TRUE_PREDICATE,
    ZERO_REGISTER,
    Address,
    Immediate,
    Parameter,
    Predicate,
    Register,
    Source,
)
from .table import WORDS, OperandSpec

Reader = Callable[[Thread], Any]
Writer = Callable[[Thread, Any], None]


def parameter_bits(launch: Launch, parameter: Parameter) -> int:
    """The bits of a kernel parameter, read from the launch's constant bank."""
    stop = parameter.offset + 4 * parameter.words
    return int.from_bytes(launch.parameters[parameter.offset : stop], "little")


def _register_bits(index: int, words: int) -> Callable[[Thread], int]:
    """The unsigned bits of `words` consecutive registers, the first one lowest."""
    if index == ZERO_REGISTER:
        return lambda thread: 0
    if words == 1:
        return lambda thread: thread.registers[index]
    if words == 2:
        return lambda thread: thread.registers[index] | thread.registers[index + 1] << 32
    span = range(words)
    return lambda thread: sum(thread.registers[index + i] << 32 * i for i in span)


def bits_of(launch: Launch, source: Source, words: int) -> int:
    """The bits of a source that is the same in all threads: an immediate or a parameter."""
    assert isinstance(source, Immediate | Parameter)
    bits = source.bits if isinstance(source, Immediate) else parameter_bits(launch, source)
    return bits & ((1 << 32 * words) - 1)


def bits_reader(launch: Launch, source: Source, words: int) -> Callable[[Thread], int]:
    """A source as unsigned bits of `words` registers."""
    if isinstance(source, Register):
        return _register_bits(source.index, words)
    constant = bits_of(launch, source, words)
    return lambda thread: constant


def predicate_reader(source: Predicate) -> Callable[[Thread], bool]:
    """A predicate source, with its negation."""
    index, negated = source.index, source.negated
    if index == TRUE_PREDICATE:
        return lambda thread: not negated
    if negated:
        return lambda thread: not thread.predicates >> index & 1
    return lambda thread: bool(thread.predicates >> index & 1)


def value_reader(launch: Launch, source: Source, type_: str) -> Reader:
    """A source as the value that lane functions see."""
    if isinstance(source, Predicate):
        return predicate_reader(source)
    decode = decoder(type_)
    if not isinstance(source, Register):
        constant = decode(bits_of(launch, source, max(WORDS[type_], 1)))
        return lambda thread: constant
    bits = bits_reader(launch, source, max(WORDS[type_], 1))
    if type_ in ("u32", "b32", "f16x2", "bf16x2"):
        return bits
    return lambda thread: decode(bits(thread))


def bits_writer(dest: Register | Predicate, words: int) -> Callable[[Thread, int], None]:
    """A function that writes unsigned bits to registers, or a truth value to a predicate."""
    index = dest.index
    if isinstance(dest, Predicate):
        if index == TRUE_PREDICATE:
            return lambda thread, bits: None
        return lambda thread, bits: _set_predicate(thread, index, bits)
    if index == ZERO_REGISTER:
        return lambda thread, bits: None
    if words == 1:
        return lambda thread, bits: thread.registers.__setitem__(index, bits)
    places = [(index + i, 32 * i) for i in range(words)]

    def write(thread: Thread, bits: int) -> None:
        for register, shift in places:
            thread.registers[register] = bits >> shift & MASK32

    return write


def _set_predicate(thread: Thread, index: int, value: int) -> None:
    thread.predicates = thread.predicates & ~(1 << index) | bool(value) << index


def value_writer(dest: Register | Predicate, type_: str) -> Writer:
    """A function that encodes a lane function's result and writes it."""
    write, encode = bits_writer(dest, max(WORDS[type_], 1)), encoder(type_)
    return lambda thread, value: write(thread, encode(value))


def address_reader(launch: Launch, address: Address, space: str) -> Callable[[Thread], int]:
    """The byte address of a memory operand; global addresses have 64 bits, others 32."""
    offset = address.offset
    wide = space == "global"
    mask = (1 << (64 if wide else 32)) - 1
    base = address.base
    if base is None:
        return lambda thread: offset & mask
    if isinstance(base, Parameter) and space in ("param", "const"):
        constant = base.offset + offset
        return lambda thread: constant & mask
    bits = bits_reader(launch, base, 2 if wide else 1)
    return lambda thread: (bits(thread) + offset) & mask


def operand(specs: tuple[OperandSpec, ...], name: str, values: tuple[Any, ...]) -> Any:
    """The operand that an opcode's list calls `name`, or None if it was left out."""
    for spec, value in zip(specs, values, strict=False):
        if spec.name == name:
            return value
    return None
