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


def rate(host: Host, setup: str, body: str, *, warps: int, passes: int = 16, unroll: int = 4) -> float:
    """Copies of `body` that one SM issues a cycle, in the steady state of `warps` warps of a block."""
    found = []
    for loops in (passes // 4, passes):
        text = f"""
        .shared buffer: u32[256]
        mov.u32 i, %tid.x
        shl.b32 at, i, 2
        and.b32 at, at, 124
        shl.b32 two, at, 1
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


def several(body: str, count: int = 8) -> str:
    """Copies with registers of their own, so that even the last warps keep the unit busy.

    `#` is the copy's number, `@0` to `@3` are four registers of its own: values that nobody reads
    would otherwise share one.
    """
    rows = []
    for k in range(count):
        row = body.replace("#", str(k))
        for word in range(4):
            row = row.replace(f"@{word}", f"%r{24 + 4 * k + word}")
        rows.append(row)
    return "\n".join(rows)


def chains(kind: str, body: str) -> tuple[str, str]:
    """Eight independent chains of an instruction on values of a type: how they begin, and one step."""
    return several(f"mov.{kind} a#, 1.0" if kind[0] == "f" else f"mov.{kind} a#, 1", 8), several(body, 8)


# Name, setup, body, its instructions, warps, and what an SM issues of it in a cycle at most.
RATES = [
    ("FFMA", *chains("f32", "fma.f32 a#, a#, a#, a#"), 8, 16, 4.0),
    ("IADD", *chains("u32", "add.u32 a#, a#, a#"), 8, 16, 2.0),
    ("MUFU", *chains("f32", "ex2.approx.f32 a#, a#"), 8, 16, 0.5),
    ("DFMA", *chains("f64", "fma.f64 a#, a#, a#, a#"), 8, 16, 2.0),
    ("LDS", "", several("ld.shared.u32 @0, [buffer + at]"), 8, 32, 1.0),
    ("LDS.64", "", several("ld.shared.v2.u32 {@0, @1}, [buffer + two]"), 8, 32, 0.5),
    ("LDS.128", "", several("ld.shared.v4.u32 {@0, @1, @2, @3}, [buffer + wide]"), 8, 32, 0.25),
    ("SHFL", "", several("shfl.sync.bfly.b32 @0, at, 1, 0x1f, 0xffffffff"), 8, 32, 1.0),
]


@pytest.mark.parametrize(("name", "setup", "body", "size", "warps", "peak"), RATES, ids=[r[0] for r in RATES])
def test_a_unit_reaches_its_peak_rate(
    host: Host, name: str, setup: str, body: str, size: int, warps: int, peak: float
) -> None:
    reached = size * rate(host, setup, body, warps=warps, unroll=256 // size)
    assert reached <= peak * 1.001
    assert reached > 0.95 * peak


def chase(host: Host, footprint: int, *, warm: int, steps: int, operator: str = "") -> float:
    """Cycles from load to use along a ring of pointers, one a 128-byte line, over `footprint` bytes.

    `warm` steps come before the clock starts.
    """
    lines = footprint // 128
    order = np.random.default_rng(1).permutation(lines)
    ring = np.zeros(footprint // 4, np.uint32)
    ring[order * 32] = np.roll(order, -1) * 128
    text = f"""
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
    walk({warm})
    add.u32 wait, at, 0
    mov.u32 start, %clock
    walk({steps})
    add.u32 wait, at, 0
    mov.u32 stop, %clock
    sub.u32 stop, stop, start
    st.global.v2.u32 [A + 8], {{stop, wait}}
    exit
    """
    launch(host, text, threads=1, data=ring)
    return int(ring[2]) / steps - 5  # the address takes five cycles


def test_l1_hits_take_33_cycles(host: Host) -> None:
    assert chase(host, 1 << 13, warm=64, steps=512) == pytest.approx(33, rel=0.1)


def test_near_l2_hits_take_280_cycles(host: Host) -> None:
    # Twice round to warm: the first brings lines from DRAM, also those of the far partition.
    assert chase(host, 1 << 17, warm=2048, steps=1024, operator=".cg") == pytest.approx(280, rel=0.1)


def test_dram_takes_610_to_690_cycles(host: Host) -> None:
    # Fresh lines only: the ring is longer than the steps.
    assert 610 * 0.9 < chase(host, 1 << 24, warm=64, steps=2048, operator=".cg") < 690 * 1.1


def test_reads_reach_75_to_90_percent_of_the_nominal_dram_bandwidth(host: Host) -> None:
    blocks, threads, loads = 132 * 8, 512, 8
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


@pytest.mark.parametrize(
    ("lanes", "first"), [(1, "few"), (3, "few"), (13, "few"), (29, "many"), (31, "many")]
)
def test_the_side_of_fewer_lanes_runs_first(host: Host, lanes: int, first: str) -> None:
    """Both sides note the clock; `few` is the side of the lanes below `lanes`."""
    text = f"""
    mov.u32 i, %tid.x
    setp.lt.u32 few, i, {lanes}
    @few bra below
    mov.u32 when, %clock
    bra done
    below:
    mov.u32 when, %clock
    done:
    mad.wide.u32 p, i, 4, A
    st.global.u32 [p], when
    exit
    """
    data = np.zeros(1 << 12, np.uint32)
    launch(host, text, data=data)
    assert (int(data[0]) < int(data[31])) == (first == "few")
