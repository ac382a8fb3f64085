"""How a text is cut into statements and operands, and where each piece stands."""

from __future__ import annotations

import pytest

from tinygpu.isa import table
from tinygpu.isa.errors import SourceError
from tinygpu.isa.expressions import ExpressionError
from tinygpu.isa.lexer import Statement, scan, split, strip_comment, top_level
from tinygpu.isa.parse_operands import parse_operand
from tinygpu.isa.parse_report import Piece, Report, did_you_mean, nearest
from tinygpu.isa.program import SourceLine
from tinygpu.isa.suggest import unknown_mnemonic, usage


def piece(text: str, column: int = 1) -> Piece:
    return Piece(text, SourceLine("f.s", 1, 1, " " * (column - 1) + text), column)


def statements(text: str) -> list[Statement]:
    report = Report()
    found = scan(text, "f.s", report)
    report.raise_if_any()
    return found


# Pieces


def test_a_part_keeps_its_place_and_loses_its_blanks() -> None:
    part = piece("ab,  cd ", 5).part(3, 8)
    assert (part.text, part.column, part.line.line) == ("cd", 10, 1)


def test_a_part_behind_a_line_break_belongs_to_the_next_line() -> None:
    whole = Piece("x,\n  yy", SourceLine("f.s", 7, 1, ".arg x,\n  yy"), 6)
    part = whole.part(2, 7)
    assert (part.text, part.line.line, part.column) == ("yy", 8, 3)
    assert part.line.text == "  yy"


def test_the_place_inside_replaced_text_is_the_whole_original() -> None:
    replaced = Piece("longer text", SourceLine("f.s", 1, 1, "a"), 4, written=1)
    assert replaced.place(7) == (replaced.line, 4)
    assert replaced.part(7, 11).written == 1


# Cutting


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []), ("  ", []), ("a", ["a"]), ("a, b", ["a", "b"]), ("a,,b", ["a", "", "b"]), ("a,", ["a", ""]),
        ("{a, b}, [c + f(d, e)]", ["{a, b}", "[c + f(d, e)]"]), ("acc[i, j], x", ["acc[i, j]", "x"]),
        ('"a,b", c', ['"a,b"', "c"]),
    ],
)  # fmt: skip
def test_split(text: str, parts: list[str]) -> None:
    assert [p.text for p in split(piece(text))] == parts


def test_split_keeps_columns() -> None:
    assert [p.column for p in split(piece("a,  {b, c} , d", 3))] == [3, 7, 16]


def test_top_level_positions() -> None:
    assert "".join("a(b[c])d{e}f"[i] for i in top_level("a(b[c])d{e}f")) == "adf"


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("nop // x", "nop "),
        ("// x", ""),
        ("a / b", "a / b"),
        ('.include "a//b.s" // c', '.include "a//b.s" '),
    ],
)
def test_comments(line: str, rest: str) -> None:
    assert strip_comment(line) == rest


# Statements


def test_the_parts_of_an_instruction() -> None:
    (found,) = statements("  @!p[2] ld.global.v2.f32 {a, b}, [p + 4*k] &stall=2 &yield")
    assert (found.kind, found.name.text, found.name.column) == ("instruction", "ld.global.v2.f32", 10)
    assert found.guard is not None and (found.guard.text, found.guard.column) == ("!p[2]", 4)
    assert [(o.text, o.column) for o in found.operands] == [("{a, b}", 27), ("[p + 4*k]", 35)]
    assert found.control is not None and found.control.text == "&stall=2 &yield"


def test_an_ampersand_inside_an_expression_is_no_mark() -> None:
    (found,) = statements("mov.u32 a, N & 3")
    assert found.control is None and found.operands[1].text == "N & 3"
    (found,) = statements("mov.u32 a, N &3 &stall=1")
    assert found.operands[1].text == "N &3"


def test_labels_instructions_and_directives_on_one_line() -> None:
    found = statements("a: b : .let N = 3; nop; c: exit")
    assert [(s.kind, s.name.text, s.name.column) for s in found] == [
        ("label", "a", 1), ("label", "b", 4), ("directive", ".let", 8), ("instruction", "nop", 20),
        ("label", "c", 25), ("instruction", "exit", 28),
    ]  # fmt: skip
    assert found[2].rest.text == "N = 3"


def test_a_directive_over_three_lines() -> None:
    found = statements(".arg a = f(1, // one\n 2),\n b = 3\nexit")
    assert [s.kind for s in found] == ["directive", "instruction"]
    assert found[0].rest.text.split("\n") == ["a = f(1, ", " 2),", " b = 3"]
    assert found[1].whole.line.line == 4


def test_instructions_do_not_go_on() -> None:
    with pytest.raises(SourceError, match="brackets do not match"):
        statements("add.s32 a, (1,\n2)")


# Operands


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x", "name"), ("$x", "name"), ("%r12", "register"), ("%rz", "register"), ("%p3", "predicate"),
        ("PT", "predicate"), ("%tid.x", "special"), ("%clock64", "special"), ("12", "integer"),
        ("-0x1f", "integer"),
        ("0f3F800000", "bits"), ("1.5", "expression"), ("4*k + 1", "expression"), ("acc[1][k+1]", "element"),
        ("x.lo", "part"), ("acc[1].hi", "part"), ("%r4.hi", "part"), ("!p", "not"), ("!%p1", "not"),
        ("d|p", "pair"),
        ("%r1|%p1", "pair"), ("a | 4", "expression"), ("{a, b}", "vector"), ("[a + 4]", "address"),
        ("#3", "integer"), ("f(1)[2]", "expression"), ("(1)", "expression"),
    ],
)  # fmt: skip
def test_forms(text: str, kind: str) -> None:
    assert parse_operand(text).kind == kind


def test_terms_of_an_address() -> None:
    form = parse_operand("[-4 + base - 2*(k - 1) + As]")
    assert [(s, i.kind, i.text) for s, i in zip(form.signs, form.items, strict=True)] == [
        (1, "integer", "-4"), (1, "name", "base"), (-1, "expression", "2*(k - 1)"), (1, "name", "As"),
    ]  # fmt: skip
    assert [i.start for i in form.items] == [1, 6, 13, 25]


def test_terms_in_parentheses() -> None:
    form = parse_operand("[4 - (a - (8 + b))]")
    assert [(s, i.text) for s, i in zip(form.signs, form.items, strict=True)] == [
        (1, "4"), (-1, "a"), (1, "8"), (1, "b"),
    ]  # fmt: skip


def test_a_sign_behind_an_operator_belongs_to_the_number() -> None:
    form = parse_operand("[a + 4*-k]")
    assert [i.text for i in form.items] == ["a", "4*-k"]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("4*\u00e9", 2), ("acc[ 4*\u00e9]", 7), ("[a + 4*\u00e9]", 7), ("{a, 4*\u00e9}", 6), ("{a, 0f12}", 4),
        ("[a + ]", 4),
    ],
)  # fmt: skip
def test_where_an_operand_is_wrong(text: str, offset: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_operand(text)
    assert caught.value.offset == offset


# Reports and hints


def test_a_report_sorts_and_drops_repeats() -> None:
    report = Report()
    second = Piece("b", SourceLine("f.s", 2, 1, "b"), 1)
    report.error(second, "later")
    report.error(piece("a"), "first")
    report.error(piece("a"), "first")
    with pytest.raises(SourceError) as caught:
        report.raise_if_any()
    assert [d.message for d in caught.value.diagnostics] == ["first", "later"]


def test_an_empty_report_raises_nothing() -> None:
    Report().raise_if_any()


def test_nearest_names() -> None:
    assert nearest("cout", ["count", "sum"]) == "count"
    assert nearest("N", ["n", "sum"]) == "n"
    assert nearest("xyz", ["count"]) == ""
    assert did_you_mean("xyz", ["count"]) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fma.f32", "fma.f32 d, a, b, c"), ("exit", "exit"), ("bra", "bra target"),
        ("bar.sync", "bar.sync b, [count]"),
        ("ld.global.v4.f32", "ld.global.v4.f32 {d0, d1, d2, d3}, [a]"),
        ("st.shared.f32", "st.shared.f32 [a], v"),
        ("shfl.sync.up.b32", "shfl.sync.up.b32 d[|p], a, b, c, mask"), ("call", "call d, target"),
    ],
)  # fmt: skip
def test_usage(name: str, text: str) -> None:
    opcode = table.opcode(name)
    assert opcode is not None and usage(opcode) == text


def test_unknown_mnemonics() -> None:
    assert unknown_mnemonic("foo.bar", []) == ("unknown instruction foo.bar", "")
    assert unknown_mnemonic("tripple", ["triple"]) == ("unknown instruction tripple", "did you mean triple?")
    message, hint = unknown_mnemonic("cvt.rn.f32.q8", [])
    assert message == "cvt.rn.f32 has no form .q8"
    assert "cvt.rn.f32.s8" in hint and "cvt.rn.f32.u8" in hint
