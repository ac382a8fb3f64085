"""The memory side as a whole: answers independent of windows, laws of requests and bandwidth, idle after."""

from __future__ import annotations

from typing import Any

import memory_load
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_rig import Rig, machine

from tinygpu.sim import counters
from tinygpu.sim.state import ATOMIC, NEVER, READ, REDUCTION, WRITE
from tinygpu.sim.units import memory_side

SMALL: dict[str, Any] = {
    "device_sms": 3, "l2_slices": 4, "l2_bytes": 16384, "l2_ways": 2, "l2_mshrs": 2, "dram_channels": 2,
    "dram_queue_entries": 3,
}  # fmt: skip
REQUESTS = st.lists(
    st.tuples(
        st.integers(0, 2),  # SM
        st.sampled_from([READ, READ, READ, WRITE, ATOMIC, REDUCTION]),
        st.integers(0, 60),  # line
        st.integers(1, 15),  # sectors
        st.integers(0, 90),  # cycles since the SM's last request
        st.integers(1, 32),  # lanes on one address
    ),
    max_size=60,
)
Requests = list[tuple[int, int, int, int, int, int]]


def timed(requests: Requests) -> list[tuple[int, int, int, int, int, int, int]]:
    """(time, sm, kind, line, sectors, lanes, name), in the order of time."""
    now = [0, 0, 0]
    found = []
    for name, (sm, kind, line, sectors, gap, lanes) in enumerate(requests):
        now[sm] += gap
        found.append((now[sm], sm, kind, line, sectors, lanes, name))
    return sorted(found)


def run(requests: Requests, windows: list[int], reverse: bool = False, **changes: Any) -> tuple[Any, ...]:
    """All answers and counters when time goes on in windows of these lengths, taken in turn.

    Within a window the SMs send one after another, in the order of their numbers or the other way.
    """
    rig = Rig(machine(**{**SMALL, **changes}))
    waiting = timed(requests)
    now = turn = 0
    while waiting:
        end = now + windows[turn % len(windows)]
        turn += 1
        due = [r for r in waiting if r[0] < end]
        waiting = waiting[len(due) :]
        for time, sm, kind, line, sectors, lanes, name in sorted(
            due, key=lambda r: -r[1] if reverse else r[1]
        ):
            rig.request(sm, kind, line, sectors, time, name, lanes)
        rig.advance(end)
        now = end
    rig.finish()
    for sm in range(3):
        rig.sms[sm].coalesced[0] = 0
    return [rig.answers(sm) for sm in range(3)], rig.device.counters.tolist(), rig.sms["counters"].tolist()


@settings(max_examples=40, deadline=None)
@given(REQUESTS, st.lists(st.integers(1, 20), min_size=1, max_size=4), st.booleans())
def test_answers_do_not_depend_on_windows_or_on_the_order_of_sms(
    requests: Requests, windows: list[int], reverse: bool
) -> None:
    assert run(requests, windows, reverse) == run(requests, [20])


@settings(max_examples=60, deadline=None)
@given(
    REQUESTS,
    st.fixed_dictionaries(
        {
            "l2_replacement": st.sampled_from(["lru", "fifo", "random"]),
            "l2_near_copies": st.booleans(),
            "l2_write_back": st.booleans(),
            "l2_partitions": st.sampled_from([1, 2, 4]),
            "dram_order": st.sampled_from(["fr_fcfs", "fcfs"]),
            "dram_refresh_interval_ns": st.sampled_from([0, 700]),
            "dram_refresh_ns": st.just(100),
            "dram_patience_cycles": st.sampled_from([0, 200]),
        }
    ),
)
def test_laws(requests: Requests, changes: dict[str, Any]) -> None:
    answers, device, sms = run(requests, [20], **changes)
    by_name = dict(zip(counters.DEVICE_NAMES, device, strict=True))
    sent = timed(requests)
    for sm in range(3):
        mine = {r[6]: r for r in sent if r[1] == sm}
        assert sorted(name for _, _, name, _, _ in answers[sm]) == sorted(mine)
        for time, kind, name, sectors, level in answers[sm]:
            start, _, asked_kind, _, asked_sectors, _, _ = mine[name]
            assert (kind, sectors) == (asked_kind, asked_sectors)
            assert level in (2, 3, 4)
            assert time > start + 20 + 50 + 30  # no answer is faster than an L2 hit
    loads = sum(r[4].bit_count() for r in sent if r[2] == READ)
    parts = ("l2_hits", "l2_far_hits", "l2_misses", "l2_merges")
    assert by_name["l2_accesses"] == loads == sum(by_name[name] for name in parts)
    assert by_name["l2_writes"] == sum(r[4].bit_count() for r in sent if r[2] == WRITE)
    assert by_name["l2_atomics"] == sum(r[4].bit_count() for r in sent if r[2] in (ATOMIC, REDUCTION))
    assert by_name["dram_read_bursts"] >= by_name["l2_misses"]
    written = by_name["l2_write_backs"] + (0 if changes["l2_write_back"] else by_name["l2_writes"])
    assert by_name["dram_write_bursts"] == written
    bursts = by_name["dram_read_bursts"] + by_name["dram_write_bursts"]
    assert bursts == by_name["dram_row_hits"] + by_name["dram_row_misses"]
    names = counters.NAMES
    assert sum(row[names.index("l2_requests")] for row in sms) == len(requests)


@settings(max_examples=30, deadline=None)
@given(REQUESTS)
def test_limits_hold_in_every_cycle(requests: Requests) -> None:
    rig = Rig(machine(**SMALL))
    for time, sm, kind, line, sectors, lanes, name in timed(requests):
        rig.request(sm, kind, line, sectors, time, name, lanes)
    ports, channels = rig.memory.arrays["ports"], rig.memory.arrays["channels"]
    now = 0
    while (now := int(memory_side.next_event(rig.device, rig.record))) != NEVER or rig.sms[
        "outbox_count"
    ].any():
        rig.advance(now + 1 if now != NEVER else 21)
        assert ports["misses"].max() <= 2
        assert channels["seen"].max() <= 3
        assert (channels["wait_head"] == 0)[channels["seen"] < 3].all()
    rig.memory.check_idle()


def test_next_event_is_the_cycle_of_the_next_event() -> None:
    rig = Rig(machine())
    assert memory_side.next_event(rig.device, rig.record) == NEVER
    rig.request(0, READ, 0, 1, time=100)
    rig.advance(100)  # the request is known now, and comes to L2 at 120
    assert memory_side.next_event(rig.device, rig.record) == 120
    seen = []
    while (now := int(memory_side.next_event(rig.device, rig.record))) != NEVER:
        seen.append(now)
        rig.advance(now)
        assert memory_side.next_event(rig.device, rig.record) == now  # not before its cycle
        rig.advance(now + 1)
    assert seen == [120, 120 + 14 + 12 + 1 + 100, 120 + 127 + 50]
    assert rig.answers(0) == [(120 + 127 + 50 + 1 + 30, READ, 0, 1, 4)]


def test_requests_of_one_tick_are_served_by_sm_number() -> None:
    times = {}
    for order in ([0, 1, 2], [2, 0, 1]):
        rig = Rig(machine(device_sms=3, l2_partitions=1))
        for sm in order:
            rig.request(sm, WRITE, 0, 15, time=5)
        rig.finish()
        times[tuple(order)] = [rig.answers(sm)[0][0] for sm in range(3)]
    assert times[0, 1, 2] == times[2, 0, 1] == [5 + 101, 5 + 103, 5 + 105]


def test_the_same_load_gives_the_same_state_to_the_last_byte() -> None:
    def load() -> list[bytes]:
        rig = Rig(machine(device_sms=4, l2_bytes=32768, l2_ways=2, l2_replacement="random"))
        memory_load.drive(rig.device, rig.record, memory_load.COPY, 40, 300, 1 << 12, 20)
        rig.finish()
        return [rig.memory.arrays[name].tobytes() for name in ("tags", "banks", "channels", "slices")]

    assert load() == load()


@pytest.mark.parametrize("window", [1, 7, 20])
def test_closed_loop_load_does_not_depend_on_the_window(window: int) -> None:
    def load(length: int) -> tuple[int, list[int]]:
        rig = Rig(machine(device_sms=4))
        cycles = memory_load.drive(rig.device, rig.record, memory_load.COPY, 25, 200, 1 << 12, length)
        rig.finish()
        return int(cycles), rig.device.counters.tolist()

    assert load(window) == load(20)


def test_thousands_of_launches_leave_nothing_behind() -> None:
    rig = Rig(machine(device_sms=4))
    fresh = []
    for _ in range(1000):
        memory_load.drive(rig.device, rig.record, memory_load.RANDOM_LINES, 8, 12, 1 << 14, 20)
        rig.finish()
        fresh.append(int(rig.memory.record[0]["transaction_fresh"]))
    assert fresh[-1] == max(fresh[:100])


def test_reset_after_a_launch_that_broke_off() -> None:
    rig = Rig(machine())
    for i in range(100):
        rig.request(i % 2, [READ, WRITE, ATOMIC][i % 3], i, 15)
    rig.advance(150)
    with pytest.raises(AssertionError, match="arrival_count is 2, not 0"):
        rig.memory.check_idle()
    rig.memory.begin_launch()
    rig.memory.check_idle()
    before = rig.memory.record.tobytes()
    rig.memory.begin_launch()  # nothing to do
    assert rig.memory.record.tobytes() == before
    rig.memory.flush()
    for sm in range(2):
        core = rig.sms[sm]
        core.outbox_count = core.inbox_count = core.requests_out = core.port_free = core.response_free = 0
    rig.request(0, READ, 0, 1, time=100)
    rig.finish()
    assert rig.answers(0) == [(328, READ, 0, 1, 4)]


def test_l2_bandwidth_is_never_beaten() -> None:
    rig = Rig(machine(device_sms=8, l2_partitions=1, l2_slice_bytes_per_cycle=16))
    memory_load.drive(rig.device, rig.record, memory_load.STREAM, 60, 64, 512, 20)  # now all is in L2
    before = int(rig.device.now)
    rig.device.counters[:] = 0
    end = int(memory_load.drive(rig.device, rig.record, memory_load.STREAM, 60, 600, 512, 20))
    rig.finish()
    assert rig.device_counter("l2_hits") == rig.device_counter("l2_accesses") == 8 * 600 * 4
    rate = rig.device_counter("l2_hits") * 32 / (end - before)
    assert 0.75 * 8 * 16 < rate <= 8 * 16


def test_the_response_port_limits_a_single_sm() -> None:
    rig = Rig(machine(device_sms=1, l2_partitions=1, network_response_bytes_per_cycle=32))
    memory_load.drive(rig.device, rig.record, memory_load.STREAM, 60, 256, 256, 20)
    before = int(rig.device.now)
    end = int(memory_load.drive(rig.device, rig.record, memory_load.STREAM, 100, 1000, 256, 20))
    rate = 1000 * 128 / (end - before)
    assert 0.85 * 32 < rate <= 32


H200: dict[str, Any] = {
    "device_sms": 132, "device_clock_mhz": 1980, "network_request_cycles": 60, "network_response_cycles": 60,
    "network_response_bytes_per_cycle": 96, "network_far_cycles": 210, "l2_slices": 96, "l2_bytes": 62914560,
    "l2_ways": 16, "l2_hit_cycles": 126, "l2_slice_bytes_per_cycle": 54, "l2_mshrs": 128,
    "dram_channels": 192,
    "dram_banks": 16, "dram_gigabytes_per_second": 4800, "dram_queue_entries": 64, "dram_path_ns": 85,
    "dram_precharge_ns": 14, "dram_column_ns": 14, "dram_turnaround_ns": 8, "dram_refresh_interval_ns": 3900,
    "dram_refresh_ns": 350,
}  # fmt: skip


def test_one_sm_of_the_h200_alone_gets_more_than_its_share() -> None:
    """93 B a cycle for one SM alone, 37 to 39 for each when all read (hardware measurements)."""
    rates = []
    for sms in (1, 132):
        rig = Rig(machine(**{**H200, "device_sms": sms}))
        memory_load.drive(rig.device, rig.record, memory_load.STREAM, 250, 8000 // sms, 8000, 60)
        for turn in range(2):
            before = int(rig.device.now)
            each = 1000 if turn else 200
            end = int(memory_load.drive(rig.device, rig.record, memory_load.STREAM, 250, each, 8000, 60))
        rates.append(1000 * 128 / (end - before))
    assert 75 < rates[0] <= 96
    assert 32 < rates[1] < 40
