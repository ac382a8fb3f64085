"""The reference pages: found by name, complete, and current in docs/isa.md."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tinygpu.isa import reference, table
from tinygpu.isa.special import FIXED, SPECIAL, lane_mask, nearest

DOCS = Path(__file__).parents[2] / "docs" / "isa.md"


def test_docs_are_what_the_table_says() -> None:
    assert DOCS.read_text(encoding="utf-8") == reference.markdown(), (
        "write it anew: python -m tinygpu.isa.reference --write docs/isa.md"
    )


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("fma", ["fma", "fma_f64", "fma_half"]), ("fma.f32", ["fma"]), ("FMA.F64", ["fma_f64"]),
        ("bar", ["bar", "bar_arrive", "bar_warp"]), ("bar.warp", ["bar_warp"]), ("lea", ["lea"]),
        ("mul.wide", ["mul_wide", "mul_wide_u32"]), ("atom_cas", ["atom_cas"]), ("fm", []), ("", []),
    ],
)  # fmt: skip
def test_entries_are_found_by_mnemonic_opcode_or_key(name: str, keys: list[str]) -> None:
    assert [entry.key for entry in reference.find(name)] == keys


@pytest.mark.parametrize(
    ("name", "first"), [("fam", "fma"), ("shuffle", "shfl"), ("setp.lt.s23", "setp.lt.s32"), ("ldd", "ld")]
)
def test_a_near_miss_gets_a_suggestion(name: str, first: str) -> None:
    assert first in reference.suggest(name)


def test_nonsense_gets_none() -> None:
    assert reference.suggest("qqqqqq") == []
    assert reference.suggest("qqqqqq.zz9") == []


def test_the_page_of_fma() -> None:
    (entry,) = reference.find("fma.f32")
    assert reference.page(entry) == (
        "fma[.sat].f32  d:f32, a:f32, b:f32, c:f32\n\n"
        "Multiplies a by b and adds c with one rounding.\n\n"
        "The product is not rounded before the sum. A NaN result is 0x7fffffff; denormals are kept.\n"
        ".sat clamps to [0, 1] and turns NaN into +0.\n\n"
        "  fma.f32 acc, x, y, acc\n\n"
        "timing class: fp32; 2 opcodes\n"
    )


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("ld.global.f32", "ld.{space}[.{cop}][.{vec}].{type}  d:{type}, [a]:u64|u32"),
        ("bar.sync", "bar.sync  b:u32[, count:u32]"), ("bra", "bra[.uni]  target:label"), ("exit", "exit"),
        ("shfl.sync.up.b32", "shfl.sync.{mode}.b32  d:b32[|p:pred], a:b32, b:u32, c:u32, mask:b32"),
        ("lop3.b32", "lop3.b32  d:b32, a:b32, b:b32, c:b32, lut:u32"),
        ("red.shared.add.u32", "red.{space}.{op}.{type}  [a]:u64|u32, b:{type}"),
        ("cvt.s8.s32", "cvt[.sat].{to}.{src}  d:s32|u32|s64|u64, a:{src}"),
    ],
)  # fmt: skip
def test_titles(name: str, title: str) -> None:
    (entry,) = reference.find(name)
    assert reference.page(entry).splitlines()[0] == title


def test_pages_fit_a_terminal_and_name_every_variant() -> None:
    for entry in table.entries():
        text = reference.page(entry)
        assert max(len(line) for line in text.splitlines()[1:]) <= 100, entry.key
        assert entry.example in text and entry.timing in text
        for part, words in reference.variants(entry).items():
            for word in words:
                assert word.lstrip(".") in text, (entry.key, part, word)


def test_the_index_has_a_line_for_every_entry() -> None:
    lines = reference.index().splitlines()
    for entry in table.entries():
        assert any(line.endswith(entry.doc) and reference.pattern(entry) in line for line in lines), entry.key


def test_facts_are_plain_values() -> None:
    (entry,) = reference.find("vote.sync.ballot.b32")
    facts = json.loads(json.dumps(reference.facts(entry)))
    assert facts["opcodes"] == ["vote.sync.ballot.b32"]
    assert facts["variants"] == {"mode": ["ballot"]}
    assert facts["operands"] == "d:b32, q:pred, mask:b32"


def test_writing_and_checking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "isa.md"
    assert reference.main(["--check", str(target)]) == 1
    assert "--write" in capsys.readouterr().err
    assert reference.main(["--write", str(target)]) == 0
    assert reference.main(["--check", str(target)]) == 0
    assert [f.name for f in tmp_path.iterdir()] == ["isa.md"]
    target.write_text(target.read_text() + "more", encoding="utf-8")
    assert reference.main(["--check", str(target)]) == 1
    assert reference.main([]) == 2


def test_pages_do_not_depend_on_the_hash_seed() -> None:
    code = "import sys; from tinygpu.isa import reference; sys.stdout.write(reference.markdown())"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
            capture_output=True, text=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(digests) == 1


def test_special_registers() -> None:
    assert list(SPECIAL)[:3] == ["tid.x", "tid.y", "tid.z"]
    assert {s.name for s in SPECIAL.values() if s.type == "u64"} == {"clock64", "globaltimer"}
    assert nearest("%tidx") == "tid.x" and nearest("laneide") == "laneid" and nearest("zzzz") == ""
    assert "ctaid.z" in FIXED and "smid" not in FIXED


@pytest.mark.parametrize(
    ("lane", "eq", "lt", "le", "gt", "ge"),
    [
        (0, 1, 0, 1, 0xFFFFFFFE, 0xFFFFFFFF), (5, 0x20, 0x1F, 0x3F, 0xFFFFFFC0, 0xFFFFFFE0),
        (31, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0, 0x80000000),
    ],
)  # fmt: skip
def test_lane_masks(lane: int, eq: int, lt: int, le: int, gt: int, ge: int) -> None:
    names = ("lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge")
    assert [lane_mask(name, lane) for name in names] == [eq, lt, le, gt, ge]
