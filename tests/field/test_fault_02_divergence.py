"""Fault 2: a divergent kernel is right with one thread and far off with 32; here under both policies."""

from __future__ import annotations

import pytest
from helpers.bench import bench
from helpers.launch import agree, prepare

KERNELS = {
    "gcd by subtraction": """
        .kernel k(out: ptr.u32)
        .arg out = zeros(128)
        mov.u32 t, %tid.x
        mad.wide.u32 p, t, 4, out
        mad.lo.u32 a, t, 37, 12
        mad.lo.u32 b, t, 11, 30
        again: setp.eq.u32 same, a, b
        @same bra done
        setp.gt.u32 more, a, b
        @more bra first
        sub.u32 b, b, a
        bra again
        first: sub.u32 a, a, b
        bra again
        done: st.global.u32 [p], a
        exit""",
    "a switch in a loop with break and continue": """
        .kernel k(out: ptr.u32)
        .arg out = zeros(128)
        mov.u32 t, %tid.x
        mad.wide.u32 p, t, 4, out
        mov.u32 i, 0
        mov.u32 sum, 0
        loop: add.u32 i, i, 1
        mad.lo.u32 x, i, t, 7
        and.b32 kind, x, 3
        setp.eq.u32 is, kind, 0
        @is bra loop_end
        setp.eq.u32 is, kind, 1
        @is bra one
        setp.gt.u32 is, x, 300
        @is bra done
        add.u32 sum, sum, x
        bra loop_end
        one: mad.lo.u32 sum, sum, 3, 1
        loop_end: setp.lt.u32 is, i, 40
        @is bra loop
        done: st.global.u32 [p], sum
        exit""",
    "early return in nested loops": """
        .kernel k(out: ptr.u32)
        .arg out = zeros(128)
        mov.u32 t, %tid.x
        mad.wide.u32 p, t, 4, out
        mov.u32 i, 0
        outer: mov.u32 j, 0
        inner: mad.lo.u32 x, i, 8, j
        st.global.u32 [p], x
        setp.eq.u32 mine, x, t
        @mine exit
        add.u32 j, j, 1
        setp.lt.u32 more, j, 8
        @more bra inner
        add.u32 i, i, 1
        setp.lt.u32 more, i, 9
        @more bra outer
        st.global.u32 [p], 999
        exit""",
    "recursion by hand: calls in a divergent loop": """
        .kernel k(out: ptr.u32)
        .arg out = zeros(128)
        mov.u32 t, %tid.x
        mad.wide.u32 p, t, 4, out
        and.b32 n, t, 15
        mov.u32 f, 1
        loop: setp.eq.u32 done, n, 0
        @done bra end
        call back, multiply
        sub.u32 n, n, 1
        bra loop
        end: st.global.u32 [p], f
        exit
        multiply: mul.lo.u32 f, f, n
        and.b32 odd, n, 1
        setp.eq.u32 even, odd, 0
        @even bra skip
        add.u32 f, f, 1
        skip: ret back""",
}


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 128])
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_divergent_kernels_agree_with_one_lane_at_a_time(name: str, threads: int) -> None:
    machines = [
        bench({"divergence.policy": policy, "divergence.first": first})
        for policy in ("stack", "independent")
        for first in ("taken", "fallthrough", "fewer")
    ]
    outcomes = agree(prepare(KERNELS[name], 1, threads), *machines)
    assert len({o.counters["thread_instructions_on"] for o in outcomes}) == 1


def test_values_worked_out_by_hand() -> None:
    (outcome,) = agree(prepare(KERNELS["early return in nested loops"], 1, 128))
    assert list(outcome.outputs["out"]) == [t if t < 72 else 999 for t in range(128)]
