"""The examples of docs/language.md assemble, and what the page lists exists."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tinygpu.isa import table
from tinygpu.isa.assembler import assemble
from tinygpu.isa.expression_functions import ARRAY_FUNCTIONS
from tinygpu.isa.launch import plan
from tinygpu.isa.names import Names
from tinygpu.isa.parse_directives import DirectiveParser
from tinygpu.isa.parse_report import Report

PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text()
WHOLE = re.findall(r"```tinygpu\n(.*?)```", PAGE, re.DOTALL)
PARTS = re.findall(r"```tinygpu-part\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("text", WHOLE)
def test_whole_examples_assemble(text: str) -> None:
    assert assemble(text).instructions[-1].opcode.name == "exit"


@pytest.mark.parametrize("text", PARTS)
def test_parts_assemble(text: str) -> None:
    assert len(assemble(text, fragment=True).instructions) > 4


def test_there_are_examples() -> None:
    assert (len(WHOLE), len(PARTS)) == (2, 3)


def test_the_first_example_plans_a_launch_and_checks() -> None:
    found = plan(assemble(WHOLE[0]))
    assert (found.grid, found.block) == ((16, 1, 1), (256, 1, 1))
    total = found.arguments["A"] + found.arguments["B"]
    assert found.check({"C": total})[0].ok
    assert not found.check({"C": np.nextafter(total, np.float32(2))})[0].ok


@pytest.mark.parametrize("name", sorted(ARRAY_FUNCTIONS))
def test_every_function_is_described(name: str) -> None:
    assert re.search(rf"`[^`]*\b{name}\b[^`]*`", PAGE)


@pytest.mark.parametrize(
    "name", [*DirectiveParser(Names(), Report()).readers, ".let", ".repeat", ".macro", ".include"]
)
def test_every_directive_is_described(name: str) -> None:
    assert f"`{name}" in PAGE


@pytest.mark.parametrize("entry", list(table.entries()), ids=lambda e: e.key)
def test_every_example_of_the_table_assembles(entry: table.Entry) -> None:
    before = ".kernel k(A: ptr.f32)\n.shared As: f32[16]\n.shared bins: u32[16]\n"
    program = assemble(before + entry.example, fragment=True)
    # A move from a special register is an opcode of its own.
    own = "s2r" if entry.key == "mov" else entry.key
    assert program.instructions[0].opcode.entry.key == own
    assert len(program.instructions) == 2
