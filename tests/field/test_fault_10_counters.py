"""Fault 10: a counter is printed but never counts. Every counter of an SM has an exact value here."""

from __future__ import annotations

import pytest
from helpers.bench import bench
from helpers.launch import run

from tinygpu.sim import counters

INSTRUCTIONS = """
    mov.u32 t, %tid.x
    setp.lt.u32 p, t, 4
    @p bra skip
    add.f32 a, 1.0, 2.0
    skip: @p add.f32 b, 1.0, 2.0
    bar.sync 0
    exit"""

SHARED = """
    .shared s: u32[512]
    mov.u32 t, %tid.x
    shl.b32 two, t, 3
    shl.b32 four, t, 4
    st.shared.u32 [s + two], t
    ld.shared.u32 x, [s + two]
    ld.shared.v4.u32 {a, b, c, d}, [s + four]
    red.shared.add.u32 [s], 1
    exit"""

MEMORY = """
    .kernel k(A: ptr.u32, B: ptr.u32, C: ptr.u32)
    .local l: u32[4]
    .arg A = arange(32), B = zeros(256), C = zeros(32)
    mov.u32 t, %tid.x
    mad.wide.u32 a, t, 4, A
    mad.wide.u32 b, t, 32, B
    mad.wide.u32 c, t, 4, C
    ld.global.u32 x, [a]
    ld.global.u32 y, [a]
    add.u32 x, x, y
    ld.global.u32 z, [a]
    st.global.u32 [b], x
    red.global.add.u32 [c], 1
    st.local.u32 [l], t
    fence.gpu
    ld.local.u32 w, [l]
    ld.param.u64 v, [0]
    exit"""

# name: (text, threads of the block, what it counts and why)
CASES: dict[str, tuple[str, int, dict[str, int]]] = {
    "instructions": (INSTRUCTIONS, 40, {
        "warp_instructions": 14,  # 7 by each of 2 warps
        "thread_instructions": 276,  # 40 lanes in six of them, 36 in the addition that 4 lanes skip
        "thread_instructions_on": 204,  # the guard lets 4 of 40 branch, and 4 of 40 add
        "blocks": 1,
        "branches": 2,
        "divergent_branches": 1,  # warp 0; in warp 1 nobody jumps
        "fp32_operations": 4,
        "barriers": 1,
        "instruction_l0_misses": 2,  # two sub-cores
        "instruction_l1_misses": 1,
    }),
    "shared memory": (SHARED, 32, {
        "shared_store_requests": 1,
        "shared_store_wavefronts": 2,  # a stride of two words
        "shared_store_conflicts": 1,
        "shared_load_requests": 2,
        "shared_load_wavefronts": 6,  # 2, and 4 for 128 bits a lane
        "shared_load_conflicts": 1,
        "shared_atomic_requests": 1,
        "shared_atomic_wavefronts": 32,  # all lanes in one bank
        "shared_atomic_conflicts": 31,
        "lsu_busy_quarters": 4 * (2 + 2 + 4 + 32),
    }),
    "global memory": (MEMORY, 32, {
        "global_load_requests": 3,
        "global_load_sectors": 12,
        "global_store_requests": 1,
        "global_store_sectors": 32,  # a sector a lane, in 8 lines
        "global_atomic_requests": 1,
        "global_atomic_sectors": 4,
        "local_store_requests": 1,
        "local_load_requests": 1,
        "local_sectors": 8,
        "constant_requests": 1,
        "l1_accesses": 16,
        "l1_misses": 8,  # the first load of A, and local memory, which a store does not bring into L1
        "l1_merges": 4,  # the second load of A, on its way
        "l1_hits": 4,  # the third
        "l2_requests": 12,  # 1 load, 8 lines of the store, 1 reduction, 1 store and 1 load of local memory
        "l2_responses": 12,
        "l2_read_sectors": 8,
        "l2_write_sectors": 36,
        "l2_atomic_sectors": 4,
        "lsu_busy_quarters": 6 * 5 + 32,  # tags 4 + 1 a line; the store's 32 words are 8 to a bank
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CASES))
def test_counters_count_exactly(name: str) -> None:
    text, threads, expected = CASES[name]
    outcome = run(text, bench(), block=threads)
    assert {counter: outcome.counters[counter] for counter in expected} == expected


def test_every_counter_has_an_exact_value_here() -> None:
    counted = {name for _, _, expected in CASES.values() for name, value in expected.items() if value}
    assert counted == set(counters.NAMES)


@pytest.mark.parametrize("text", [INSTRUCTIONS, SHARED])
@pytest.mark.parametrize("blocks", [2, 5])
def test_blocks_add_up(text: str, blocks: int) -> None:
    """What n blocks count is n times what one counts, but for the caches that they share."""
    one, many = (run(text, bench(), grid=n, block=40).counters for n in (1, blocks))
    for name in counters.NAMES:
        if not name.startswith("instruction_"):
            assert many[name] == blocks * one[name], name
