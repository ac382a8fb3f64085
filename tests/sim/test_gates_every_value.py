"""No value of a machine is dead: each one, when it is changed, changes a run on a machine that is tight.

The values of `timing` have gates of their own in test_gates_issue.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from generator import generate
from helpers.bench import bench, value_of
from helpers.launch import Outcome, prepare, run

from tinygpu.isa.errors import DeadlockError
from tinygpu.sim.spec import MachineSpec, Section

STREAM = """
    .kernel stream(A: ptr.f32, B: ptr.f32)
    .arg A = zeros(32768), B = zeros(32768)
    .launch grid = 16, block = 256
    mov.u32 t, %tid.x
    mov.u32 b, %ctaid.x
    mad.lo.u32 i, b, 256, t
    mad.wide.u32 p, i, 32, A
    mad.wide.u32 q, i, 32, B
    ld.global.f32 x, [p]
    ld.global.v2.f32 {y, z}, [p + 8]
    ld.global.cg.f32 w, [p + 28]
    fma.f32 x, x, y, z
    st.global.f32 [q], x
    ld.global.f32 v, [q]
    red.global.add.f32 [B], v
    red.global.add.f32 [q + 8], v
    ld.global.f32 w, [p + 4]
    atom.global.add.f32 v, [B + 4], w
    st.global.f32 [q + 16], v
    fence.gpu
    exit"""

SMALL_BLOCKS = """
    .kernel blocks(A: ptr.u32)
    .shared s: u32[2048]
    .arg A = zeros(64)
    .launch grid = 40, block = 64
    mov.u32 t, %tid.x
    shl.b32 o, t, 2
    st.shared.u32 [s + o], t
    bar.sync 0
    ld.shared.v4.u32 {x, y, z, w}, [s]
    {fma}
    nanosleep 50
    atom.shared.add.u32 x, [s], 1
    exit"""
FMA = "\n".join(f"fma.f32 %r{20 + i}, %r2, %r4, %r{22 + i}" for i in range(0, 40, 2))
SMALL_BLOCKS = SMALL_BLOCKS.replace("{fma}", FMA)

WORK = """
    .kernel work(A: ptr.f32, n: u32)
    .local l: u32[4]
    .arg A = zeros(256), n = 9
    .launch grid = 2, block = 128
    mov.u32 t, %tid.x
    mov.u32 i, 0
    loop: cvt.rn.f32.u32 f, t
    rcp.approx.f32 g, f
    add.f64 d, 1.0, 2.0
    add.u64 e, d, 5
    popc.b32 c, t
    add.f16x2 h, c, c
    mul.lo.u32 m, c, t
    mad.wide.u32 e, m, 3, e
    shfl.sync.bfly.b32 m, m, 1, 31, 0xffffffff
    vote.sync.ballot.b32 v, %p0, 0xffffffff
    match.any.sync.b32 k, c, 0xffffffff
    redux.sync.add.u32 r, m, 0xffffffff
    bar.warp.sync 0xffffffff
    ld.param.u32 j, [8]
    st.local.u32 [l], r
    ld.local.u32 r, [l]
    lop3.b32 t, t, i, i, 0x3c
    nop
    add.u32 i, i, 1
    setp.lt.u32 more, i, j
    @more bra loop
    exit"""

DIVERGENT = generate(77, 60, blocks=2, threads=96).text
POLLING = """
    .kernel poll(flag: ptr.u32)
    .arg flag = zeros(1)
    mov.u32 t, %laneid
    setp.eq.u32 first, t, 31
    @first bra give
    wait: ld.global.volatile.u32 f, [flag]
    setp.eq.u32 unset, f, 0
    @unset bra wait
    bra join
    give: st.global.u32 [flag], 1
    join: exit"""

TEXTS = {"work": WORK, "stream": STREAM, "blocks": SMALL_BLOCKS, "divergent": DIVERGENT, "polling": POLLING}
PROGRAMS = {name: prepare(text) for name, text in TEXTS.items()}

TIGHT: dict[str, Any] = {
    "sm.subcores": 2, "sm.warps": 16, "sm.threads": 512, "sm.blocks": 6, "sm.block_threads": 256,
    "sm.registers": 65536, "sm.shared_bytes": 65536, "sm.block_shared_bytes": 65536,
    "sm.carveout_bytes": (65536,), "sm.unified_bytes": 69632,
    "front_end.instruction_bytes": 16, "front_end.line_bytes": 128,
    "front_end.l0_lines": 4, "front_end.l1_lines": 8, "front_end.prefetch_lines": 1,
    "front_end.l1_line_interval_cycles": 3, "register_file.banks": 2, "register_file.reads_per_cycle": 1,
    "register_file.window_cycles": 2, "register_file.reuse": True, "lsu.pending": 12, "l1.mshrs": 32,
    "l1.mshr_merges": 2, "network.outstanding": 33, "l2.partitions": 2, "l2.mshrs": 2, "l2.bytes": 32768,
    "l2.ways": 4, "dram.queue_entries": 3, "dram.patience_cycles": 60, "dram.refresh_interval_ns": 700,
    "dram.refresh_ns": 50, "dram.turnaround_ns": 5, "issue.scheduler": "two_level",
}  # fmt: skip

# Values that no run of a kernel shows: names, sizes of memory, the host's side (test_host.py), limits
# that only refuse launches (test_occupancy.py).
ELSEWHERE = {
    "dram.bytes", "host.copy_gigabytes_per_second", "host.copy_latency_us", "host.launch_latency_us",
    "sm.block_threads", "sm.thread_registers", "sm.block_shared_bytes", "sm.carveout_bytes", "l1.bytes",
}  # fmt: skip
# What to change a value to, where one more is not allowed or does not suffice.
OTHER: dict[str, Any] = {
    "device.clock_mhz": 1100, "sm.subcores": 1, "sm.warps": 8, "sm.threads": 256, "sm.blocks": 2,
    "sm.registers": 8192, "sm.register_unit": 1536, "sm.warp_unit": 8, "sm.shared_bytes": 20480,
    "l2.partitions": 1, "l2.atomic_sector_cycles": 8,
    "sm.reserved_shared_bytes": 4096, "sm.unified_bytes": 77824, "front_end.instruction_bytes": 8,
    "front_end.line_bytes": 64, "front_end.l1_lines": 2, "l1.ways": 1, "l1.mshrs": 33, "l2.slices": 8,
    "l2.bytes": 65536, "dram.channels": 5, "dram.banks": 1, "dram.row_bytes": 256, "dram.burst_bytes": 64,
    "dram.interleave_bytes": 512, "dram.gigabytes_per_second": 60.0, "dram.queue_entries": 1,
    "dram.patience_cycles": 0, "l1.replacement": "random", "l2.replacement": "random", "l2.ways": 1,
    "issue.two_level_active": 1, "network.response_bytes_per_cycle": 16, "network.acknowledge_bytes": 128,
    "l2.slice_bytes_per_cycle": 8,
}  # fmt: skip


def paths() -> Iterator[str]:
    """Every value of a machine by its path."""
    for section, info in MachineSpec.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, Section):
            yield from (f"{section}.{name}" for name in model.model_fields)


def changed(path: str) -> list[Any]:
    """Other values to try for a path."""
    value = value_of(bench(TIGHT), path)
    if path in OTHER:
        return [OTHER[path]]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        words = {"scheduler": ("gto", "lrr"), "policy": ("stack",), "first": ("taken",), "order": ("fcfs",)}
        return [word for word in words[path.rsplit(".", 1)[1]] if word != value]
    return [value + 1]


def fingerprint(outcome: Outcome) -> tuple[Any, ...]:
    return outcome.raw.cycles, outcome.counters, outcome.raw.profile.tobytes()


@pytest.fixture(scope="module")
def base() -> dict[str, tuple[Any, ...]]:
    spec = bench(TIGHT)
    return {name: fingerprint(run(launch, spec, traced=False)) for name, launch in PROGRAMS.items()}


@pytest.mark.parametrize("path", sorted(set(paths()) - ELSEWHERE))
def test_changing_a_value_changes_a_run(path: str, base: dict[str, tuple[Any, ...]]) -> None:
    for value in changed(path):
        spec = bench({**TIGHT, path: value})
        for name, launch in PROGRAMS.items():
            try:
                outcome = run(launch, spec, traced=False)
            except DeadlockError:
                return  # under `stack` the polling lanes never give the other one its turn
            if fingerprint(outcome) != base[name]:
                return
    pytest.fail(f"{path} changes nothing")
