"""Fault 3: locks and flags. Every lane, warp and block makes progress, or the deadlock is named."""

from __future__ import annotations

import pytest
from helpers.bench import bench
from helpers.launch import agree, prepare, run

from tinygpu.isa.errors import DeadlockError

POLICIES = ("stack", "independent")

# Lock, critical section, unlock inside one loop: right on every GPU, as no lane waits for a lane behind it.
SAFE_LOCK = """
    .kernel k(lock: ptr.u32, count: ptr.u32)
    .arg lock = zeros(1), count = zeros(1)
    mov.u32 todo, 1
    again: atom.global.cas.b32 old, [lock], 0, 1
    setp.ne.u32 taken, old, 0
    @taken bra next
    ld.global.volatile.u32 x, [count]
    add.u32 x, x, 1
    st.global.volatile.u32 [count], x
    fence.gpu
    atom.global.exch.b32 old, [lock], 0
    mov.u32 todo, 0
    next: setp.ne.u32 more, todo, 0
    @more bra again
    exit"""

UNSAFE_LOCK = """
    .kernel k(lock: ptr.u32, count: ptr.u32)
    .arg lock = zeros(1), count = zeros(1)
    again: atom.{space}.cas.b32 old, [{lock}], 0, 1
    setp.ne.u32 taken, old, 0
    @taken bra again
    held: ld.global.volatile.u32 x, [count]
    add.u32 x, x, 1
    st.global.volatile.u32 [count], x
    fence.gpu
    atom.{space}.exch.b32 old, [{lock}], 0
    exit"""


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("grid", "block"), [(1, 32), (1, 96), (4, 40)])
def test_a_lock_taken_and_given_back_in_one_round_works_everywhere(
    policy: str, grid: int, block: int
) -> None:
    outcome = run(SAFE_LOCK, bench({"divergence.policy": policy}), grid=grid, block=block)
    assert int(outcome.outputs["count"][0]) == grid * block


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (1, 33), (3, 64)])
@pytest.mark.parametrize("first", ["taken", "fallthrough", "fewer"])
def test_a_lock_held_beyond_the_loop_works_under_independent(first: str, grid: int, block: int) -> None:
    text = UNSAFE_LOCK.format(space="global", lock="lock")
    outcome = run(text, bench({"divergence.first": first}), grid=grid, block=block)
    assert int(outcome.outputs["count"][0]) == grid * block
    assert int(outcome.outputs["lock"][0]) == 0


def test_a_lock_in_shared_memory_works_under_independent() -> None:
    text = ".shared s: u32[1]\n" + UNSAFE_LOCK.format(space="shared", lock="s")
    outcome = run(text.replace(".kernel", "\n.kernel"), bench(), block=64)
    assert int(outcome.outputs["count"][0]) == 64


def test_under_stack_the_deadlock_names_lanes_and_lines() -> None:
    """Lane 0 has the lock and waits behind the loop for the lanes that spin for it."""
    text = UNSAFE_LOCK.format(space="global", lock="lock")
    with pytest.raises(DeadlockError) as caught:
        run(text, bench({"divergence.policy": "stack"}))
    message = str(caught.value)
    assert "polls memory that nobody changes" in message
    assert "lanes 0xfffffffe at test.s:" in message
    assert "lanes 0x00000001 at test.s:7: held: ld.global" in message
    assert "wait for lanes 0xfffffffe to come together" in message
    assert "independent" in caught.value.hint


FLAG = """
    .kernel k(flag: ptr.u32, out: ptr.u32)
    .arg flag = zeros(1), out = zeros(2)
    mov.u32 b, %ctaid.x
    setp.eq.u32 first, b, {waiter}
    @first bra wait
    st.global.u32 [out], 7
    fence.gpu
    atom.global.exch.b32 old, [flag], 1
    exit
    wait: ld.global.volatile.u32 f, [flag]
    setp.eq.u32 unset, f, 0
    @unset bra wait
    ld.global.cg.u32 x, [out]
    st.global.u32 [out + 4], x
    exit"""


@pytest.mark.parametrize("waiter", [0, 1])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("sms", [1, 2])
def test_a_block_waits_for_the_flag_of_another(sms: int, policy: str, waiter: int) -> None:
    spec = bench({"divergence.policy": policy, "device.sms": sms})
    (outcome,) = agree(prepare(FLAG.format(waiter=waiter), 2, 1), spec)
    assert list(outcome.outputs["out"]) == [7, 7]


def test_a_block_that_waits_for_one_that_cannot_start_is_named() -> None:
    """One block at a time: the second, which would set the flag, never has its turn."""
    spec = bench({"device.sms": 1, "sm.blocks": 1})
    with pytest.raises(DeadlockError, match="SM 0 block 0 warp 0") as caught:
        run(FLAG.format(waiter=0), spec, grid=2, block=1)
    assert "test.s:1" in str(caught.value)


def test_a_wait_with_a_time_limit_is_no_deadlock() -> None:
    """The loop reads the clock and gives up by itself, however long nobody changes anything."""
    text = """
        .kernel k(flag: ptr.u32)
        .arg flag = zeros(1)
        mov.u64 begin, %clock64
        wait: ld.global.volatile.u32 f, [flag]
        mov.u64 now, %clock64
        sub.u64 spent, now, begin
        setp.gt.u64 late, spent, 2000000
        @late bra end
        setp.eq.u32 unset, f, 0
        @unset bra wait
        end: exit"""
    outcome = run(text, traced=False)
    assert 2_000_000 < outcome.raw.cycles < 2_010_000


@pytest.mark.parametrize("policy", POLICIES)
def test_a_long_computation_before_the_unlock_is_no_deadlock(policy: str) -> None:
    """Warp 1 polls many thousand times while warp 0 computes without touching memory."""
    text = """
        .kernel k(flag: ptr.u32)
        .arg flag = zeros(1)
        mov.u32 w, %warpid
        setp.eq.u32 first, w, 0
        @first bra work
        wait: ld.global.volatile.u32 f, [flag]
        setp.eq.u32 unset, f, 0
        @unset bra wait
        exit
        work: mov.u32 i, 0
        loop: add.u32 i, i, 1
        setp.lt.u32 more, i, 40000
        @more bra loop
        st.global.u32 [flag], 1
        exit"""
    changes = {"divergence.policy": policy, "network.request_cycles": 1, "network.response_cycles": 1,
               "l2.hit_cycles": 1}  # fmt: skip
    outcome = run(text, bench(changes), block=64, traced=False)
    assert outcome.raw.profile["issued"][outcome.program.labels["wait"]] > 4096
    assert int(outcome.outputs["flag"][0]) == 1
