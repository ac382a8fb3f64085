"""Reads the text of one operand into a form; what the names in it mean is decided later."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from .expressions import Expression, ExpressionError, parse_expression
from .lexer import NAME, top_level

_PLAIN = re.compile(rf"{NAME}\Z")
_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)\Z")
_PATTERN = re.compile(r"0([fFdD])([0-9a-fA-F]+)\Z")
_PHYSICAL = re.compile(r"%([rp])(\d+)\Z")
_SPECIAL = re.compile(r"%[A-Za-z_]\w*(?:\.\w+)?\Z")
_ELEMENT = re.compile(rf"({NAME})\s*(\[.*\])\Z", re.DOTALL)
_PART = re.compile(r"(.*[\w$\]])\.(lo|hi|x|y|z|w)\Z", re.DOTALL)
# Element parts in 32-bit words: the halves of a 64-bit value, the words of a 128-bit one.
PARTS = {"lo": (0, 2), "hi": (1, 2), "x": (0, 4), "y": (1, 4), "z": (2, 4), "w": (3, 4)}
FIXED = {"%rz": ("register", 255), "RZ": ("register", 255), "%pt": ("predicate", 7), "PT": ("predicate", 7)}


@dataclass(frozen=True, slots=True)
class Form:
    """What an operand looks like.

    kind and what it holds:
      name, special, special register: `text`
      register, predicate: `index` of the physical one
      integer: `index`; bits: `index` is the pattern, `words` its width
      element: `text` is the array, `expressions` its indexes
      part: `items[0]`, and `text` is the part's name (lo, hi, x, y, z, w)
      not: `items[0]` is the predicate
      pair: `d|p`; vector: `{a, b}`; both in `items`
      address: the terms in `items`, each with its sign in `signs`
      expression: `expressions[0]`
    start: where it begins inside the operand's text.
    """

    kind: str
    text: str = ""
    index: int = 0
    words: int = 1
    items: tuple[Form, ...] = ()
    signs: tuple[int, ...] = ()
    expressions: tuple[Expression, ...] = ()
    start: int = 0


@lru_cache(maxsize=16384)
def parse_operand(text: str) -> Form:
    """Read one operand; raises ExpressionError with the place inside the text."""
    if not text:
        raise ExpressionError("an operand is missing")
    bars = [i for i in top_level(text) if text[i] == "|"]
    if len(bars) == 1 and _is_register_text(text[: bars[0]]) and _is_register_text(text[bars[0] + 1 :]):
        cut = bars[0]
        return Form("pair", text, items=(_scalar(text[:cut], 0), _scalar(text[cut + 1 :], cut + 1)))
    if text[0] == "{":
        return _vector(text)
    if text[0] == "[":
        return _address(text)
    return _scalar(text, 0)


def _is_register_text(text: str) -> bool:
    return re.fullmatch(rf"\s*(?:%[rp]\w+|{NAME}(?:\[.*\])?|_)\s*", text) is not None


def _scalar(text: str, start: int) -> Form:
    """A register, a predicate, a constant or an expression."""
    start += len(text) - len(text.lstrip())
    text = text.strip()
    if text in FIXED:
        kind, index = FIXED[text]
        return Form(kind, text, index, start=start)
    if _PLAIN.match(text):
        return Form("name", text, start=start)
    if _INTEGER.match(text):
        return Form("integer", text, int(text, 0) if "x" in text.lower() else int(text), start=start)
    if text.startswith("!"):
        return Form("not", text, items=(_scalar(text[1:], start + 1),), start=start)
    if text.startswith("#"):
        return _scalar(text[1:], start + 1)
    if found := _PHYSICAL.match(text):
        kind = "register" if found[1] == "r" else "predicate"
        limit = 255 if kind == "register" else 7
        if int(found[2]) > limit:
            raise ExpressionError(f"{text} does not exist", hint=f"%{found[1]}0 to %{found[1]}{limit - 1} do")
        return Form(kind, text, int(found[2]), start=start)
    if found := _PATTERN.match(text):
        digits = 8 if found[1] in "fF" else 16
        if len(found[2]) != digits:
            raise ExpressionError(f"0{found[1]} is followed by {digits} hexadecimal digits", offset=start)
        return Form("bits", text, int(found[2], 16), digits // 8, start=start)
    if (found := _PART.match(text)) and not text.startswith("%tid"):
        inner = _scalar(found[1], start)
        if inner.kind in ("name", "register", "element"):
            return Form("part", found[2], items=(inner,), start=start)
    if _SPECIAL.match(text):
        return Form("special", text, start=start)
    if text.startswith("%"):
        raise ExpressionError(f"{text} is not a register", offset=start)
    if (found := _ELEMENT.match(text)) and (indexes := _indexes(found[2])):
        base = start + found.start(2)
        parsed = tuple(_expression(t, base + o) for t, o in indexes)
        return Form("element", found[1], expressions=parsed, start=start)
    return Form("expression", text, expressions=(_expression(text, start),), start=start)


def _expression(text: str, start: int) -> Expression:
    try:
        return parse_expression(text)
    except ExpressionError as error:
        error.offset += start
        raise


def _indexes(text: str) -> list[tuple[str, int]]:
    """The indexes of `[i][j]`, each with its offset; empty when the text is something else."""
    found: list[tuple[str, int]] = []
    depth, start = 0, 0
    for position, char in enumerate(text):
        if char == "[":
            depth += 1
            if depth == 1:
                start = position + 1
        elif char == "]":
            depth -= 1
            if depth == 0:
                found.append((text[start:position], start))
        elif depth == 0 and not char.isspace():
            return []
    return found


def _vector(text: str) -> Form:
    """`{a, b}` or `{a, b, c, d}`."""
    if not text.endswith("}"):
        raise ExpressionError("a vector operand ends with }", offset=len(text) - 1)
    inner = text[1:-1]
    cuts = [-1, *(i for i in top_level(inner) if inner[i] == ","), len(inner)]
    items = tuple(_scalar(inner[a + 1 : b], a + 2) for a, b in pairwise(cuts) if inner[a + 1 : b].strip())
    return Form("vector", text, items=items)


def _address(text: str) -> Form:
    """`[term + term - term]`, each term a register, an array, a parameter or a constant."""
    if not text.endswith("]"):
        raise ExpressionError("an address ends with ]", offset=len(text) - 1)
    if not text[1:-1].strip():
        raise ExpressionError("an address is missing between [ and ]")
    items: list[Form] = []
    signs: list[int] = []
    _sum(text[1:-1], 1, 1, items, signs)
    return Form("address", text, items=tuple(items), signs=tuple(signs))


def _sum(text: str, start: int, sign: int, items: list[Form], signs: list[int]) -> None:
    """Read the terms of a sum, those in parentheses too (a macro's argument may be a sum)."""
    for own, begin, end in _terms(text):
        term = text[begin:end]
        stripped = term.strip()
        if not stripped:
            raise ExpressionError("a term of the address is missing", offset=start + begin)
        if stripped[0] == "(" and not any(True for _ in top_level(stripped)):
            inside = start + begin + term.index("(") + 1
            _sum(stripped[1:-1], inside, sign * own, items, signs)
        else:
            items.append(_scalar(term, start + begin))
            signs.append(sign * own)


def _terms(text: str) -> list[tuple[int, int, int]]:
    """Cut a sum at its outermost + and -: (sign, start, stop) of every term."""
    cuts: list[tuple[int, int]] = []
    for i in top_level(text):
        before = text[:i].rstrip()
        if text[i] in "+-" and before and (before[-1].isalnum() or before[-1] in "_$)]"):
            cuts.append((i, 1 if text[i] == "+" else -1))
    terms, sign, start = [], 1, 0
    for i, following in cuts:
        terms.append((sign, start, i))
        sign, start = following, i + 1
    terms.append((sign, start, len(text)))
    return terms
