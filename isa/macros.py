"""Expands .include, .macro, .repeat and .let: a tree of statements becomes a flat sequence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

from .expressions import ExpressionError, parse_expression
from .lexer import NAME, Statement, scan, split
from .names import Names, Number
from .parse_report import Piece, Report, did_you_mean
from .table import opcode

MAX_DEPTH = 32  # macro calls and includes inside one another
MAX_STATEMENTS = 200_000  # of one program after expansion

Include = Callable[[str], str]
_ARGUMENT = re.compile(rf"[%!-]?[\w$.%]+(\s*\[.*\])*|[{{\[].*[}}\]]|{NAME}\|{NAME}", re.DOTALL)
_MACRO = re.compile(rf"({NAME})\s*(?:\((.*)\)|(.*))\Z", re.DOTALL)


@dataclass(slots=True)
class Block:
    """A `.repeat` or `.macro` with its body, or (`start` is None) a whole text."""

    start: Statement | None
    body: list[Statement | Block] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro: its parameters' names and its body."""

    name: str
    parameters: tuple[str, ...]
    block: Block


@dataclass(frozen=True, slots=True)
class Item:
    """A statement to assemble, the constants it sees, and what was being expanded."""

    statement: Statement
    constants: Mapping[str, Number]
    trail: str


class TooLarge(Exception):
    """The expansion passed MAX_STATEMENTS (internal: a diagnostic is noted already)."""


class Expander:
    """Reads the structure of a text and unrolls it; errors go to the report."""

    def __init__(self, names: Names, report: Report, include: Include | None) -> None:
        self.names = names
        self.report = report
        self.include = include
        self.included: dict[str, str] = {}
        self.macros: dict[str, Macro] = {}
        self.expansions = 0
        self.produced = 0

    def structure(self, statements: list[Statement], depth: int = 0) -> Block:
        """The tree of repeats; macros are noted and taken out, includes are read in."""
        root = Block(None)
        stack = [root]
        for statement in statements:
            word = statement.name.text if statement.kind == "directive" else ""
            if word in (".repeat", ".macro"):
                block = Block(statement)
                stack[-1].body.append(block)
                stack.append(block)
            elif word == ".end":
                if len(stack) == 1:
                    self.report.error(statement.name, ".end without .repeat or .macro")
                    continue
                block = stack.pop()
                if block.start is not None and block.start.name.text == ".macro":
                    stack[-1].body.pop()
                    self._define(block, nested=len(stack) > 1)
            elif word == ".include":
                stack[-1].body += self._read(statement, depth)
            else:
                stack[-1].body.append(statement)
        for outer, block in pairwise(stack):
            if block.start is not None:
                name = block.start.name
                self.report.error(name, f"{name.text} is not closed", hint="close it with .end")
                outer.body.remove(block)
        return root

    def _define(self, block: Block, *, nested: bool) -> None:
        assert block.start is not None
        rest = block.start.rest
        found = _MACRO.match(rest.text)
        if found is None:
            self.report.error(rest if rest.text else block.start.name, "write .macro name(a, b)")
            return
        name = found[1]
        listed = (found[2] if found[2] is not None else found[3]).split(",")
        parameters = tuple(p.strip() for p in listed if p.strip())
        if nested:
            self.report.error(block.start.name, "a macro stands outside other blocks")
        elif opcode(name) is not None:
            self.report.error(rest, f"{name} is an instruction", hint="choose another name for the macro")
        elif name in self.macros:
            self.report.error(rest, f"the macro {name} exists already")
        elif bad := [p for p in parameters if not re.fullmatch(NAME, p)]:
            self.report.error(rest, f"{bad[0]} is not a name")
        elif len(set(parameters)) < len(parameters):
            self.report.error(rest, "two parameters have one name")
        self.macros[name] = Macro(name, parameters, block)

    def _read(self, statement: Statement, depth: int) -> list[Statement | Block]:
        """The statements of an included file."""
        path = statement.rest.text.strip()
        if len(path) < 3 or path[0] != '"' or path[-1] != '"':
            self.report.error(statement.rest, 'write .include "file.s"')
            return []
        path = path[1:-1]
        if depth >= MAX_DEPTH:
            self.report.error(statement.rest, f"includes are nested more than {MAX_DEPTH} deep")
            return []
        if self.include is None:
            self.report.error(statement.rest, "this text has no folder to include from")
            return []
        try:
            text = self.include(path)
        except (OSError, UnicodeDecodeError, KeyError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            self.report.error(statement.rest, f"{path} cannot be read: {reason}")
            return []
        self.included[path] = text
        return self.structure(scan(text, path, self.report), depth + 1).body

    def lets(self, block: Block, overrides: Mapping[str, Number]) -> None:
        """Evaluate the .let directives outside all blocks, with the user's values in place."""
        for node in block.body:
            if isinstance(node, Statement) and node.name.text == ".let" and node.kind == "directive":
                for name, value in self._let(node, self.names.lets):
                    if name.text in self.names.lets:
                        self.report.error(name, f"{name.text} is defined twice")
                    self.names.lets[name.text] = overrides.get(name.text, value)

    def _let(self, statement: Statement, known: Mapping[str, Number]) -> Iterator[tuple[Piece, Number]]:
        """The (name, value) pairs of one .let."""
        if not statement.rest.text:
            self.report.error(statement.name, "write .let NAME = expression")
        for part in split(statement.rest):
            name, equals, _ = part.text.partition("=")
            piece = part.part(0, len(name))
            if not equals or not re.fullmatch(NAME, piece.text):
                self.report.error(part, "write .let NAME = expression")
                continue
            value = self.number(part.part(len(name) + 1, len(part.text)), known)
            yield piece, 0 if value is None else value

    def number(self, piece: Piece, known: Mapping[str, Number]) -> Number | None:
        """A constant expression's value; None after an error."""
        try:
            value = parse_expression(piece.text).constant(known)
        except ExpressionError as error:
            self.report.error(piece, error.message, hint=error.hint, offset=error.offset, width=error.width)
            return None
        if not isinstance(value, (int, float)):
            self.report.error(piece, f"{piece.text} is not a number")
            return None
        return value

    def expand(self, block: Block) -> list[Item]:
        """The statements of the whole program in order; stops, with an error, when too many."""
        items: list[Item] = []
        with suppress(TooLarge):
            self._expand(block.body, dict(self.names.constants), "", 0, items)
        self.report.trail = ""
        return items

    def _expand(
        self,
        body: list[Statement | Block],
        constants: Mapping[str, Number],
        trail: str,
        depth: int,
        items: list[Item],
    ) -> None:
        for node in body:
            self.report.trail = trail
            if isinstance(node, Block):
                self._repeat(node, constants, trail, depth, items)
            elif node.kind == "directive" and node.name.text == ".let":
                if depth or node.name.text not in self.names.lets:
                    constants = self._scoped(node, constants, depth)
            elif node.kind == "instruction" and node.name.text in self.macros:
                self._call(node, constants, trail, depth, items)
            else:
                self.produced += 1
                if self.produced > MAX_STATEMENTS:
                    self.report.error(node.whole, f"the program expands to over {MAX_STATEMENTS} statements")
                    raise TooLarge
                items.append(Item(node, constants, trail))

    def _scoped(self, node: Statement, constants: Mapping[str, Number], depth: int) -> Mapping[str, Number]:
        """The constants with a block's own .let added; outside blocks they are known already."""
        if depth == 0:
            return constants
        inner = dict(constants)
        for name, value in self._let(node, inner):
            inner[name.text] = value
        return inner

    def _repeat(
        self, block: Block, constants: Mapping[str, Number], trail: str, depth: int, items: list[Item]
    ) -> None:
        """Unroll `.repeat k, stop`, `.repeat k, start, stop` or `.repeat k, start, stop, step`."""
        assert block.start is not None
        parts = split(block.start.rest)
        if not 2 <= len(parts) <= 4 or not re.fullmatch(NAME, parts[0].text):
            hint = ".repeat k, 16 or .repeat k, start, stop or .repeat k, start, stop, step"
            self.report.error(block.start.whole, "a repeat needs a name and a count", hint=hint)
            return
        bounds: list[int] = []
        for part in parts[1:]:
            value = self.number(part, constants)
            if value is None:
                return
            if not isinstance(value, int):
                self.report.error(part, f"{part.text} is not an integer")
                return
            bounds.append(value)
        if len(bounds) == 3 and bounds[2] == 0:
            self.report.error(parts[3], "a step of 0 never ends")
            return
        name = parts[0].text
        if kind := self.names.kind(name):
            self.report.error(parts[0], f"{name} is {kind} already")
            return
        for value in range(*bounds):
            if not block.body:
                break
            inner = {**constants, name: value}
            where = f"in .repeat with {name} = {value}"
            self._expand(block.body, inner, _nested(where, trail), depth + 1, items)

    def _call(
        self, node: Statement, constants: Mapping[str, Number], trail: str, depth: int, items: list[Item]
    ) -> None:
        """Expand a macro: parameters are replaced by the arguments' text, `$names` made private."""
        macro = self.macros[node.name.text]
        rest = node.rest
        if rest.text.startswith("(") and rest.text.endswith(")"):
            rest = rest.part(1, len(rest.text) - 1)
        arguments = split(rest)
        if len(arguments) != len(macro.parameters):
            hint = f"{macro.name}({', '.join(macro.parameters)})"
            count = len(macro.parameters)
            message = f"{macro.name} takes {count} argument{'s' * (count != 1)}, {len(arguments)} given"
            self.report.error(node.whole, message, hint=hint)
            return
        if depth >= MAX_DEPTH:
            self.report.error(node.name, f"macros call one another more than {MAX_DEPTH} deep")
            raise TooLarge
        if node.guard is not None:
            self.report.error(node.guard, "a macro call has no guard", hint="branch around it")
            return
        self.expansions += 1
        texts = dict(zip(macro.parameters, (_grouped(a.text) for a in arguments), strict=True))
        replace = _Replacement(texts, self.expansions)
        line = node.name.line
        where = f"in {macro.name}, called at {line.file}:{line.line}"
        body = replace.body(macro.block.body)
        self._expand(body, constants, _nested(where, trail), depth + 1, items)

    def unknown_hint(self, name: str) -> str:
        """A hint towards a macro of a similar name."""
        return did_you_mean(name, self.macros)


def _nested(where: str, trail: str) -> str:
    """What is being expanded, innermost first; two levels are enough to find the place."""
    return f"{where}, {trail.split(', in ')[0]}" if trail else where


def _grouped(text: str) -> str:
    """An argument's text, in parentheses when it is a sum or the like."""
    return text if _ARGUMENT.fullmatch(text) else f"({text})"


class _Replacement:
    """Replaces a macro's parameters and private names in the statements of its body."""

    def __init__(self, texts: Mapping[str, str], number: int) -> None:
        self.texts = texts
        self.number = number
        names = "|".join(re.escape(t) for t in sorted(texts, key=len, reverse=True))
        self.inside = re.compile(rf"\$\w+|(?<![\w$.%])(?:{names or '(?!)'})(?![\w$])")
        self.mnemonic = re.compile(rf"(?<![\w$])(?:{names or '(?!)'})(?![\w$])")

    def _word(self, match: re.Match[str]) -> str:
        word = match.group()
        if word in self.texts:
            return self.texts[word]
        return f"{word}${self.number}" if word.startswith("$") else word

    def piece(self, piece: Piece, *, mnemonic: bool = False) -> Piece:
        """The piece with its names replaced, at the same place."""
        pattern = self.mnemonic if mnemonic else self.inside
        text = pattern.sub(self._word, piece.text)
        return piece if text == piece.text else Piece(text, piece.line, piece.column, len(piece.text))

    def body(self, nodes: list[Statement | Block]) -> list[Statement | Block]:
        """A copy of the body with everything replaced."""
        return [self._block(n) if isinstance(n, Block) else self._statement(n) for n in nodes]

    def _block(self, block: Block) -> Block:
        start = block.start
        return Block(None if start is None else self._statement(start), self.body(block.body))

    def _statement(self, s: Statement) -> Statement:
        name = self.piece(s.name, mnemonic=True) if s.kind == "instruction" else s.name
        if s.kind == "label":
            name = self.piece(s.name)
        guard = None if s.guard is None else self.piece(s.guard)
        operands = tuple(self.piece(o) for o in s.operands)
        return Statement(s.kind, name, self.piece(s.rest), s.whole, guard, operands, s.control)
