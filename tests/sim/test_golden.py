"""Traces of tiny programs counted by hand: every stretch of a warp's life, and every counter that moves."""

from __future__ import annotations

from helpers.bench import bench
from helpers.launch import run

ONE_WARP = """
.shared buffer: u32[32]
mov.u32 i, %laneid
shl.b32 at, i, 2
st.shared.u32 [buffer + at], i
ld.shared.u32 x, [buffer + at]
add.u32 y, x, 1
setp.gt.u32 p, y, 16
@p bra big
add.u32 y, y, 100
big: st.shared.u32 [buffer + at], y
exit
"""


def test_one_warp_through_shared_memory_and_a_branch() -> None:
    """The bench machine: launch 100, caches 30 + 10, classes as in helpers/bench.py."""
    outcome = run(ONE_WARP, bench())
    assert outcome.events() == [
        (100, 40, 0, "no_instruction"),  # the line comes from L2 (30) and the L1 instruction cache (10)
        (140, 1, 0, "selected"),
        (141, 20, 1, "short_scoreboard"),  # a special register takes 21
        (161, 1, 1, "selected"),
        (162, 5, 2, "wait"),  # int32 takes 5, and 1 more into an address
        (167, 1, 2, "selected"),
        (168, 5, 3, "short_scoreboard"),  # x takes the register of i, which the store reads at 167 + 6
        (173, 1, 3, "selected"),
        (174, 5, 4, "short_scoreboard"),  # the load is in the queue until 179;
        (179, 17, 4, "short_scoreboard"),  # 23 from its issue to use
        (196, 1, 4, "selected"),
        (197, 4, 5, "wait"),  # int32: 5
        (201, 1, 5, "selected"),
        (202, 18, 6, "wait"),  # a compare takes 10, and 9 more to the guard of a branch
        (220, 1, 6, "selected"),
        (221, 6, 7, "branch_resolving"),  # lanes 0 to 15 fall through and go first; a branch bars for 7
        (227, 1, 7, "selected"),
        (228, 5, 8, "wait"),  # together again at `big`; 5 + 1 into a memory instruction
        (233, 1, 8, "selected"),
        (234, 1, 9, "selected"),
        (235, 4, 9, "drain"),  # the store leaves the queue at 233 + 6
        (239, 17, 9, "drain"),  # and is through the pipe 23 after its issue
    ]
    assert outcome.raw.cycles == 256 + 50  # and 50 to drain
    assert {name: value for name, value in outcome.counters.items() if value} == {
        "warp_instructions": 10,
        "thread_instructions": 9 * 32 + 16,  # half of the lanes execute `add.u32 y, y, 100`
        "thread_instructions_on": 8 * 32 + 16 + 16,  # half of them take the branch
        "blocks": 1,
        "branches": 1,
        "divergent_branches": 1,
        "shared_load_requests": 1,
        "shared_store_requests": 2,
        "shared_load_wavefronts": 1,
        "shared_store_wavefronts": 2,
        "lsu_busy_quarters": 3 * 4,
        "instruction_l0_misses": 1,
        "instruction_l1_misses": 1,
    }


TWO_WARPS = """
mov.f32 a, 1.0
fma.f32 a, a, a, a
fma.f32 a, a, a, a
exit
"""


def test_two_warps_of_a_sub_core_take_turns() -> None:
    """gto: warp 0 goes on while it can; warp 1 fills the gaps of its dependent chain of latency 4."""
    outcome = run(TWO_WARPS, bench({"sm.subcores": 1}), block=64)
    assert outcome.events(0) == [
        (100, 40, 0, "no_instruction"),
        (140, 1, 0, "selected"),
        (141, 6, 1, "wait"),  # mov is int32: 5, and 2 more to the FMA pipe
        (147, 1, 1, "selected"),
        (148, 3, 2, "wait"),  # fp32: 4
        (151, 1, 2, "selected"),
        (152, 1, 3, "selected"),
    ]
    assert outcome.events(1) == [
        (100, 40, 0, "no_instruction"),
        (140, 1, 0, "not_selected"),  # warp 0 is older
        (141, 1, 0, "math_pipe_throttle"),  # the integer pipe takes a warp for 2 cycles
        (142, 1, 0, "selected"),
        (143, 6, 1, "wait"),
        (149, 1, 1, "selected"),
        (150, 3, 2, "wait"),
        (153, 1, 2, "selected"),
        (154, 1, 3, "selected"),
    ]
    assert outcome.raw.schedulers["issued"] == 8
