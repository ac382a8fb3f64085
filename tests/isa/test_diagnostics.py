"""Every mistake in a text is reported at its place, with a reason and a hint, never a traceback."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.isa import table
from tinygpu.isa.assembler import assemble
from tinygpu.isa.errors import Diagnostic, InputError, SourceError

HEAD = ".kernel k(A: ptr.f32, n: s32, w: u64)\n.shared As: f32[8]\n.local buf: b32[4]\n.reg acc: f32[4]\n"
LINES = HEAD.count("\n")


def errors(text: str, head: str = HEAD) -> list[Diagnostic]:
    """The diagnostics of a text that must not assemble; lines count from the text's first."""
    with pytest.raises(SourceError) as caught:
        assemble(head + text, "t.s")
    return list(caught.value.diagnostics)


# (text, line, column, width, message, hint): the one error of the text
CASES = [
    # Mnemonics
    ("ad.s32 x, 1, 2", 1, 1, 6, "unknown instruction ad.s32", "did you mean sad.s32?"),
    ("  fmaa.f32 x, 1, 2, 3", 1, 3, 8, "unknown instruction fmaa.f32", "did you mean fma.f32?"),
    ("add.s33 x, 1, 2", 1, 1, 7, "add has no form .s33", "did you mean add.s32? It exists as"),
    ("setp.ltt.s32 p, 1, 2", 1, 1, 12, "setp has no form .ltt.s32", "did you mean setp.lt.s32?"),
    ("bar.sink 0", 1, 1, 8, "bar has no form .sink", "did you mean bar.sync?"),
    ("ld.global.v3.f32 x, [A]", 1, 1, 16, "ld.global has no form .v3.f32", "did you mean ld.global.v4.f32?"),
    ("add x, 1, 2", 1, 1, 3, "add is not complete", "did you mean"),
    ("st.param.u32 [n], 1", 1, 1, 12, "st has no form .param.u32", "did you mean"),
    # How many operands
    ("add.s32 x, 1", 1, 1, 12, "add.s32 takes 3 operands, 2 given", "it is written add.s32 d, a, b"),
    ("add.s32 x, 1, 2, 3", 1, 18, 1, "add.s32 takes 3 operands, 4 given", "it is written add.s32 d, a, b"),
    ("bar.sync", 1, 1, 8, "bar.sync takes 1 to 2 operands, 0 given", "it is written bar.sync b, [count]"),
    ("mov.u32 x", 1, 1, 9, "mov.u32 takes 2 operands, 1 given", "it is written mov.u32 d, a"),
    ("exit now", 1, 6, 3, "exit takes 0 operands, 1 given", "it is written exit"),
    ("ld.global.f32 x", 1, 1, 15, "ld.global.f32 takes 2 operands", "it is written ld.global.f32 d, [a]"),
    ("shfl.sync.up.b32 x, 1", 1, 1, 21, "shfl.sync.up.b32 takes 5 operands", "d[|p], a, b, c, mask"),
    ("add.s32 x,,1", 1, 11, 1, "an operand is missing", ""),
    ("add.s32 a|p, 1, 2", 1, 9, 3, "add.s32 has one destination", "it is written add.s32 d, a, b"),
    # Kinds of operands
    ("add.s32 5, 1, 2", 1, 9, 1, "5 is not a register", "the destination must be a named value or %r0"),
    ("setp.lt.s32 5, 1, 2", 1, 13, 1, "5 is not a predicate", "the destination must be a named value or %p0"),
    ("add.s32 x, 1, [A]", 1, 15, 3, "b is a value, not an address", "a register, a constant or a parameter"),
    ("ld.global.f32 x, A", 1, 18, 1, "a is an address", "write it in brackets: [A]"),
    ("add.s32 %p1, 1, 2", 1, 9, 3, "%p1 is not a register of 32 bits", ""),
    ("selp.s32 x, 1, 2, %r3", 1, 19, 3, "%r3 is not a predicate", ""),
    ("mov.u32 x, !q", 1, 12, 2, "only a predicate can be negated with !", ""),
    ("setp.lt.s32 !p, 1, 2", 1, 13, 2, "a destination cannot be negated", ""),
    ("mov.u32 %tid.x, 1", 1, 9, 6, "%tid.x cannot be written", ""),
    ("add.s32 x, %tid.x, 1", 1, 12, 6, "%tid.x can only be read by mov", "copy it first: mov.u32 x, %tid.x"),
    ("mov.u32 x, %tidd.x", 1, 12, 7, "there is no %tidd.x", "did you mean %tid.x?"),
    ("mov.u32 x, %clock64", 1, 12, 8, "%clock64 is 64 bits wide", "read it with mov.u64"),
    ("mov.f32 x, %laneid", 1, 1, 7, "mov.f32 cannot read a special register", "use mov.u32"),
    ("add.s32 x, %, 1", 1, 12, 1, "% is not a register", ""),
    ("add.s32 x, 1, a|b", 1, 15, 3, "b is a value, not two destinations", ""),
    # Names that mean something else
    ("mov.u32 n, 1", 1, 9, 1, "n is a kernel parameter and cannot be assigned", "choose another name"),
    ("mov.u32 As, 1", 1, 9, 2, "As is a shared array and cannot be assigned", "choose another name"),
    (".let q = 1\nmov.u32 q, 1", 2, 9, 1, "q is a constant and cannot be assigned", "choose another name"),
    (".repeat q, 1\nmov.u32 q, 1\n.end", 2, 9, 1, "q is a constant and cannot be assigned",
     "choose another name"),
    ("mov.f32 acc, 0", 1, 9, 3, "acc is a register array and cannot be assigned", "name one element: acc[0]"),
    ("mov.f32 pi, 0", 1, 9, 2, "pi is a constant and cannot be assigned", "choose another name"),
    # Widths
    ("mov.u32 x, 1\nadd.u64 y, x, 1", 2, 12, 1,
     "x is 32 bits wide since line 5, but this operand takes 64 bits",
     "widen it with mad.wide or cvt"),
    ("mov.u64 x, 1\nadd.u32 y, x, 1", 2, 12, 1,
     "x is 64 bits wide since line 5, but this operand takes 32 bits",
     "one name has one width"),
    ("mov.u32 p, 1\n@p exit", 2, 2, 1,
     "p is 32 bits wide since line 5, but this operand takes a predicate", ""),
    ("setp.lt.s32 p, 1, 2\nmov.u32 x, p", 2, 12, 1, "p is a predicate since line 5",
     "one name has one width"),
    ("add.s32 x, A, 1", 1, 12, 1, "the parameter A (ptr.f32) is 64 bits wide, the operand 32",
     "global addresses are 64 bits"),
    ("add.u64 x, n, 1", 1, 12, 1, "the parameter n (s32) is 32 bits wide, the operand 64", ""),
    ("mov.b64 %r3, 1", 1, 9, 3, "%r3 cannot start a 64-bit value: misaligned", "use %r2 or %r4"),
    ("ld.global.b128 %r6, [A]", 1, 16, 3, "%r6 cannot start a 128-bit value: misaligned", "use %r4 or %r8"),
    ("mov.b64 %r254, 1", 1, 9, 5, "%r254 is too high for a value of 2 registers", ""),
    ("mov.b32 %r256, 1", 1, 9, 5, "%r256 does not exist", "%r0 to %r254 do"),
    ("mov.pred %p8, %p0", 1, 10, 3, "%p8 does not exist", "%p0 to %p6 do"),
    ("add.f32 x, 1, 0d4000000000000000", 1, 15, 18, "0d4000000000000000 has 64 bits, the operand 32", ""),
    ("mov.u64 x, 1\nadd.u64 y, x.lo, 1", 2, 12, 4,
     ".lo is one 32-bit register, but this operand takes 2", ""),
    # Constants
    ("add.s32 x, 1, 4294967296", 1, 15, 10, "the constant 4294967296 does not fit into 32 bits", ""),
    ("add.s32 x, 1, -2147483649", 1, 15, 11, "the constant -2147483649 does not fit into 32 bits", ""),
    ("add.s32 x, 1, 1.5", 1, 15, 3, "1.5 is not an integer", "the operand has the type s32"),
    ("add.f32 x, 1.0, 0x3f800000", 1, 17, 10, "a hexadecimal integer is no floating-point constant", "0f"),
    ("add.f64 x, 1.0, 0x3f800000", 1, 17, 10, "a hexadecimal integer is no floating-point constant", "0d"),
    ("add.f32 x, 1.0, 0f3f80", 1, 17, 6, "0f is followed by 8 hexadecimal digits", ""),
    ("add.f32 x, 1.0, 1e40", 1, 17, 4, "the constant 1e+40 is too large for f32", ""),
    ("mov.u32 x, 1/3", 1, 12, 3, "1 / 3 leaves a remainder", "floordiv(1, 3) rounds down"),
    ("mov.u32 x, (4 + M) * 2", 1, 17, 1, "unknown name M", ""),
    ("mov.u32 y, 1\nmov.u32 x, y + 1", 2, 12, 1, "unknown name y", "y is a register: its value is not known"),
    ("mov.u32 x, (1, 2)", 1, 12, 6, "(1, 2) is not a number", ""),
    ("mov.u32 x, 'a'", 1, 12, 3, "only numbers can be written here", ""),
    ("mov.u32 x, __import__('os')", 1, 12, 10, "unknown function __import__", "functions: abs"),
    ("bar.sync 16", 1, 10, 2, "b is 16, but must be 0 to 15", ""),
    ("bar.sync x", 1, 10, 1, "b must be a constant", ""),
    ("bar.sync 0, 48", 1, 13, 2, "the count 48 is not a multiple of 32", ""),
    ("lop3.b32 x, 1, 2, 3, 256", 1, 22, 3, "lut is 256, but must be 0 to 255", ""),
    ("lea.u32 x, 1, 2, 32", 1, 18, 2, "shift is 32, but must be 0 to 31", ""),
    # Addresses
    ("ld.global.f32 x, [n]", 1, 19, 1, "n (s32) is 32 bits, an address here has 64", ""),
    ("ld.shared.f32 x, [A]", 1, 19, 1, "A (ptr.f32) is 64 bits, an address here has 32", ""),
    ("ld.global.f32 x, [As]", 1, 19, 2, "As has no address in global memory",
     "it lies in shared memory: use .shared"),
    ("ld.shared.f32 x, [buf]", 1, 19, 3, "buf has no address in shared memory",
     "it lies in local memory: use .local"),
    ("mov.u32 a, 1\nmov.u32 b, 2\nld.shared.f32 x, [a + b]", 3, 23, 1,
     "an address has one register and constants",
     "add the registers first"),
    ("mov.u32 a, 1\nld.shared.f32 x, [4 - a]", 2, 23, 1, "a register cannot be subtracted in an address", ""),
    ("ld.shared.f32 x, []", 1, 18, 2, "an address is missing between [ and ]", ""),
    ("ld.shared.f32 x, [As +]", 1, 23, 1, "a term of the address is missing", ""),
    ("ld.shared.f32 x, [As + 1.5]", 1, 18, 10, "the offset 1.5 is not an integer", ""),
    ("ld.shared.f32 x, [As + 1 << 40]", 1, 18, 14, "the offset 1099511627776 does not fit into 32 bits", ""),
    ("ld.shared.f32 x, [{a, b}]", 1, 19, 6, "a set is not allowed in an expression", ""),
    ("ld.shared.f32 x, [%tid.x]", 1, 19, 6, "%tid.x cannot stand in an address", ""),
    ("ld.shared.f32 x, As[3]", 1, 18, 5, "a is an address", "write it in brackets: [As[3]]"),
    ("ld.shared.f32 x, [As[3]]", 1, 19, 2, "As is not a register array", "[As + offset in bytes]"),
    # Vectors
    ("ld.global.v4.f32 {a, b, c}, [A]", 1, 18, 9, "d takes 4 values, 3 are given", ""),
    ("ld.global.f32 {a, b}, [A]", 1, 15, 6, "d is not a vector here", ""),
    ("ld.global.v4.f32 acc[0], [A]", 1, 18, 6, "d is a vector of 4", "write it as {a, b, c, d}"),
    ("ld.global.v2.f32 {a, a}, [A]", 1, 18, 6, "a vector cannot hold one value twice",
     "copy the value with mov"),
    ("ld.global.v2.f32 {a, b}, [A]\nst.global.v2.f32 [A], {b, a}", 2, 23, 6,
     "these values cannot stand side by side",
     "copy a value with mov"),
    ("ld.global.v2.f32 {%r4, %r6}, [A]", 1, 18, 10, "these values cannot stand side by side", ""),
    ("ld.global.v2.f32 {%r3, %r4}, [A]", 1, 18, 10, "these values cannot stand side by side", ""),
    ("st.global.v2.f32 [A], {x, 1}", 1, 27, 1, "1 is not a register", "named value"),
    ("st.global.v2.f32 [A], 1", 1, 23, 1, "a constant cannot stand here", "fill them with mov"),
    ("ld.global.v2.f32 {a, b}, [A]\nld.global.v2.f32 {a, c}, [A + 8]\nst.global.v2.f32 [A], {a, b}\n"
     "st.global.f32 [A], c", 1, 18, 6, "the vectors put b and c into one register",
     "copy one of them with mov"),
    # Register arrays
    ("mov.f32 acc[4], 0", 1, 9, 3, "the index 4 is outside 0 to 3 of acc", ""),
    ("mov.f32 acc[-1], 0", 1, 9, 3, "the index -1 is outside 0 to 3 of acc", ""),
    ("mov.f32 acc[0][0], 0", 1, 9, 3, "acc has 1 indexes, 2 are given", ""),
    ("mov.f32 acc[0.5], 0", 1, 9, 3, "the index 0.5 is not an integer", ""),
    ("mov.f32 bcc[0], 0", 1, 9, 3, "bcc is not a register array", "did you mean acc?"),
    # Values that are not assigned
    ("add.s32 y, x, 1", 1, 12, 1, "x is never assigned", ""),
    ("mov.u32 count, 1\nadd.u32 y, coumt, count", 2, 12, 5, "coumt is never assigned", "did you mean count?"),
    ("add.u32 x, x, 1", 1, 12, 1, "x is read here before anything assigns it", "no path from the start"),
    ("@p exit", 1, 2, 1, "p is never assigned", ""),
    ("@!p exit", 1, 3, 1, "p is never assigned", ""),
    ("st.global.f32 [A], x", 1, 20, 1, "x is never assigned", ""),
    ("ld.global.f32 x, [base + 4]", 1, 19, 4, "base is never assigned", ""),
    ("bra over\nmov.u32 x, 1\nover: add.u32 y, x, 1", 3, 18, 1,
     "x is read here before anything assigns it", ""),
    # Labels and the end
    ("bra lop\nloop: nop", 1, 5, 3, "there is no label lop", "did you mean loop?"),
    ("bra nowhere", 1, 5, 7, "there is no label nowhere", "a label is a name with a colon"),
    ("bra 5", 1, 5, 1, "5 is not a label", ""),
    ("a: nop\na: nop", 2, 1, 1, "the label a exists already", "the first is at line 5"),
    (".repeat k, 2\nl: nop\n.end", 2, 1, 1, "the label l exists already",
     "put the body into a macro: there $l"),
    # Guards and brackets
    ("@5 exit", 1, 2, 1, "5 is not a predicate", "%p0"),
    ("@ exit", 1, 7, 1, "an instruction is missing here", ""),
    ("@[p] exit", 1, 1, 1, "a guard is @p or @!p", "write @p before the mnemonic"),
    ("@%r1 exit", 1, 2, 3, "%r1 is not a predicate", ""),
    ("add.s32 x, (1, 2", 1, 9, 8, "brackets do not match", ""),
    ("add.s32 x, 1), 2", 1, 9, 8, "brackets do not match", ""),
    ("ld.shared.f32 x, [As)", 1, 15, 7, "brackets do not match", ""),
    ("nop &stal=3", 1, 5, 7, "&stal=3 is not a scheduling mark", "did you mean stall?"),
    ("nop &stall=99", 1, 5, 9, "&stall=99 is not a scheduling mark", "0 to 15"),
    ("nop &stall=x", 1, 5, 8, "&stall=x is not a scheduling mark", ""),
    # Directives
    (".sharde x: f32[4]", 1, 1, 7, "unknown directive .sharde", "did you mean .shared?"),
    (".kernel j()", 1, 1, 11, "a file holds one kernel; k is here already", ""),
    (".shared n: f32[4]", 1, 9, 1, "n is a kernel parameter already", ""),
    (".shared q", 1, 9, 1, "an array is written name: type[size]", "As: f32[16][17]"),
    (".shared q: f33[2]", 1, 12, 3, "unknown type f33", "did you mean f32?"),
    (".shared q: f32[0]", 1, 16, 1, "a size is 0, but must be an integer from 1", ""),
    (".shared q: f32[2.5]", 1, 16, 3, "a size is 2.5, but must be an integer from 1", ""),
    (".shared q: f32[M]", 1, 16, 1, "unknown name M", ""),
    (".shared q: f32[100000][100000]", 1, 15, 16, "an array of 10000000000 elements is too large", ""),
    (".shared q: f32[4] align 3", 1, 25, 1, "the alignment 3 is not a power of two", ""),
    (".shared", 1, 1, 7, "nothing stands behind .shared", "write .shared As: f32[16][16]"),
    (".reg acc: f32[2]", 1, 6, 3, "acc is a register array already", ""),
    (".reg big: f32[5000]", 1, 6, 14, "big has 5000 elements; a thread has 255 registers", ""),
    (".maxregs 256", 1, 10, 3, "the number of registers is 256, but must be an integer from 1 to 255", ""),
    (".launch grip = 3", 1, 9, 4, "grip is no part of a launch", "did you mean grid?"),
    (".launch grid", 1, 9, 4, "write name = expression", ""),
    (".launch grid = 1, grid = 2", 1, 19, 4, "grid is given twice", ""),
    (".launch grid = n", 1, 16, 1, "unknown name n", ""),
    (".arg B = 3", 1, 6, 1, "the kernel has no parameter B", ""),
    (".arg A = zeros(4), A = ones(4)", 1, 20, 1, "A is given twice", ""),
    (".arg A = zeross(4)", 1, 10, 6, "unknown function zeross", "did you mean zeros?"),
    (".arg A = zeros(4", 1, 15, 1, "this is not an expression", ""),
    (".arg A = zeros(N)", 1, 16, 1, "unknown name N", ""),
    (".expect A = 3", 1, 9, 5, "write .expect C ~ expression or .expect C == expression", ""),
    (".expect", 1, 1, 7, "write .expect C ~ expression or .expect C == expression", ""),
    (".expect n ~ 3", 1, 9, 1, "n names no array argument", "arrays: A"),
    (".expect A ~ C", 1, 13, 1, "unknown name C", ""),
    (".expect A ~ A, rtl = 3", 1, 16, 3, "rtl is no tolerance here", "did you mean rtol?"),
    (".expect A == A, rtol = 3", 1, 17, 4, "rtol is no tolerance here", "== compares exactly"),
    (".count requests", 1, 8, 8, "write .count NAME = expression or .count NAME @label = expression", ""),
    (".count requests @nol = 3", 1, 18, 3, "there is no label nol", "a label is a name with a colon"),
    (".count requests = M", 1, 19, 1, "unknown name M", ""),
    (".let N = 3\n.let N = 4", 2, 6, 1, "N is defined twice", ""),
    (".let N", 1, 6, 1, "write .let NAME = expression", ""),
    (".let N = (1, 2)", 1, 10, 6, "(1, 2) is not a number", ""),
    (".repeat k, 4\nnop", 1, 1, 7, ".repeat is not closed", "close it with .end"),
    (".end", 1, 1, 4, ".end without .repeat or .macro", ""),
    (".repeat k\nnop\n.end", 1, 1, 9, "a repeat needs a name and a count", ".repeat k, start, stop, step"),
    (".repeat k, 1.5\nnop\n.end", 1, 12, 3, "1.5 is not an integer", ""),
    (".repeat k, 0, 4, 0\nnop\n.end", 1, 18, 1, "a step of 0 never ends", ""),
    (".repeat n, 4\nnop\n.end", 1, 9, 1, "n is a kernel parameter already", ""),
    (".repeat k, M\nnop\n.end", 1, 12, 1, "unknown name M", ""),
    (".repeat k, 10000000\nnop\n.end", 2, 1, 3, "the program expands to over 200000 statements", ""),
    (".repeat k, 2\n.shared q: f32[2]\n.end", 2, 1, 7, ".shared stands outside .repeat and .macro", ""),
    (".macro\nnop\n.end", 1, 1, 6, "write .macro name(a, b)", ""),
    (".macro m(a, a)\n.end", 1, 8, 7, "two parameters have one name", ""),
    (".macro nop()\n.end", 1, 8, 5, "nop is an instruction", "choose another name for the macro"),
    (".macro m(2)\n.end", 1, 8, 4, "2 is not a name", ""),
    (".macro m()\n.end\n.macro m()\n.end", 3, 8, 3, "the macro m exists already", ""),
    (".repeat k, 2\n.macro m()\n.end\n.end", 2, 1, 6, "a macro stands outside other blocks", ""),
    (".macro m(a)\nmov.u32 a, 1\n.end\nm x, y", 4, 1, 6, "m takes 1 argument, 2 given", "m(a)"),
    (".macro m(a)\nm a\n.end\nm x", 2, 1, 1, "macros call one another more than 32 deep",
     "in m, called at t.s:6"),
    (".macro twice(a)\nnop\n.end\n@p twice x", 4, 2, 1, "a macro call has no guard", "branch around it"),
    (".macro twice(a)\nnop\n.end\ntwise x", 4, 1, 5, "unknown instruction twise", "did you mean twice?"),
    ('.include "nope.s"', 1, 10, 8, "nope.s cannot be read: No such file or directory", ""),
    (".include nope.s", 1, 10, 6, 'write .include "file.s"', ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "column", "width", "message", "hint"), CASES, ids=[c[0] for c in CASES]
)
def test_one_mistake(text: str, line: int, column: int, width: int, message: str, hint: str) -> None:
    found = errors(text + "\nexit")
    assert len(found) == 1, [d.render() for d in found]
    diagnostic = found[0]
    assert message in diagnostic.message
    assert hint in diagnostic.hint
    assert (diagnostic.line - LINES, diagnostic.column, diagnostic.width) == (line, column, width)
    assert diagnostic.text == text.split("\n")[line - 1]


# The kernel's own line, and whole texts

HEADLESS = [
    (".kernel k(A: ptr.f33)\nexit", 1, 14, "ptr.f33 is not the type of a parameter", "did you mean ptr.f32?"),
    (".kernel k(A: ptr)\nexit", 1, 14, "ptr is not the type of a parameter", ""),
    (".kernel k(A: f16)\nexit", 1, 14, "f16 is not the type of a parameter", ""),
    (".kernel k(A)\nexit", 1, 11, "a parameter is written name: type", "A: ptr.f32 or n: s32"),
    (".kernel k(A: s32, A: s32)\nexit", 1, 19, "A is a kernel parameter already", ""),
    (".kernel\nexit", 1, 1, "write .kernel name(A: ptr.f32, n: s32)", ""),
    (".kernel k(A: s32\nexit", 1, 9, "write .kernel name(A: ptr.f32, n: s32)", ""),
    ("", 1, 1, "the program has no instructions", "the shortest one is exit"),
    ("// nothing\n", 1, 1, "the program has no instructions", "the shortest one is exit"),
    ("nop", 1, 1, "the kernel runs past its last instruction", "end it with exit"),
    ("@%p0 exit", 1, 1, "the kernel runs past its last instruction", "end it with exit"),
    ("exit\nend:", 2, 1, "nothing follows the label end", "put exit behind it"),
    (".include \"x.s\"\nexit", 1, 10, "this text has no folder to include from", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "message", "hint"), HEADLESS)
def test_whole_texts(text: str, line: int, column: int, message: str, hint: str) -> None:
    with pytest.raises(SourceError) as caught:
        assemble(text)
    first = caught.value.diagnostics[0]
    assert message in first.message and hint in first.hint
    assert (first.line, first.column) == (line, column)


def test_how_an_error_looks() -> None:
    with pytest.raises(SourceError) as caught:
        assemble("\tmov.u32 count, 1\n\tadd.u32 y, coumt, count // sum\nexit", "dir/sum.s")
    assert caught.value.message == (
        "dir/sum.s:2:13: error: coumt is never assigned\n"
        "     add.u32 y, coumt, count // sum\n"
        "                ^~~~~\n"
        "    hint: did you mean count?"
    )
    assert caught.value.exit_code == 2


def test_all_errors_at_once_in_the_order_of_the_lines() -> None:
    found = errors("ad.s32 x, 1, 2\nmov.u32 %r300, 1\nbra nowhere\n.shard q\nadd.s32 x, 1\nexit")
    assert [d.line - LINES for d in found] == [1, 2, 3, 4, 5]


def test_at_most_twenty_are_shown_and_the_rest_counted() -> None:
    with pytest.raises(SourceError) as caught:
        assemble("\n".join(["wrong"] * 25))
    assert len(caught.value.diagnostics) == 20
    assert caught.value.message.endswith("(5 more errors)")


def test_an_unrolled_mistake_is_reported_once() -> None:
    found = errors(".repeat k, 100\nad.s32 x, 1, 2\n.end\nexit")
    assert len(found) == 1 and "in .repeat with k = 0" in found[0].hint


def test_a_mistake_in_a_macro_names_the_call() -> None:
    found = errors(".macro m(a)\nmov.u64 a, 1\n.end\nmov.u32 x, 1\nm x\nexit")
    assert (found[0].line - LINES, found[0].column) == (2, 9)
    assert "in m, called at t.s:9" in found[0].hint


def test_a_mistake_in_a_replaced_operand_covers_what_is_written() -> None:
    found = errors(".macro m(a)\nmov.u32 x, a + wrong\n.end\nm 1000000\nexit")
    assert (found[0].line - LINES, found[0].column, found[0].width) == (2, 12, 9)


def test_a_mistake_in_an_included_file_names_the_file() -> None:
    with pytest.raises(SourceError) as caught:
        assemble('.include "part.s"\nexit', "main.s", include={"part.s": "nop\nwrong"}.__getitem__)
    (found,) = caught.value.diagnostics
    assert (found.file, found.line, found.text) == ("part.s", 2, "wrong")


def test_endless_includes_stop() -> None:
    with pytest.raises(SourceError, match="includes are nested more than 32 deep"):
        assemble('.include "a"\nexit', include={"a": '.include "a"'}.__getitem__)


def test_an_include_that_is_no_text() -> None:
    def read(name: str) -> str:
        return b"\xff".decode()

    with pytest.raises(SourceError, match="x cannot be read: it is no text"):
        assemble('.include "x"\nexit', include=read)


def test_the_second_line_of_a_directive_is_pointed_at() -> None:
    found = errors(".arg A = zeros(4),\n     n = foo(3)\nexit")
    assert (found[0].line - LINES, found[0].column, found[0].text) == (2, 10, "     n = foo(3)")
    found = errors(".arg A = zeros(4,\n     foo)\nexit")
    assert (found[0].line - LINES, found[0].column) == (2, 6)


# Arbitrary and damaged text

WORDS = [
    "add.s32", "x", "y", "%r1", "%p1", ",", "[", "]", "{", "}", "(", ")", "@", "!", "p", ":", ".repeat",
    ".end", "k",
    "4", "-1", "1.5", ".let", "N", "=", ".macro", "m", "exit", "bra", "loop", ".kernel", "A: ptr.f32",
    "[A]", "\n",
    ";", "//", "|", "&stall=3", ".shared", "f32[4]", ".reg", "acc[k]", "mov.u32", "%tid.x",
    "ld.global.v2.f32", "~",
    ".expect", ".arg", ".count", "0f3F800000", "x.lo", "$l", "\t", '"', ".include", ".launch", "grid",
    "\u00e9", "\0",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=25), st.sampled_from([" ", ""]))
def test_arbitrary_words_give_a_program_or_diagnostics(words: list[str], blank: str) -> None:
    check(blank.join(words))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_arbitrary_text_gives_a_program_or_diagnostics(text: str) -> None:
    check(text)


GOOD = """.kernel k(A: ptr.f32, n: s32)
.let N = 8
.shared As: f32[N][N]
.launch grid = N/4, block = 32
.arg A = uniform(N, N), n = N
.expect A ~ A + 1, rtol = 1e-5
.macro step(d, i)
$l: ld.shared.f32 d, [As + i + 4]
    @p bra $l
.end
    mov.u32 i, %tid.x
    setp.lt.s32 p, i, n
.repeat k, 2
    step x, i
    fma.f32 x, x, 2.0, x
.end
    st.global.f32 [A + 4*N], x
    exit
"""


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_damaged_programs_give_a_program_or_diagnostics(seed: int) -> None:
    rng = random.Random(seed)
    text = GOOD
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(text))
        other = rng.randrange(len(text))
        text = rng.choice(
            [
                text[:place] + text[place + rng.randint(1, 6) :],
                text[:place] + rng.choice("[](){}@!%,.:=+-*/ \n~|&$#\"'0aN") + text[place:],
                text[:place] + text[other : other + 12] + text[place:],
            ]
        )
    check(text)


def check(text: str) -> None:
    """A text assembles or gives well-formed diagnostics."""
    try:
        assemble(text, "t.s", include={}.__getitem__)
    except SourceError as error:
        for diagnostic in error.diagnostics:
            rows = text.expandtabs(1).replace("\r\n", "\n").replace("\r", "\n").split("\n")
            assert 1 <= diagnostic.line <= len(rows), diagnostic
            assert diagnostic.message and diagnostic.column >= 1
            assert diagnostic.column <= len(rows[diagnostic.line - 1]) + 1, diagnostic
            assert diagnostic.render()
    except InputError as error:
        raise AssertionError(f"not a diagnostic: {error}") from error


def test_the_good_program_is_good() -> None:
    assert len(assemble(GOOD).instructions) == 10


# Every opcode


@pytest.mark.parametrize("name", list(table.opcodes()))
def test_every_opcode_refuses_a_wrong_count(name: str) -> None:
    with pytest.raises(SourceError) as caught:
        assemble(f"{name} {', '.join(f'x{i}' for i in range(9))}", fragment=True)
    assert f"{name} takes" in caught.value.message
