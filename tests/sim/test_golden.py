"""Golden traces: tiny programs whose every event was counted by hand on the bench machine.

One SM with two sub-cores. A launch takes 100 cycles; the only line of instructions comes from L2 in 30
cycles and into L0 in 10, so the first instruction issues at 140.
"""

from __future__ import annotations

import pytest
from helpers.bench import bench
from helpers.launch import Outcome, prepare, run

from tinygpu.sim.engine import TraceOptions
from tinygpu.sim.host import Host
from tinygpu.sim.state import STATES

SPEC = bench({"sm.subcores": 2, "device.sms": 1})


def memory(outcome: Outcome) -> list[tuple[int, ...]]:
    """(pc, warp, issued, dispatched, completed, sectors, wavefronts, level) in order of dispatch."""
    names = ("pc", "warp", "issued", "dispatched", "completed", "sectors", "wavefronts", "level")
    rows = [tuple(int(event[name]) for name in names) for event in outcome.trace.memory]
    return sorted(rows, key=lambda row: row[3])


def counted(outcome: Outcome) -> dict[str, int]:
    """Every counter that is not zero."""
    return {name: value for name, value in outcome.counters.items() if value}


def test_a_chain_of_two_pipes() -> None:
    text = """
        add.f32 a, 1.0, 2.0
        add.f32 b, a, a
        xor.b32 c, b, b
        add.u64 d, 1, 2
        popc.b32 e, c
        exit"""
    outcome = run(text, SPEC)
    assert outcome.events() == [
        (100, 40, 0, "no_instruction"),
        (140, 1, 0, "selected"),  # fma pipe, latency 4
        (141, 3, 1, "wait"),
        (144, 1, 1, "selected"),  # latency 4, and 2 more to the integer pipe
        (145, 5, 2, "wait"),
        (150, 1, 2, "selected"),  # integer pipe, taken for 2 cycles; latency 5
        (151, 1, 3, "math_pipe_throttle"),
        (152, 1, 3, "selected"),  # a 64-bit addition takes the issue port for 2 cycles
        (153, 2, 4, "wait"),  # c comes at 155
        (155, 1, 4, "selected"),
        (156, 1, 5, "selected"),  # exit waits for nobody
    ]
    assert outcome.raw.cycles == 157 + 50
    assert outcome.raw.schedulers == {"issued": 6, "stalled": 51, "empty": 2 * 207 - 57}
    assert counted(outcome) == {
        "warp_instructions": 6, "thread_instructions": 192, "thread_instructions_on": 192, "blocks": 1,
        "fp32_operations": 2, "instruction_l0_misses": 1, "instruction_l1_misses": 1,
    }  # fmt: skip


def test_lanes_part_and_come_together() -> None:
    text = """
        mov.u32 t, %laneid
        setp.lt.u32 p, t, 4
        @p bra low
        add.u32 x, t, 1
        add.u32 x, x, 1
        bra join
        low: mul.lo.u32 x, t, 3
        join: add.u32 y, x, x
        exit"""
    outcome = run(text, SPEC)
    assert outcome.events() == [
        (100, 40, 0, "no_instruction"),
        (140, 1, 0, "selected"),  # a special register takes 21
        (141, 20, 1, "short_scoreboard"),
        (161, 1, 1, "selected"),  # a comparison takes 10, and 9 more to the guard of a branch
        (162, 18, 2, "wait"),
        (180, 1, 2, "selected"),  # a branch bars its warp for 7; lanes 4 to 31 fall through first
        (181, 6, 3, "branch_resolving"),
        (187, 1, 3, "selected"),
        (188, 4, 4, "wait"),  # the integer pipe's 5
        (192, 1, 4, "selected"),
        (193, 1, 5, "selected"),  # lanes 4 to 31 are at the join and wait there; lanes 0 to 3 have their turn
        (194, 6, 6, "branch_resolving"),
        (200, 1, 6, "selected"),  # the instruction that follows the branch: it is in the buffer
        (201, 7, 7, "wait"),  # a product takes 6, and 2 more from the fma pipe to the integer pipe
        (208, 1, 7, "selected"),
        (209, 1, 8, "selected"),
    ]
    active = [int(e["active"]) for e in outcome.trace.events if e["state"] == 0]
    assert active == [0xFFFFFFFF] * 3 + [0xFFFFFFF0] * 3 + [0xF] + [0xFFFFFFFF] * 2
    assert outcome.raw.cycles == 210 + 50
    assert outcome.counters["branches"] == 2 and outcome.counters["divergent_branches"] == 1
    assert outcome.counters["thread_instructions"] == 3 * 32 + 3 * 28 + 4 + 2 * 32


def test_two_warps_share_the_memory_pipe_and_a_barrier() -> None:
    text = """
        .shared s: u32[512]
        mov.u32 t, %tid.x
        shl.b32 o, t, 3
        st.shared.u32 [s + o], t
        bar.sync 0
        ld.shared.u32 x, [s + o]
        add.u32 x, x, 1
        exit"""
    outcome = run(text, SPEC, block=64)
    begin = [
        (100, 40, 0, "no_instruction"),
        (140, 1, 0, "selected"),
        (141, 20, 1, "short_scoreboard"),
        (161, 1, 1, "selected"),
        (162, 5, 2, "wait"),  # 5, and 1 more into an address
        (167, 1, 2, "selected"),
        (168, 1, 3, "selected"),  # both arrive at 168: released at 168 + 2 * 2 + 13
    ]
    # What is booked is cut where something happens to the warp: here where the pipe takes its store.
    assert merged(outcome, 0) == [
        *begin,
        (169, 16, 4, "barrier"),
        (185, 1, 4, "selected"),
        (186, 26, 5, "short_scoreboard"),  # handed over at 193, two cycles after warp 1: see below
        (212, 1, 5, "selected"),
        (213, 1, 6, "selected"),
    ]
    assert merged(outcome, 1) == [
        *begin,
        (169, 16, 4, "barrier"),
        (185, 1, 4, "selected"),
        (186, 24, 5, "short_scoreboard"),  # 23 for a load, and 2 for its second wavefront
        (210, 1, 5, "selected"),
        (211, 1, 6, "selected"),
    ]
    # A stride of two words puts two lanes into each even bank: two wavefronts, which take the pipe for two
    # cycles. Sub-core 1 has the first turn. A store is done for its warp as a load would be.
    assert memory(outcome) == [
        (2, 1, 167, 173, 192, 0, 2, 0),
        (2, 0, 167, 175, 194, 0, 2, 0),
        (4, 1, 185, 191, 210, 0, 2, 0),
        (4, 0, 185, 193, 212, 0, 2, 0),
    ]
    assert outcome.raw.cycles == 214 + 50
    assert counted(outcome) == {
        "warp_instructions": 14, "thread_instructions": 448, "thread_instructions_on": 448, "blocks": 1,
        "barriers": 1, "shared_load_requests": 2, "shared_store_requests": 2, "shared_load_wavefronts": 4,
        "shared_store_wavefronts": 4, "shared_load_conflicts": 2, "shared_store_conflicts": 2,
        "lsu_busy_quarters": 32, "instruction_l0_misses": 2, "instruction_l1_misses": 1,
    }  # fmt: skip


def test_a_load_goes_to_dram_and_the_next_hits() -> None:
    text = """
        .kernel k(A: ptr.u32)
        .arg A = arange(64)
        ld.global.u32 x, [A + 128]
        add.u32 y, x, x
        ld.global.u32 z, [A + 132]
        st.global.u32 [A], z
        exit"""
    outcome = run(text, SPEC)
    assert merged(outcome, 0) == [
        (100, 40, 0, "no_instruction"),
        (140, 1, 0, "selected"),
        (141, 260, 1, "long_scoreboard"),
        (401, 1, 1, "selected"),
        (402, 1, 2, "wait"),  # z takes the register of y, and may not come before it: 401 + 5 - 4 + 1
        (403, 1, 2, "selected"),
        (404, 32, 3, "long_scoreboard"),  # a hit: 33
        (436, 1, 3, "selected"),
        (437, 1, 4, "selected"),
        (438, 105, 4, "drain"),  # the warp keeps its slot until L2 has taken the store
    ]
    # Dispatched after 6. Request 20; the slice's 50; DRAM: path 100, activate 14, column 12, a burst of 1;
    # response 30 and half a cycle for 32 of 64 bytes a cycle: at the SM at 146 + 227.5, in use 33 - 6 later.
    # The store is acknowledged after 20 + 50 + 30 and an eighth of a cycle: at 442 + 101 the warp ends.
    assert memory(outcome) == [
        (0, 0, 140, 146, 401, 1, 1, 4),
        (2, 0, 403, 409, 436, 1, 1, 1),
        (3, 0, 436, 442, 442, 1, 1, 0),
    ]
    assert outcome.raw.cycles == 543 + 50
    assert counted(outcome) == {
        "warp_instructions": 5, "thread_instructions": 160, "thread_instructions_on": 160, "blocks": 1,
        "global_load_requests": 2, "global_store_requests": 1, "global_load_sectors": 2,
        "global_store_sectors": 1, "lsu_busy_quarters": 15, "l1_accesses": 2, "l1_hits": 1, "l1_misses": 1,
        "l2_requests": 2, "l2_read_sectors": 1, "l2_write_sectors": 1, "l2_responses": 2,
        "instruction_l0_misses": 1, "instruction_l1_misses": 1, "l2_accesses": 1, "l2_misses": 1,
        "l2_writes": 1, "dram_read_bursts": 1, "dram_row_misses": 1, "dram_busy_ticks": 256,
    }  # fmt: skip


def test_blocks_follow_one_another_and_a_fence_waits_for_the_store() -> None:
    text = """
        .kernel k(A: ptr.u32)
        .arg A = zeros(64)
        st.global.u32 [A + 4], 7
        fence.gpu
        exit"""
    outcome = run(text, bench({"sm.subcores": 2, "device.sms": 1, "sm.blocks": 1}), grid=2)
    assert merged(outcome, 0) == [
        (100, 40, 0, "no_instruction"),
        (140, 1, 0, "selected"),
        (141, 1, 1, "selected"),
        (142, 105, 2, "membar"),  # dispatched at 146, acknowledged 101 cycles later
        (247, 1, 2, "selected"),  # the block ends at 248; its successor starts 40 later with warm caches
        (288, 1, 0, "selected"),
        (289, 1, 1, "selected"),
        (290, 105, 2, "membar"),
        (395, 1, 2, "selected"),
    ]
    assert outcome.raw.cycles == 396 + 50
    assert outcome.raw.schedulers == {"issued": 6, "stalled": 250, "empty": 2 * 446 - 256}


def merged(outcome: Outcome, warp: int) -> list[tuple[int, int, int, str]]:
    """A warp's life with neighbouring stretches of one state at one instruction put together."""
    rows: list[tuple[int, int, int, str]] = []
    for start, cycles, pc, state in outcome.events(warp):
        if rows and rows[-1][2:] == (pc, state) and state != "selected" and sum(rows[-1][:2]) == start:
            rows[-1] = (rows[-1][0], rows[-1][1] + cycles, pc, state)
        else:
            rows.append((start, cycles, pc, state))
    return rows


CHAIN = "add.f32 a, 1.0, 2.0\nrcp.approx.f32 b, a\nadd.f32 c, b, b\nexit"


@pytest.mark.parametrize(
    "window", [(0, 1000), (0, 141), (100, 140), (142, 150), (150, 151), (163, 165), (900, 999)]
)
def test_a_traced_window_holds_exactly_its_part_of_the_trace(window: tuple[int, int]) -> None:
    """Stretches are cut at the window's edges; cycles and counters do not change."""
    whole = run(CHAIN, SPEC)
    launch = prepare(CHAIN)
    raw = Host(SPEC).run(
        launch.program, launch.grid, launch.block, {}, trace=TraceOptions(sms=1, window=window)
    )  # fmt: skip
    assert raw.cycles == whole.raw.cycles and raw.counters == whole.raw.counters
    assert raw.trace is not None
    first, last = window
    expected = [
        (max(start, first), min(start + cycles, last), pc, state)
        for start, cycles, pc, state in whole.events()
        if start < last and start + cycles > first
    ]
    got = [
        (int(e["start"]), int(e["start"] + e["cycles"]), int(e["pc"]), STATES[e["state"]])
        for e in raw.trace.events
    ]
    assert got == expected


def test_a_full_trace_says_what_is_missing() -> None:
    launch = prepare(CHAIN)
    raw = Host(SPEC).run(launch.program, launch.grid, launch.block, {}, trace=TraceOptions(sms=1, events=3))
    assert raw.trace is not None
    assert len(raw.trace.events) == 3
    assert raw.trace.dropped == len(run(CHAIN, SPEC).trace.events) - 3
    assert raw.cycles == run(CHAIN, SPEC).raw.cycles
