"""The laws that every run must keep (docs/design.md, "Laws that tests hold"), as checks on its books."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from tinygpu.sim.engine import RawRun
from tinygpu.sim.host import Host
from tinygpu.sim.packed import TICKS_PER_CYCLE
from tinygpu.sim.spec import MachineSpec
from tinygpu.sim.state import SELECTED, STATES
from tinygpu.sim.tracefile import TraceData

SECTOR_BYTES = 32
Life = tuple[int, int, int]  # SM, block, warp slot


def assert_laws(raw: RawRun, trace: TraceData | None, spec: MachineSpec) -> None:
    """Hold a finished run against every law; `trace` must be whole (all SMs, no window) if given."""
    assert_counts(raw)
    assert_memory_books(raw)
    assert_ceilings(raw, spec)
    if trace is not None:
        assert trace.dropped == 0, "the trace must be whole"
        lives = assert_tiled(trace)
        assert_same_sums(raw, trace)
        assert_schedulers(raw, trace, spec, lives)
        assert_pipes(trace, spec)
        assert_memory_path(trace, spec)
        assert_inside(raw, lives, spec)


def assert_counts(raw: RawRun) -> None:
    """Instructions and lanes are counted alike for the SM, the scheduler and the instruction."""
    counters, profile = raw.counters, raw.profile
    issued = int(profile["issued"].sum())
    assert issued == counters["warp_instructions"] == raw.schedulers["issued"]
    assert issued == int(profile["stall"][:, SELECTED].sum())
    assert int(profile["lanes"].sum()) == counters["thread_instructions"]
    assert (profile["lanes"] <= 32 * profile["issued"]).all()
    assert counters["thread_instructions_on"] <= counters["thread_instructions"]
    assert raw.blocks == counters["blocks"]
    assert counters["divergent_branches"] <= counters["branches"] <= issued
    assert all(value >= 0 for value in counters.values()), counters
    assert all(value >= 0 for value in raw.device_counters.values()), raw.device_counters
    assert (profile["stall"] >= 0).all()


def assert_memory_books(raw: RawRun) -> None:
    """Accesses = hits + misses + merges, requests = responses, and what one level asks the next one gets."""
    c, d, profile = raw.counters, raw.device_counters, raw.profile
    assert c["l1_accesses"] == c["l1_hits"] + c["l1_misses"] + c["l1_merges"]
    assert c["l2_requests"] == c["l2_responses"]
    assert c["l1_misses"] == c["l2_read_sectors"] == d["l2_accesses"]
    assert d["l2_accesses"] == d["l2_hits"] + d["l2_far_hits"] + d["l2_misses"] + d["l2_merges"]
    assert c["l2_write_sectors"] == d["l2_writes"]
    assert c["l2_atomic_sectors"] == d["l2_atomics"]
    spaces = ("global_load", "global_store", "global_atomic", "local_load", "local_store", "shared_load",
              "shared_store", "shared_atomic")  # fmt: skip
    assert int(profile["requests"].sum()) == sum(c[f"{space}_requests"] for space in spaces)
    sectors = sum(c[f"{space}_sectors"] for space in spaces[:3]) + c["local_sectors"]
    assert int(profile["sectors"].sum()) == sectors
    shared = sum(c[f"shared_{kind}_conflicts"] for kind in ("load", "store", "atomic"))
    assert int(profile["conflicts"].sum()) == shared
    for kind in ("load", "store", "atomic"):
        assert c[f"shared_{kind}_conflicts"] <= c[f"shared_{kind}_wavefronts"] - c[f"shared_{kind}_requests"]
    far = profile[profile["lines"] > 0]
    assert (far["requests"] <= far["lines"]).all()
    assert (far["lines"] <= far["sectors"]).all() and (far["sectors"] <= 4 * far["lines"]).all()
    assert (profile["requests"] <= profile["issued"]).all()
    assert d["dram_row_hits"] + d["dram_row_misses"] == d["dram_read_bursts"] + d["dram_write_bursts"]


def assert_ceilings(raw: RawRun, spec: MachineSpec) -> None:
    """Cycles are never fewer than a resource's work divided by its peak."""
    c, d, cycles = raw.counters, raw.device_counters, raw.cycles
    kernel = cycles - raw.launch_cycles - spec.device.drain_cycles
    sms = spec.device.sms
    assert kernel >= 0
    assert c["warp_instructions"] <= kernel * sms * spec.sm.subcores
    assert c["lsu_busy_quarters"] <= 4 * (kernel + 64) * sms
    back = SECTOR_BYTES * (c["l2_read_sectors"] + 0)
    assert back <= kernel * sms * spec.network.response_bytes_per_cycle
    assert d["dram_busy_ticks"] <= (cycles + 1) * spec.dram.channels * TICKS_PER_CYCLE
    nanoseconds = cycles * 1000 / spec.device.clock_mhz
    moved = spec.dram.burst_bytes * d["dram_read_bursts"]
    assert moved <= nanoseconds * spec.dram.gigabytes_per_second * 1.01 + 4096


def assert_tiled(trace: TraceData) -> dict[Life, tuple[int, int]]:
    """Each warp is in exactly one state in each cycle of its life; gives (start, end) of every life."""
    events = trace.events
    order = np.lexsort((events["start"], events["warp"], events["block"], events["sm"]))
    lives: dict[Life, tuple[int, int]] = {}
    for event in events[order]:
        key = (int(event["sm"]), int(event["block"]), int(event["warp"]))
        start, end = int(event["start"]), int(event["start"]) + int(event["cycles"])
        assert start < end, f"warp {key}: a stretch of {end - start} cycles at {start}"
        assert 0 <= event["state"] < len(STATES)
        begin, until = lives.get(key, (start, start))
        assert start == until, f"warp {key}: cycles {until} to {start} are booked twice or not at all"
        lives[key] = (begin, end)
    selected = events[events["state"] == SELECTED]
    assert (selected["cycles"] == 1).all()
    return lives


def assert_same_sums(raw: RawRun, trace: TraceData) -> None:
    """The profile's stall stack and the trace tell the same, instruction by instruction, state by state."""
    events = trace.events
    stack = np.zeros_like(raw.profile["stall"])
    np.add.at(stack, (events["pc"], events["state"]), events["cycles"])
    assert np.array_equal(stack, raw.profile["stall"])


def assert_schedulers(
    raw: RawRun, trace: TraceData, spec: MachineSpec, lives: dict[Life, tuple[int, int]]
) -> None:
    """Every scheduler issues at most one instruction a cycle, and is issuing, stalled or empty in each."""
    subcores = spec.sm.subcores
    events = trace.events
    selected = events[events["state"] == SELECTED]
    places = Counter(
        zip(
            selected["sm"].tolist(),
            (selected["warp"] % subcores).tolist(),
            selected["start"].tolist(),
            strict=True,
        )
    )
    assert not places or max(places.values()) == 1, "a scheduler issued two instructions in one cycle"
    spans: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for (sm, _, slot), life in lives.items():
        spans[sm, slot % subcores].append(life)
    occupied = sum(_covered(found) for found in spans.values())
    books = raw.schedulers
    assert books["issued"] + books["stalled"] == occupied
    assert books["issued"] + books["stalled"] + books["empty"] == raw.cycles * spec.device.sms * subcores
    assert min(books.values()) >= 0, books


def _covered(spans: list[tuple[int, int]]) -> int:
    """Cycles that at least one of the stretches covers."""
    total, until = 0, -1
    for start, end in sorted(spans):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def assert_pipes(trace: TraceData, spec: MachineSpec) -> None:
    """No pipe and no issue port takes an instruction before it has done with the one before."""
    subcores = spec.sm.subcores
    classes = [spec.timing[row["timing"]] for row in trace.listing]
    events = trace.events[trace.events["state"] == SELECTED]
    free: dict[tuple[Any, ...], int] = {}
    for event in events[np.argsort(events["start"], kind="stable")]:
        timing, time = classes[int(event["pc"])], int(event["start"])
        place = (int(event["sm"]), int(event["warp"]) % subcores)
        for what, cycles in ((timing.pipe, timing.issue_cycles), ("port", timing.port_cycles)):
            assert free.get((*place, what), 0) <= time, f"{what} of {place} at cycle {time} is still taken"
            free[*place, what] = time + cycles


def assert_memory_path(trace: TraceData, spec: MachineSpec) -> None:
    """Queues keep their order and their size, the shared pipe its pace, and no latency is beaten."""
    rows = trace.memory
    waits = rows["dispatched"] - rows["issued"]
    assert ((waits == 0) | (waits >= spec.lsu.entry_cycles)).all()  # constants do not queue
    assert (rows["completed"] >= rows["dispatched"]).all()
    queued = rows[waits > 0]
    entries = spec.lsu.queue_entries
    for sm in np.unique(queued["sm"]):
        here = queued[queued["sm"] == sm]
        taken = np.sort(here["dispatched"])
        assert (np.diff(taken) >= spec.lsu.instruction_cycles).all(), f"SM {sm}: the pipe took two at once"
        for number in range(spec.sm.subcores):
            mine = here[here["warp"] % spec.sm.subcores == number]
            mine = mine[np.argsort(mine["issued"], kind="stable")]
            assert (np.diff(mine["dispatched"]) >= spec.lsu.dispatch_cycles).all()
            assert (mine["issued"][entries:] >= mine["dispatched"][:-entries]).all(), "a queue overflowed"
    served = rows[rows["level"] > 0]
    took = served["completed"] - served["issued"]
    assert (took >= spec.l1.hit_cycles).all(), "L1 was faster than a hit"
    # One that joins a request on its way waits less, but whoever asked first took the whole way to L2.
    away = took[served["level"] > 1]
    least = spec.network.request_cycles + spec.l2.hit_cycles + spec.network.response_cycles
    assert not len(away) or away.max() >= least, f"no answer from L2 took its {least} cycles"


def assert_inside(raw: RawRun, lives: dict[Life, tuple[int, int]], spec: MachineSpec) -> None:
    """Warps live between launch and drain, within the SM's limits, and every block has all its warps."""
    start, end = raw.launch_cycles, raw.cycles - spec.device.drain_cycles
    for life, (begin, until) in lives.items():
        assert start <= begin < until <= end, f"warp {life} lives from {begin} to {until}"
    warps = Counter((sm, block) for sm, block, _ in lives)
    assert len({block for _, block in warps}) == len(warps) == raw.blocks, "a block ran on two SMs"
    assert set(warps.values()) == {-(-raw.threads // raw.blocks // 32)}
    for sm in range(spec.device.sms):
        slots: dict[int, int] = {}
        mine = sorted((span, slot) for (number, _, slot), span in lives.items() if number == sm)
        for (begin, until), slot in mine:
            assert 0 <= slot < spec.sm.warps
            assert slots.get(slot, 0) <= begin, f"SM {sm}: two warps in slot {slot} at {begin}"
            slots[slot] = until


def assert_idle(host: Host) -> None:
    """After a run nothing is left: queues, MSHRs, requests, warps, blocks, allocations."""
    sms = host.state.sms
    for name in ("memop_count", "mshr_count", "waiter_count", "requests_out", "outbox_count", "inbox_count",
                 "ended_blocks", "lsu_blocked"):  # fmt: skip
        assert not sms[name].any(), f"{name} is {sms[name]} after the run"
    for name in ("warps", "queue_count"):
        assert not sms["subcores"][name].any(), f"sub-cores' {name} after the run"
    assert not sms["warps"]["used"].any()
    assert not sms["blocks"]["used"].any()
    assert host.allocator.used == 0 and not host.allocator.live
    host.state.memory.check_idle()
