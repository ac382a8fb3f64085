"""Fault 22: peak rates of a unit cannot be reached. Each unit at its peak, to the cycle or within a few."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.bench import bench
from helpers.launch import Outcome, run

# class: (instruction with # for a register of its own, warp instructions a cycle of a sub-core)
UNITS = {
    "fp32": ("add.f32 %r#, 1.0, 2.0", 1.0),
    "int32": ("add.u32 %r#, 1, 2", 1 / 2),
    "imad": ("mul.lo.u32 %r#, 3, 4", 1 / 2),
    "half": ("add.f16x2 %r#, 1, 2", 1.0),
    "sfu": ("rcp.approx.f32 %r#, 2.0", 1 / 8),
    "popc": ("popc.b32 %r#, 255", 1 / 7),
    "convert": ("cvt.rni.s32.f32 %r#, 2.0", 1 / 6),
    "compare": ("setp.lt.s32 %p3, 1, 2", 1 / 2),
    "special": ("mov.u32 %r#, %laneid", 1 / 4),
    "redux": ("redux.sync.add.u32 %r#, 7, 0xffffffff", 1 / 5),
}
COUNT = 64


def span(outcome: Outcome, last: int) -> int:
    """Cycles from the first issue to the last one of instructions before number `last`."""
    events = outcome.trace.events
    starts = events["start"][(events["state"] == 0) & (events["pc"] < last)]
    return int(starts.max() - starts.min())


@pytest.mark.parametrize("warps", [4, 16])
@pytest.mark.parametrize("name", sorted(UNITS))
def test_a_pipe_never_rests_while_there_is_work(name: str, warps: int) -> None:
    text, rate = UNITS[name]
    body = [text.replace("#", str(10 + i % 32)) for i in range(COUNT)]
    spec = bench({"device.sms": 1, "issue.scheduler": "lrr"})  # the exits come last
    outcome = run("\n".join([*body, "exit"]), spec, block=32 * warps)
    total = COUNT * warps // 4
    assert span(outcome, COUNT) == round((total - 1) / rate)


def test_four_schedulers_issue_four_instructions_a_cycle() -> None:
    body = [f"add.f32 %r{10 + i % 32}, 1.0, 2.0" for i in range(COUNT)]
    outcome = run("\n".join([*body, "exit"]), bench({"device.sms": 1}), block=512)
    issued = outcome.counters["warp_instructions"]
    assert issued / (span(outcome, COUNT + 1) + 1) == 4.0


def test_pipes_work_side_by_side() -> None:
    """fma and int alternate: an issue every cycle, each pipe every other."""
    body = [f"add.f32 %r{10 + i}, 1.0, 2.0\nadd.u32 %r{40 + i}, 1, 2" for i in range(20)]
    outcome = run("\n".join([*body, "exit"]), bench({"device.sms": 1, "sm.subcores": 1}), block=32)
    assert span(outcome, 40) == 39


SHARED = {
    "32 bits": ("ld.shared.u32 %r#, [s + o]", 1.0, 128),
    "64 bits": ("ld.shared.v2.u32 {%r#, %r@}, [s + o]", 1 / 2, 128),
    "128 bits": ("ld.shared.v4.u32 {%r#, %r@, %r$, %r&}, [s + o]", 1 / 4, 128),
    "two-way conflict": ("ld.shared.u32 %r#, [s + o]", 1 / 2, 64),
    "broadcast": ("ld.shared.u32 %r#, [s]", 1.0, 4),
    "shuffle": ("shfl.sync.bfly.b32 %r#, o, 1, 31, 0xffffffff", 1.0, 128),
}


@pytest.mark.parametrize("name", sorted(SHARED))
def test_shared_memory_delivers_its_bytes_every_cycle(name: str) -> None:
    text, rate, _ = SHARED[name]
    scale = {"64 bits": 8, "128 bits": 16, "two-way conflict": 8}.get(name, 4)
    body = []
    for i in range(32):
        first = 12 + 4 * (i % 8)
        names = {"#": first, "@": first + 1, "$": first + 2, "&": first + 3}
        line = text
        for mark, number in names.items():
            line = line.replace(f"%r{mark}", f"%r{number}")
        body.append(line)
    head = f".shared s: u32[256]\nmov.u32 o, %laneid\nmul.lo.u32 o, o, {scale}\n"
    outcome = run(head + "\n".join([*body, "exit"]), bench({"device.sms": 1}), block=512)
    taken = sorted(int(e["dispatched"]) for e in outcome.trace.memory)
    assert len(taken) == 16 * 32
    busy = taken[-1] - taken[0]
    assert (len(taken) - 1) / rate <= busy <= 1.02 * (len(taken) - 1) / rate + 8


def test_l1_hits_pass_at_the_rate_of_their_tags() -> None:
    """5 quarters an instruction (4, and 1 for a line): 0.8 a cycle."""
    body = "\n".join(f"ld.global.u32 %r{20 + i % 16}, [p + {128 * (i % 8)}]" for i in range(32))
    text = f"""
        .kernel k(A: ptr.u32)
        .arg A = zeros(256)
        mov.u32 l, %laneid
        mad.wide.u32 p, l, 4, A
        {body}
        nanosleep 2000
        again: nop
        {body}
        exit"""
    outcome = run(text, bench({"device.sms": 1}), block=512)
    start = min(outcome.cycle("again", warp) for warp in range(16))
    taken = sorted(int(e["dispatched"]) for e in outcome.trace.memory if e["issued"] >= start)
    assert len(taken) == 512
    assert 511 * 1.25 <= taken[-1] - taken[0] <= 511 * 1.25 * 1.02 + 8


def test_an_sm_takes_its_bytes_a_cycle_from_l2() -> None:
    """64 bytes a cycle: 128 lines of 128 bytes take 256 cycles, once the first is there."""
    changes: dict[str, Any] = {"device.sms": 1, "l1.mshrs": 256, "lsu.dispatch_cycles": 1, "l2.slices": 8}
    body = "\n".join(f"ld.global.cg.u32 %r{20 + i}, [p + {128 * 32 * i}]" for i in range(4))
    text = f"""
        .kernel k(A: ptr.u32)
        .arg A = zeros({32 * 128})
        mov.u32 t, %tid.x
        mad.wide.u32 p, t, 4, A
        {body}
        exit"""
    host_run = run(text, bench(changes), block=1024)
    again = run(host_run.plan, host=host_run.host)
    arrived = sorted(int(e["completed"]) for e in again.trace.memory)
    assert len(arrived) == 128
    assert 127 * 2 <= arrived[-1] - arrived[0] <= 127 * 2 * 1.05 + 8
