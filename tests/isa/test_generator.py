"""Generated programs: repeatable, valid, covering the table, and with one answer in any order."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.isa import interpreter, table
from tinygpu.isa.assembler import assemble
from tinygpu.isa.interpreter import InterpreterResult
from tinygpu.isa.interpreter_launch import interpret_plan
from tinygpu.isa.launch import plan
from tinygpu.isa.table import Behaviour

sys.path.insert(0, str(Path(__file__).parents[1]))
from generator import COMPUTING, generate


def result_of(text: str) -> tuple[InterpreterResult, dict[str, Any]]:
    return interpret_plan(plan(assemble(text, "generated.s")))


def assert_same(one: tuple[InterpreterResult, Any], other: tuple[InterpreterResult, Any]) -> None:
    assert one[1].keys() == other[1].keys()
    for name in one[1]:
        assert np.array_equal(one[1][name], other[1][name]), name
    assert np.array_equal(one[0].registers, other[0].registers)
    assert np.array_equal(one[0].predicates, other[0].predicates)


def test_a_seed_makes_the_same_program_every_time() -> None:
    assert generate(7) == generate(7)
    assert generate(7).text != generate(8).text


@pytest.mark.parametrize("start", range(0, len(COMPUTING), 40))
def test_every_computing_opcode_can_be_asked_for(start: int) -> None:
    names = tuple(o.name for o in COMPUTING[start : start + 40])
    made = generate(start, 0, must=names)
    assert set(names) <= made.opcodes
    _, finals = result_of(made.text)
    assert finals["out"].any()


def test_forty_programs_use_every_kind_of_instruction() -> None:
    used = frozenset().union(*(generate(seed).opcodes for seed in range(40)))
    found = {opcode.behaviour for name in used if (opcode := table.opcode(name))}
    assert found == set(Behaviour) - {Behaviour.TRAP}
    assert {o.entry.family for name in used if (o := table.opcode(name))} == {
        e.family for e in table.entries()
    }  # fmt: skip


@given(st.integers(0, 1 << 32), st.integers(0, 30))
@settings(max_examples=15, deadline=None)
def test_any_seed_makes_a_program_that_runs(seed: int, statements: int) -> None:
    made = generate(seed, statements)
    result, finals = result_of(made.text)
    assert result.registers.shape[:2] == (made.blocks, made.threads)
    assert finals["out"].shape == (made.blocks * made.threads * 32,)


@pytest.mark.parametrize("seed", range(25))
def test_the_answer_does_not_depend_on_the_order_of_lanes_warps_and_blocks(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lanes furthest ahead go first, and blocks change after every step."""
    text = generate(seed, 30).text
    usual = result_of(text)
    monkeypatch.setattr(interpreter, "SLICE", 1)
    backwards = lambda run, warp, groups: sorted(groups, reverse=True)  # noqa: E731
    monkeypatch.setattr(interpreter._BlockRun, "_order", backwards)
    assert_same(usual, result_of(text))


def test_the_launch_may_be_chosen() -> None:
    made = generate(3, 10, blocks=3, threads=40)
    result, _ = result_of(made.text)
    assert result.registers.shape[:2] == (3, 40) == (made.blocks, made.threads)


def test_arrays_may_stand_anywhere() -> None:
    program = assemble(generate(5, 20).text)
    launch = plan(program)
    spread = {name: 0x10000 * (i + 1) for i, name in enumerate(launch.arrays)}
    before = {name: array.copy() for name, array in launch.arrays.items()}
    _, near = interpret_plan(launch, spread)
    _, far = interpret_plan(launch)
    assert all(np.array_equal(near[name], far[name]) for name in far)
    assert all(np.array_equal(before[name], launch.arrays[name]) for name in before)
