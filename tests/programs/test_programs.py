"""Every shipped program: its own expectation and counts, the sweeps of its lesson, the interpreter.

The counts stand in the programs' `.count` directives; running a program checks them.
"""

from __future__ import annotations

import numpy as np
import pytest

import tinygpu as tg
from tinygpu import library
from tinygpu.isa.assembler import assemble
from tinygpu.isa.interpreter_launch import interpret_plan
from tinygpu.isa.launch import plan

# Sizes that make each program quick; what is not named runs at its default.
SMALL: dict[str, dict[str, int]] = {
    "matmul": {"N": 32}, "sgemm_naive": {"N": 32}, "sgemm_coalesced": {"N": 32}, "sgemm_shared": {"N": 32},
    "vecadd": {"N": 1024}, "vecadd_x4": {"N": 4096}, "copy_stride": {"N": 1024},
    "transpose_row2col_1d": {"BITS": 5}, "transpose_col2row_1d": {"BITS": 5},
    "transpose_row2col_2d": {"BITS": 5}, "transpose_col2row_2d": {"BITS": 5},
    "transpose_shared": {"BITS": 5}, "transpose_shared_pad": {"BITS": 5}, "transpose_shared_xor": {"BITS": 5},
    "reduce_interleaved": {"N": 512}, "reduce_sequential": {"N": 512},
    "reduce_shuffle": {"N": 512}, "reduce_shuffle_x4": {"N": 2048},
    "histogram_global": {"N": 512}, "histogram_private": {"N": 2048},
    "divergence_lanes": {"N": 512}, "divergence_warps": {"N": 512}, "divergence_three": {"N": 512},
}  # fmt: skip
NAMES = tg.programs()
TOO_LARGE_FOR_TINY = ("sgemm_naive", "sgemm_coalesced", "sgemm_shared")  # blocks of 1024 threads


def passes(name: str, machine: str = "tiny", **values: object) -> tg.RunResult:
    """Run a program and hold it to its expectation and all its counts."""
    result = tg.run(name, machine, **values)
    assert result.correct, [c for c in (*result.checks, *result.counts) if not c.ok]
    assert result.checks
    return result


@pytest.mark.parametrize("name", NAMES)
def test_a_program_gives_its_result_and_its_counts(name: str) -> None:
    machine = "h200" if name in TOO_LARGE_FOR_TINY else "tiny"
    assert passes(name, machine, **SMALL.get(name, {})).counts, "a program shows its lesson by a count"


@pytest.mark.parametrize("name", NAMES)
def test_the_interpreter_gives_the_same_memory(name: str) -> None:
    program = assemble(library.read(library.find(name)), name)
    planned = plan(program, {key: str(value) for key, value in SMALL.get(name, {}).items()})
    _, finals = interpret_plan(planned)
    machine = "h200" if name in TOO_LARGE_FOR_TINY else "tiny"
    result = passes(name, machine, **SMALL.get(name, {}))
    for array in planned.arrays:
        np.testing.assert_array_equal(np.asarray(finals[array]), np.asarray(result.outputs[array]))


@pytest.mark.parametrize("name", NAMES)
def test_a_program_says_what_to_look_at_and_what_to_try(name: str) -> None:
    text = library.read(library.find(name))
    header = text.split(".kernel")[0]
    assert header.startswith("// ") and "// Look at: " in header and "// Try: " in header
    assert f".kernel {name}(" in text


@pytest.mark.parametrize("stride", [0, 1, 2, 3, 4, 5, 8, 16, 17, 32, 33])
def test_the_banks_of_a_stride(stride: int) -> None:
    wavefronts = {0: 1, 1: 1, 2: 2, 3: 1, 4: 4, 5: 1, 8: 8, 16: 16, 17: 1, 32: 32, 33: 1}
    result = passes("bank_stride", STRIDE=stride)
    assert result.counts[0].got == wavefronts[stride]


@pytest.mark.parametrize(
    ("stride", "offset", "sectors"), [(1, 0, 4), (2, 0, 8), (4, 0, 16), (8, 0, 32), (32, 0, 32), (1, 1, 5)]
)
def test_the_sectors_of_a_stride(stride: int, offset: int, sectors: int) -> None:
    result = passes("copy_stride", S=stride, OFFSET=offset, N=1024)
    assert result.counts[0].got == sectors


@pytest.mark.parametrize("n", [1, 31, 32, 33, 63, 65, 255, 257, 1000])
def test_vecadd_guards_its_last_block(n: int) -> None:
    result = tg.run("vecadd", "tiny", N=n)
    assert all(check.ok for check in result.checks)


@pytest.mark.parametrize("spread", [1, 16, 256])
@pytest.mark.parametrize("name", ["histogram_global", "histogram_private"])
def test_a_histogram_of_few_and_of_many_values(name: str, spread: int) -> None:
    passes(name, N=2048, SPREAD=spread)


def test_one_bin_costs_shared_memory_32_wavefronts() -> None:
    result = passes("histogram_private", N=2048, SPREAD=1)
    assert result.counters["shared_atomic_wavefronts"] == 32 * result.counters["shared_atomic_requests"]


def test_a_block_that_diverges_issues_twice_and_three_times_the_work() -> None:
    one, two, three = (
        passes(f"divergence_{name}", N=512, WORK=64).warp_instructions for name in ("warps", "lanes", "three")
    )
    assert two > 1.8 * one
    assert three > 2.6 * one


def test_conflicts_of_a_tile_cost_time_and_padding_or_swizzling_saves_it() -> None:
    plain, padded, swizzled = (
        passes(name, "h200").cycles
        for name in ("transpose_shared", "transpose_shared_pad", "transpose_shared_xor")
    )
    assert padded < plain
    assert swizzled < plain


def test_each_step_of_matrix_multiplication_is_faster() -> None:
    naive, coalesced, shared = (
        passes(name, "h200", N=64).cycles for name in ("sgemm_naive", "sgemm_coalesced", "sgemm_shared")
    )
    assert naive > coalesced > shared
