"""Barriers: release times to the cycle, phases, counts, exited threads, and the errors of wrong use."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.bench import bench
from helpers.launch import Outcome, agree, prepare, run

from tinygpu.isa.errors import DeadlockError, FaultError

POLICIES = ("stack", "independent")


def together(warps: int, changes: dict[str, Any] | None = None) -> Outcome:
    return run(
        "a: bar.sync 0\nb: nop\nexit", bench({"issue.scheduler": "lrr", **(changes or {})}), block=32 * warps
    )


@pytest.mark.parametrize("base", [1, 13, 14])
@pytest.mark.parametrize("each", [0, 2, 3])
def test_one_warp_is_released_after_base_and_one_arrival(base: int, each: int) -> None:
    outcome = together(1, {"barrier.base_cycles": base, "barrier.warp_cycles": each})
    assert outcome.gap("a", "b") == base + each
    assert outcome.counters["barriers"] == 1


@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16, 32])
def test_arrivals_are_counted_one_after_another(warps: int) -> None:
    """Four arrive in a cycle, each takes 2: the first arrival + 13 + 2 a warp, as measured on an H200."""
    outcome = together(warps)
    first = min(outcome.cycle("a", warp) for warp in range(warps))
    released = {outcome.cycle("b", warp) for warp in range(warps)}
    assert min(released) == first + 13 + 2 * warps
    assert max(released) == min(released) + -(-warps // 4) - 1  # a sub-core issues one a cycle


def test_the_last_arrival_decides_when_it_is_late() -> None:
    text = "mov.u32 w, %warpid\nsetp.eq.u32 late, w, 3\n@late nanosleep 200\na: bar.sync 0\nb: nop\nexit"
    outcome = run(text, bench(), block=128)
    last = outcome.cycle("a", 3)
    assert last > outcome.cycle("a", 0) + 150
    assert {outcome.cycle("b", warp) for warp in range(4)} == {last + 13 + 2}
    assert outcome.waits("b", 0)["barrier"] == last + 15 - outcome.cycle("a", 0) - 1


def test_a_warp_waits_in_state_barrier() -> None:
    outcome = together(1)
    assert outcome.waits("b") == {"barrier": 14, "selected": 1}


def test_blocks_of_one_sm_have_barriers_of_their_own() -> None:
    outcome = run("a: bar.sync 0\nb: nop\nexit", bench({"device.sms": 1}), grid=3, block=32)
    assert [outcome.gap("a", "b", warp) for warp in range(3)] == [15, 15, 15]
    assert outcome.counters["barriers"] == 3


def test_a_warp_that_arrives_does_not_wait() -> None:
    """Warp 0 only arrives; warp 1 waits for both."""
    text = """
        mov.u32 w, %warpid
        setp.eq.u32 first, w, 0
        @first bra producer
        a: bar.sync 1, 64
        b: nop
        exit
        producer: nanosleep 100
        c: bar.arrive 1, 64
        d: nop
        exit"""
    outcome = run(text, bench(), block=64)
    assert outcome.cycle("d", 0) == outcome.cycle("c", 0) + 1
    assert outcome.cycle("b", 1) == outcome.cycle("c", 0) + 15


def test_the_count_may_stand_in_a_register() -> None:
    text = "mov.u32 n, %ntid.x\na: bar.sync 2, n\nb: nop\nexit"
    outcome = run(text, bench(), block=96)
    assert min(outcome.cycle("b", w) for w in range(3)) == min(outcome.cycle("a", w) for w in range(3)) + 19


def test_half_of_the_block_meets_at_a_counted_barrier() -> None:
    """Warps 0 and 1 at barrier 1, warps 2 and 3 at barrier 2, each pair for itself."""
    text = """
        mov.u32 w, %warpid
        setp.ge.u32 upper, w, 2
        @upper bra other
        a: bar.sync 1, 64
        b: exit
        other: nanosleep 300
        c: bar.sync 2, 64
        d: exit"""
    outcome = run(text, bench(), block=128)
    assert outcome.cycle("b", 0) == outcome.cycle("a", 0) + 17
    assert outcome.cycle("d", 2) == outcome.cycle("c", 2) + 17
    assert outcome.cycle("d", 2) > outcome.cycle("b", 0) + 200
    assert outcome.counters["barriers"] == 2


EXITS = """
    .kernel k(out: ptr.u32)
    .arg out = zeros(256)
    mov.u32 t, %tid.x
    mad.wide.u32 p, t, 4, out
    {before}
    bar.sync 0
    {between}
    bar.sync 0
    st.global.u32 [p], t
    exit"""


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("threads", [1, 31, 32, 33, 70, 128])
@pytest.mark.parametrize("bound", [0, 1, 16, 32, 40, 64])
@pytest.mark.parametrize("where", ["before", "between"])
def test_threads_that_have_exited_are_not_waited_for(
    policy: str, threads: int, bound: int, where: str
) -> None:
    leave = f"setp.ge.u32 gone, t, {bound}\n@gone exit"
    text = EXITS.format(
        before=leave if where == "before" else "", between=leave if where == "between" else ""
    )
    launch = prepare(text, 1, threads)
    (outcome,) = agree(launch, bench({"divergence.policy": policy}))
    assert list(outcome.outputs["out"][:threads]) == [t if t < bound else 0 for t in range(threads)]


@pytest.mark.parametrize("policy", POLICIES)
def test_threads_leave_a_loop_of_barriers_one_by_one(policy: str) -> None:
    """Thread t exits in round t; the others keep meeting, the last thread with itself alone."""
    text = """
        .kernel k(out: ptr.u32)
        .arg out = zeros(96)
        mov.u32 t, %tid.x
        mad.wide.u32 p, t, 4, out
        mov.u32 i, 0
        loop: st.global.u32 [p], i
        setp.ge.u32 gone, i, t
        @gone exit
        bar.sync 0
        add.u32 i, i, 1
        bra loop"""
    (outcome,) = agree(prepare(text, 1, 96), bench({"divergence.policy": policy}))
    assert list(outcome.outputs["out"]) == list(range(96))
    assert outcome.counters["barriers"] == 95


@pytest.mark.parametrize("policy", POLICIES)
def test_an_exited_lane_of_a_warp_counts_as_arrived_at_a_counted_barrier(policy: str) -> None:
    text = EXITS.format(before="setp.ge.u32 gone, t, 40\n@gone exit", between="").replace(
        "sync 0", "sync 3, 64"
    )
    (outcome,) = agree(prepare(text, 1, 64), bench({"divergence.policy": policy}))
    assert int(outcome.outputs["out"].sum()) == sum(range(40))


@pytest.mark.parametrize("policy", POLICIES)
def test_lanes_that_have_parted_come_together_at_a_counted_barrier(policy: str) -> None:
    """Both sides of the branch reach the one barrier only if the warp waits for itself."""
    text = """
        .kernel k(out: ptr.u32)
        .shared s: u32[64]
        .arg out = zeros(64)
        mov.u32 t, %tid.x
        mad.wide.u32 p, t, 4, out
        shl.b32 place, t, 2
        and.b32 odd, t, 1
        setp.eq.u32 even, odd, 0
        @even bra side
        nanosleep 50
        side: st.shared.u32 [s + place], t
        bar.sync 5, 64
        xor.b32 other, t, 63
        shl.b32 place, other, 2
        ld.shared.u32 x, [s + place]
        st.global.u32 [p], x
        exit"""
    (outcome,) = agree(
        prepare(text, 1, 64), bench({"divergence.policy": policy, "divergence.first": "taken"})
    )
    assert list(outcome.outputs["out"]) == list(range(63, -1, -1))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("threads", [32, 64])
def test_lanes_guarded_off_are_not_taken_along(policy: str, threads: int) -> None:
    """A barrier that a guard splits is reached at two places, which is an error even within one warp."""
    text = "mov.u32 t, %tid.x\nsetp.lt.u32 low, t, 16\n@low bar.sync 0\n@!low bar.sync 0\nexit"
    with pytest.raises(FaultError) as caught:
        run(text, bench({"divergence.policy": policy}), block=threads)
    assert "test.s:5" in str(caught.value) and "test.s:4" in str(caught.value)


ERRORS = {
    "two places": ("setp.lt.u32 low, w, 1\n@low bra other\nbar.sync 0\nexit\nother: bar.sync 0\nexit",
                   "at two places", ("test.s:5", "test.s:7")),
    "two counts": ("setp.lt.u32 low, w, 1\n@low bra other\nbar.sync 1, 64\nexit\nother: bar.sync 1, 96\nexit",
                   "do not agree", ("test.s:5", "test.s:7")),
    "count and none": ("setp.lt.u32 low, w, 1\n@low bra other\nbar.sync 0\nexit\nother: bar.sync 0, 64\nexit",
                       "do not agree", ("test.s:5", "test.s:7")),
    "no multiple": ("mov.u32 n, 33\nbar.sync 1, n\nexit", "multiple of 32", ("test.s:4",)),
    "nothing": ("mov.u32 n, 0\nbar.sync 1, n\nexit", "multiple of 32", ("test.s:4",)),
    "twice": ("bar.arrive 1, 96\nbar.arrive 1, 96\nexit", "twice", ("test.s:4",)),
    "too many": ("bar.arrive 1, 32\nbar.arrive 1, 96\nbar.sync 1, 64\nexit", "do not agree", ()),
    "part of a warp": ("setp.lt.u32 low, t, 8\n@low bar.sync 1, 64\nexit", "part of a warp", ("test.s:4",)),
}  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", sorted(ERRORS))
def test_wrong_use_is_an_error_with_its_lines(name: str, policy: str) -> None:
    body, words, lines = ERRORS[name]
    head = "mov.u32 t, %tid.x; mov.u32 w, %warpid\n"
    with pytest.raises(FaultError, match=words) as caught:
        run(head + body, bench({"divergence.policy": policy}), block=64)
    for line in lines:
        assert line in str(caught.value)


def test_who_waits_for_whom_is_told_when_a_barrier_never_completes() -> None:
    text = "mov.u32 w, %warpid\nsetp.eq.u32 low, w, 0\n@low bra other\n"
    text += "bar.sync 1, 64\nexit\nother: bar.sync 2, 64\nexit"
    with pytest.raises(DeadlockError) as caught:
        run(text, bench(), block=64)
    message = str(caught.value)
    assert "warp 0: lanes 0xffffffff at test.s:7: other: bar.sync 2, 64 wait for barrier 2" in message
    assert "warp 1: lanes 0xffffffff at test.s:5: bar.sync 1, 64 wait for barrier 1" in message
