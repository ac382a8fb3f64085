"""Divergence: which path runs when, where paths come together, nested and irregular shapes, both policies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.bench import bench
from helpers.launch import Outcome, agree, prepare, run

from tinygpu.isa.errors import FaultError

POLICIES = ("stack", "independent")


def path(outcome: Outcome, warp: int = 0) -> list[tuple[str, int]]:
    """(label, active lanes) of each issue of an instruction that has a label."""
    names = {pc: name for name, pc in outcome.program.labels.items()}
    events = outcome.trace.events
    rows = events[(events["warp"] == warp) & (events["state"] == 0) & (events["sm"] == 0)]
    rows = rows[np.argsort(rows["start"])]
    return [(names[int(e["pc"])], int(e["active"])) for e in rows if int(e["pc"]) in names]


IF_ELSE = """
    mov.u32 t, %tid.x
    setp.lt.u32 low, t, 8
    split: @low bra then
    other: nop
    bra join
    then: nop
    join: nop
    end: exit"""


@pytest.mark.parametrize("policy", POLICIES)
def test_the_fall_through_side_runs_first_if_the_machine_says_so(policy: str) -> None:
    spec = bench({"divergence.policy": policy, "divergence.first": "fallthrough"})
    outcome = run(IF_ELSE, spec)
    everyone = 0xFFFFFFFF
    assert path(outcome) == [
        ("split", everyone), ("other", 0xFFFFFF00), ("then", 0xFF), ("join", everyone), ("end", everyone),
    ]  # fmt: skip
    assert outcome.counters["divergent_branches"] == 1
    assert outcome.counters["branches"] == 2


@pytest.mark.parametrize("policy", POLICIES)
def test_the_taken_side_runs_first_if_the_machine_says_so(policy: str) -> None:
    spec = bench({"divergence.policy": policy, "divergence.first": "taken"})
    labels = [name for name, _ in path(run(IF_ELSE, spec))]
    assert labels == ["split", "then", "other", "join", "end"]


def test_a_uniform_branch_does_not_divide() -> None:
    for bound, way in ((0, ["split", "other", "join", "end"]), (32, ["split", "then", "join", "end"])):
        outcome = run(IF_ELSE.replace("t, 8", f"t, {bound}"), bench())
        assert path(outcome) == [(name, 0xFFFFFFFF) for name in way]
        assert outcome.counters["divergent_branches"] == 0


NESTED = """
    mov.u32 t, %tid.x
    and.b32 one, t, 1
    and.b32 two, t, 2
    setp.ne.u32 p, one, 0
    setp.ne.u32 q, two, 0
    @p bra odd
    even: nop
    @q bra even_high
    even_low: nop
    bra even_join
    even_high: nop
    even_join: nop
    bra join
    odd: nop
    @q bra odd_high
    odd_low: nop
    bra odd_join
    odd_high: nop
    odd_join: nop
    join: nop
    exit"""


@pytest.mark.parametrize("policy", POLICIES)
def test_nested_branches_come_together_inside_out(policy: str) -> None:
    outcome = run(NESTED, bench({"divergence.policy": policy}))
    assert path(outcome) == [
        ("even", 0x55555555), ("even_low", 0x11111111), ("even_high", 0x44444444), ("even_join", 0x55555555),
        ("odd", 0xAAAAAAAA), ("odd_low", 0x22222222), ("odd_high", 0x88888888), ("odd_join", 0xAAAAAAAA),
        ("join", 0xFFFFFFFF),
    ]  # fmt: skip
    assert outcome.counters["divergent_branches"] == 3


LOOP = """
    .kernel k(out: ptr.u32)
    .arg out = zeros(32)
    mov.u32 t, %tid.x
    mad.wide.u32 p, t, 4, out
    mov.u32 i, 0
    loop: add.u32 i, i, 1
    setp.le.u32 more, i, t
    @more bra loop
    after: st.global.u32 [p], i
    exit"""


@pytest.mark.parametrize("policy", POLICIES)
def test_lanes_leave_a_loop_one_by_one_and_meet_behind_it(policy: str) -> None:
    """Lane t makes t + 1 rounds; each round loses its lowest lane; one store for all."""
    outcome = run(LOOP, bench({"divergence.policy": policy}))
    rounds = [lanes for label, lanes in path(outcome) if label == "loop"]
    assert rounds == [0xFFFFFFFF & ~((1 << i) - 1) for i in range(32)]
    assert [lanes for label, lanes in path(outcome) if label == "after"] == [0xFFFFFFFF]
    assert list(outcome.outputs["out"]) == list(range(1, 33))
    assert outcome.counters["divergent_branches"] == 31
    assert outcome.counters["thread_instructions"] == 32 * 5 + 3 * sum(range(1, 33))


@pytest.mark.parametrize("policy", POLICIES)
def test_every_lane_takes_a_way_of_its_own(policy: str) -> None:
    """A ladder of 31 branches: 32 paths at once, each with one lane, then all together."""
    lines = [
        ".kernel k(out: ptr.u32)",
        ".arg out = zeros(32)",
        "mov.u32 t, %tid.x",
        "mad.wide.u32 p, t, 4, out",
    ]
    for lane in range(31):
        lines += [
            f"setp.gt.u32 q, t, {lane}",
            f"@q bra next{lane}",
            f"mul.lo.u32 x, t, {lane + 1}",
            "bra join",
        ]
        lines += [f"next{lane}:"]
    lines += ["mov.u32 x, 7", "join: st.global.u32 [p], x", "exit"]
    (outcome,) = agree("\n".join(lines), bench({"divergence.policy": policy}))
    assert list(outcome.outputs["out"]) == [lane * (lane + 1) for lane in range(31)] + [7]
    assert [lanes for label, lanes in path(outcome) if label == "join"] == [0xFFFFFFFF]


@pytest.mark.parametrize("policy", POLICIES)
def test_lanes_that_exit_inside_a_branch_are_not_waited_for(policy: str) -> None:
    text = """
        mov.u32 t, %tid.x
        setp.lt.u32 low, t, 8
        @low bra gone
        nop
        bra join
        gone: exit
        join: nop
        exit"""
    outcome = run(text, bench({"divergence.policy": policy}))
    assert [lanes for label, lanes in path(outcome) if label == "join"] == [0xFFFFFF00]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_ragged_warp_begins_with_the_lanes_that_exist(policy: str) -> None:
    outcome = run("a: exit", bench({"divergence.policy": policy}), block=37)
    assert path(outcome, 0) == [("a", 0xFFFFFFFF)] and path(outcome, 1) == [("a", 0x1F)]


CALLS = """
    .kernel k(out: ptr.u32)
    .arg out = zeros(32)
    mov.u32 t, %tid.x
    mad.wide.u32 p, t, 4, out
    and.b32 three, t, 3
    setp.eq.u32 a, three, 0
    setp.eq.u32 b, three, 1
    mov.u32 x, 0
    @a call back, f
    @b call back, f
    @!a call back, g
    add.u32 x, x, 1000
    st.global.u32 [p], x
    exit
    f: add.u32 x, x, 1
    ret back
    g: add.u32 x, x, 10
    ret back"""


@pytest.mark.parametrize("policy", POLICIES)
def test_functions_are_called_by_some_lanes_from_several_places(policy: str) -> None:
    (outcome,) = agree(CALLS, bench({"divergence.policy": policy}))
    assert list(outcome.outputs["out"][:4]) == [1001, 1011, 1010, 1010]


@pytest.mark.parametrize("policy", POLICIES)
def test_lanes_return_to_different_places(policy: str) -> None:
    """Both sides of a branch call the same function; its ret parts the lanes again."""
    text = """
        .kernel k(out: ptr.u32)
        .arg out = zeros(32)
        mov.u32 t, %tid.x
        mad.wide.u32 p, t, 4, out
        setp.lt.u32 low, t, 16
        mov.u32 x, t
        @low bra other
        call back, f
        add.u32 x, x, 100
        bra join
        other: call back, f
        add.u32 x, x, 200
        join: st.global.u32 [p], x
        exit
        f: mul.lo.u32 x, x, 2
        ret back"""
    (outcome,) = agree(text, bench({"divergence.policy": policy}))
    assert list(outcome.outputs["out"]) == [2 * t + (200 if t < 16 else 100) for t in range(32)]


def test_a_return_to_nowhere_is_a_fault() -> None:
    with pytest.raises(FaultError, match="return address 99"):
        run("mov.u32 back, 99\nret back\nexit", bench())


POLL = """
    .kernel k(out: ptr.u32)
    .arg out = zeros(33)
    mov.u32 t, %tid.x
    mad.wide.u32 p, t, 4, out
    setp.eq.u32 first, t, 0
    @first bra giver
    wait: ld.global.volatile.u32 flag, [out + 128]
    setp.eq.u32 unset, flag, 0
    @unset bra wait
    st.global.u32 [p], flag
    bra join
    giver: mov.u32 x, 5
    give: st.global.volatile.u32 [out + 128], x
    join: exit"""


@pytest.mark.parametrize("turns", [1, 2, 8, 50])
def test_a_polling_loop_gives_the_others_a_turn(turns: int) -> None:
    """Lanes 1 to 31 poll `turns` times, then lane 0 sets the flag."""
    outcome = run(POLL, bench({"divergence.yield_branches": turns, "divergence.first": "fallthrough"}))
    assert [label for label, _ in path(outcome) if label in ("wait", "give")][: turns + 1] == [
        "wait"
    ] * turns + ["give"]
    assert list(outcome.outputs["out"][1:32]) == [5] * 31
    (same,) = agree(POLL, bench({"divergence.first": "taken"}))
    assert [label for label, _ in path(same) if label in ("wait", "give")] == ["give", "wait"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("threads", [1, 31, 32, 33])
def test_a_branch_over_data_agrees_for_every_size(policy: str, threads: int) -> None:
    text = """
        .kernel collatz(out: ptr.u32)
        .arg out = zeros(64)
        mov.u32 t, %tid.x
        mad.wide.u32 p, t, 4, out
        add.u32 x, t, 1
        mov.u32 n, 0
        again: setp.eq.u32 done, x, 1
        @done bra finish
        add.u32 n, n, 1
        and.b32 bit, x, 1
        setp.ne.u32 odd, bit, 0
        @odd bra triple
        shr.u32 x, x, 1
        bra again
        triple: mad.lo.u32 x, x, 3, 1
        bra again
        finish: st.global.u32 [p], n
        exit"""
    (outcome,) = agree(prepare(text, 1, threads), bench({"divergence.policy": policy}))
    assert list(outcome.outputs["out"][:threads]) == [collatz(t + 1) for t in range(threads)]


def collatz(x: int) -> int:
    steps = 0
    while x != 1:
        x = 3 * x + 1 if x % 2 else x // 2
        steps += 1
    return steps


SPREAD: dict[str, Any] = {"divergence.policy": "independent"}


def test_divergence_costs_the_issue_of_both_sides() -> None:
    """Lanes that part issue both sides, warps that part only their own."""
    body = "\n".join(["add.f32 x, x, 1.0"] * 20)
    text = "mov.u32 v, %{by}\nand.b32 v, v, 1\nsetp.eq.u32 q, v, 0\nmov.f32 x, 0.0\n@q bra side\n"
    text += f"{body}\nbra join\nside: {body}\njoin: exit"
    lanes = run(text.format(by="laneid"), bench(SPREAD), block=64)
    warps = run(text.format(by="warpid"), bench(SPREAD), block=64)
    assert lanes.counters["warp_instructions"] == 2 * (5 + 20 + 1 + 20 + 1)
    assert warps.counters["warp_instructions"] == 2 * (5 + 20 + 1) + 1
    assert lanes.counters["thread_instructions"] == warps.counters["thread_instructions"]


@pytest.mark.parametrize(
    "access",
    ["red.global.add.u32 [out], 1", "atom.global.add.u32 old, [out], 1", "ld.global.cg.u32 old, [out]",
     "ld.global.volatile.u32 old, [out]"],
)  # fmt: skip
def test_a_counted_loop_does_not_poll_and_its_lanes_meet_behind_it(access: str) -> None:
    """What leaves the loop does not depend on what others write: nobody needs a turn, nobody is let go."""
    text = f"""
        .kernel k(out: ptr.u32)
        .arg out = zeros(2)
        mov.u32 t, %tid.x
        mov.u32 i, 0
        loop: {access}
        add.u32 i, i, 1
        setp.le.u32 more, i, t
        @more bra loop
        after: st.global.u32 [out + 4], i
        exit"""
    outcome = run(text, bench({"divergence.yield_branches": 1}))
    assert [lanes for label, lanes in path(outcome) if label == "after"] == [0xFFFFFFFF]


def test_a_loop_polls_also_through_a_chain_of_values_and_a_call() -> None:
    """The flag reaches the branch through a function and two more instructions."""
    text = POLL.replace(
        "wait: ld.global.volatile.u32 flag, [out + 128]", "wait: call back, look\nmov.u32 flag, g"
    )
    text = text.replace("join: exit", "join: exit\nlook: ld.global.volatile.u32 g, [out + 128]\nret back")
    outcome = run(text, bench({"divergence.first": "fallthrough"}))
    assert list(outcome.outputs["out"][1:32]) == [5] * 31
