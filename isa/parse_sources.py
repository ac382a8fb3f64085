"""Decides what source operands mean that may also be constants, parameters or array addresses."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .errors import InputError
from .expression_functions import CONSTANT_NAMES
from .names import Number
from .parse_operands import Form
from .parse_registers import RegisterParser, Use
from .parse_report import Piece
from .program import Immediate, Parameter, Special
from .table import OperandSpec
from .values import encode, is_float


@dataclass(frozen=True, slots=True)
class DraftAddress:
    """An address whose base is not placed yet."""

    base: Use | Parameter | None
    offset: int
    text: str


DraftSource = Use | Immediate | Parameter | Special


class OperandParser(RegisterParser):
    """Resolves every kind of operand but addresses."""

    def source(self, form: Form, spec: OperandSpec, piece: Piece) -> DraftSource | None:
        """A source: register, constant, parameter, array address."""
        if spec.type == "pred":
            return self.predicate(form, piece)
        if form.kind == "name":
            if form.text in self.constants:
                return self._immediate(self.constants[form.text], spec, form, piece)
            if form.text in self.names.parameters:
                return self._parameter(form, spec, piece)
            if form.text in CONSTANT_NAMES and form.text not in self.names.values:
                return self._immediate(CONSTANT_NAMES[form.text], spec, form, piece)
        elif form.kind == "integer":
            if "x" in form.text and is_float(spec.literal or spec.type):
                return self._pattern(spec, form, piece)
            return self._immediate(form.index, spec, form, piece)
        elif form.kind == "bits":
            if form.words != spec.words:
                self.fail(
                    piece, f"{form.text} has {32 * form.words} bits, the operand {32 * spec.words}", form
                )
                return None
            return Immediate(form.index, form.words, form.text)
        elif form.kind == "expression":
            value = self.number(form.text, piece, form.start)
            return None if value is None else self._immediate(value, spec, form, piece)
        elif form.kind == "special":
            hint = f"copy it first: mov.u32 x, {form.text}"
            self.fail(piece, f"{form.text} can only be read by mov", form, hint)
            return None
        elif form.kind == "not":
            self.fail(piece, "only a predicate can be negated with !")
            return None
        elif form.kind in ("address", "pair"):
            kind = "an address" if form.kind == "address" else "two destinations"
            self.fail(piece, f"{spec.name} is a value, not {kind}", hint=_kind_hint(spec))
            return None
        return self.register(form, spec, piece, dest=False)

    def _pattern(self, spec: OperandSpec, form: Form, piece: Piece) -> Immediate | None:
        """A hexadecimal integer for a floating-point operand: the bits of a half or a pair of them."""
        type_ = spec.literal or spec.type
        if type_ in ("f32", "f64"):
            digits = "0f" if spec.words == 1 else "0d"
            hint = f"write a bit pattern as {digits} and hexadecimal digits: 0f3F800000 is 1.0"
            self.fail(piece, "a hexadecimal integer is no floating-point constant", form, hint)
            return None
        same_size = "b32" if type_.endswith("x2") else "b16"
        return self._immediate(form.index, replace(spec, literal=same_size), form, piece)

    def _immediate(self, value: Number, spec: OperandSpec, form: Form, piece: Piece) -> Immediate | None:
        type_ = spec.literal or spec.type
        if spec.vector > 1 or type_ == "b128":
            hint = "a vector or 128-bit operand is registers: fill them with mov"
            self.fail(piece, "a constant cannot stand here", form, hint)
            return None
        try:
            return Immediate(encode(value, type_), spec.words, form.text)
        except InputError as error:
            self.fail(piece, error.message, form, error.hint)
            return None

    def _parameter(self, form: Form, spec: OperandSpec, piece: Piece) -> Parameter | None:
        parameter = self.names.parameters[form.text]
        words = max(parameter.bytes // 4, 1)
        if words != spec.words:
            message = (
                f"the parameter {parameter.name} ({parameter.type}) is {32 * words} bits wide, "
                f"the operand {32 * spec.words}"
            )
            hint = "global addresses are 64 bits: use 64-bit instructions" if words == 2 else ""
            self.fail(piece, message, form, hint)
            return None
        return Parameter(parameter.name, parameter.offset, words)

    def constant(self, form: Form, spec: OperandSpec, piece: Piece, low: int, high: int) -> int | None:
        """A constant of the encoding, from `low` to `high`."""
        if form.kind == "integer":
            value: Number | None = form.index
        elif form.kind == "expression" or (form.kind == "name" and form.text in self.constants):
            value = self.number(form.text, piece, form.start)
        else:
            self.fail(piece, f"{spec.name} must be a constant", form)
            return None
        if value is None:
            return None
        if not isinstance(value, int) or not low <= value <= high:
            self.fail(piece, f"{spec.name} is {value}, but must be {low} to {high}", form)
            return None
        return value


def _kind_hint(spec: OperandSpec) -> str:
    return "a register, a constant or a parameter" if spec.role == "source" else ""
