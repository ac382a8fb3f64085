"""Reads address operands: `[base + offset]` over registers, arrays, parameters and constants."""

from __future__ import annotations

from .names import Number
from .parse_operands import Form
from .parse_registers import Use
from .parse_report import Piece
from .parse_sources import DraftAddress, OperandParser
from .program import Parameter
from .table import OperandSpec

_LIMIT = 1 << 31


def parse_address(
    operands: OperandParser, form: Form, spec: OperandSpec, space: str, piece: Piece
) -> DraftAddress | None:
    """An address in `space`: at most one register or parameter, and constants. None after an error."""
    if form.kind != "address":
        operands.fail(piece, f"{spec.name} is an address", hint=f"write it in brackets: [{piece.text}]")
        return None
    base: Use | Parameter | None = None
    offset: Number = 0
    for item, sign in zip(form.items, form.signs, strict=True):
        term = _term(operands, item, spec, space, piece)
        if term is None:
            return None
        if isinstance(term, (int, float)):
            offset += sign * term
            continue
        if base is not None:
            hint = "add the registers first (add, mad or lea), or use a constant"
            operands.fail(piece, "an address has one register and constants", item, hint)
            return None
        if sign < 0:
            operands.fail(piece, "a register cannot be subtracted in an address", item)
            return None
        base = term
    if not isinstance(offset, int):
        operands.fail(piece, f"the offset {offset} is not an integer")
        return None
    if not -_LIMIT <= offset < _LIMIT:
        operands.fail(piece, f"the offset {offset} does not fit into 32 bits")
        return None
    return DraftAddress(base, offset, piece.text)


def _term(
    operands: OperandParser, item: Form, spec: OperandSpec, space: str, piece: Piece
) -> Use | Parameter | Number | None:
    names = operands.names
    if item.kind == "integer":
        return item.index
    if item.kind == "name":
        if item.text in names.shared or item.text in names.local:
            home = "shared" if item.text in names.shared else "local"
            if home != space:
                hint = f"it lies in {home} memory: use .{home}"
                operands.fail(piece, f"{item.text} has no address in {space} memory", item, hint)
                return None
            return operands.constants[item.text]
        if item.text in operands.constants:
            return operands.constants[item.text]
        if item.text in names.parameters:
            return _parameter(operands, item, spec, space, piece)
    if item.kind == "expression":
        return operands.number(item.text, piece, item.start)
    if item.kind in ("name", "register", "element", "part"):
        return operands.scalar(item, spec.words, piece, dest=False)
    operands.fail(piece, f"{item.text} cannot stand in an address", item)
    return None


def _parameter(
    operands: OperandParser, item: Form, spec: OperandSpec, space: str, piece: Piece
) -> Parameter | Number | None:
    """A parameter's value as the base; in the parameter space its own place."""
    parameter = operands.names.parameters[item.text]
    if space in ("param", "const"):
        return parameter.offset
    words = max(parameter.bytes // 4, 1)
    if words != spec.words:
        message = (
            f"{item.text} ({parameter.type}) is {32 * words} bits, an address here has {32 * spec.words}"
        )
        operands.fail(piece, message, item)
        return None
    return Parameter(parameter.name, parameter.offset, words)
