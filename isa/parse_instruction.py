"""Turns an instruction statement into a draft: an opcode with operands that are not placed yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from . import table
from .expressions import ExpressionError
from .lexer import NAME, Statement
from .names import Names, Number
from .parse_address import parse_address
from .parse_operands import Form, parse_operand
from .parse_registers import Use
from .parse_report import Piece, Report, did_you_mean
from .parse_sources import DraftAddress, DraftSource, OperandParser
from .program import Control, Immediate, Special
from .special import SPECIAL
from .suggest import unknown_mnemonic, usage
from .table import WORDS, Behaviour, Opcode, OperandSpec

_LABEL = re.compile(NAME)
_CONTROL = {"stall": 15, "yield": 1, "wr": 5, "rd": 5, "wait": 63, "reuse": 15}


@dataclass(slots=True)
class Draft:
    """An instruction before allocation; `target` is where its label is written."""

    opcode: Opcode
    statement: Statement
    dests: tuple[Use, ...] = ()
    sources: tuple[DraftSource, ...] = ()
    address: DraftAddress | None = None
    guard: Use | None = None
    target: Piece | None = None
    constants: tuple[int, ...] = ()
    control: Control | None = None


def _is_special(text: str) -> bool:
    """Whether an operand is a special register, known or not."""
    if not text.startswith("%"):
        return False
    try:
        return parse_operand(text).kind == "special"
    except ExpressionError:
        return False


class InstructionParser:
    """Reads instructions against the table; errors go to the report."""

    def __init__(self, names: Names, report: Report, macros: Mapping[str, object]) -> None:
        self.names = names
        self.report = report
        self.macros = macros
        self.operands = OperandParser(names, report)

    def parse(self, statement: Statement, constants: Mapping[str, Number]) -> Draft | None:
        """The draft of one instruction; None after an error."""
        self.operands.constants = constants
        opcode = self._opcode(statement)
        if opcode is None:
            return None
        draft = Draft(opcode, statement)
        ok = self._guard(statement, draft) and self._control(statement, draft)
        pairs = self._assign(statement, opcode)
        if pairs is None:
            return None
        dests: list[Use] = []
        sources: list[DraftSource] = []
        for spec, form, piece in pairs:
            role = spec.role
            if role == "dest":
                use = self._dest(form, spec, piece)
                ok = ok and use is not None
                dests += [] if use is None else [use]
            elif role == "source":
                source = self._source(form, spec, piece, opcode)
                ok = ok and source is not None
                sources += [] if source is None else [source]
            else:
                ok = self._other(draft, form, spec, piece) and ok
        draft.dests, draft.sources = tuple(dests), tuple(sources)
        return draft if ok else None

    def _opcode(self, statement: Statement) -> Opcode | None:
        name = statement.name.text
        second = statement.operands[1].text if len(statement.operands) > 1 else ""
        if name.startswith("mov.") and _is_special(second):
            name = "s2r." + name[4:]
        opcode = table.opcode(name)
        if opcode is None:
            message, hint = unknown_mnemonic(name, [*self.macros])
            if name.startswith("s2r."):
                message = f"{statement.name.text} cannot read a special register"
                hint = "use mov.u32, or mov.u64 for a 64-bit one"
            self.report.error(statement.name, message, hint=hint)
        return opcode

    def _assign(self, statement: Statement, opcode: Opcode) -> list[tuple[OperandSpec, Form, Piece]] | None:
        """Pair the written operands with the opcode's; None after an error."""
        forms: list[Form] = []
        for piece in statement.operands:
            form = self.operands.form(piece)
            if form is None:
                return None
            forms.append(form)
        positional = [s for s in opcode.operands if s.role != "dest" or s is opcode.dests[0]]
        needed = sum(not s.optional for s in positional)
        if not needed <= len(forms) <= len(positional):
            count = str(needed) if needed == len(positional) else f"{needed} to {len(positional)}"
            message = f"{opcode.name} takes {count} operand{'s' * (count != '1')}, {len(forms)} given"
            where = statement.operands[len(positional)] if len(forms) > len(positional) else statement.whole
            self.report.error(where, message, hint=f"it is written {usage(opcode)}")
            return None
        pairs = list(zip(positional, forms, statement.operands, strict=False))
        extra = opcode.dests[1:]
        if forms and forms[0].kind == "pair":
            if not extra or positional[0].role != "dest":
                message = f"{opcode.name} has one destination"
                self.report.error(statement.operands[0], message, hint=f"it is written {usage(opcode)}")
                return None
            spec, form, piece = pairs[0]
            pairs[0] = (spec, form.items[0], piece)
            pairs.insert(1, (extra[0], form.items[1], piece))
        elif extra and not extra[0].optional:
            message = f"{opcode.name} has two destinations"
            self.report.error(statement.operands[0], message, hint=f"it is written {usage(opcode)}")
            return None
        return pairs

    def _dest(self, form: Form, spec: OperandSpec, piece: Piece) -> Use | None:
        if spec.type == "pred":
            return self.operands.predicate(form, piece, dest=True)
        if form.kind == "special":
            self.operands.fail(piece, f"{form.text} cannot be written", form)
            return None
        return self.operands.register(form, spec, piece, dest=True)

    def _source(self, form: Form, spec: OperandSpec, piece: Piece, opcode: Opcode) -> DraftSource | None:
        if opcode.behaviour is Behaviour.SPECIAL:
            return self._special(form, spec, piece)
        source = self.operands.source(form, spec, piece)
        if opcode.behaviour is Behaviour.BARRIER and isinstance(source, Immediate) and source.bits % 32:
            self.operands.fail(piece, f"the count {source.bits} is not a multiple of 32", form)
            return None
        return source

    def _special(self, form: Form, spec: OperandSpec, piece: Piece) -> Special | None:
        """A special register of the operand's width."""
        register = SPECIAL.get(form.text.removeprefix("%"))
        if register is None:
            hint = did_you_mean(form.text, [f"%{name}" for name in SPECIAL])
            self.operands.fail(piece, f"there is no {form.text}", form, hint)
            return None
        words = WORDS[register.type]
        if words != spec.words:
            hint = f"read it with mov.u{32 * words}"
            self.operands.fail(piece, f"{form.text} is {32 * words} bits wide", form, hint)
            return None
        return Special(form.text)

    def _other(self, draft: Draft, form: Form, spec: OperandSpec, piece: Piece) -> bool:
        """An address, a label or a constant."""
        if spec.role == "address":
            space = draft.opcode.parts.get("space", "global" if spec.words == 2 else "shared")
            draft.address = parse_address(self.operands, form, spec, space, piece)
            return draft.address is not None
        if spec.role == "label":
            if not _LABEL.fullmatch(piece.text):
                self.operands.fail(piece, f"{piece.text} is not a label")
                return False
            draft.target = piece
            return True
        high = {"lut": 255, "shift": 31}.get(spec.name, (1 << 32) - 1)
        if draft.opcode.behaviour is Behaviour.BARRIER:
            high = 15
        value = self.operands.constant(form, spec, piece, 0, high)
        if value is not None:
            draft.constants += (value,)
        return value is not None

    def _guard(self, statement: Statement, draft: Draft) -> bool:
        if statement.guard is None:
            return True
        form = self.operands.form(statement.guard)
        if form is None:
            return False
        guard = self.operands.predicate(form, statement.guard)
        if guard is not None and (guard.values[0].fixed != 7 or guard.negated):
            draft.guard = guard
        return guard is not None

    def _control(self, statement: Statement, draft: Draft) -> bool:
        """Scheduling marks: `&stall=4 &yield &wr=0 &rd=1 &wait=0x3 &reuse=0x1`."""
        if statement.control is None:
            return True
        values = {"stall": 1, "yield": 0, "wr": -1, "rd": -1, "wait": 0, "reuse": 0}
        for mark in statement.control.text.split():
            name, _, text = mark.removeprefix("&").partition("=")
            try:
                number = int(text or "1", 0)
            except ValueError:
                number = -1
            if name not in _CONTROL or not 0 <= number <= _CONTROL[name]:
                hint = did_you_mean(name, _CONTROL) if name not in _CONTROL else f"0 to {_CONTROL[name]}"
                self.report.error(statement.control, f"{mark} is not a scheduling mark", hint=hint)
                return False
            values[name] = number
        draft.control = Control(
            values["stall"],
            bool(values["yield"]),
            values["wr"],
            values["rd"],
            values["wait"],
            values["reuse"],
        )
        return True
