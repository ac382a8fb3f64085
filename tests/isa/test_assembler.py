"""What the assembler makes of operands, labels, directives and unrolled text, checked exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from tinygpu.isa.assembler import assemble
from tinygpu.isa.errors import InputError
from tinygpu.isa.program import (
    Address,
    Control,
    Immediate,
    Instruction,
    Parameter,
    Predicate,
    Program,
    Register,
    SharedArray,
    Source,
    Special,
)

KERNEL = """.kernel k(A: ptr.f32, n: s32, x: f32, big: u64)
.shared As: f32[4][8]
.shared Bs: u8[3]
.local buf: b32[5]
"""


def one(text: str, before: str = "") -> Instruction:
    """The last instruction before the exit; free names are inputs."""
    return assemble(KERNEL + before + text, fragment=True).instructions[-2]


def source(text: str, position: int = 1, before: str = "") -> Source:
    return one(text, before).sources[position]


def address(text: str, before: str = "") -> Address:
    found = one(text, before).address
    assert found is not None
    return found


def names(program: Program) -> list[str]:
    return [i.opcode.name for i in program.instructions]


# Source operands


@pytest.mark.parametrize(
    ("text", "bits", "words"),
    [
        ("add.s32 d, a, 7", 7, 1), ("add.s32 d, a, -1", 0xFFFFFFFF, 1), ("add.s32 d, a, 0x10", 16, 1),
        ("add.s32 d, a, 010", 10, 1), ("add.s32 d, a, 4*3+1", 13, 1), ("add.s32 d, a, (2+3)*4", 20, 1),
        ("add.s32 d, a, -(3)", 0xFFFFFFFD, 1), ("add.s32 d, a, floordiv(7, 2)", 3, 1),
        ("add.s32 d, a, 1 << 31", 2**31, 1),
        ("add.f32 d, a, 1.5", 0x3FC00000, 1), ("add.f32 d, a, 1", 0x3F800000, 1),
        ("add.f32 d, a, -2", 0xC0000000, 1),
        ("add.f32 d, a, 1e-5", 0x3727C5AC, 1), ("add.f32 d, a, 0f40490FDB", 0x40490FDB, 1),
        ("add.f32 d, a, 1.0/3", 0x3EAAAAAB, 1), ("add.f32 d, a, inf", 0x7F800000, 1),
        ("add.f32 d, a, pi", 0x40490FDB, 1),
        ("add.f64 d, a, 1", 0x3FF0000000000000, 2), ("add.f64 d, a, 0d4000000000000000", 2**62, 2),
        ("add.u64 d, a, -1", 2**64 - 1, 2), ("add.u64 d, a, 4096", 4096, 2),
        ("add.f16x2 d, a, 1", 0x3C003C00, 1),
        ("add.f16x2 d, a, 0x3C004000", 0x3C004000, 1), ("add.bf16x2 d, a, 1.5", 0x3FC03FC0, 1),
        ("and.b32 d, a, 0xffffffff", 0xFFFFFFFF, 1), ("and.b32 d, a, 1.0", 0x3F800000, 1),
        ("add.s32 d, a, As", 0, 1), ("add.s32 d, a, Bs", 128, 1), ("add.s32 d, a, Bs + 2", 130, 1),
        ("add.s32 d, a, buf + 4", 4, 1),
    ],
)  # fmt: skip
def test_immediates(text: str, bits: int, words: int) -> None:
    assert source(text) == Immediate(bits, words)


def test_typed_moves_read_their_literal_in_their_type() -> None:
    assert source("mov.f32 d, 1", 0) == Immediate(0x3F800000)
    assert source("mov.u32 d, 1", 0) == Immediate(1)
    assert source("mov.f64 d, 1", 0) == Immediate(0x3FF0000000000000, 2)


def test_lets_are_constants() -> None:
    assert source("add.s32 d, a, N", before=".let N = 3*4\n") == Immediate(12)
    assert source("add.s32 d, a, N - M", before=".let N = 12, M = 2\n") == Immediate(10)
    assert source("add.f32 d, a, eps", before=".let eps = 0.5\n") == Immediate(0x3F000000)


def test_parameters_are_constant_operands() -> None:
    assert source("add.s32 d, a, n") == Parameter("n", 8)
    assert source("add.f32 d, a, x") == Parameter("x", 12)
    assert source("add.u64 d, a, big") == Parameter("big", 16, 2)
    assert source("add.u64 d, a, A") == Parameter("A", 0, 2)


def test_zero_register_and_true_predicate() -> None:
    assert source("add.s32 d, a, %rz") == source("add.s32 d, a, RZ") == Register(255)
    assert one("selp.s32 d, 1, 2, %pt").sources[2] == Predicate(7)
    assert one("selp.s32 d, 1, 2, true").sources[2] == Predicate(7)
    assert one("selp.s32 d, 1, 2, false").sources[2] == Predicate(7, negated=True)
    assert one("selp.s32 d, 1, 2, !PT").sources[2] == Predicate(7, negated=True)
    assert one("mov.b64 d, %rz").sources == (Register(255, 2),)


def test_results_can_be_thrown_away() -> None:
    assert one("add.s32 _, 1, 2").dests == (Register(255),)
    assert one("setp.lt.s32 _, 1, 2").dests == (Predicate(7),)


@pytest.mark.parametrize(
    ("text", "name", "opcode"),
    [("mov.u32 d, %tid.x", "%tid.x", "s2r.u32"), ("mov.b32 d, %laneid", "%laneid", "s2r.b32"),
     ("mov.u64 d, %clock64", "%clock64", "s2r.u64"), ("mov.s32 d, %nctaid.z", "%nctaid.z", "s2r.s32")],
)  # fmt: skip
def test_special_registers(text: str, name: str, opcode: str) -> None:
    found = one(text)
    assert found.sources == (Special(name),) and found.opcode.name == opcode


def test_a_move_of_an_explicit_register_is_a_move() -> None:
    assert one("mov.u32 d, %r3").opcode.name == "mov.u32"
    assert one("mov.u32 d, %rz").opcode.name == "mov.u32"
    assert one("mov.u32 d, %r6.hi").sources == (Register(7),)


def test_predicate_sources() -> None:
    found = one("selp.s32 d, a, b, !p")
    assert found.sources[2] == Predicate(0, negated=True)
    assert one("mov.pred q, %p3").sources == (Predicate(3),)


def test_two_destinations() -> None:
    assert one("shfl.sync.up.b32 d, a, 1, 0, -1").dests == (Register(0),)
    found = one("shfl.sync.up.b32 d|p, a, 1, 0, -1")
    assert found.dests == (Register(0), Predicate(0))
    assert len(found.sources) == 4


def test_vectors() -> None:
    assert one("ld.global.v2.f32 {a, b}, [A]").dests == (Register(0, 2),)
    assert one("st.global.v4.f32 [A], {%r4, %r5, %r6, %r7}").sources == (Register(4, 4),)
    assert one("ld.global.v2.f64 {a, b}, [A]").dests == (Register(0, 4),)
    assert one("st.global.v4.f32 [A], %rz").sources == (Register(255, 4),)
    assert one("ld.global.v4.f32 q, [A]").dests == (Register(0, 4),)


def test_constants_of_the_encoding() -> None:
    assert one("lop3.b32 d, a, b, c, 0x96").constants == (0x96,)
    assert one("lop3.b32 d, a, b, c, T | 6", ".let T = 0x90\n").constants == (0x96,)
    assert one("bar.sync 3").constants == (3,)
    assert one("bar.sync 3").sources == ()
    found = one("bar.sync 3, 64")
    assert (found.constants, found.sources) == ((3,), (Immediate(64),))


# Addresses


@pytest.mark.parametrize(
    ("text", "base", "offset"),
    [
        ("ld.global.f32 d, [p]", Register(0, 2), 0), ("ld.global.f32 d, [p + 16]", Register(0, 2), 16),
        ("ld.global.f32 d, [p - 16]", Register(0, 2), -16),
        ("ld.global.f32 d, [-4 + p + 2*8]", Register(0, 2), 12),
        ("ld.global.f32 d, [p+4*(2+1)]", Register(0, 2), 12),
        ("ld.global.f32 d, [A + 8]", Parameter("A", 0, 2), 8),
        ("ld.global.f32 d, [%r4 + 8]", Register(4, 2), 8), ("ld.shared.f32 d, [As]", None, 0),
        ("ld.shared.u8 d, [Bs + 1]", None, 129), ("ld.shared.f32 d, [As + i + 4]", Register(0), 4),
        ("ld.shared.f32 d, [i + As + 4]", Register(0), 4), ("ld.shared.u8 d, [Bs + i - 1]", Register(0), 127),
        ("ld.shared.f32 d, [(i + 4) + 8]", Register(0), 12), ("ld.shared.f32 d, [64]", None, 64),
        ("ld.local.b32 d, [buf + i]", Register(0), 0), ("ld.param.s32 d, [n]", None, 8),
        ("ld.param.s32 d, [n + 4]", None, 12), ("ld.const.u64 d, [big]", None, 16),
        ("ld.global.f32 d, [big + 4]", Parameter("big", 16, 2), 4),
        ("ld.shared.f32 d, [n]", Parameter("n", 8), 0),
        ("ld.shared.f32 d, [w.hi + 4]", Register(1), 4),
    ],
)  # fmt: skip
def test_addresses(text: str, base: Register | Parameter | None, offset: int) -> None:
    assert address(text) == Address(base, offset)


def test_address_of_an_array_element_register() -> None:
    found = address("ld.shared.f32 d, [at[1] + 4]", ".reg at: u32[2]\nmov.u32 at[1], 0\n")
    assert found.base == Register(0) and found.offset == 4


def test_store_and_atomics_keep_their_operands_apart() -> None:
    store = one("st.shared.f32 [i], v")
    assert store.dests == () and store.sources == (Register(1),) and store.address == Address(Register(0))
    cas = one("atom.global.cas.b32 old, [A], 0, 1")
    assert cas.dests == (Register(0),) and cas.sources == (Immediate(0), Immediate(1))


# Arrays and parameters


def test_memory_layout() -> None:
    program = assemble(
        ".shared a: u8[3]\n.shared b: f64[2], c: b16[5] align 2\n"
        ".shared d: f32\n.shared e: f32[2] align 128\n"
        ".local l: b32[3]\nexit"
    )
    assert program.shared == (
        SharedArray("a", "u8", (3,), 0, 3), SharedArray("b", "f64", (2,), 16, 16),
        SharedArray("c", "b16", (5,), 32, 10), SharedArray("d", "f32", (), 48, 4),
        SharedArray("e", "f32", (2,), 128, 8),
    )  # fmt: skip
    assert (program.shared_bytes, program.local_bytes) == (136, 12)


def test_sizes_may_use_constants() -> None:
    program = assemble(".let T = 8\n.shared a: f32[T][T + 1]\nexit")
    assert program.shared[0].shape == (8, 9) and program.shared[0].bytes == 288


def test_parameter_layout() -> None:
    program = assemble(".kernel k(a: u8, P: ptr.u8, b: f32, c: f64, d: s16)\nexit")
    assert [(p.offset, p.bytes) for p in program.parameters] == [(0, 4), (8, 8), (16, 4), (24, 8), (32, 4)]
    assert program.parameter_bytes == 36 and program.name == "k"


def test_a_program_without_a_kernel_has_a_name() -> None:
    program = assemble("exit")
    assert (program.name, program.registers, program.predicates) == ("kernel", 1, 0)


# Guards, labels, branches, text forms


def test_guards() -> None:
    assert one("@p nop").guard == Predicate(0)
    assert one("@!p nop").guard == Predicate(0, negated=True)
    assert one("@ ! p nop").guard == Predicate(0, negated=True)
    assert one("@%p2 nop").guard == Predicate(2)
    assert one("@%pt nop").guard is None
    assert one("@!PT nop").guard == Predicate(7, negated=True)
    assert one("@p[1] nop", ".reg p: pred[2]\nsetp.lt.s32 p[1], 1, 2\n").guard == Predicate(0)


def test_labels_and_targets() -> None:
    program = assemble("a: b: nop\nloop:\nbra.uni loop\nc: exit")
    assert program.labels == {"a": 0, "b": 0, "loop": 1, "c": 2}
    assert program.instructions[1].target == 1


def test_call_and_ret() -> None:
    program = assemble("call back, f\nexit\nf: ret back")
    assert program.instructions[0].target == 2
    assert program.instructions[2].sources == program.instructions[0].dests


def test_statements_share_lines_and_semicolons_are_optional() -> None:
    program = assemble("mov.u32 a, 1; add.u32 a, a, 1;\n  exit ; // done; really")
    assert names(program) == ["mov.u32", "add.u32", "exit"]
    assert [i.source_line.column for i in program.instructions if i.source_line] == [1, 15, 3]


def test_comments_and_blank_lines() -> None:
    assert names(assemble("// one\n\n   // two\nexit // three")) == ["exit"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(end: str) -> None:
    program = assemble(end.join(["nop", "", "exit"]))
    assert [i.source_line.line for i in program.instructions if i.source_line] == [1, 3]


def test_source_lines() -> None:
    found = assemble("\tnop\n  @%p0 exit\nexit", "dir/f.s").instructions[1].source_line
    assert found is not None
    assert (found.file, found.line, found.column, found.text) == ("dir/f.s", 2, 3, "  @%p0 exit")


def test_directives_go_on_while_a_bracket_is_open_or_after_a_comma() -> None:
    program = assemble(
        ".kernel k(A: ptr.f32,   // first\n          n: s32)\n.arg A = zeros(2,\n  3),\n  n = 4\nexit"
    )
    assert [p.name for p in program.parameters] == ["A", "n"]
    assert {n: e.text for n, e in program.arguments.items()} == {"A": "zeros(2,   3)", "n": "4"}


def test_scheduling_marks() -> None:
    assert one("add.s32 d, a, 1 &stall=4 &yield &wr=2 &rd=0 &wait=0x3 &reuse=1").control == Control(
        4, True, 2, 0, 3, 1
    )
    assert one("nop &stall=2").control == Control(2)
    assert one("nop").control is None


def test_reuse_marks_an_operand_that_the_next_instruction_reads_again() -> None:
    program = assemble(
        "fma.f32 d, a, b, c\nfma.f32 e, a, c, c\nadd.f32 a, a, e\nadd.f32 d, a, d\nl: add.f32 d, d, a\nbra l",
        fragment=True,
    )
    assert [i.reuse for i in program.instructions[:5]] == [0b101, 0b001, 0, 0, 0]


def test_reuse_stops_at_a_label() -> None:
    program = assemble("add.f32 d, a, b\nl: add.f32 e, a, b\n@p bra l", fragment=True)
    assert program.instructions[0].reuse == 0
    program = assemble("add.f32 d, a, b\nadd.f32 e, a, b", fragment=True)
    assert program.instructions[0].reuse == 0b11


# Unrolling


def test_repeat() -> None:
    program = assemble(".repeat k, 3\nmov.u32 a, 4*k+1\n.end\n.repeat k, 2, 8, 3\nmov.u32 a, k\n.end\nexit")
    assert [i.sources[0] for i in program.instructions[:-1]] == [Immediate(v) for v in (1, 5, 9, 2, 5)]


def test_repeat_counts_down_and_nests() -> None:
    text = ".repeat i, 2, 0, -1\n.repeat j, i\nmov.u32 a, 10*i + j\n.end\n.end\nexit"
    values = [i.sources[0] for i in assemble(text).instructions[:-1]]
    assert values == [Immediate(20), Immediate(21), Immediate(10)]


def test_repeat_zero_times() -> None:
    assert names(assemble(".repeat k, 0\nnop\n.end\nexit")) == ["exit"]


def test_let_inside_a_block_belongs_to_it() -> None:
    text = ".let o = 100\n.repeat k, 2\n.let p = 10*k + o\nmov.u32 a, p\n.end\nexit"
    program = assemble(text)
    assert [i.sources[0] for i in program.instructions[:-1]] == [Immediate(100), Immediate(110)]
    assert program.lets == {"o": 100}


def test_lets_need_not_stand_before_their_use() -> None:
    assert assemble("mov.u32 a, N\nexit\n.let N = 3").instructions[0].sources == (Immediate(3),)


def test_macros() -> None:
    text = ".macro twice(d, s)\nadd.u32 d, s, s\n.end\nmov.u32 a, 1\ntwice b, a\ntwice(c, b)\nexit"
    program = assemble(text)
    assert names(program) == ["mov.u32", "add.u32", "add.u32", "exit"]
    assert program.instructions[1].sources == (program.instructions[0].dests[0],) * 2


def test_macro_arguments_are_grouped() -> None:
    program = assemble(".macro m(x)\nmov.u32 a, 2*x\n.end\nm 1+2\nexit")
    assert program.instructions[0].sources == (Immediate(6),)


def test_macro_arguments_may_be_vectors_addresses_and_types() -> None:
    text = (
        ".kernel k(A: ptr.f32)\n.macro load(t, v, p)\nld.global.v2.t v, [p + 8]\n.end\n"
        "load f32, {a, b}, A + 4\nadd.f32 a, a, b\nexit"
    )
    program = assemble(text)
    assert program.instructions[0].address == Address(Parameter("A", 0, 2), 12)
    assert names(program)[0] == "ld.global.v2.f32"


def test_private_names_of_macros() -> None:
    text = (
        ".macro wait(n)\nmov.u32 $i, 0\n$l: add.u32 $i, $i, 1\nsetp.lt.u32 $p, $i, n\n@$p bra $l\n.end\n"
        "wait 3\nwait 4\nexit"
    )
    program = assemble(text)
    assert sorted(program.labels.values()) == [1, 5]
    assert [i.target for i in program.instructions if i.target >= 0] == [1, 5]


def test_macros_call_macros_and_repeat() -> None:
    text = (
        ".macro inner(d, k)\nmov.u32 d, k\n.end\n.macro outer(d)\n.repeat j, 2\ninner d, j+1\n.end\n.end\n"
        "outer x\nexit"
    )
    assert [i.sources[0] for i in assemble(text).instructions[:-1]] == [Immediate(1), Immediate(2)]


def test_macro_names_do_not_touch_parts_of_words() -> None:
    program = assemble(".macro m(a)\nmov.u32 aa, a\nadd.u32 a_, aa, a\n.end\nmov.u32 z, 1\nm z\nexit")
    assert {r.name for i in program.instructions for r in i.dests} == {"aa", "a_", "z"}


def test_includes(tmp_path: Path) -> None:
    (tmp_path / "part.s").write_text(".let K = 5\n.macro five(d)\nmov.u32 d, K\n.end\n")
    main = tmp_path / "main.s"
    text = '.include "part.s"\nfive a\nexit'
    program = assemble(text, str(main))
    assert program.instructions[0].sources == (Immediate(5),)
    assert program.lets == {"K": 5} and list(program.includes) == ["part.s"]


def test_includes_from_a_function_and_nested() -> None:
    texts = {"a": '.include "b"\nmov.u32 x, 1', "b": "mov.u32 y, 2"}
    program = assemble('.include "a"\nexit', include=texts.__getitem__)
    assert [i.sources for i in program.instructions[:2]] == [(Immediate(2),), (Immediate(1),)]


# Values for .let from outside


def test_let_values_from_outside() -> None:
    text = ".let N = 4\n.let M = N * 2\n.repeat k, M\nnop\n.end\nexit"
    assert len(assemble(text).instructions) == 9
    assert len(assemble(text, lets={"N": 1}).instructions) == 3
    assert len(assemble(text, lets={"N": "2 + 1"}).instructions) == 7
    assert len(assemble(text, lets={"M": 1}).instructions) == 2
    assert assemble(text, lets={"N": 0.5 * 4, "M": 2}).lets == {"N": 2.0, "M": 2}


@pytest.mark.parametrize(
    ("lets", "message", "hint"),
    [
        ({"TILES": 3}, "the program has no .let TILES", "did you mean TILE?"),
        ({"TILE": "3 +"}, "TILE = 3 +: this is not an expression", ""),
        ({"TILE": "(1, 2)"}, "TILE = (1, 2) is not a number", ""),
        ({"TILE": "nothing"}, "TILE = nothing: unknown name nothing", ""),
    ],
)
def test_wrong_values_from_outside(lets: dict[str, object], message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        assemble(".let TILE = 2\nexit", lets=lets)  # type: ignore[arg-type]
    assert (caught.value.message, caught.value.hint) == (message, hint)


# Fragments, and what stays the same


def test_fragments_take_free_names_as_inputs() -> None:
    program = assemble("add.u32 x, x, y\n@p bra there", fragment=True)
    assert names(program) == ["add.u32", "bra", "exit"]
    assert program.instructions[1].target == 2
    first = program.instructions[0]
    assert first.sources == (Register(0), Register(1))


def test_assembling_is_deterministic_and_equality_ignores_names() -> None:
    text = "mov.u32 a, %tid.x\nadd.u32 b, a, 1\nst.shared.u32 [b], a\nexit"
    assert assemble(text) == assemble(text)
    assert assemble(text) == assemble(text.replace("a,", "other,").replace(", a\n", ", other\n"), "f.s")
    assert assemble(text) != assemble(text.replace("1", "2"))


def test_expectations_counts_and_launch_are_kept() -> None:
    program = assemble(
        ".kernel k(C: ptr.f32)\n.launch grid = 4, block = (32, 2)\n.arg C = zeros(4)\n"
        ".expect C ~ C + 1, rtol = 1e-3, atol = 0\n.expect C == C\n.count requests = 3\n"
        ".count sectors @here = 2 * 2\nnop\nhere: exit"
    )
    assert {k: e.text for k, e in program.launch.items()} == {"grid": "4", "block": "(32, 2)"}
    first, second = program.expectations
    assert (first.relation, first.left.text, first.right.text) == ("~", "C", "C + 1")
    assert (first.rtol.text, first.atol.text, first.source_line.line) == ("1e-3", "0", 4)
    assert (second.relation, second.rtol, second.atol) == ("==", None, None)
    assert [(c.counter, c.pc, c.expression.text) for c in program.counts] == [
        ("requests", -1, "3"), ("sectors", 1, "2 * 2"),
    ]  # fmt: skip


def test_a_tilde_inside_the_expectation_is_not_the_relation() -> None:
    program = assemble(".kernel k(C: ptr.s32)\n.expect C == ~C & (C == 3)\nexit")
    found = program.expectations[0]
    assert (found.relation, found.left.text, found.right.text) == ("==", "C", "~C & (C == 3)")


def test_large_unrolled_programs() -> None:
    body = ".repeat k, 30\n.repeat i, 8\n.repeat j, 8\nmov.f32 acc[i][j], k\n.end\n.end\n.end"
    text = f".reg acc: f32[8][8]\n{body}\nexit"
    program = assemble(text)
    assert len(program.instructions) == 1921 and program.registers == 1
