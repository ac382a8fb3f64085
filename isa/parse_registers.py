"""Decides what register operands mean: named values, explicit ones, elements, parts, vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .expressions import ExpressionError, parse_expression
from .names import Names, Number, Value, width_words
from .parse_operands import PARTS, Form, parse_operand
from .parse_report import Piece, Report, did_you_mean
from .table import OperandSpec


@dataclass(frozen=True, slots=True)
class Use:
    """A register or predicate operand that is not placed yet.

    values: one, or the elements of a vector. words: registers of the whole operand, 0 for a
    predicate. part: first word of the value that is meant, with `words` words from there.
    """

    values: tuple[Value, ...]
    words: int
    part: int = 0
    negated: bool = False
    whole: bool = True


class RegisterParser:
    """Resolves registers; `constants` are the numbers that are visible at the statement."""

    def __init__(self, names: Names, report: Report) -> None:
        self.names = names
        self.report = report
        self.constants: Mapping[str, Number] = names.constants
        self.vectors: list[tuple[tuple[Value, ...], int, Piece]] = []
        self.vector_sets: set[tuple[int, ...]] = set()

    def form(self, piece: Piece) -> Form | None:
        """The operand's form; None after an error."""
        try:
            return parse_operand(piece.text)
        except ExpressionError as error:
            self.report.error(piece, error.message, hint=error.hint, offset=error.offset, width=error.width)
            return None

    def fail(self, piece: Piece, message: str, form: Form | None = None, hint: str = "") -> None:
        """Report an error at an operand, or at the part of it that a form describes."""
        start = form.start if form is not None else 0
        width = len(form.text) if form is not None and form.text and form.kind != "part" else 0
        self.report.error(piece, message, hint=hint, offset=start, width=width)

    # Registers and predicates

    def register(self, form: Form, spec: OperandSpec, piece: Piece, *, dest: bool) -> Use | None:
        """A register operand of the spec's width: a name, `%r4`, an element or a vector."""
        if form.kind == "vector":
            return self._vector(form, spec, piece, dest=dest)
        if spec.vector > 1 and form.kind != "name":
            if form.kind == "register" and form.index == 255:
                return Use((self.names.physical("register", 255, piece),), spec.words)
            shape = ", ".join("abcd"[: spec.vector])
            self.fail(piece, f"{spec.name} is a vector of {spec.vector}", hint=f"write it as {{{shape}}}")
            return None
        return self.scalar(form, spec.words, piece, dest=dest)

    def scalar(self, form: Form, words: int, piece: Piece, *, dest: bool) -> Use | None:
        """One register operand `words` wide (0: a predicate)."""
        if form.kind == "name" and form.text == "_" and dest:
            kind = "register" if words else "predicate"
            return Use((self.names.physical(kind, 255 if words else 7, piece),), words)
        if form.kind in ("register", "predicate"):
            return self._physical(form, words, piece)
        if form.kind == "part":
            return self._part(form, words, piece, dest=dest)
        name = self._value_name(form, words, piece, dest=dest)
        if name is None:
            return None
        value = self.names.value(name, words, piece)
        if value.words != words:
            self._clash(value, words, form, piece)
            return None
        value.assigned = value.assigned or dest
        return Use((value,), words)

    def _clash(self, value: Value, words: int, form: Form, piece: Piece) -> None:
        first = value.first.line
        wanted = "a predicate" if words == 0 else f"{32 * words} bits"
        hint = "one name has one width in the whole program"
        if value.words == 1 and words == 2:
            hint = "widen it with mad.wide or cvt, or address shared memory instead"
        message = (
            f"{value.name} is {width_words(value.words)} since line {first.line}, "
            f"but this operand takes {wanted}"
        )
        self.fail(piece, message, form, hint)

    def _physical(self, form: Form, words: int, piece: Piece) -> Use | None:
        """An explicit register or predicate; a wide value starts at a multiple of its width."""
        if (form.kind == "predicate") != (words == 0):
            kind = "a predicate" if words == 0 else f"a register of {32 * words} bits"
            self.fail(piece, f"{form.text} is not {kind}", form)
            return None
        index = form.index
        if words > 1 and index != 255:
            if index % words:
                hint = f"use %r{index - index % words} or %r{index - index % words + words}"
                self.fail(piece, f"{form.text} cannot start a {32 * words}-bit value: misaligned", form, hint)
                return None
            if index + words > 255:
                self.fail(piece, f"{form.text} is too high for a value of {words} registers", form)
                return None
        value = self.names.physical(form.kind, index, piece)
        for word in range(1, words if index != 255 else 1):
            self.names.physical(form.kind, index + word, piece)
        return Use((value,), words)

    def _part(self, form: Form, words: int, piece: Piece, *, dest: bool) -> Use | None:
        """`x.lo`, `x.hi` of a 64-bit value; `q.x` to `q.w` of a 128-bit one."""
        offset, whole = PARTS[form.text]
        inner = self.scalar(form.items[0], whole, piece, dest=dest)
        if inner is None:
            return None
        if words != 1:
            self.fail(piece, f".{form.text} is one 32-bit register, but this operand takes {words}")
            return None
        return Use(inner.values, 1, part=offset, whole=False)

    def _value_name(self, form: Form, words: int, piece: Piece, *, dest: bool) -> str | None:
        """The name of a value or array element; None, with an error, when it is no such thing."""
        if form.kind == "element":
            return self._element(form, piece)
        if form.kind != "name":
            what, kind = ("destination" if dest else "operand"), ("register" if words else "predicate")
            hint = f"the {what} must be a named value or %{kind[0]}0"
            self.fail(piece, f"{form.text} is not a {kind}", form, hint)
            return None
        kind = self.names.kind(form.text) or ("a constant" if form.text in self.constants else "")
        if kind:
            hint = "choose another name for the value" if dest else "copy it with mov first"
            if kind == "a register array":
                hint = f"name one element: {form.text}[0]"
            message = f"{form.text} is {kind}" + (" and cannot be assigned" if dest else ", not a register")
            self.fail(piece, message, form, hint)
            return None
        return form.text

    def _element(self, form: Form, piece: Piece) -> str | None:
        """The name of `acc[i][j]` with its indexes computed."""
        array = self.names.arrays.get(form.text)
        if array is None:
            kind = self.names.kind(form.text)
            hint = did_you_mean(form.text, self.names.arrays) or f"declare it: .reg {form.text}: f32[8]"
            if kind in ("a shared array", "a local array"):
                hint = f"memory is reached by ld and st: [{form.text} + offset in bytes]"
            self.fail(piece, f"{form.text} is not a register array", form, hint)
            return None
        indexes: list[int] = []
        for expression in form.expressions:
            index = self.number(expression.text, piece, form.start)
            if index is None:
                return None
            if not isinstance(index, int):
                self.fail(piece, f"the index {expression.text} is not an integer", form)
                return None
            indexes.append(index)
        if len(indexes) != len(array.shape):
            message = f"{form.text} has {len(array.shape)} indexes, {len(indexes)} are given"
            self.fail(piece, message, form)
            return None
        for index, size in zip(indexes, array.shape, strict=True):
            if not 0 <= index < size:
                self.fail(piece, f"the index {index} is outside 0 to {size - 1} of {form.text}", form)
                return None
        name = array.element(tuple(indexes))
        self.names.value(name, array.words, array.piece)
        return name

    def _vector(self, form: Form, spec: OperandSpec, piece: Piece, *, dest: bool) -> Use | None:
        """`{a, b, c, d}`: values side by side, the first aligned to the whole width."""
        if spec.vector == 1 or len(form.items) != spec.vector:
            message = f"{spec.name} takes {spec.vector or 1} values, {len(form.items)} are given"
            self.fail(piece, message if spec.vector > 1 else f"{spec.name} is not a vector here")
            return None
        each = spec.words // spec.vector
        uses = [self.scalar(item, each, piece, dest=dest) for item in form.items]
        if any(use is None for use in uses):
            return None
        values = tuple(use.values[0] for use in uses if use is not None)
        if all(value.fixed == 255 for value in values):
            return Use(values[:1], spec.words)
        if any(use is not None and not use.whole for use in uses) or any(v.fixed == 255 for v in values):
            self.fail(piece, "the elements of a vector are whole values", hint="copy the part with mov first")
            return None
        if len({value.name for value in values}) < len(values):
            hint = "a vector is consecutive registers: copy the value with mov"
            self.fail(piece, "a vector cannot hold one value twice", hint=hint)
            return None
        key = tuple(id(value) for value in values)
        if key not in self.vector_sets:
            self.vector_sets.add(key)
            self.vectors.append((values, spec.words, piece))
        return Use(values, spec.words)

    def predicate(self, form: Form, piece: Piece, *, dest: bool = False) -> Use | None:
        """`p`, `!p`, `%p1`, `true` or `false`."""
        if form.kind == "not":
            inner = None if dest else self.predicate(form.items[0], piece)
            if dest:
                self.fail(piece, "a destination cannot be negated")
            return None if inner is None else Use(inner.values, 0, negated=not inner.negated)
        if form.kind == "name" and form.text in ("true", "false") and not dest:
            value = self.names.physical("predicate", 7, piece)
            return Use((value,), 0, negated=form.text == "false")
        return self.scalar(form, 0, piece, dest=dest)

    def number(self, text: str, piece: Piece, start: int = 0) -> Number | None:
        """A constant expression's value; None after an error."""
        try:
            value = parse_expression(text).constant(self.constants)
        except ExpressionError as error:
            hint = error.hint
            name = text[error.offset : error.offset + error.width]
            if name in self.names.values or name.startswith("%"):
                hint = f"{name} is a register: its value is not known before the run"
            self.report.error(piece, error.message, hint=hint, offset=start + error.offset, width=error.width)
            return None
        if not isinstance(value, (int, float)):
            self.report.error(piece, f"{text} is not a number", offset=start, width=len(text))
            return None
        return value
