"""The counts of the lessons, stated a second time: sectors, wavefronts, instructions, exactly.

A `.count` that is changed together with its program would still hold; these numbers come from the
rules of sectors and banks, worked out by hand or counted with NumPy.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import tinygpu as tg
from tinygpu import library
from tinygpu.isa.assembler import assemble
from tinygpu.isa.launch import plan
from tinygpu.isa.program import Program


@cache
def program(name: str, values: tuple[tuple[str, int], ...] = ()) -> Program:
    lets = {key: str(value) for key, value in values}
    return assemble(library.read(library.find(name)), name, lets=lets)


@cache
def run(name: str, machine: str = "tiny", values: tuple[tuple[str, int], ...] = ()) -> tg.RunResult:
    return tg.run(program(name, values), machine)


def at(name: str, label: str, machine: str = "tiny", **values: Any) -> Any:
    """What happened at the instruction after a label: a record of the profile."""
    key = tuple(values.items())
    return run(name, machine, key).profile[program(name, key).labels[label]]


def counters(name: str, machine: str = "tiny", **values: Any) -> Any:
    return run(name, machine, tuple(values.items())).counters


# Sectors

SECTORS = [
    ("vecadd", "load_a", 4), ("vecadd", "load_b", 4), ("vecadd", "store_c", 4),
    ("vecadd_x4", "load_a", 16), ("vecadd_x4", "load_b", 16), ("vecadd_x4", "store_c", 16),
    ("transpose_row2col_1d", "load", 4), ("transpose_row2col_1d", "store", 32),
    ("transpose_col2row_1d", "load", 32), ("transpose_col2row_1d", "store", 4),
    ("transpose_row2col_2d", "load", 4), ("transpose_row2col_2d", "store", 16),
    ("transpose_col2row_2d", "load", 16), ("transpose_col2row_2d", "store", 4),
    ("reduce_interleaved", "load", 4), ("reduce_sequential", "load", 4), ("reduce_shuffle", "load", 4),
    ("reduce_shuffle_x4", "load", 16), ("histogram_global", "load", 4),
    ("sgemm_naive", "load_a", 32), ("sgemm_naive", "load_b", 1), ("sgemm_naive", "store_c", 32),
    ("sgemm_coalesced", "load_a", 1), ("sgemm_coalesced", "load_b", 4), ("sgemm_coalesced", "store_c", 4),
    ("sgemm_shared", "load_a", 4), ("sgemm_shared", "load_b", 4), ("sgemm_shared", "store_c", 4),
    ("matmul", "load_a", 4), ("matmul", "load_b", 4), ("matmul", "store_c", 4),
]  # fmt: skip
SIZES: dict[str, dict[str, int]] = {
    "vecadd": {"N": 1024}, "vecadd_x4": {"N": 4096}, "histogram_global": {"N": 1024},
    "transpose_row2col_1d": {"BITS": 6}, "transpose_col2row_1d": {"BITS": 6},
    "transpose_row2col_2d": {"BITS": 6}, "transpose_col2row_2d": {"BITS": 6},
    "transpose_shared": {"BITS": 6}, "transpose_shared_pad": {"BITS": 6}, "transpose_shared_xor": {"BITS": 6},
    "reduce_interleaved": {"N": 1024}, "reduce_sequential": {"N": 1024}, "reduce_shuffle": {"N": 1024},
    "reduce_shuffle_x4": {"N": 4096}, "matmul": {"N": 32},
    "sgemm_naive": {"N": 64}, "sgemm_coalesced": {"N": 64}, "sgemm_shared": {"N": 64},
}  # fmt: skip


def machine_of(name: str) -> str:
    return "h200" if name.startswith("sgemm") else "tiny"


@pytest.mark.parametrize(("name", "label", "sectors"), SECTORS)
def test_sectors_of_a_request(name: str, label: str, sectors: int) -> None:
    row = at(name, label, machine_of(name), **SIZES[name])
    assert row.requests > 0
    assert row.sectors == sectors * row.requests


@pytest.mark.parametrize(
    ("name", "label", "lines"),
    [("vecadd", "load_a", 1), ("vecadd_x4", "load_a", 4), ("transpose_row2col_1d", "store", 32),
     ("transpose_row2col_2d", "store", 16), ("sgemm_naive", "load_a", 32), ("sgemm_coalesced", "load_a", 1),
     ("matmul", "load_a", 2)],
)  # fmt: skip
def test_lines_of_a_request(name: str, label: str, lines: int) -> None:
    row = at(name, label, machine_of(name), **SIZES[name])
    assert row.lines == lines * row.requests


@pytest.mark.parametrize(
    ("stride", "offset", "sectors"),
    [(1, 0, 4), (2, 0, 8), (4, 0, 16), (8, 0, 32), (32, 0, 32),  # the table
     (1, 1, 5), (1, 7, 5), (1, 8, 4), (2, 1, 8), (2, 2, 9), (3, 0, 12), (4, 4, 17), (5, 0, 20), (9, 3, 32)],
)  # fmt: skip
def test_sectors_of_a_strided_copy(stride: int, offset: int, sectors: int) -> None:
    row = at("copy_stride", "load", S=stride, OFFSET=offset, N=512)
    assert (row.requests, row.sectors) == (16, 16 * sectors)
    touched = {4 * (offset + stride * lane) // 32 for lane in range(32)}
    assert len(touched) == sectors
    assert at("copy_stride", "store", S=stride, OFFSET=offset, N=512).sectors == 16 * 4


def test_vecadd_moves_12_bytes_an_element_in_3_requests_a_warp() -> None:
    found = counters("vecadd", N=1024)
    assert 32 * (found["global_load_sectors"] + found["global_store_sectors"]) == 12 * 1024
    assert found["global_load_requests"] + found["global_store_requests"] == 3 * 1024 // 32


# Wavefronts

STRIDES = [0, 1, 2, 3, 4, 5, 8, 16, 17, 32, 33]
WAVEFRONTS = {
    "load32": [1, 1, 2, 1, 4, 1, 8, 16, 1, 32, 1], "store32": [1, 1, 2, 1, 4, 1, 8, 16, 1, 32, 1],
    "load64": [1, 2, 4, 2, 8, 2, 16, 32, 2, 32, 2], "store64": [2, 2, 4, 2, 8, 2, 16, 32, 2, 32, 2],
    "load128": [2, 4, 8, 4, 16, 4, 32, 32, 4, 32, 4], "store128": [4, 4, 8, 4, 16, 4, 32, 32, 4, 32, 4],
}  # fmt: skip


@pytest.mark.parametrize("label", WAVEFRONTS)
@pytest.mark.parametrize("stride", STRIDES)
def test_wavefronts_of_a_stride(stride: int, label: str) -> None:
    row = at("bank_stride", label, STRIDE=stride)
    wavefronts = WAVEFRONTS[label][STRIDES.index(stride)]
    phases = 1 if "32" in label else 2 if "64" in label else 4
    if stride == 0 and label.startswith("load"):
        phases = max(1, phases // 2)  # loads whose lanes agree in pairs join their phases
    assert (row.requests, row.wavefronts, row.conflicts) == (1, wavefronts, wavefronts - phases)


@pytest.mark.parametrize(
    ("name", "load"), [("transpose_shared", 32), ("transpose_shared_pad", 1), ("transpose_shared_xor", 1)]
)
def test_wavefronts_of_a_tile_that_is_transposed(name: str, load: int) -> None:
    found = counters(name, BITS=6)  # 64 x 64: 32 warps, four accesses each
    assert found["shared_load_requests"] == found["shared_store_requests"] == 128
    assert found["shared_store_wavefronts"] == 128
    assert found["shared_load_wavefronts"] == 128 * load
    assert found["shared_load_conflicts"] == 128 * (load - 1)
    assert found["global_load_sectors"] == found["global_store_sectors"] == 4 * 128


@pytest.mark.parametrize(
    ("step", "ways", "warps"),
    [(1, 2, 4), (2, 4, 2), (4, 8, 1), (8, 8, 1), (16, 8, 1), (32, 4, 1), (64, 2, 1), (128, 1, 1)],
)
def test_wavefronts_of_an_interleaved_tree(step: int, ways: int, warps: int) -> None:
    row = at("reduce_interleaved", f"step{step}", N=1024)
    assert (row.requests, row.wavefronts) == (4 * warps, 4 * warps * ways)  # in four blocks


@pytest.mark.parametrize("name", ["reduce_sequential", "reduce_shuffle", "reduce_shuffle_x4"])
def test_the_other_reductions_have_no_conflict(name: str) -> None:
    found = counters(name, **SIZES[name])
    assert found["shared_load_requests"] > 0
    assert found["shared_load_wavefronts"] == found["shared_load_requests"]
    assert found["shared_store_wavefronts"] == found["shared_store_requests"]


@pytest.mark.parametrize(
    ("name", "barriers"),
    [("reduce_interleaved", 8), ("reduce_sequential", 8), ("reduce_shuffle", 1), ("reduce_shuffle_x4", 1)],
)
def test_barriers_of_the_reductions(name: str, barriers: int) -> None:
    assert counters(name, **SIZES[name])["barriers"] == 4 * barriers


def test_a_product_with_tiles_asks_shared_memory_twice_for_every_multiply_add() -> None:
    for name, n in (("matmul", 32), ("sgemm_shared", 64)):
        found = counters(name, machine_of(name), N=n)
        assert found["fp32_operations"] == n**3 // 32
        assert found["shared_load_requests"] == found["shared_load_wavefronts"] == 2 * n**3 // 32
        assert found["shared_store_conflicts"] == 0


def test_a_product_without_tiles_asks_global_memory_twice_for_every_multiply_add() -> None:
    for name in ("sgemm_naive", "sgemm_coalesced"):
        found = counters(name, "h200", N=64)
        assert found["fp32_operations"] == 64**3 // 32
        assert found["global_load_requests"] == 2 * 64**3 // 32


# Divergence

WAYS = [("divergence_warps", 1, 0), ("divergence_lanes", 2, 1), ("divergence_three", 3, 2)]


@pytest.mark.parametrize(("name", "ways", "branches"), WAYS)
@pytest.mark.parametrize("policy", ["stack", "independent"])
def test_a_warp_issues_every_side_that_a_lane_of_it_takes(
    name: str, ways: int, branches: int, policy: str
) -> None:
    result = tg.run(name, "tiny", N=512, WORK=64, settings={"divergence.policy": policy})
    assert result.correct
    assert result.counters["fp32_operations"] == 16 * 64 * ways
    assert result.counters["divergent_branches"] == 16 * branches


@pytest.mark.parametrize(
    ("name", "label", "warps", "lanes"),
    [("divergence_warps", "even", 8, 32), ("divergence_warps", "odd", 8, 32),
     ("divergence_lanes", "even", 16, 16), ("divergence_lanes", "odd", 16, 16),
     ("divergence_three", "first", 16, 11), ("divergence_three", "second", 16, 11),
     ("divergence_three", "third", 16, 10)],
)  # fmt: skip
def test_lanes_of_each_side(name: str, label: str, warps: int, lanes: int) -> None:
    row = at(name, label, N=512, WORK=64)
    assert (row.issued, row.lanes) == (warps * 8, warps * 8 * lanes)


# Atomics


@pytest.mark.parametrize("spread", [1, 2, 16, 100, 256])
def test_lanes_in_one_bank_take_turns_at_shared_atomics(spread: int) -> None:
    values = (("N", 2500), ("SPREAD", spread))
    data = np.asarray(plan(program("histogram_private", values)).arguments["data"])
    banks = [np.bincount(warp % 32).max() for warp in np.split(data, range(32, 2500, 32))]
    found = counters("histogram_private", N=2500, SPREAD=spread)
    assert found["shared_atomic_requests"] == len(banks) == 79
    assert found["shared_atomic_wavefronts"] == sum(banks)


def test_one_bin_costs_shared_memory_32_wavefronts() -> None:
    found = counters("histogram_private", N=2048, SPREAD=1)
    assert found["shared_atomic_wavefronts"] == 32 * found["shared_atomic_requests"] == 2048


def test_a_private_copy_leaves_global_memory_256_atomics_a_block() -> None:
    assert counters("histogram_global", N=4096)["global_atomic_requests"] == 4096 // 32
    assert counters("histogram_private", N=4096)["global_atomic_requests"] == 2 * 256 // 32
    assert counters("histogram_private", N=4096, ITEMS=1)["global_atomic_requests"] == 16 * 256 // 32
