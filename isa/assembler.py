"""Assembles a program text: statements, expansion, drafts, allocation, instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import InputError
from .expressions import ExpressionError, parse_expression
from .flow import Step, reconvergence
from .lexer import Statement, scan
from .macros import Block, Expander, Include
from .names import Names, Number
from .parse_directives import DirectiveParser
from .parse_instruction import Draft, InstructionParser
from .parse_registers import Use
from .parse_report import Piece, Report, did_you_mean
from .parse_sources import DraftAddress, DraftSource
from .placement import Placement, place_values
from .program import (
    ZERO_REGISTER,
    Address,
    CountExpectation,
    Instruction,
    Parameter,
    Predicate,
    Program,
    Register,
    Source,
    SourceLine,
)
from .table import Behaviour, opcode

_NEVER_FALLS_THROUGH = (Behaviour.EXIT, Behaviour.TRAP, Behaviour.RET, Behaviour.BRANCH)


def assemble(
    text: str,
    file: str = "<text>",
    include: Include | None = None,
    lets: Mapping[str, str | Number] | None = None,
    *,
    fragment: bool = False,
) -> Program:
    """Assemble a program text.

    file: the name in messages; when it is a path, .include reads beside it. include: gives an
    included file's text instead. lets: values, or their texts, that replace those of .let.
    fragment: the text is a piece of a program: values that nothing assigns are inputs, labels
    that do not stand in it mean its end, and an `exit` is added there.
    Raises SourceError with every error found, and InputError for a name in `lets` that the
    text does not define.
    """
    return _Assembly(text, file, include, fragment=fragment).run(_numbers(lets or {}))


class _Assembly:
    """One assembly from text to program."""

    def __init__(self, text: str, file: str, include: Include | None, *, fragment: bool) -> None:
        self.text, self.file, self.fragment = text, file, fragment
        self.report = Report()
        self.names = Names()
        self.expander = Expander(self.names, self.report, include or _beside(file))
        self.directives = DirectiveParser(self.names, self.report)
        self.parser = InstructionParser(self.names, self.report, self.expander.macros)
        self.drafts: list[Draft] = []
        self.labels: dict[str, int] = {}
        self.label_pieces: dict[str, Piece] = {}

    def run(self, lets: Mapping[str, Number]) -> Program:
        """All phases; each that found errors stops before the next that would repeat them."""
        root = self.expander.structure(scan(self.text, self.file, self.report))
        self._constants(root, lets)
        for node in root.body:
            if isinstance(node, Statement) and node.kind == "directive" and node.name.text != ".let":
                self.directives.read(node)
        self._draft(root)
        self._check_labels()
        self.directives.check_expressions()
        if self.fragment:
            self._append_exit()
        elif not (self.drafts or self.report.diagnostics):
            whole = Piece("", SourceLine(self.file, 1, 1, self.text.split("\n")[0]), 1)
            self.report.error(whole, "the program has no instructions", hint="the shortest one is exit")
        self.report.raise_if_any()
        self._check_end()
        self.report.raise_if_any()
        steps = self._steps()
        placement = place_values(
            self.drafts, steps, self.names, self.parser.operands.vectors, self.report,
            self.directives.found.registers, fragment=self.fragment,
        )  # fmt: skip
        self.report.raise_if_any()
        assert placement is not None
        return self._program(_instructions(self.drafts, steps, placement), placement)

    def _constants(self, root: Block, lets: Mapping[str, Number]) -> None:
        self.expander.lets(root, lets)
        known = self.names.lets
        for name in lets:
            if name not in known:
                self.report.raise_if_any()
                hint = did_you_mean(name, known) or "constants: " + (", ".join(known) or "none")
                raise InputError(f"the program has no .let {name}", hint=hint)
        self.names.constants.update(known)

    def _draft(self, root: Block) -> None:
        """Expand, and read every label and instruction."""
        for item in self.expander.expand(root):
            statement = item.statement
            self.report.trail = item.trail
            if statement.kind == "label":
                self._label(statement)
            elif statement.kind == "instruction":
                draft = self.parser.parse(statement, item.constants)
                if draft is not None:
                    self.drafts.append(draft)
            elif item.trail:
                self.report.error(statement.name, f"{statement.name.text} stands outside .repeat and .macro")
        self.report.trail = ""

    def _label(self, statement: Statement) -> None:
        name = statement.name.text
        if name in self.labels:
            first = self.label_pieces[name].line
            hint = f"the first is at line {first.line}"
            if self.report.trail:
                hint = f"put the body into a macro: there ${name.lstrip('$')} is private to each call"
            self.report.error(statement.name, f"the label {name} exists already", hint=hint)
            return
        self.labels[name] = len(self.drafts)
        self.label_pieces[name] = statement.name

    def _check_labels(self) -> None:
        """Every target and every counted line must exist."""
        named = [d.target for d in self.drafts if d.target is not None]
        named += [label for _, label, _ in self.directives.found.counts if label is not None]
        for piece in named:
            if piece.text not in self.labels and not self.fragment:
                hint = did_you_mean(piece.text, self.labels) or "a label is a name with a colon: loop:"
                self.report.error(piece, f"there is no label {piece.text}", hint=hint)

    def _append_exit(self) -> None:
        """End a fragment with an exit."""
        found = opcode("exit")
        assert found is not None
        line = SourceLine(self.file, self.text.count("\n") + 1, 1, "exit")
        piece = Piece("exit", line, 1)
        nothing = Piece("", line, 5)
        self.drafts.append(Draft(found, Statement("instruction", piece, nothing, piece)))

    def _check_end(self) -> None:
        """A thread must not run past the last instruction."""
        last = self.drafts[-1]
        for name, index in self.labels.items():
            if index == len(self.drafts):
                message = f"nothing follows the label {name}"
                self.report.error(self.label_pieces[name], message, hint="put exit behind it")
        if last.guard is not None or last.opcode.behaviour not in _NEVER_FALLS_THROUGH:
            piece = last.statement.whole
            self.report.error(piece, "the kernel runs past its last instruction", hint="end it with exit")

    def _steps(self) -> list[Step]:
        end = len(self.drafts) - 1
        return [
            Step(
                draft.opcode.behaviour,
                draft.guard is not None,
                -1 if draft.target is None else self.labels.get(draft.target.text, end),
            )
            for draft in self.drafts
        ]

    def _program(self, instructions: tuple[Instruction, ...], placement: Placement) -> Program:
        names, found = self.names, self.directives.found
        counts = [
            CountExpectation(
                name.text, -1 if label is None else self.labels[label.text], expression, name.line
            )
            for name, label, expression in found.counts
        ]
        return Program(
            name=found.kernel or "kernel",
            instructions=instructions,
            parameters=tuple(names.parameters.values()),
            shared=tuple(names.shared.values()),
            local=tuple(names.local.values()),
            registers=max(placement.registers, 1),
            local_bytes=max((a.address + a.bytes for a in names.local.values()), default=0),
            predicates=placement.predicates,
            max_registers=found.registers,
            labels=dict(self.labels),
            lets=dict(names.lets),
            launch=dict(found.launch),
            arguments=dict(found.arguments),
            expectations=tuple(found.expectations),
            counts=tuple(counts),
            file=self.file,
            text=self.text,
            includes=dict(self.expander.included),
        )


def _numbers(lets: Mapping[str, str | Number]) -> dict[str, Number]:
    """The user's values for constants; a text is an expression over numbers."""
    found: dict[str, Number] = {}
    for name, value in lets.items():
        if isinstance(value, str):
            try:
                number = parse_expression(value).constant(found)
            except ExpressionError as error:
                raise InputError(f"{name} = {value}: {error.message}", hint=error.hint) from None
        else:
            number = value
        if not isinstance(number, (int, float)):
            raise InputError(f"{name} = {value} is not a number")
        found[name] = number
    return found


def _beside(file: str) -> Include | None:
    """Reads included files from the folder of the program's file."""
    if file.startswith("<"):
        return None
    folder = Path(file).parent
    return lambda name: (folder / name).read_text(encoding="utf-8")


def _instructions(
    drafts: Sequence[Draft], steps: Sequence[Step], placement: Placement
) -> tuple[Instruction, ...]:
    """The final instructions, with targets, points of reconvergence and reuse bits."""
    joins = reconvergence(steps)
    placed = [_operands(draft, placement) for draft in drafts]
    leaders = {step.target for step in steps}
    made = []
    for index, draft in enumerate(drafts):
        dests, sources, address = placed[index]
        reuse = 0
        # Only the next instruction of the same block can find a kept operand.
        if (
            index + 1 < len(drafts)
            and index + 1 not in leaders
            and steps[index].behaviour is Behaviour.COMPUTE
        ):
            reuse = _reuse(sources, dests, placed[index + 1][1])
        statement = draft.statement
        line = statement.whole.line
        made.append(
            Instruction(
                opcode=draft.opcode,
                dests=dests,
                sources=sources,
                address=address,
                guard=None if draft.guard is None else placement.predicate(draft.guard),
                target=steps[index].target,
                reconverge=joins[index],
                constants=draft.constants,
                source_line=SourceLine(line.file, line.line, statement.whole.column, line.text),
                control=draft.control,
                reuse=reuse,
            )
        )
    return tuple(made)


Operands = tuple[tuple[Register | Predicate, ...], tuple[Source, ...], Address | None]


def _operands(draft: Draft, placement: Placement) -> Operands:
    dests = tuple(placement.place(use) for use in draft.dests)
    sources = tuple(_source(source, placement) for source in draft.sources)
    return dests, sources, None if draft.address is None else _address(draft.address, placement)


def _source(source: DraftSource, placement: Placement) -> Source:
    return placement.place(source) if isinstance(source, Use) else source


def _address(address: DraftAddress, placement: Placement) -> Address:
    base: Register | Parameter | None
    base = placement.register(address.base) if isinstance(address.base, Use) else address.base
    return Address(base, address.offset, address.text)


def _reuse(
    sources: Sequence[Source], dests: Sequence[Register | Predicate], following: Sequence[Source]
) -> int:
    """Bit i: the next instruction reads the same register, unchanged, at source position i."""
    mask = 0
    for position, (one, other) in enumerate(zip(sources, following, strict=False)):
        if not isinstance(one, Register) or one != other or one.index == ZERO_REGISTER:
            continue
        span = range(one.index, one.index + one.words)
        written = any(
            isinstance(d, Register) and d.index < span.stop and span.start < d.index + d.words for d in dests
        )
        if not written:
            mask |= 1 << position
    return mask
