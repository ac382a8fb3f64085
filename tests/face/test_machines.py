"""Load-to-use latencies of the machines that rest on published values, by a chase of pointers."""

from __future__ import annotations

import numpy as np
import pytest

import tinygpu as tg

CHASE = """\
.kernel chase(A: ptr.u32)
.let WARM = 1
.let STEPS = 1
.macro walk(count)
    mov.u32 left, count
$again:
    mad.wide.u32 p, at, 1, A
    ld.global{operator}.u32 at, [p]
    sub.u32 left, left, 1
    setp.ne.u32 more, left, 0
@more bra $again
.end
    mov.u32 at, 0
    walk(WARM)
    add.u32 wait, at, 0
    mov.u32 start, %clock
    walk(STEPS)
    add.u32 wait, at, 0
    mov.u32 stop, %clock
    sub.u32 stop, stop, start
    st.global.v2.u32 [A + 8], {{stop, wait}}
    exit
"""


def load_to_use(machine: str, footprint: int, *, warm: int, steps: int, operator: str = "") -> float:
    """Cycles of a load in a ring over `footprint` bytes, one pointer a 128-byte line."""
    lines = footprint // 128
    order = np.random.default_rng(1).permutation(lines)
    ring = np.zeros(footprint // 4, np.uint32)
    ring[order * 32] = np.roll(order, -1) * 128
    program = tg.assemble(CHASE.format(operator=operator), lets={"WARM": warm, "STEPS": steps})
    launch = tg.Launch(program, grid=1, block=1, arguments={"A": ring})
    spec = tg.load_machine(machine).spec
    launch.run(machine)
    address = spec.timing["imad_wide"].latency_cycles + spec.bypass.address_extra_cycles
    return int(ring[2]) / steps - address


@pytest.mark.parametrize(
    ("machine", "l1", "l2", "dram"), [("v100", 28, 212, 430), ("a6000", 33, 250, 550), ("h200", 33, 280, 640)]
)
def test_levels_of_memory_are_as_far_as_published(machine: str, l1: int, l2: int, dram: int) -> None:
    assert load_to_use(machine, 1 << 13, warm=64, steps=256) == pytest.approx(l1, abs=0.5)
    # Twice round to warm: the first brings the lines from DRAM, and those of another partition near.
    near = load_to_use(machine, 1 << 16, warm=1024, steps=256, operator=".cg")
    assert near == pytest.approx(l2, abs=0.5)
    # Only lines that are new: the ring is longer than the steps.
    fresh = load_to_use(machine, 1 << 22, warm=64, steps=1024, operator=".cg")
    assert fresh == pytest.approx(dram, rel=0.03)
