"""The machine file of the H200 against what was measured on one: latencies, rates, levels of memory.

The figures are those of docs/hardware notes in the machine file: dependent latencies to the cycle,
rates of the units, load-to-use of L1, L2 and DRAM within 10 %, DRAM reads at 75 to 90 % of nominal.
"""

from __future__ import annotations

import numpy as np
import pytest
from tinygpu.isa.assembler import assemble
from tinygpu.sim.engine import RawRun
from tinygpu.sim.host import Host
from tinygpu.sim.machinefile import load

SPEC = load("h200").spec
HEAD = ".kernel probe(A: ptr.u32, n: u32)\n"


@pytest.fixture(scope="module")
def host() -> Host:
    """One H200 for the module; each launch has its own statistics."""
    return Host(SPEC)


def launch(
    host: Host, text: str, *, blocks: int = 1, threads: int = 32, data: np.ndarray | None = None, n: int = 0
) -> RawRun:
    """Run a probe on `blocks` blocks of `threads` threads."""
    array = np.zeros(1 << 12, np.uint32) if data is None else data
    return host.run(assemble(HEAD + text), (blocks, 1, 1), (threads, 1, 1), {"A": array, "n": n})


def clocked(body: str, count: int) -> str:
    """`count` copies of a dependent instruction between two clock reads; stores the cycles to A[0]."""
    return f"""
    mov.u32 i, %tid.x
    mov.u32 x, 3
    mov.f32 f, 1.5
    mov.f64 w, 1.5
    mov.u32 h, 0x3c003c00
    mov.u32 z, 0
    st.shared.u32 [buffer], z
    mov.u64 p, A
    mov.u32 start, %clock
    .repeat k, {count}
    {body}
    .end
    mov.u32 stop, %clock
    add.u32 keep, x, z
    sub.u32 stop, stop, start
    add.f32 f, f, f
    add.f64 w, w, w
    add.u32 h, h, h
    st.global.u32 [p], stop
    exit
"""


def cycles_each(host: Host, body: str, **options: int) -> float:
    """Cycles from one of a chain of dependent instructions to the next."""
    found = []
    for count in (16, 48):
        data = np.zeros(1 << 12, np.uint32)
        launch(host, ".shared buffer: u32[64]\n" + clocked(body, count), data=data, **options)
        found.append(int(data[0]))
    return (found[1] - found[0]) / 32


LATENCIES = [
    ("fma.f32 f, f, f, f", 4), ("add.f32 f, f, f", 4), ("mul.f32 f, f, f", 4),
    ("add.u32 x, x, x", 4), ("lop3.b32 x, x, x, x, 0x96", 4), ("mad.lo.u32 x, x, x, x", 4),
    ("fma.f16x2 h, h, h, h", 8), ("fma.f64 w, w, w, w", 8),
    ("ex2.approx.f32 f, f", 17), ("popc.b32 x, x", 17),
    ("shfl.sync.bfly.b32 x, x, 1, 0x1f, 0xffffffff", 24),
    ("ld.shared.u32 z, [z + buffer]", 23),
]  # fmt: skip


@pytest.mark.parametrize(("body", "cycles"), LATENCIES, ids=[body.split()[0] for body, _ in LATENCIES])
def test_a_dependent_chain_takes_the_measured_latency(host: Host, body: str, cycles: int) -> None:
    assert cycles_each(host, body) == pytest.approx(cycles, abs=1)


def test_a_conversion_and_back_takes_23_cycles(host: Host) -> None:
    body = "cvt.rn.f32.u32 f, x\n    cvt.rzi.u32.f32 x, f"
    assert cycles_each(host, body) == pytest.approx(23, abs=1)


@pytest.mark.parametrize(("warps", "cycles"), [(1, 14), (2, 16), (4, 20), (8, 28), (16, 44), (32, 77)])
def test_a_barrier_costs_twelve_cycles_and_two_a_warp(host: Host, warps: int, cycles: int) -> None:
    assert cycles_each(host, "bar.sync 0", threads=32 * warps) == pytest.approx(cycles, abs=1)


def rate(host: Host, setup: str, body: str, *, warps: int, passes: int = 64, unroll: int = 16) -> float:
    """Copies of `body` that one SM issues a cycle, in the steady state of `warps` warps of a block."""
    found = []
    for loops in (passes // 4, passes):
        text = f"""
        .shared buffer: u32[256]
        mov.u32 i, %tid.x
        shl.b32 at, i, 2
        and.b32 at, at, 127
        shl.b32 wide, at, 2
        mov.u32 count, {loops}
        {setup}
        loop:
        .repeat k, {unroll}
        {body}
        .end
        sub.u32 count, count, 1
        setp.ne.u32 more, count, 0
        @more bra loop
        exit
        """
        found.append(launch(host, text, threads=32 * warps).cycles)
    issued = unroll * (passes - passes // 4) * warps
    return issued / (found[1] - found[0])


FMAS = "mov.f32 a, 1.0\n mov.f32 b, 2.0\n mov.f32 c, 3.0\n mov.f32 d, 4.0"
RATES = [
    (FMAS, "fma.f32 a, a, a, a\n fma.f32 b, b, b, b\n fma.f32 c, c, c, c\n fma.f32 d, d, d, d", 16, 4 / 4),
    ("mov.u32 x, 1\n mov.u32 y, 2", "add.u32 x, x, x\n add.u32 y, y, y", 16, 2 / 2),
    ("mov.f32 a, 1.0\n mov.f32 b, 1.0", "ex2.approx.f32 a, a\n ex2.approx.f32 b, b", 16, 0.5 / 2),
    ("mov.f64 a, 1.0\n mov.f64 b, 1.0", "fma.f64 a, a, a, a\n fma.f64 b, b, b, b", 16, 2 / 2),
    ("", "ld.shared.u32 x, [buffer + at]", 32, 1.0),
    ("", "ld.shared.v2.u32 {x, y}, [buffer + at]", 32, 0.5),
    ("", "ld.shared.v4.u32 {x, y, z, w}, [buffer + wide]", 32, 0.25),
    ("", "shfl.sync.bfly.b32 x, at, 1, 0x1f, 0xffffffff", 32, 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("setup", "body", "warps", "each"), RATES, ids=[r[1].split()[0] for r in RATES])
def test_a_unit_reaches_its_peak_rate(host: Host, setup: str, body: str, warps: int, each: float) -> None:
    reached = rate(host, setup, body, warps=warps)
    assert reached <= each * 1.001
    assert reached > 0.95 * each


def chase(host: Host, footprint: int, steps: int, operator: str = "") -> float:
    """Cycles from load to use along a ring of pointers, one a 128-byte line, over `footprint` bytes."""
    lines = footprint // 128
    order = np.random.default_rng(1).permutation(lines)
    ring = np.zeros(footprint // 4, np.uint32)
    ring[order * 32] = np.roll(order, -1) * 128
    found = []
    for count in (steps // 2, steps):
        text = f"""
        mov.u32 at, 0
        mov.u32 left, {count}
        loop:
        mad.wide.u32 p, at, 1, A
        ld.global{operator}.u32 at, [p]
        sub.u32 left, left, 1
        setp.ne.u32 more, left, 0
        @more bra loop
        st.global.u32 [A + 4], at
        exit
        """
        found.append(launch(host, text, threads=1, data=ring).cycles)
    return (found[1] - found[0]) / (steps - steps // 2) - 5  # the address takes five cycles


def test_l1_hits_take_33_cycles(host: Host) -> None:
    assert chase(host, 1 << 13, 2048) == pytest.approx(33, rel=0.1)


def test_near_l2_hits_take_280_cycles(host: Host) -> None:
    # The second half of the steps goes round the ring again, when all of it is in L2.
    assert chase(host, 1 << 18, 4096, ".cg") == pytest.approx(280, rel=0.1)


def test_dram_takes_610_to_690_cycles(host: Host) -> None:
    # Fresh lines only: the ring is longer than the steps.
    assert 610 * 0.9 < chase(host, 1 << 24, 4096, ".cg") < 690 * 1.1


def test_reads_reach_75_to_90_percent_of_the_nominal_dram_bandwidth(host: Host) -> None:
    blocks, threads, loads = 132 * 4, 512, 8
    text = f"""
    mov.u32 i, %tid.x
    mov.u32 b, %ctaid.x
    mad.lo.u32 i, b, {threads * loads}, i
    mad.wide.u32 p, i, 16, A
    .repeat k, {loads}
    ld.global.cs.v4.u32 {{v$k, w$k, x$k, y$k}}, [p + {threads * 16}*k]
    .end
    exit
    """.replace("$k", "")
    size = blocks * threads * loads * 16
    raw = launch(host, text, blocks=blocks, threads=threads, data=np.zeros(size // 4, np.uint32))
    assert raw.device_counters["dram_read_bursts"] == size // 32
    seconds = (raw.cycles - SPEC.device.launch_cycles) / (SPEC.device.clock_mhz * 1e6)
    share = size / seconds / (SPEC.dram.gigabytes_per_second * 1e9)
    assert 0.75 < share < 0.90
