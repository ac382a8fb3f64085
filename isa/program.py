"""An assembled program: instructions with physical operands, and what its directives declare.

These are plain values. The assembler makes them, the printer and both engines read them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .table import Opcode

ZERO_REGISTER = 255  # reads as zero, ignores writes (RZ of real machine code)
TRUE_PREDICATE = 7  # always true, ignores writes (PT of real machine code)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Where an instruction was written; column counts from 1."""

    file: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Register:
    """`words` consecutive 32-bit registers from `index`; aligned to `words`."""

    index: int
    words: int = 1
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Predicate:
    """One of p0 to p6, or the true one; as a source or guard it may be negated."""

    index: int
    negated: bool = False
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant of `words` 32-bit words; `bits` is its unsigned bit pattern."""

    bits: int
    words: int = 1
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel parameter as an operand: `offset` bytes into the parameter space."""

    name: str
    offset: int
    words: int = 1


@dataclass(frozen=True, slots=True)
class Special:
    """A special register such as `%tid.x`; see isa.special for the list."""

    name: str


Source = Register | Predicate | Immediate | Parameter | Special


@dataclass(frozen=True, slots=True)
class Address:
    """`[base + offset]`; base is a register (pair for global space), parameter or nothing."""

    base: Register | Parameter | None
    offset: int = 0
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Control:
    """Scheduling control of real machine code (hand-written programs carry none).

    stall: cycles until the warp's next issue; yield_: bar the same warp for the next cycle;
    write_counter, read_counter: dependence counter 0-5 that this instruction raises, or -1;
    wait_mask: counters that must be zero; reuse: bit i keeps source i in the reuse slot.
    """

    stall: int = 1
    yield_: bool = False
    write_counter: int = -1
    read_counter: int = -1
    wait_mask: int = 0
    reuse: int = 0


@dataclass(frozen=True, slots=True)
class Instruction:
    """One issue slot. `target` and `reconverge` are instruction indices, -1 for none.

    dests and sources are in the order of the opcode's operand list; a vector operand is one
    Register with all its words. `reconverge` is the immediate post-dominator of a branch:
    where the lanes that it parts come together again. constants: values of the opcode's
    "constant" operands (a lop3 table, a barrier number).
    """

    opcode: Opcode
    dests: tuple[Register | Predicate, ...] = ()
    sources: tuple[Source, ...] = ()
    address: Address | None = None
    guard: Predicate | None = None
    target: int = -1
    reconverge: int = -1
    constants: tuple[int, ...] = ()
    source_line: SourceLine | None = field(default=None, compare=False)
    control: Control | None = None
    reuse: int = 0


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """`type` is a scalar type or `ptr.f32`; pointers take 8 bytes. offset in bytes."""

    name: str
    type: str
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class SharedArray:
    """A block's shared array: element type, shape, byte address in the shared window."""

    name: str
    type: str
    shape: tuple[int, ...]
    address: int
    bytes: int


@dataclass(frozen=True, slots=True)
class CountExpectation:
    """A count that the program must show: `.count NAME [@label] = EXPRESSION`."""

    counter: str
    pc: int
    expression: Any
    source_line: SourceLine = field(compare=False)


@dataclass(frozen=True, slots=True)
class Expectation:
    """`.expect LEFT ~ RIGHT, rtol = ..., atol = ...` or, exactly, `LEFT == RIGHT`.

    The array arguments' names mean their final content on the left, the initial one on the
    right. The sides and tolerances are expressions; relation is "~" or "==".
    """

    relation: str
    left: Any
    right: Any
    rtol: Any = None
    atol: Any = None
    source_line: SourceLine | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel. registers: 32-bit registers a thread; local_bytes: local memory a thread.

    launch, arguments, expectations and lets keep the parsed expressions of the directives;
    isa.launch evaluates them with the user's overrides. Two programs are equal when they do the
    same: names, texts and places that only people read take no part in the comparison.
    """

    name: str
    instructions: tuple[Instruction, ...]
    parameters: tuple[KernelParameter, ...] = ()
    shared: tuple[SharedArray, ...] = ()
    local: tuple[SharedArray, ...] = ()
    registers: int = 1
    local_bytes: int = 0
    predicates: int = 0
    max_registers: int = 255
    labels: dict[str, int] = field(default_factory=dict, compare=False)
    lets: dict[str, Any] = field(default_factory=dict)
    launch: dict[str, Any] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    expectations: tuple[Any, ...] = ()
    counts: tuple[CountExpectation, ...] = ()
    file: str = field(default="", compare=False)
    text: str = field(default="", compare=False)
    includes: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block, in bytes."""
        return max((a.address + a.bytes for a in self.shared), default=0)

    @property
    def parameter_bytes(self) -> int:
        """The size of the parameter space, in bytes."""
        return max((p.offset + p.bytes for p in self.parameters), default=0)
