"""The instruction table as a whole: complete entries, known timing classes, consistent operands."""

from __future__ import annotations

import re

import pytest
import test_semantics_compare
import test_semantics_convert
import test_semantics_float
import test_semantics_integer

from tinygpu.isa import arith, table
from tinygpu.isa.assembler import assemble
from tinygpu.isa.table import Behaviour, Entry

CLASS_NAMES = (
    "fp32 int32 imad imad_wide int64 half fp64 sfu convert popc compare special shuffle vote match redux "
    "branch barrier warp_barrier fence sleep memory control"
)
CLASSES = set(CLASS_NAMES.split())
ENTRIES = list(table.entries())
COMPUTING = [e for e in ENTRIES if e.behaviour is Behaviour.COMPUTE]
SEMANTICS = (
    test_semantics_compare.CASES, test_semantics_convert.CASES, test_semantics_float.CASES,
    test_semantics_integer.CASES, test_semantics_integer.BIT_CASES, test_semantics_integer.WIDE_CASES,
)  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.key)
def test_every_entry_says_what_it_is(entry: Entry) -> None:
    assert re.match(r"[A-Z0-9].*\.$", entry.doc), "one sentence"
    assert entry.notes == "" or entry.notes.rstrip().endswith(".")
    assert set(entry.timing.split(", ")) <= CLASSES
    mnemonic = entry.example.split()[1 if entry.example.startswith("@") else 0]
    if entry.behaviour is Behaviour.SPECIAL:
        mnemonic = mnemonic.replace("mov", "s2r")
    if entry.key != "mov":  # its example reads a special register
        assert mnemonic in entry.opcodes
    assert entry.opcodes and len(set(entry.opcodes)) == len(entry.opcodes)


def test_every_opcode_is_consistent() -> None:
    for name, opcode in table.opcodes().items():
        assert opcode.name == name and name in opcode.entry.opcodes
        assert opcode.timing in CLASSES
        assert (opcode.lane is not None) == (opcode.behaviour in (Behaviour.COMPUTE, Behaviour.ATOMIC))
        names = [o.name for o in opcode.operands]
        assert len(set(names)) == len(names), name
        for spec in opcode.operands:
            assert spec.type in table.WORDS, name
            assert spec.role in ("dest", "source", "address", "label", "constant"), name
            assert spec.words <= 4, name
        if opcode.behaviour is Behaviour.COMPUTE:
            assert len(opcode.dests) == 1
            assert 1 <= len(opcode.operands) - 1 <= 4
            assert all(o.vector == 1 and not o.optional for o in opcode.operands)


def test_every_class_of_the_machine_files_is_used() -> None:
    assert {o.timing for o in table.opcodes().values()} == CLASSES


@pytest.mark.parametrize("entry", COMPUTING, ids=lambda e: e.key)
def test_every_computing_entry_has_results_worked_out_by_hand(entry: Entry) -> None:
    tested = {name for cases in SEMANTICS for name, _, _ in cases}
    covered = tested & set(entry.opcodes)
    assert covered
    if entry.key not in ("cvt", "cvt_to_int", "cvt_from_int", "cvt_narrow", "cvt_whole") and not (
        entry.key.startswith("setp")  # these have exhaustive tests beside the table
    ):
        assert covered == set(entry.opcodes)


def test_lane_functions_use_only_what_both_engines_know() -> None:
    known = set(arith.__all__) | {"arith", "np", "float64", "float"}
    for opcode in table.opcodes().values():
        if opcode.lane is not None:
            assert set(opcode.lane.__code__.co_names) <= known, opcode.name
            for cell in opcode.lane.__closure__ or ():
                assert isinstance(cell.cell_contents, int), opcode.name


def test_operands_of_a_list() -> None:
    specs = table.parse_operands("d:f32*.v4, <p:pred?, [a]:u64, a2:b32(f32), #lut:u32, @target, >s:u32*")
    assert [(s.name, s.type, s.role, s.vector, s.optional, s.literal) for s in specs] == [
        ("d", "f32", "dest", 4, False, ""), ("p", "pred", "dest", 1, True, ""),
        ("a", "u64", "address", 1, False, ""), ("a2", "b32", "source", 1, False, "f32"),
        ("lut", "u32", "constant", 1, False, ""), ("target", "u32", "label", 1, False, ""),
        ("s", "u32", "source", 1, False, ""),
    ]  # fmt: skip
    assert [s.words for s in specs[:2]] == [4, 0]
    assert table.parse_operands("") == ()


def test_an_opcode_cannot_be_entered_twice() -> None:
    def enter(name: str) -> None:
        def function(a: int) -> int:
            return a

        function.__name__ = name
        table.instruction(
            "mov.b32", operands="d:b32, a:b32", timing="int32", doc="Again.", example="mov.b32 d, a"
        )(function)

    before = dict(table._TABLE.entries)
    try:
        with pytest.raises(ValueError, match="entry 'mov' already"):
            enter("mov_")
        with pytest.raises(ValueError, match=r"'mov\.b32' twice"):
            enter("another")
    finally:
        table._TABLE.entries.clear()
        table._TABLE.entries.update(before)


WANTED = """
add.s32 add3.s32 sub.u32 mul.lo.s32 mul.hi.u32 mul.wide.s32 mad.lo.s32 mad.wide.u32 shl.b32 shr.s32
shf.l.wrap.b32 shf.r.clamp.b32 lop3.b32 min.s32 max.u32 popc.b32 clz.b32 bfe.u32 bfe.s32 bfi.b32 prmt.b32
abs.s32 add.f32 mul.f32 fma.f32 min.f32 max.f32 rcp.approx.f32 rsqrt.approx.f32 sqrt.approx.f32
ex2.approx.f32 lg2.approx.f32 sin.approx.f32 cos.approx.f32 add.f64 mul.f64 fma.f64 add.f16x2 mul.bf16x2
fma.f16x2 cvt.rn.f16x2.f32 cvt.rn.f16.f32 cvt.f32.bf16 cvt.rzi.s8.f64 cvt.rn.bf16.u8 setp.lt.s32 selp.f32
mov.b32 mov.b64 mov.pred s2r.u32 ld.global.v4.f32 ld.shared.u8 ld.local.b128 ld.param.u64 ld.const.f32
ld.global.ca.f32 ld.global.cg.v2.f64 st.global.cs.f32 st.shared.b16 st.local.v2.b64
atom.global.add.f32 atom.shared.cas.b32 atom.global.exch.b64 red.global.max.s32 red.shared.add.u32
shfl.sync.up.b32 shfl.sync.idx.b32 vote.sync.all.pred vote.sync.ballot.b32 activemask.b32
match.any.sync.b32 match.all.sync.b64 redux.sync.add.s32 redux.sync.xor.b32 bar.sync bar.arrive
bar.warp.sync fence.cta fence.sys bra bra.uni call ret nanosleep exit trap nop
"""


@pytest.mark.parametrize("name", WANTED.split())
def test_the_instruction_set_has(name: str) -> None:
    assert table.opcode(name) is not None


@pytest.mark.parametrize(
    "name",
    ["ld.global.v4.f64", "ld.shared.ca.f32", "ld.global.v2.u8", "st.param.f32", "atom.local.add.u32",
     "atom.global.and.f32", "red.shared.exch.b32", "redux.sync.add.b32", "div.s32", "setp.lt.b32"],
)  # fmt: skip
def test_what_no_hardware_has_does_not_exist(name: str) -> None:
    assert table.opcode(name) is None


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.key)
def test_every_example_assembles_to_its_entry(entry: Entry) -> None:
    text = f".kernel k(A: ptr.f32, n: s32)\n.shared As: f32[64]\n.shared bins: u32[64]\n{entry.example}\n"
    made = assemble(text, fragment=True).instructions[0].opcode.entry
    assert made.key == ("s2r" if "%" in entry.example else entry.key)
