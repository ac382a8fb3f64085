"""Compiled lanes and rows against plain Python: the same functions, the same results, the same whole runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers import plain
from helpers.opcodes import COMPUTING
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.isa import table
from tinygpu.isa.table import Behaviour
from tinygpu.sim import lanes, rows
from tinygpu.sim.jit import COMPILED, address_of, core

MASKS = st.one_of(st.sampled_from([0, 1, 0x80000000, 0xFFFFFFFF, 0x55555555]), st.integers(0, 0xFFFFFFFF))
WORDS = st.lists(st.integers(0, 0xFFFFFFFF), min_size=32, max_size=32)


@core
def call_blend(target: int, source: int, mask: int) -> None:
    rows.blend_row(target, source, mask)


@core
def call_copy(target: int, source: int) -> None:
    rows.copy_row(target, source)


@core
def call_fill(target: int, value: int) -> None:
    rows.fill_row(target, value)


@core
def call_expand(target: int, mask: int) -> None:
    rows.expand_mask(target, mask)


@core
def call_pack(source: int) -> int:
    return rows.pack_mask(source)


@core
def call_count(mask: int) -> int:
    return rows.popcount(mask)


@core
def call_lowest(mask: int) -> int:
    return rows.lowest_lane(mask)


def row(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.uint32)


@given(WORDS, WORDS, MASKS)
@settings(deadline=None)
def test_a_blend_changes_the_lanes_of_the_mask_only(old: list[int], new: list[int], mask: int) -> None:
    target, source = row(old), row(new)
    call_blend(address_of(target), address_of(source), mask)
    assert target.tolist() == [
        n if mask >> i & 1 else o for i, (o, n) in enumerate(zip(old, new, strict=True))
    ]
    assert source.tolist() == new


@given(WORDS, st.integers(0, 0xFFFFFFFF))
@settings(deadline=None)
def test_rows_are_copied_and_filled(words: list[int], value: int) -> None:
    target, source = row([7] * 32), row(words)
    call_copy(address_of(target), address_of(source))
    assert target.tolist() == words
    call_fill(address_of(target), value)
    assert target.tolist() == [value] * 32


@given(MASKS)
@settings(deadline=None)
def test_masks_become_rows_and_rows_masks(mask: int) -> None:
    target = row([9] * 32)
    call_expand(address_of(target), mask)
    assert target.tolist() == [mask >> i & 1 for i in range(32)]
    target *= 0x80000000
    assert call_pack(address_of(target)) == mask
    assert call_count(mask) == mask.bit_count()
    assert call_lowest(mask) == (32 if mask == 0 else (mask & -mask).bit_length() - 1)


def test_every_opcode_has_a_function_of_its_own() -> None:
    text = lanes.module_source()
    compile(text, "lanes.py", "exec")
    made = [line for line in text.splitlines() if line.startswith("def make_")]
    computing = [o for o in table.opcodes().values() if o.behaviour in (Behaviour.COMPUTE, Behaviour.ATOMIC)]
    assert len(made) == len(set(made)) == len(computing)


@pytest.mark.parametrize(
    "name", ["add.u32", "mad.wide.s32", "fma.f32", "add.f16x2", "setp.lt.f64", "bfi.b32"]
)
def test_an_opcode_is_compiled_once_and_its_address_stays(name: str) -> None:
    opcode = next(o for o in COMPUTING if o.name == name)
    first = lanes.address(opcode)
    assert lanes.address(opcode) == first != 0
    assert lanes.missing([opcode]) == (0 if COMPILED else 1)


def test_names_of_opcodes_become_python_names() -> None:
    assert lanes.identifier("setp.lt.s32") == "setp_lt_s32"
    assert len({lanes.identifier(name) for name in table.opcodes()}) == len(table.opcodes())


def test_plain_python_does_the_same_as_the_compiled_core() -> None:
    """Cycles, counters, traces and outputs of whole programs, in a process without a compiler."""
    script = Path(plain.__file__)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, str(script), "0", "2"], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == json.loads(json.dumps(plain.summaries(range(2))))
