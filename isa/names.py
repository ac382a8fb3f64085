"""The names of a program while it is assembled: values, arrays, parameters, constants."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from .expression_functions import CONSTANT_NAMES
from .parse_report import Piece
from .program import KernelParameter, SharedArray

Number = int | float


@dataclass(slots=True, eq=False)
class Value:
    """A named value or an explicit register.

    words: 32-bit registers, 0 for a predicate. number: its bit in the sets of liveness, -1
    for an explicit register, whose place is `fixed`. first: where its width was settled.
    assigned: whether any instruction writes it.
    """

    name: str
    words: int
    number: int
    first: Piece
    fixed: int = -1
    assigned: bool = False


@dataclass(frozen=True, slots=True)
class RegisterArray:
    """A declared array of values: `words` registers an element, 0 for predicates."""

    name: str
    words: int
    shape: tuple[int, ...]
    piece: Piece

    def element(self, indexes: tuple[int, ...]) -> str:
        """The name of one element."""
        return self.name + "".join(f"[{i}]" for i in indexes)


@dataclass(slots=True)
class Names:
    """Everything a program has named; `constants` are .let values and array addresses."""

    constants: dict[str, Number] = field(default_factory=dict)
    lets: dict[str, Number] = field(default_factory=dict)
    parameters: dict[str, KernelParameter] = field(default_factory=dict)
    shared: dict[str, SharedArray] = field(default_factory=dict)
    local: dict[str, SharedArray] = field(default_factory=dict)
    arrays: dict[str, RegisterArray] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    explicit: dict[tuple[str, int], Value] = field(default_factory=dict)
    numbered: list[Value] = field(default_factory=list)

    def kind(self, name: str) -> str:
        """What a name stands for already, in words, or an empty string."""
        kinds: tuple[tuple[str, Mapping[str, object]], ...] = (
            ("a constant", self.lets), ("a kernel parameter", self.parameters),
            ("a shared array", self.shared), ("a local array", self.local),
            ("a register array", self.arrays), ("a constant", CONSTANT_NAMES),
        )  # fmt: skip
        return next((words for words, known in kinds if name in known), "")

    def value(self, name: str, words: int, piece: Piece) -> Value:
        """The value of that name; made, `words` wide, when it is new."""
        value = self.values.get(name)
        if value is None:
            value = Value(name, words, len(self.numbered), piece)
            self.values[name] = value
            self.numbered.append(value)
        return value

    def physical(self, kind: str, index: int, piece: Piece) -> Value:
        """The explicit register or predicate `index`."""
        value = self.explicit.get((kind, index))
        if value is None:
            text = f"%{'r' if kind == 'register' else 'p'}{index}"
            words = 1 if kind == "register" else 0
            value = Value(text, words, -1, piece, fixed=index, assigned=True)
            self.explicit[kind, index] = value
        return value

    def all(self) -> list[str]:
        """Every name, for hints."""
        return [
            *self.values, *self.constants, *self.parameters, *self.shared, *self.local, *self.arrays,
        ]  # fmt: skip


def width_words(words: int) -> str:
    """`32 bits`, or `a predicate`, for messages."""
    return "a predicate" if words == 0 else f"{32 * words} bits wide"


def elements(shape: tuple[int, ...]) -> int:
    """How many elements a shape has."""
    return math.prod(shape)
