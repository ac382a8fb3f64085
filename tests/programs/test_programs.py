"""Every shipped program gives its result and its counts, in the core and in the interpreter.

The counts stand in the programs' `.count` directives, and running a program checks them;
test_counts.py states the same numbers a second time, from the table of lessons.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tinygpu as tg
from tinygpu import library
from tinygpu.isa.assembler import assemble
from tinygpu.isa.errors import InputError
from tinygpu.isa.interpreter_launch import interpret_plan
from tinygpu.isa.launch import plan

# Sizes that make each program quick; what is not named runs at its default.
SMALL: dict[str, dict[str, int]] = {
    "matmul": {"N": 32}, "sgemm_naive": {"N": 32}, "sgemm_coalesced": {"N": 32}, "sgemm_shared": {"N": 32},
    "vecadd": {"N": 1000}, "vecadd_x4": {"N": 4000}, "copy_stride": {"N": 1024},
    "transpose_row2col_1d": {"BITS": 5}, "transpose_col2row_1d": {"BITS": 5},
    "transpose_row2col_2d": {"BITS": 5}, "transpose_col2row_2d": {"BITS": 5},
    "transpose_shared": {"BITS": 5}, "transpose_shared_pad": {"BITS": 5}, "transpose_shared_xor": {"BITS": 5},
    "reduce_interleaved": {"N": 512}, "reduce_sequential": {"N": 512},
    "reduce_shuffle": {"N": 512}, "reduce_shuffle_x4": {"N": 2048},
    "histogram_global": {"N": 500}, "histogram_private": {"N": 2500},
    "divergence_lanes": {"N": 512, "WORK": 16}, "divergence_warps": {"N": 512, "WORK": 16},
    "divergence_three": {"N": 512, "WORK": 16},
}  # fmt: skip
NAMES = tg.programs()
LARGE_BLOCKS = ("sgemm_naive", "sgemm_coalesced", "sgemm_shared")  # 1024 threads, too many for tiny


@cache
def small(name: str) -> tg.RunResult:
    """A program's run at its small size."""
    return tg.run(name, "h200" if name in LARGE_BLOCKS else "tiny", **SMALL.get(name, {}))


@pytest.mark.parametrize("name", NAMES)
def test_a_program_gives_its_result_and_its_counts(name: str) -> None:
    result = small(name)
    assert result.correct, [c for c in (*result.checks, *result.counts) if not c.ok]
    assert result.checks, "a program checks its result"
    assert result.counts, "a program shows its lesson by a count"


@pytest.mark.parametrize("name", NAMES)
def test_the_interpreter_gives_the_same_memory(name: str) -> None:
    program = assemble(library.read(library.find(name)), name)
    planned = plan(program, {key: str(value) for key, value in SMALL.get(name, {}).items()})
    executed, finals = interpret_plan(planned)
    assert executed.warnings == []
    for array in planned.arrays:
        np.testing.assert_array_equal(np.asarray(finals[array]), np.asarray(small(name).outputs[array]))


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_result_is_noticed(name: str) -> None:
    """The expectation depends on the final memory: changed by one, it does not hold."""
    program = assemble(library.read(library.find(name)), name)
    planned = plan(program, {key: str(value) for key, value in SMALL.get(name, {}).items()})
    expectations = planned.program.expectations
    wrong = {name: np.array(array) for name, array in small(name).outputs.items()}
    for expectation in expectations:
        (output,) = expectation.left.names()
        wrong[output].reshape(-1)[-1] += 1
    assert [check.ok for check in planned.check(wrong)] == [False] * len(expectations)
    assert [check.bad for check in planned.check(wrong)] == [1] * len(expectations)


@pytest.mark.parametrize("name", NAMES)
def test_the_core_warns_of_nothing(name: str) -> None:
    assert list(small(name).warnings) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_program_says_what_to_look_at_and_what_to_try(name: str) -> None:
    text = library.read(library.find(name))
    header = text.split(".kernel")[0]
    assert header.startswith("// ") and "// Look at: " in header and "// Try: " in header
    assert f".kernel {name}(" in text
    assert max(len(line) for line in text.splitlines()) <= 120


@pytest.mark.parametrize("name", NAMES)
def test_a_program_sends_its_reader_to_programs_and_numbers_that_exist(name: str) -> None:
    header = library.read(library.find(name)).split(".kernel")[0]
    assert set(re.findall(r"(\w+)\.s\b", header)) <= set(NAMES)
    program = assemble(library.read(library.find(name)), name)
    tries = header.split("// Try: ")[1]
    lets = {let for other in NAMES if other in tries for let in lets_of(other)} | set(program.lets)
    assert set(re.findall(r"\b([A-Z]+)=", tries)) <= lets


def lets_of(name: str) -> set[str]:
    """The numbers that can be set in a program."""
    return set(assemble(library.read(library.find(name)), name).lets)


def test_every_folder_says_what_its_programs_show() -> None:
    root = library.folder()
    index = (root / "README.md").read_text()
    for path in library.shipped().values():
        page = path.parent / "README.md"
        assert f"`{path.stem}`" in page.read_text(), path.stem
    linked = {Path(link) for link in re.findall(r"\]\((\w+/README\.md)\)", index)}
    assert linked == {page.relative_to(root) for page in root.glob("*/README.md")}


# Sizes that blocks do not divide


@pytest.mark.parametrize("n", [1, 31, 32, 33, 63, 65, 255, 257, 1000])
@pytest.mark.parametrize("name", ["vecadd", "histogram_global", "histogram_private"])
def test_a_last_block_that_is_not_full_is_guarded(name: str, n: int) -> None:
    result = tg.run(name, "tiny", N=n)
    assert result.correct, [c for c in (*result.checks, *result.counts) if not c.ok]


@pytest.mark.parametrize("n", [4, 124, 128, 132, 1020, 1028])
def test_vecadd_x4_guards_its_last_block(n: int) -> None:
    assert tg.run("vecadd_x4", "tiny", N=n).correct


@pytest.mark.parametrize(("grid", "block"), [(11, 96), (32, 32), (5, 224), (100, 33), (1000, 1)])
def test_vecadd_takes_blocks_of_any_size(grid: int, block: int) -> None:
    result = tg.run("vecadd", "tiny", N=1000, grid=grid, block=block)
    assert [check.ok for check in result.checks] == [True]


@pytest.mark.parametrize(
    ("name", "values"),
    [("matmul", {"N": 100}), ("sgemm_naive", {"N": 100}), ("sgemm_coalesced", {"N": 16}),
     ("sgemm_shared", {"N": 144}), ("copy_stride", {"N": 1000}), ("vecadd_x4", {"N": 1001}),
     ("transpose_row2col_1d", {"BITS": 3}), ("transpose_col2row_2d", {"BITS": 3}),
     ("transpose_shared", {"BITS": 4}), ("transpose_shared_pad", {"BITS": 4}),
     ("transpose_shared_xor", {"BITS": 4}), ("reduce_interleaved", {"N": 100}),
     ("reduce_sequential", {"N": 300}), ("reduce_shuffle", {"N": 255}), ("reduce_shuffle_x4", {"N": 512}),
     ("divergence_lanes", {"N": 100}), ("divergence_warps", {"N": 100}), ("divergence_three", {"N": 100})],
)  # fmt: skip
def test_a_size_that_a_program_cannot_take_is_refused_before_it_runs(
    name: str, values: dict[str, int]
) -> None:
    with pytest.raises(InputError, match=r"leaves a remainder|is not the size of an array"):
        tg.run(name, "tiny", **values)
