"""Printed programs assemble to equal programs, and an independent grammar reads them."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import lark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.isa import table
from tinygpu.isa.assembler import assemble
from tinygpu.isa.printer import disassemble, immediate_text, instruction_text, listing, targets
from tinygpu.isa.program import Program
from tinygpu.isa.special import SPECIAL
from tinygpu.isa.table import BYTES, Behaviour, Opcode, OperandSpec
from tinygpu.isa.values import encode

# The language's instructions and directives as lark reads them; written apart from the scanner.
GRAMMAR = r"""
start: (line? _NL)*
line: label* (statement)?
label: NAME ":"
?statement: directive | instruction
directive: DIRECTIVE REST?
instruction: guard? MNEMONIC (operand ("," operand)*)? mark*
guard: "@" NOT? (PREDICATE | NAME)
operand: dual | vector | address | value
dual: value "|" value
vector: "{" value ("," value)* "}"
address: "[" SIGN? term (SIGN term)* "]"
?term: REGISTER | NAME | INTEGER
value: NOT? (REGISTER | PREDICATE | SPECIAL | NAME | BITS | SIGN? (INTEGER | FLOAT))
mark: "&" WORD ("=" INTEGER)?
DIRECTIVE: /\.[a-z]+/
REST: /[^\n]+/
MNEMONIC.2: /[a-z][a-z0-9]*(\.[a-z0-9]+)+|bra(?![\w.])|call|ret|exit|trap|nop|nanosleep/
REGISTER.3: /%r(\d+|z)\b/
PREDICATE.3: /%p(\d|t)\b/
SPECIAL: /%[a-z][a-z0-9_]*(\.[xyz])?/
NAME: /[A-Za-z_$][\w$]*/
BITS.3: /0f[0-9A-F]{8}\b|0d[0-9A-F]{16}\b/
FLOAT.2: /\d+\.\d+(e[+-]?\d+)?|\d+e[+-]?\d+/
INTEGER: /0x[0-9a-f]+|\d+/
WORD: /[a-z]+/
NOT: "!"
SIGN: "+" | "-"
_NL: /\n/
%ignore " "
"""


@pytest.fixture(scope="module")
def grammar() -> lark.Lark:
    return lark.Lark(GRAMMAR, parser="lalr", lexer="contextual")


HEAD = ".kernel k(A: ptr.f32, n: s32, x: f32, big: u64)\n"


def immediate(spec: OperandSpec, rng: random.Random) -> str:
    """A constant that the operand takes."""
    type_ = spec.literal or spec.type
    size = BYTES.get(type_, 4) * 8
    if type_.startswith(("f", "bf")):
        if type_ == "f32" and rng.random() < 0.3:
            return f"0f{rng.getrandbits(32):08X}"
        if type_ == "f64" and rng.random() < 0.3:
            return f"0d{rng.getrandbits(64):016X}"
        if type_ in ("f16", "bf16", "f16x2", "bf16x2") and rng.random() < 0.3:
            return f"{rng.getrandbits(32 if type_.endswith('x2') else 16):#x}"
        return repr(rng.choice([0.0, 1.0, -2.5, 0.1, 1e-3, 3, 12345.0]))
    return str(rng.choice([rng.getrandbits(size), -rng.getrandbits(size - 1), 0, 7]))


def predicate(rng: random.Random, *, dest: bool = False) -> str:
    """A predicate operand."""
    if dest:
        return rng.choice(["%p0", "%p6", "q", "_"])
    return rng.choice(["", "!"]) + rng.choice(["%p1", "%p6", "p", "%pt"])


def register(spec: OperandSpec, rng: random.Random) -> str:
    """A register operand of the spec's width, vector or not."""
    each = max(spec.words // spec.vector, 1)
    if spec.vector > 1:
        if rng.random() < 0.2:
            return "%rz"
        base = rng.randrange(0, 248, spec.words)
        if rng.random() < 0.5:
            return "{" + ", ".join(f"%r{base + i * each}" for i in range(spec.vector)) + "}"
        return "{" + ", ".join(f"v{spec.vector}{each}{i}" for i in range(spec.vector)) + "}"
    return rng.choice([f"%r{rng.randrange(0, 252, each)}", f"value{each}", "%rz"])


def source(spec: OperandSpec, opcode: Opcode, rng: random.Random) -> str:
    """A source operand: register, constant or parameter."""
    if spec.type == "pred":
        return predicate(rng)
    if opcode.behaviour is Behaviour.SPECIAL:
        return "%" + rng.choice([n for n, s in SPECIAL.items() if table.WORDS[s.type] == spec.words])
    if opcode.behaviour is Behaviour.BARRIER:
        return rng.choice(["32", "value1", "1024"])
    if spec.vector > 1 or spec.words > 2 or rng.random() < 0.5:
        return register(spec, rng)
    if rng.random() < 0.3:
        return rng.choice(["A", "big"]) if spec.words == 2 else rng.choice(["n", "x"])
    return immediate(spec, rng)


def address(spec: OperandSpec, rng: random.Random) -> str:
    """An address operand."""
    base = [f"%r{rng.randrange(0, 252, spec.words)}", f"base{spec.words}"]
    base += ["A", "big"] if spec.words == 2 else ["n", ""]
    chosen = rng.choice(base)
    offset = rng.choice([0, 4, -8, 1 << 20])
    if not chosen:
        return f"[{offset}]"
    return f"[{chosen}]" if not offset else f"[{chosen} {'+' if offset > 0 else '-'} {abs(offset)}]"


def statement(opcode: Opcode, rng: random.Random) -> str:
    """A random instruction of an opcode."""
    operands: list[str] = []
    for spec in opcode.operands:
        if spec.role == "dest":
            text = predicate(rng, dest=True) if spec.type == "pred" else register(spec, rng)
            if spec is not opcode.dests[0]:
                if rng.random() < 0.5 or not spec.optional:
                    operands[0] += "|" + text
            else:
                operands.append(text)
        elif spec.role == "source":
            if not spec.optional or rng.random() < 0.5:
                operands.append(source(spec, opcode, rng))
        elif spec.role == "address":
            operands.append(address(spec, rng))
        elif spec.role == "label":
            operands.append(rng.choice(["start", "finish"]))
        else:
            operands.append(str(rng.randrange(16)))
    name = opcode.name
    if opcode.behaviour is Behaviour.SPECIAL:
        name = "mov" + name.removeprefix("s2r")
    guard = rng.choice(["", "", "@p ", "@!%p3 "])
    marks = rng.choice(["", "", "", " &stall=3 &yield &wr=2 &rd=0 &wait=0x5 &reuse=0x3", " &stall=0"])
    return f"{guard}{name} {', '.join(operands)}{marks}"


def round_trip(program: Program) -> str:
    """Print, assemble, compare; printing again must give the same text."""
    text = disassemble(program)
    again = assemble(text)
    assert again == program, text
    assert disassemble(again) == text
    return text


@pytest.mark.parametrize("name", list(table.opcodes()))
def test_every_opcode_survives_printing(name: str, grammar: lark.Lark) -> None:
    opcode = table.opcodes()[name]
    rng = random.Random(name)
    rows = [statement(opcode, rng) for _ in range(6)]
    program = assemble(HEAD + "start:\n" + "\n".join(rows) + "\nfinish: exit", fragment=True)
    text = round_trip(program)
    for row in text.splitlines():
        if row and not row.startswith("."):
            grammar.parse(row + "\n")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_random_mixtures_survive_printing(seed: int) -> None:
    rng = random.Random(seed)
    opcodes = list(table.opcodes().values())
    rows = [statement(rng.choice(opcodes), rng) for _ in range(30)]
    round_trip(assemble(HEAD + "start:\n" + "\n".join(rows) + "\nfinish: exit", fragment=True))


FULL = """
.kernel full(A: ptr.f32, C: ptr.f32, n: s32)
.maxregs 100
.shared a: u8[3]
.shared b: f64[2][N] align 4
.shared c: f32 align 128
.local l: b32[5]
.let N = 4
.let eps = 1e-05
.launch grid = (N, 2), block = N * 8
.arg A = uniform(N), C = zeros(N), n = N
.expect C ~ A @ A + sum(A,
    axis=0), rtol = eps, atol = 0.0
.expect C[0:2] == where(A > 0, A, 0)
.count requests = 2 * warps
.count sectors @body = 4
loop:
    mov.u32 i, %tid.x
body: second:
    @p bra loop
    setp.lt.s32 p, i, n
    call back, function
    exit
function:
    ret back
"""


def test_directives_survive_printing() -> None:
    program = assemble(FULL.replace("@p bra", "@%p0 bra"))
    text = round_trip(program)
    assert text == FULL_PRINTED


FULL_PRINTED = """.kernel full(A: ptr.f32, C: ptr.f32, n: s32)
.maxregs 100
.shared a: u8[3]
.shared b: f64[2][4] align 8
.shared c: f32 align 128
.local l: b32[5]
.let N = 4
.let eps = 1e-05
.launch grid = (N, 2), block = N * 8
.arg A = uniform(N)
.arg C = zeros(N)
.arg n = N
.expect C ~ A @ A + sum(A,     axis=0), rtol = eps, atol = 0.0
.expect C[0:2] == where(A > 0, A, 0)
.count requests = 2 * warps
.count sectors @body = 4

loop:
    mov.u32 %r0, %tid.x
body:
second:
    @%p0 bra loop
    setp.lt.s32 %p1, %r0, n
    call %r0, function
    exit
function:
    ret %r0
"""


def test_missing_labels_are_made_up() -> None:
    program = assemble("l: nop\nbra l")
    bare = replace(program, labels={})
    assert targets(bare) == {0: "L0"}
    assert disassemble(bare) == ".kernel kernel()\n\nL0:\n    nop\n    bra L0\n"
    assert assemble(disassemble(bare)) == bare


def test_made_up_labels_avoid_names_that_exist() -> None:
    program = assemble("nop\nL0: l: nop\nbra l\nm: bra L0")
    other = replace(program, labels={"L1": 3})
    assert targets(other) == {1: "L1_", 3: "L1"}


def test_an_overridden_constant_is_printed_with_its_value() -> None:
    program = assemble(".let N = 2\n.repeat k, N\nnop\n.end\nexit", lets={"N": 3})
    assert ".let N = 3\n" in round_trip(program)


def test_a_single_instruction() -> None:
    program = assemble(".kernel k(A: ptr.f32)\n@!p ld.global.v2.f32 {a, b}, [A + 8]", fragment=True)
    assert instruction_text(program.instructions[0]) == "@!%p0 ld.global.v2.f32 {%r0, %r1}, [A + 8]"
    assert instruction_text(assemble("l: bra l").instructions[0]) == "bra L0"


@pytest.mark.parametrize(
    ("bits", "type_", "text"),
    [
        (0x3F800000, "f32", "1.0"), (0x3DCCCCCD, "f32", "0.10000000149011612"),
        (0x7FC00000, "f32", "0f7FC00000"),
        (0x7F800000, "f32", "0f7F800000"), (0x80000000, "f32", "-0.0"), (0x3FF0000000000000, "f64", "1.0"),
        (0x7FF8000000000000, "f64", "0d7FF8000000000000"), (0x3C00, "f16", "1.0"), (0x7E00, "f16", "0x7e00"),
        (0x3F80, "bf16", "1.0"), (0x7FC0, "bf16", "0x7fc0"), (0x3C003C00, "f16x2", "1.0"),
        (0x3C004000, "f16x2", "0x3c004000"), (0x7E007E00, "f16x2", "0x7e007e00"),
        (0x3F803F80, "bf16x2", "1.0"),
        (0xFFFFFFFF, "s32", "-1"), (0xFFFFFFFF, "u32", "4294967295"), (0xFF, "b32", "0xff"), (9, "b32", "9"),
        (2**64 - 1, "s64", "-1"), (2**64 - 1, "b64", "0xffffffffffffffff"),
    ],
)  # fmt: skip
def test_constants(bits: int, type_: str, text: str) -> None:
    assert immediate_text(bits, type_) == text


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(["f32", "f16", "bf16", "s32", "u32", "b32", "f16x2", "bf16x2"])
)
def test_constants_are_read_back(bits: int, type_: str) -> None:
    bits &= 0xFFFF if type_ in ("f16", "bf16") else 0xFFFFFFFF
    text = immediate_text(bits, type_)
    if text.startswith("0f"):
        assert int(text[2:], 16) == bits
    elif text.startswith("0x"):
        assert int(text, 16) == bits
    else:
        value = float(text) if "." in text or "e" in text else int(text)
        assert math.isfinite(value) and encode(value, type_) == bits


def test_listing() -> None:
    program = assemble(
        "// a kernel\n.kernel k()\n.shared s: f32[8]\n.local l: f32[2]\n.reg used: u32\n"
        "mov.u32 i, %tid.x\nsetp.lt.u32 p, i, 4 // compare\n@p bra over\nover: exit"
    )
    lines = listing(program).splitlines()
    assert lines[0] == (
        "k: 4 instructions, 1 registers, 1 predicate, 32 bytes of shared memory a block, "
        "8 bytes of local memory a thread"
    )
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "0 mov.u32 %r0, %tid.x 6 mov.u32 i, %tid.x",
        "1 setp.lt.u32 %p0, %r0, 4 7 setp.lt.u32 p, i, 4",
        "2 @%p0 bra over 8 @p bra over // joins at over",
        "over:",
        "3 exit 9 exit",
    ]


# The grammar as a judge of what is written by hand


def test_the_grammar_reads_a_whole_printed_program(grammar: lark.Lark) -> None:
    text = disassemble(assemble(FULL.replace("@p bra", "@%p0 bra")))
    tree = grammar.parse(text)
    assert len(list(tree.find_data("instruction"))) == 6
    assert len(list(tree.find_data("label"))) == 4


BROKEN = [
    "add.s32 %r0, %r1,", "add.s32 %r0 %r1", "add.s32 %r0, [%r1", "@ add.s32 %r0, 1, 2", "add.s32 {%r0, 1, 2",
    "ld.shared.f32 %r0, [%r1 %r2]", "ld.shared.f32 %r0, []", "!add.s32 %r0, 1, 2", "add.s32 %r0, 1, 0f12",
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
def test_grammar_and_assembler_refuse_the_same_text(text: str, grammar: lark.Lark) -> None:
    from tinygpu.isa.errors import SourceError

    with pytest.raises(lark.exceptions.UnexpectedInput):
        grammar.parse(text + "\n")
    with pytest.raises(SourceError):
        assemble(text, fragment=True)
