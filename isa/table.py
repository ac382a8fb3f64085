"""The instruction table: every instruction is one entry, and everything else derives from it.

An entry states the mnemonic with its variants, the operands with their types, what the
instruction computes for one lane, the timing class that a machine file gives cycles to, one
sentence of documentation and one example. `instructions/` holds the entries, one file a
family. The assembler, the printer, the reference interpreter, the compiled lanes, the
reference pages, the highlighter and the generator of test programs read this table.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

# A lane function maps the values of one lane's sources to the value of its destination.
LaneFunction = Callable[..., Any]


class Behaviour(IntEnum):
    """What kind of thing an instruction does; each value has one executor in each engine."""

    COMPUTE = 0  # a pure function of one lane: registers in, one register or predicate out
    LOAD = 1
    STORE = 2
    ATOMIC = 3  # atom (returns the old value) and red (does not)
    SHUFFLE = 4
    VOTE = 5  # vote.all/any/uni/ballot and activemask
    MATCH = 6
    REDUX = 7
    SPECIAL = 8  # moves a special register (lane, block, clock) to a register
    BRANCH = 9
    CALL = 10
    RET = 11
    EXIT = 12
    BARRIER = 13  # bar.sync and bar.arrive
    WARP_BARRIER = 14
    FENCE = 15
    SLEEP = 16
    TRAP = 17
    NOP = 18


# Registers (32 bits each) that a value of a type occupies; predicates occupy none.
WORDS: Mapping[str, int] = {
    "pred": 0, "s8": 1, "u8": 1, "b8": 1, "s16": 1, "u16": 1, "b16": 1, "s32": 1, "u32": 1,
    "b32": 1, "f16": 1, "bf16": 1, "f16x2": 1, "bf16x2": 1, "f32": 1,
    "s64": 2, "u64": 2, "b64": 2, "f64": 2, "b128": 4,
}  # fmt: skip

# Bytes that a value of a type occupies in memory.
BYTES: Mapping[str, int] = {
    "s8": 1, "u8": 1, "b8": 1, "s16": 2, "u16": 2, "b16": 2, "f16": 2, "bf16": 2,
    "s32": 4, "u32": 4, "b32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4,
    "s64": 8, "u64": 8, "b64": 8, "f64": 8, "b128": 16,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """One operand of an opcode.

    role: "dest", "source", "address" (`[base + offset]`), "label", "barrier" or "constant"
    (an immediate that is part of the opcode's encoding, such as a look-up table).
    vector: how many consecutive registers of `type` it names (`{a, b, c, d}` is 4).
    literal: the type in which an immediate is written, when it is not `type`: `mov.f32` moves
        bits (type b32), and its literal is an f32.
    """

    name: str
    type: str
    role: str
    vector: int = 1
    optional: bool = False
    literal: str = ""

    @property
    def words(self) -> int:
        """32-bit registers that the operand occupies."""
        return WORDS.get(self.type, 1) * self.vector


@dataclass(frozen=True, slots=True)
class Opcode:
    """One fully spelled variant of an instruction, such as `setp.lt.s32`."""

    name: str
    entry: Entry
    parts: Mapping[str, str]
    operands: tuple[OperandSpec, ...]
    timing: str
    lane: LaneFunction | None

    @property
    def behaviour(self) -> Behaviour:
        """What kind of thing it does; the same for the whole entry."""
        return self.entry.behaviour

    @property
    def dests(self) -> tuple[OperandSpec, ...]:
        """The operands that it writes."""
        return tuple(o for o in self.operands if o.role == "dest")

    @property
    def sources(self) -> tuple[OperandSpec, ...]:
        """The operands that it reads, without its address."""
        return tuple(o for o in self.operands if o.role == "source")


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table; see `instruction` for the meaning of the fields."""

    key: str
    pattern: str
    family: str
    behaviour: Behaviour
    timing: str
    doc: str
    example: str
    notes: str
    opcodes: tuple[str, ...]
    source: LaneFunction


@dataclass(slots=True)
class _Table:
    entries: dict[str, Entry] = field(default_factory=dict)
    opcodes: dict[str, Opcode] = field(default_factory=dict)


_TABLE = _Table()


def instruction(
    pattern: str,
    *,
    operands: str | Callable[[Mapping[str, str]], str],
    timing: str | Callable[[Mapping[str, str]], str],
    doc: str,
    example: str,
    behaviour: Behaviour = Behaviour.COMPUTE,
    choose: bool = False,
    notes: str = "",
    only: Callable[[Mapping[str, str]], bool] | None = None,
    **variants: tuple[str, ...],
) -> Callable[[LaneFunction], LaneFunction]:
    """Enter an instruction into the table; decorates its lane function.

    pattern: the mnemonic; each `{name}` stands for one of the words in `variants[name]`.
        An empty word drops its dot, so `ld.{space}{cop}` may have `cop=("", ".ca")`.
    operands: `d:f32, a:f32, b:f32`: name, colon, type; the type may use `{name}` too. The
        first is the destination unless it is marked otherwise: `>` before a name makes it a
        source, `[a]:u64` an address, `@L` a label, `#n` a constant of the encoding, a trailing
        `?` makes it optional, `d:f32*4` is a vector of four registers (`*.v4` and `*` for one
        register are read too, so `*{vec}` works), `a:b32(f32)` moves bits and takes an f32
        literal. A function of the variant's words may give the list instead.
    timing: the class whose cycles stand in the machine file under `[timing.CLASS]`; may use
        `{name}` or be a function of the variant's words.
    doc: one sentence. notes: what happens at the edges (shift counts, NaN, overflow).
    choose: the decorated function is called with the variant's words and returns the lane
        function; otherwise it is the lane function itself.
    only: says which combinations of words exist.
    A lane function gets the sources in their order, then the constants. It sees integers as
    int (s64, u64 and b64 alike as the signed 64-bit pattern, u8 to u32 and b32 without sign),
    f32 as numpy.float32, f64, f16, bf16 as float, predicates as bool; packed f16x2 and bf16x2
    are applied half by half. It may call only the functions of `isa.arith`. Its result is
    wrapped or rounded to the destination's type, and a NaN becomes the type's canonical NaN.
    Raises ValueError when an opcode is entered twice.
    """

    def enter(function: LaneFunction) -> LaneFunction:
        names = [f for _, f, _, _ in string.Formatter().parse(pattern) if f]
        spelled: list[Opcode] = []
        entry_key = pattern.split(".")[0].split("{")[0]
        key = function.__name__.rstrip("_")
        fields: dict[str, Any] = {
            "key": key, "pattern": pattern, "family": function.__module__.rsplit(".", 1)[-1],
            "behaviour": behaviour, "doc": doc, "example": example,
            "notes": notes, "source": function,
        }  # fmt: skip
        combinations = []
        for words in itertools.product(*(variants[n] for n in names)):
            parts = dict(zip(names, words, strict=True))
            if only is None or only(parts):
                combinations.append(parts)
        classes = [timing(p) if callable(timing) else timing.format(**p) for p in combinations]
        entry = Entry(
            opcodes=tuple(pattern.format(**p) for p in combinations),
            timing=", ".join(dict.fromkeys(classes)),
            **fields,
        )
        for parts, timing_class in zip(combinations, classes, strict=True):
            lane = function(**parts) if choose else function
            if behaviour not in (Behaviour.COMPUTE, Behaviour.ATOMIC):
                lane = None
            spelled.append(
                Opcode(
                    name=pattern.format(**parts),
                    entry=entry,
                    parts=parts,
                    operands=parse_operands(
                        operands(parts) if callable(operands) else operands.format(**parts)
                    ),
                    timing=timing_class,
                    lane=lane,
                )
            )
        if key in _TABLE.entries:
            raise ValueError(f"the table has an entry {key!r} already ({entry_key})")
        _TABLE.entries[key] = entry
        for opcode in spelled:
            if opcode.name in _TABLE.opcodes:
                raise ValueError(f"the table has {opcode.name!r} twice")
            _TABLE.opcodes[opcode.name] = opcode
        return function

    return enter


def parse_operands(text: str) -> tuple[OperandSpec, ...]:
    """Read an operand list such as `d:f32, a:f32, [p]:u64, @target, #lut, e:s32?`."""
    specs: list[OperandSpec] = []
    for index, raw in enumerate(part.strip() for part in text.split(",") if part.strip()):
        optional = raw.endswith("?")
        body = raw.rstrip("?")
        role = "dest" if index == 0 else "source"
        name, _, type_ = body.partition(":")
        if name.startswith("["):
            name, role = name.strip("[]"), "address"
        elif name.startswith("@"):
            name, role = name[1:], "label"
        elif name.startswith("#"):
            name, role = name[1:], "constant"
        elif name.startswith(">"):
            name, role = name[1:], "source"
        elif name.startswith("<"):
            name, role = name[1:], "dest"
        type_, _, vector = type_.partition("*")
        type_, _, literal = type_.rstrip(")").partition("(")
        width = int(vector.removeprefix(".v") or 1)
        specs.append(OperandSpec(name, type_ or "u32", role, width, optional, literal))
    return tuple(specs)


def _load() -> None:
    """Import the entries once; the package enters them as a side effect of its import."""
    if not _TABLE.entries:
        from . import instructions  # noqa: F401


def opcode(name: str) -> Opcode | None:
    """The opcode spelled `name`, or None."""
    _load()
    return _TABLE.opcodes.get(name)


def opcodes() -> Mapping[str, Opcode]:
    """Every spelled opcode by name, in the order of the table."""
    _load()
    return _TABLE.opcodes


def entries() -> Iterator[Entry]:
    """Every entry in the order of the table."""
    _load()
    yield from _TABLE.entries.values()


def entry(key: str) -> Entry | None:
    """The entry with the key `key` (its mnemonic's first word, unless two share it)."""
    _load()
    return _TABLE.entries.get(key)
