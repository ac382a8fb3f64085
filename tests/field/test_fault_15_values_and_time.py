"""Fault 15: a functional mode differs from the timed one. Here timing must never reach a value."""

from __future__ import annotations

import pytest
from generator import generate
from helpers.bench import bench
from helpers.launch import differences, interpret, prepare, run
from helpers.variants import variant


@pytest.mark.parametrize("seed", range(2000, 2006))
def test_the_same_program_on_eight_machines_gives_the_same_memory(seed: int) -> None:
    launch = prepare(generate(seed, 30).text)
    expected = interpret(launch)
    for machine in range(8):
        assert not differences(launch, expected, run(launch, variant(100 * seed + machine)).outputs)


def test_no_register_is_read_before_it_is_written_whatever_the_latency() -> None:
    """A producer a hundred times slower than its consumer changes the time only."""
    text = """
        .kernel k(out: ptr.f32)
        .arg out = zeros(32)
        mov.u32 t, %laneid
        mad.wide.u32 p, t, 4, out
        cvt.rn.f32.u32 x, t
        .repeat i, 8
        rcp.approx.f32 y, x
        fma.f32 x, x, 1.5, y
        .end
        st.global.f32 [p], x
        exit"""
    launch = prepare(text)
    expected = interpret(launch)
    cycles = []
    for latency in (1, 10, 1000):
        outcome = run(launch, bench({"timing.sfu.latency_cycles": latency}))
        assert not differences(launch, expected, outcome.outputs)
        cycles.append(outcome.raw.cycles)
    assert cycles[2] - cycles[1] == 8 * 990
