"""Reads the declaring directives: kernel, arrays, launch, arguments, expectations, counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .expressions import Expression, ExpressionError, parse_expression
from .lexer import NAME, Statement, split, top_level
from .names import Names, RegisterArray, elements
from .parse_report import Piece, Report, did_you_mean
from .program import Expectation, KernelParameter, SharedArray
from .table import BYTES, WORDS

MAX_REGISTERS = 255
SHARED_ALIGNMENT = 16  # so that 128-bit accesses may start at any array
_DECLARED = re.compile(rf"({NAME})\s*:\s*([\w.]+)\s*((?:\[.*\])?)\s*(?:align\s+(\w+))?\Z", re.DOTALL)
_KERNEL = re.compile(rf"({NAME})\s*(?:\((.*)\))?\Z", re.DOTALL)
_SCALARS = ("s8", "u8", "s16", "u16", "s32", "u32", "b32", "s64", "u64", "b64", "f32", "f64")
_COUNT = re.compile(rf"({NAME})\s*(?:@\s*({NAME})\s*)?=(?!=)(.*)\Z", re.DOTALL)


_USAGE = {
    ".shared": ".shared As: f32[16][16]", ".local": ".local buffer: f32[8]", ".reg": ".reg acc: f32[8][8]",
    ".launch": ".launch grid = 16, block = 256", ".arg": ".arg A = uniform(N), n = N",
    ".count": ".count sectors @load = 4", ".maxregs": ".maxregs 64",
}  # fmt: skip


@dataclass(slots=True)
class Declarations:
    """What the directives of a program declare beside names."""

    kernel: str = ""
    registers: int = MAX_REGISTERS
    launch: dict[str, Expression] = field(default_factory=dict)
    arguments: dict[str, Expression] = field(default_factory=dict)
    expectations: list[Expectation] = field(default_factory=list)
    counts: list[tuple[Piece, Piece | None, Expression]] = field(default_factory=list)


class DirectiveParser:
    """Reads directives into names and declarations; errors go to the report."""

    def __init__(self, names: Names, report: Report) -> None:
        self.names = names
        self.report = report
        self.found = Declarations()
        self.readers: Mapping[str, Callable[[Statement], None]] = {
            ".kernel": self._kernel, ".shared": self._shared, ".local": self._local, ".reg": self._reg,
            ".launch": self._launch, ".arg": self._arg, ".expect": self._expect, ".count": self._count,
            ".maxregs": self._maxregs,
        }  # fmt: skip

    def read(self, statement: Statement) -> None:
        """Read one directive."""
        reader = self.readers.get(statement.name.text)
        if reader is None:
            known = [*self.readers, ".let", ".repeat", ".end", ".macro", ".include"]
            hint = did_you_mean(statement.name.text, known) or "directives: " + " ".join(known)
            self.report.error(statement.name, f"unknown directive {statement.name.text}", hint=hint)
            return
        usage = _USAGE.get(statement.name.text)
        if usage and not statement.rest.text:
            hint = f"write {usage}"
            self.report.error(statement.name, f"nothing stands behind {statement.name.text}", hint=hint)
            return
        reader(statement)

    def check_expressions(self) -> None:
        """Look up the names and functions of all expressions, once everything is declared."""
        constants = set(self.names.lets)
        names = constants | set(self.names.parameters)
        sizes = names | {"blocks", "warps", "threads"}
        found = self.found
        sides = [e for x in found.expectations for e in (x.left, x.right, x.rtol, x.atol) if e is not None]
        wanted = [(e, constants) for e in found.launch.values()]
        wanted += [(e, names) for e in [*found.arguments.values(), *sides]]
        wanted += [(e, sizes) for _, _, e in found.counts]
        for expression, known in wanted:
            try:
                expression.check(known)
            except ExpressionError as error:
                assert expression.piece is not None
                self.report.error(
                    expression.piece, error.message, hint=error.hint, offset=error.offset, width=error.width
                )

    def _new(self, piece: Piece, name: str) -> bool:
        """Whether a name is free; reports when it is taken."""
        kind = self.names.kind(name)
        if kind:
            self.report.error(piece, f"{name} is {kind} already", width=len(name))
        return not kind

    def _number(self, piece: Piece, what: str, low: int, high: int) -> int | None:
        """An integer constant between two bounds; None after an error."""
        try:
            value = parse_expression(piece.text).constant(self.names.constants)
        except ExpressionError as error:
            self.report.error(piece, error.message, hint=error.hint, offset=error.offset, width=error.width)
            return None
        if not isinstance(value, int) or not low <= value <= high:
            self.report.error(piece, f"{what} is {value}, but must be an integer from {low} to {high}")
            return None
        return value

    def _kernel(self, statement: Statement) -> None:
        rest = statement.rest
        if self.found.kernel:
            self.report.error(
                statement.whole, f"a file holds one kernel; {self.found.kernel} is here already"
            )
            return
        found = _KERNEL.match(rest.text)
        if found is None:
            where = rest if rest.text else statement.name
            self.report.error(where, "write .kernel name(A: ptr.f32, n: s32)")
            return
        self.found.kernel = found[1]
        offset = 0
        for part in split(rest.part(found.start(2), found.end(2))) if found[2] else []:
            parameter = self._parameter(part, offset)
            if parameter is not None:
                self.names.parameters[parameter.name] = parameter
                offset = parameter.offset + parameter.bytes

    def _parameter(self, part: Piece, offset: int) -> KernelParameter | None:
        name, colon, type_ = (t.strip() for t in part.text.partition(":"))
        if not colon or not re.fullmatch(NAME, name):
            self.report.error(part, "a parameter is written name: type", hint="A: ptr.f32 or n: s32")
            return None
        base = type_.removeprefix("ptr.")
        known = BYTES if type_.startswith("ptr.") else dict.fromkeys(_SCALARS)
        if base not in known or base == "b128":
            types = [*_SCALARS, *(f"ptr.{t}" for t in BYTES if t != "b128")]
            hint = did_you_mean(type_, types) or "types: " + ", ".join([*_SCALARS, "ptr.f32 and the like"])
            place = part.text.index(":") + 1
            place += len(part.text[place:]) - len(part.text[place:].lstrip())
            self.report.error(part, f"{type_} is not the type of a parameter", hint=hint, offset=place)
            return None
        if not self._new(part, name):
            return None
        size = 8 if type_.startswith("ptr.") else BYTES[base]
        # A parameter is read as a constant operand of 32 or 64 bits, so a short one takes a word.
        size = max(size, 4)
        return KernelParameter(name, type_, -(-offset // size) * size, size)

    def _shape(self, text: Piece) -> tuple[int, ...] | None:
        """The sizes of `[16][17]`."""
        sizes: list[int] = []
        start, depth = 0, 0
        for index, char in enumerate(text.text):
            depth += (char == "[") - (char == "]")
            if char == "[" and depth == 1:
                start = index + 1
            elif char == "]" and depth == 0:
                size = self._number(text.part(start, index), "a size", 1, 1 << 28)
                if size is None:
                    return None
                sizes.append(size)
        if elements(tuple(sizes)) > 1 << 28:
            self.report.error(text, f"an array of {elements(tuple(sizes))} elements is too large")
            return None
        return tuple(sizes)

    def _declared(
        self, part: Piece, types: Mapping[str, int]
    ) -> tuple[str, str, tuple[int, ...], int] | None:
        """Name, type, shape and alignment (0: none) of `As: f32[16][16] align 16`."""
        found = _DECLARED.match(part.text)
        if found is None:
            self.report.error(part, "an array is written name: type[size]", hint="As: f32[16][17]")
            return None
        name, type_ = found[1], found[2]
        if type_ not in types:
            hint = did_you_mean(type_, types) or "types: " + ", ".join(types)
            self.report.error(
                part, f"unknown type {type_}", hint=hint, offset=found.start(2), width=len(type_)
            )
            return None
        shape = self._shape(part.part(found.start(3), found.end(3)))
        if shape is None or not self._new(part, name):
            return None
        align = 0
        if found[4]:
            value = self._number(part.part(found.start(4), found.end(4)), "an alignment", 1, 1 << 16)
            if value is None:
                return None
            if value & (value - 1):
                self.report.error(part, f"the alignment {value} is not a power of two", offset=found.start(4))
                return None
            align = value
        return name, type_, shape, align

    def _shared(self, statement: Statement) -> None:
        self._memory(statement, self.names.shared)

    def _local(self, statement: Statement) -> None:
        self._memory(statement, self.names.local)

    def _memory(self, statement: Statement, known: dict[str, SharedArray]) -> None:
        """Declare arrays one after another in their window."""
        for part in split(statement.rest):
            declared = self._declared(part, BYTES)
            if declared is None:
                continue
            name, type_, shape, align = declared
            end = max((a.address + a.bytes for a in known.values()), default=0)
            step = max(align or SHARED_ALIGNMENT, BYTES[type_])
            address = -(-end // step) * step
            known[name] = SharedArray(name, type_, shape, address, BYTES[type_] * elements(shape))
            self.names.constants[name] = address

    def _reg(self, statement: Statement) -> None:
        for part in split(statement.rest):
            declared = self._declared(part, WORDS)
            if declared is None:
                continue
            name, type_, shape, _ = declared
            if shape:
                if elements(shape) > 4096:
                    self.report.error(
                        part, f"{name} has {elements(shape)} elements; a thread has 255 registers"
                    )
                    continue
                self.names.arrays[name] = RegisterArray(name, WORDS[type_], shape, part)
            else:
                self.names.value(name, WORDS[type_], part)

    def _maxregs(self, statement: Statement) -> None:
        value = self._number(statement.rest, "the number of registers", 1, MAX_REGISTERS)
        if value is not None:
            self.found.registers = value

    def expression(self, piece: Piece) -> Expression | None:
        """An expression to be evaluated at the launch; None after an error."""
        try:
            return parse_expression(piece.text, piece)
        except ExpressionError as error:
            self.report.error(piece, error.message, hint=error.hint, offset=error.offset, width=error.width)
            return None

    def _settings(self, rest: Piece) -> list[tuple[Piece, Expression]]:
        """The `name = expression` pairs of a list."""
        found: list[tuple[Piece, Expression]] = []
        for part in split(rest):
            equals = _equals(part.text)
            name = part.part(0, max(equals, 0))
            if equals < 0 or not re.fullmatch(NAME, name.text):
                self.report.error(part, "write name = expression")
                continue
            expression = self.expression(part.part(equals + 1, len(part.text)))
            if expression is not None:
                found.append((name, expression))
        return found

    def _launch(self, statement: Statement) -> None:
        for name, expression in self._settings(statement.rest):
            if name.text not in ("grid", "block"):
                hint = did_you_mean(name.text, ["grid", "block"]) or ".launch grid = (16, 16), block = 256"
                self.report.error(name, f"{name.text} is no part of a launch", hint=hint)
            elif name.text in self.found.launch:
                self.report.error(name, f"{name.text} is given twice")
            else:
                self.found.launch[name.text] = expression

    def _arg(self, statement: Statement) -> None:
        for name, expression in self._settings(statement.rest):
            if name.text not in self.names.parameters:
                hint = did_you_mean(name.text, self.names.parameters)
                self.report.error(name, f"the kernel has no parameter {name.text}", hint=hint)
            elif name.text in self.found.arguments:
                self.report.error(name, f"{name.text} is given twice")
            else:
                self.found.arguments[name.text] = expression

    def _expect(self, statement: Statement) -> None:
        """`C ~ expression, rtol = 1e-5, atol = 1e-6` or `C == expression`."""
        parts = split(statement.rest)
        relation, start, stop = _relation(parts[0].text) if parts else ("", 0, 0)
        if not relation:
            where = statement.rest if parts else statement.name
            self.report.error(where, "write .expect C ~ expression or .expect C == expression")
            return
        left = self.expression(parts[0].part(0, start))
        right = self.expression(parts[0].part(stop, len(parts[0].text)))
        tolerances: dict[str, Expression] = {}
        for part in parts[1:]:
            for name, value in self._settings(part):
                if name.text not in ("rtol", "atol") or relation == "==":
                    hint = "== compares exactly; use ~ with a tolerance" if relation == "==" else ""
                    hint = hint or did_you_mean(name.text, ["rtol", "atol"])
                    self.report.error(name, f"{name.text} is no tolerance here", hint=hint)
                else:
                    tolerances[name.text] = value
        if left is not None and right is not None:
            self._check_names(left)
            self.found.expectations.append(
                Expectation(
                    relation,
                    left,
                    right,
                    tolerances.get("rtol"),
                    tolerances.get("atol"),
                    statement.whole.line,
                )
            )

    def _check_names(self, left: Expression) -> None:
        """The left side speaks of at least one array argument."""
        arrays = {n for n, p in self.names.parameters.items() if p.type.startswith("ptr.")}
        if not left.names() & arrays and left.piece is not None:
            hint = did_you_mean(left.text, arrays) or "arrays: " + ", ".join(sorted(arrays))
            self.report.error(left.piece, f"{left.text} names no array argument", hint=hint)

    def _count(self, statement: Statement) -> None:
        found = _COUNT.match(statement.rest.text)
        if found is None:
            where = statement.rest if statement.rest.text else statement.name
            self.report.error(where, "write .count NAME = expression or .count NAME @label = expression")
            return
        rest = statement.rest
        expression = self.expression(rest.part(found.start(3), found.end(3)))
        if expression is not None:
            label = rest.part(found.start(2), found.end(2)) if found[2] else None
            self.found.counts.append((rest.part(found.start(1), found.end(1)), label, expression))


def _equals(text: str) -> int:
    """The place of the first single `=` outside brackets, or -1."""
    for index in top_level(text):
        if (
            text[index] == "="
            and text[index + 1 : index + 2] != "="
            and text[index - 1 : index] not in ("=", "<", ">", "!")
        ):
            return index
    return -1


def _relation(text: str) -> tuple[str, int, int]:
    """The outermost `~` or `==` of an expectation: which, its start and its end."""
    for index in top_level(text):
        if text[index] == "~" and text[:index].strip() and (text[:index].rstrip()[-1] not in "+-*/%@&|^<>=("):
            return "~", index, index + 1
        if text[index : index + 2] == "==":
            return "==", index, index + 2
    return "", 0, 0
