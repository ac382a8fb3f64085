"""Fault 17: counters and times wrap or turn negative. Runs that last or begin beyond 2^31 and 2^32 cycles."""

from __future__ import annotations

import pytest
from helpers.bench import bench
from helpers.launch import Outcome, run

from tinygpu.sim import host as host_module
from tinygpu.sim.host import Host

LONG = "nanosleep 4294967295\nnanosleep 4294967295\nexit"
MIXED = """
    .kernel k(A: ptr.u32)
    .arg A = arange(256)
    .shared s: u32[64]
    mov.u32 t, %tid.x
    mad.wide.u32 p, t, 4, A
    shl.b32 o, t, 2
    ld.global.u32 x, [p]
    st.shared.u32 [s + o], x
    bar.sync 0
    rcp.approx.f32 f, 2.0
    red.global.add.u32 [p], 1
    ld.shared.u32 x, [s + o]
    st.global.u32 [p + 512], x
    fence.gpu
    exit"""


@pytest.fixture
def no_bursts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long sleeps are one step of the core; the host need not look in between."""
    monkeypatch.setattr(host_module, "FIRST_BURST", 1 << 40)
    monkeypatch.setattr(host_module, "BURST_CYCLES", 1 << 40)


def test_a_sleep_of_more_than_2_to_the_32_cycles(no_bursts: None) -> None:
    outcome = run(LONG, limit=1 << 40)  # the laws hold the trace against the books
    assert outcome.raw.cycles == 140 + 2 * 4294967295 + 1 + 50
    slept = outcome.raw.profile["stall"].sum(axis=0).max()
    assert slept == 2 * (4294967295 - 1)
    assert all(cycles > 0 for _, cycles, _, _ in outcome.events())


def test_the_wall_does_not_move_the_measures(no_bursts: None) -> None:
    """At half the clock the same sleep lasts half the cycles."""
    outcome = run(LONG, bench({"device.clock_mhz": 500}), limit=1 << 40)
    assert outcome.raw.cycles == 140 + 2 * 2147483647 + 1 + 50


def launched_at(cycle: int) -> Outcome:
    host = Host(bench())
    host.state.device[0].now = cycle
    return run(MIXED, host=host, block=64)


@pytest.mark.parametrize("start", [(1 << 31) - 200, (1 << 32) - 200, (1 << 32) + 5, 1 << 40])
def test_a_launch_late_in_a_device_s_life_is_like_the_first(start: int) -> None:
    first, late = launched_at(0), launched_at(start)
    assert late.raw.cycles == first.raw.cycles
    assert late.counters == first.counters
    for warp in (0, 1):
        assert late.events(warp) == first.events(warp)
    assert [int(e["completed"]) for e in late.trace.memory] == [
        int(e["completed"]) for e in first.trace.memory
    ]


@pytest.mark.parametrize("start", [0, (1 << 32) + 5])
def test_clocks_tell_the_device_s_time(start: int) -> None:
    text = """
        .kernel k(A: ptr.u64)
        .arg A = zeros(2)
        mov.u64 wide, %clock64
        mov.u32 low, %clock
        cvt.u64.u32 narrow, low
        st.global.u64 [A], wide
        st.global.u64 [A + 8], narrow
        exit"""
    host = Host(bench())
    host.state.device[0].now = start
    outcome = run(text, host=host)
    wide, narrow = (int(x) for x in outcome.outputs["A"])
    assert wide == start + 140
    assert narrow == (start + 144) & 0xFFFFFFFF
