"""What the lessons promise of time: the better variant is the faster one, by about as much as told."""

from __future__ import annotations

from functools import cache
from typing import Any

import tinygpu as tg


@cache
def run(name: str, machine: str = "h200", **values: Any) -> tg.RunResult:
    result = tg.run(name, machine, **values)
    assert result.correct, [c for c in (*result.checks, *result.counts) if not c.ok]
    return result


def cycles(name: str, machine: str = "h200", **values: Any) -> int:
    """A run's cycles without those of the launch itself."""
    result = run(name, machine, **values)
    return result.cycles - result.launch_cycles


def share(result: tg.RunResult, stall: str) -> float:
    """A state's share of the warps' time."""
    return result.stalls[stall] / sum(result.stalls.values())


def leading(result: tg.RunResult) -> str:
    """The state in which warps spend most of their time."""
    return max(result.stalls, key=lambda stall: result.stalls[stall])


def test_each_step_of_matrix_multiplication_is_faster() -> None:
    naive, coalesced, shared = (
        cycles(name, N=128) for name in ("sgemm_naive", "sgemm_coalesced", "sgemm_shared")
    )
    assert naive > 4 * coalesced  # published: 7.8 times, at a size where DRAM is warm
    assert coalesced > 1.2 * shared  # published: 1.2 times


def test_each_step_of_matrix_multiplication_waits_for_something_else() -> None:
    assert leading(run("sgemm_naive", N=128)) == "lg_throttle"
    assert leading(run("sgemm_coalesced", N=128)) == "long_scoreboard"
    tiled = run("sgemm_shared", N=128)
    assert share(tiled, "mio_throttle") + share(tiled, "barrier") > 0.5
    assert share(tiled, "mio_throttle") > share(tiled, "long_scoreboard")
    assert share(run("sgemm_coalesced", N=128), "mio_throttle") == 0


def test_one_block_of_1024_threads_fills_half_of_an_h200_and_two_thirds_of_an_a6000() -> None:
    for machine, warps in (("h200", 64), ("a6000", 48)):
        found = run("sgemm_shared", machine, N=32).occupancy
        assert (found["blocks"], found["warps"], found["max_warps"]) == (1, 32, warps)


def test_conflicts_of_a_tile_cost_time_and_padding_or_swizzling_saves_it() -> None:
    plain, padded, swizzled, direct = (
        cycles(name, BITS=8)
        for name in (
            "transpose_shared",
            "transpose_shared_pad",
            "transpose_shared_xor",
            "transpose_col2row_1d",
        )
    )
    assert plain > 1.3 * padded
    assert plain > 1.2 * swizzled
    assert direct > padded


def test_a_conflict_costs_the_one_warp_that_has_it() -> None:
    for better, worse in ((1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (33, 32)):
        assert cycles("bank_stride", STRIDE=better) < cycles("bank_stride", STRIDE=worse)
    assert cycles("bank_stride", STRIDE=1) == cycles("bank_stride", STRIDE=33)


def test_time_follows_the_sectors_where_dram_is_the_limit() -> None:
    one, four, eight = (cycles("copy_stride", S=s, N=1 << 19) for s in (1, 4, 8))
    assert one < four < eight
    assert eight > 1.7 * one
    assert run("copy_stride", S=8, N=1 << 19).counters["dram_read_bursts"] == 1 << 19
    assert run("copy_stride", S=1, N=1 << 19).counters["dram_read_bursts"] == 1 << 16


def test_divergence_costs_the_time_of_every_side() -> None:
    one, two, three = (
        cycles(f"divergence_{name}", WORK=1024, N=1024) for name in ("warps", "lanes", "three")
    )
    assert 1.7 * one < two < 2.05 * one
    assert 2.4 * one < three < 3.1 * one


def test_reductions_get_faster_from_step_to_step() -> None:
    interleaved, sequential, shuffle, wide = (
        cycles(f"reduce_{name}", N=1 << 18) for name in ("interleaved", "sequential", "shuffle", "shuffle_x4")
    )
    assert interleaved > sequential > shuffle > wide


def test_a_private_copy_pays_most_where_all_lanes_meet() -> None:
    gain = {
        spread: cycles("histogram_global", SPREAD=spread) / cycles("histogram_private", SPREAD=spread)
        for spread in (1, 256)
    }
    assert gain[1] > 3
    assert gain[1] > gain[256] > 1
