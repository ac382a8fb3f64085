"""Parses and evaluates the expressions of directives and constants: an allow-list over `ast`.

Nothing is ever handed to `eval`: the text becomes a syntax tree, and a walk over the tree
knows a few node types, operators and names. Whatever it does not know is an error with a place.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from .errors import InputError
from .expression_functions import ARRAY_FUNCTIONS, CONSTANT_FUNCTIONS, CONSTANT_NAMES, Random
from .parse_report import Piece, did_you_mean

MAX_LENGTH = 4000  # characters of one expression
MAX_BITS = 512  # of an integer that an expression may reach


class ExpressionError(InputError):
    """An expression that cannot be read or evaluated; `offset` and `width` in characters."""

    def __init__(self, message: str, hint: str = "", *, offset: int = 0, width: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.offset = offset
        self.width = width


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression; two are equal when their texts are. `piece` is where it stands."""

    text: str
    node: ast.expr = field(compare=False, repr=False)
    piece: Piece | None = field(default=None, compare=False, repr=False)

    def names(self) -> set[str]:
        """The names that the expression reads, functions apart."""
        called = {id(n.func) for n in ast.walk(self.node) if isinstance(n, ast.Call)}
        return {n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and id(n) not in called}

    def check(self, names: Collection[str]) -> None:
        """Look the names and functions up without evaluating; raises ExpressionError."""
        known = dict.fromkeys([*names, *CONSTANT_NAMES])
        called = {id(n.func) for n in ast.walk(self.node) if isinstance(n, ast.Call)}
        for node in ast.walk(self.node):
            if isinstance(node, ast.Name) and id(node) not in called and node.id not in known:
                raise _at(node, f"unknown name {node.id}", hint=did_you_mean(node.id, known))
            if isinstance(node, ast.Name) and id(node) in called and node.id not in ARRAY_FUNCTIONS:
                raise _unknown_function(node, ARRAY_FUNCTIONS)

    def constant(self, names: Mapping[str, Any]) -> Any:
        """The value over plain numbers (and tuples): sizes, offsets, immediates.

        `a / b` of two integers must divide exactly. Raises ExpressionError.
        """
        return _evaluate(self, _Walker(names, CONSTANT_FUNCTIONS, exact=True))

    def array(self, names: Mapping[str, Any], random: Random | None = None) -> Any:
        """The value over NumPy arrays; `random` seeds `uniform` and its kin.

        Raises ExpressionError, also for what NumPy refuses (shapes that do not fit).
        """
        import numpy

        with numpy.errstate(all="ignore"):
            return _evaluate(self, _Walker(names, ARRAY_FUNCTIONS, random=random))


def parse_expression(text: str, piece: Piece | None = None) -> Expression:
    """Read an expression; raises ExpressionError with the place inside the text."""
    flat = text.replace("\n", " ")
    bare = flat.strip()
    try:
        return Expression(bare, _parse(bare), piece)
    except ExpressionError as error:
        error.offset += len(flat) - len(flat.lstrip())
        raise


@lru_cache(maxsize=4096)
def _parse(text: str) -> ast.expr:
    if not text:
        raise ExpressionError("an expression is missing")
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression has at most {MAX_LENGTH} characters")
    if not text.isascii():
        where = next(i for i, c in enumerate(text) if not c.isascii())
        raise ExpressionError("an expression is written in ASCII", offset=where, width=1)
    try:
        with warnings.catch_warnings():  # of odd escapes and the like, which are refused below
            warnings.simplefilter("ignore")
            node = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        where = min(max((error.offset or 1) - 1, 0), len(text) - 1)
        raise ExpressionError("this is not an expression", offset=where, width=1) from None
    except ValueError:
        raise ExpressionError("this is not an expression") from None
    except (RecursionError, MemoryError):
        raise ExpressionError("this expression is nested too deeply") from None
    return node


_BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.Pow: operator.pow,
    ast.Div: operator.truediv,
}  # fmt: skip
_UNARY: Mapping[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
    ast.Not: operator.not_,
}  # fmt: skip
_COMPARE: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def _evaluate(expression: Expression, walker: _Walker) -> Any:
    node = expression.node
    if type(node) is ast.Constant and type(node.value) is int:
        return node.value
    try:
        return walker.visit(node)
    except RecursionError:
        raise ExpressionError("this expression is nested too deeply") from None


def _is_integer(value: Any) -> bool:
    return isinstance(value, int)


class _Walker:
    """Evaluates one tree; `exact` makes `a / b` of integers an exact division."""

    def __init__(
        self,
        names: Mapping[str, Any],
        functions: Mapping[str, Callable[..., Any]],
        *,
        exact: bool = False,
        random: Random | None = None,
    ) -> None:
        self.names = names
        self.functions = functions
        self.exact = exact
        self.random = random

    def visit(self, node: ast.AST) -> Any:
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        if method is None:
            raise _at(node, f"{_describe(node)} is not allowed in an expression")
        return method(node)

    def _constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, (int, float)):
            return node.value
        raise _at(node, "only numbers can be written here")

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.names:
            return self.names[node.id]
        if node.id in CONSTANT_NAMES:
            return CONSTANT_NAMES[node.id]
        known = [*self.names, *CONSTANT_NAMES]
        if node.id in self.functions:
            raise _at(node, f"{node.id} is a function", hint=f"call it: {node.id}(...)")
        raise _at(node, f"unknown name {node.id}", hint=did_you_mean(node.id, known))

    def _tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple(self.visit(item) for item in node.elts)

    def _list(self, node: ast.List) -> list[Any]:
        return [self.visit(item) for item in node.elts]

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        value = self.visit(node.operand)
        return self._apply(node, _UNARY[type(node.op)], value)

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.visit(node.left), self.visit(node.right)
        kind = type(node.op)
        if _is_integer(left) and _is_integer(right):
            return self._integers(node, kind, left, right)
        for side in (left, right):
            if isinstance(side, (tuple, list)):
                raise _at(node, "a tuple takes no part in arithmetic")
        return self._apply(node, _BINARY[kind], left, right)

    def _integers(self, node: ast.BinOp, kind: type, left: int, right: int) -> Any:
        """Arithmetic of two integers, kept small so that no expression can stall the program."""
        if kind in (ast.Div, ast.FloorDiv, ast.Mod) and right == 0:
            raise _at(node, "division by zero")
        if kind is ast.Div:
            if left % right == 0:
                return left // right
            if self.exact:
                hint = f"floordiv({left}, {right}) rounds down, {left}.0 / {right} gives a fraction"
                raise _at(node, f"{left} / {right} leaves a remainder", hint=hint)
        if kind in (ast.LShift, ast.Pow) and not 0 <= right <= MAX_BITS:
            if kind is ast.Pow and -MAX_BITS <= right < 0 and left:
                return float(left) ** right
            raise _at(node, f"{right} is too large or negative here")
        if kind is ast.RShift and right < 0:
            raise _at(node, "a shift count must not be negative")
        if kind is ast.Pow and left.bit_length() * right > MAX_BITS:
            raise _at(node, f"the result has more than {MAX_BITS} bits")
        value = self._apply(node, _BINARY[kind], left, right)
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise _at(node, f"the result has more than {MAX_BITS} bits")
        return value

    def _compare(self, node: ast.Compare) -> Any:
        left, result = self.visit(node.left), None
        for op, other in zip(node.ops, node.comparators, strict=True):
            if type(op) not in _COMPARE:
                raise _at(node, "only == != < <= > >= compare here")
            right = self.visit(other)
            found = self._apply(node, _COMPARE[type(op)], left, right)
            result = found if result is None else self._apply(node, operator.and_, result, found)
            left = right
        return result

    def _boolop(self, node: ast.BoolOp) -> Any:
        value: Any = None
        for item in node.values:
            value = self.visit(item)
            if self._truth(item, value) is isinstance(node.op, ast.Or):
                break
        return value

    def _ifexp(self, node: ast.IfExp) -> Any:
        chosen = node.body if self._truth(node.test, self.visit(node.test)) else node.orelse
        return self.visit(chosen)

    def _truth(self, node: ast.AST, value: Any) -> bool:
        try:
            return bool(value)
        except ValueError:
            hint = "use where(condition, a, b), and & or | between comparisons"
            raise _at(node, "an array is neither true nor false", hint=hint) from None

    def _subscript(self, node: ast.Subscript) -> Any:
        base, index = self.visit(node.value), self.visit(node.slice)
        return self._apply(node, operator.getitem, base, index)

    def _slice(self, node: ast.Slice) -> slice:
        low, high, step = (
            None if part is None else self.visit(part) for part in (node.lower, node.upper, node.step)
        )
        return slice(low, high, step)

    def _attribute(self, node: ast.Attribute) -> Any:
        if node.attr == "T":
            return self._apply(node, lambda array: array.T, self.visit(node.value))
        raise _at(node, f"unknown attribute .{node.attr}", hint="only .T (transpose) is known")

    def _call(self, node: ast.Call) -> Any:
        if not isinstance(node.func, ast.Name):
            raise _at(node, "only a named function can be called")
        name = node.func.id
        function = self.functions.get(name)
        if function is None:
            raise _unknown_function(node.func, self.functions)
        if any(keyword.arg is None or isinstance(keyword.value, ast.Starred) for keyword in node.keywords):
            raise _at(node, "** is not allowed in a call")
        arguments = [self.visit(argument) for argument in node.args]
        named = {str(keyword.arg): self.visit(keyword.value) for keyword in node.keywords}
        if getattr(function, "random", False):
            if self.random is None:
                raise _at(node, f"{name} draws random numbers; use it in .arg")
            arguments.insert(0, self.random)
        return self._apply(node, function, *arguments, **named)

    def _apply(self, node: ast.AST, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """Call a function of the allow-list; what it refuses becomes an error with a place."""
        try:
            return function(*values, **named)
        except ExpressionError:
            raise
        except InputError as error:
            raise _at(node, error.message, hint=error.hint) from None
        except ZeroDivisionError:
            raise _at(node, "division by zero") from None
        except MemoryError:
            raise _at(node, "the result does not fit into memory") from None
        except (TypeError, ValueError, IndexError, OverflowError, AttributeError, ArithmeticError) as error:
            reason = str(error).split("\n")[0].replace("_walk_", "")
            raise _at(node, f"this cannot be computed: {reason}") from None


def _unknown_function(node: ast.Name, functions: Mapping[str, Any]) -> ExpressionError:
    hint = did_you_mean(node.id, functions) or "functions: " + ", ".join(sorted(functions))
    return _at(node, f"unknown function {node.id}", hint=hint)


def _at(node: ast.AST, message: str, hint: str = "") -> ExpressionError:
    """An error at the node's place."""
    start = getattr(node, "col_offset", 0)
    stop = getattr(node, "end_col_offset", start + 1)
    return ExpressionError(message, hint=hint, offset=start, width=max(stop - start, 1))


def _describe(node: ast.AST) -> str:
    words = {
        "Lambda": "a lambda", "ListComp": "a comprehension", "GeneratorExp": "a comprehension",
        "Await": "await", "JoinedStr": "a string", "Dict": "a dictionary", "Set": "a set",
        "NamedExpr": "an assignment", "Starred": "*", "DictComp": "a comprehension",
        "SetComp": "a comprehension", "Yield": "yield",
    }  # fmt: skip
    return words.get(type(node).__name__, type(node).__name__.lower())
