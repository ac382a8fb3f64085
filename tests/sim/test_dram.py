"""DRAM: the place of a line, row hits and misses, order, turnaround, refresh, and bandwidth."""

from __future__ import annotations

from collections import Counter
from typing import Any

import memory_load
import pytest
from memory_rig import Rig, machine

from tinygpu.sim.state import READ
from tinygpu.sim.units import cache, dram, memory_events, wheel

# The bench: a nanosecond is a cycle of 256 ticks; activate 14, precharge 16, column 12, path 100; a
# burst of 32 bytes lasts one cycle (128 GB/s over four channels).
ACTIVATE, PRECHARGE, COLUMN, PATH, BURST, TURN = 14, 16, 12, 100, 1, 5


class Channel:
    """One channel alone: accesses go straight into its queue, ends of transfers come out."""

    def __init__(self, **changes: Any) -> None:
        changes = {"dram_channels": 1, "dram_gigabytes_per_second": 32, **changes}
        self.rig = Rig(machine(**changes))
        self.memory = self.rig.memory.record[0]
        self.count = 0

    def access(self, line: int, at: int = 0, sectors: int = 1, write: int = 0) -> int:
        """Enqueue an access of a line at a cycle; its number."""
        self.run(at)
        rig = self.rig
        dram.enqueue(rig.device, self.memory, rig.record, line, sectors, write, 0, at * 256)
        self.count += 1
        return self.count

    def run(self, until: int) -> None:
        """Make the decisions that are due before a cycle."""
        channel = self.rig.memory.arrays["channels"][0]
        lead = PRECHARGE + ACTIVATE + COLUMN
        while channel["scheduled"] and channel["bus_free"] // 256 - lead < until:
            channel["scheduled"] = 0
            dram.decide(
                self.rig.device, self.memory, self.rig.record, 0, int(channel["bus_free"]) - lead * 256
            )

    def ends(self) -> dict[int, int]:
        """The cycle in which each access is done: number in order of coming -> cycle."""
        self.run(1 << 40)
        done = {}
        while self.memory.wheel_count + self.memory.far_count:
            time = int(wheel.next_ticks(self.memory))
            what = int(wheel.take(self.memory, time))
            if memory_events.kind_of(what) == memory_events.DATA:
                done[memory_events.number_of(what)] = time // 256
        return done


def line_in(channel: Channel, bank: int, row: int, chunk: int = 0) -> int:
    """A line of a bank and row of a single channel: the row'th row that the bank owns."""
    spec = channel.rig.record
    found = -1
    for number in range(1000):
        if cache.spread(number, spec.dram_banks) == bank:
            found += 1
            if found == row:
                return number * 8 + chunk
    raise AssertionError("no such row")


@pytest.mark.parametrize("channels", [4, 5, 80, 96, 192])
@pytest.mark.parametrize("stride", [1, 2, 3, 16, 64, 96, 192, 1024, 8192])
def test_any_stride_spreads_over_all_channels_and_banks(channels: int, stride: int) -> None:
    rig = Rig(machine(dram_channels=channels))
    used = Counter(int(dram.channel_of(rig.record, i * stride)) for i in range(32 * channels))
    assert set(used) == set(range(channels))
    assert max(used.values()) <= 80  # the mean is 32
    row = 8 * channels  # lines of a row of every channel
    rows = [int(dram.row_number(rig.record, i * stride * row)) for i in range(64)]
    assert {int(cache.spread(number, 4)) for number in rows} == {0, 1, 2, 3}


def test_every_line_has_a_place_of_its_own() -> None:
    rig = Rig(machine(dram_channels=3, dram_row_bytes=512))
    spec = rig.record
    places = Counter(
        (int(dram.channel_of(spec, line)), int(dram.row_number(spec, line))) for line in range(3 * 4 * 1000)
    )
    assert set(places.values()) == {4}  # a row of 512 bytes holds four lines
    rows = Counter((int(cache.spread(row, 4)), row // 4) for row in range(4000))
    assert set(rows.values()) == {1}


def test_neighbouring_bytes_share_channel_and_row() -> None:
    rig = Rig(machine(dram_interleave_bytes=512))
    for first in range(0, 400, 4):
        lines = range(first, first + 4)
        assert len({int(dram.channel_of(rig.record, line)) for line in lines}) == 1
        assert len({int(dram.row_number(rig.record, line)) for line in lines}) == 1


@pytest.mark.parametrize(
    ("burst_bytes", "sectors", "bursts"),
    [(32, 0b1111, 4), (32, 0b0101, 2), (16, 0b0001, 2), (64, 0b0001, 1), (64, 0b0011, 1), (64, 0b0110, 2),
     (128, 0b1001, 1)],
)  # fmt: skip
def test_bursts_of_a_line(burst_bytes: int, sectors: int, bursts: int) -> None:
    rig = Rig(machine(dram_burst_bytes=burst_bytes))
    assert dram.bursts(rig.record, sectors) == bursts


def test_a_closed_row_an_open_row_and_another_row() -> None:
    channel = Channel()
    closed = channel.access(line_in(channel, 0, 0), at=0)
    hit = channel.access(line_in(channel, 0, 0, 1), at=1000)
    conflict = channel.access(line_in(channel, 0, 1), at=2000)
    done = channel.ends()
    assert done[closed] == ACTIVATE + COLUMN + BURST + PATH
    assert done[hit] == 1000 + COLUMN + BURST + PATH
    assert done[conflict] == 2000 + PRECHARGE + ACTIVATE + COLUMN + BURST + PATH
    assert channel.rig.device_counter("dram_row_hits") == 1
    assert channel.rig.device_counter("dram_row_misses") == 2


def test_row_hits_follow_one_another_without_a_gap() -> None:
    channel = Channel()
    first = channel.access(line_in(channel, 0, 0), sectors=15)
    others = [channel.access(line_in(channel, 0, 0, chunk), sectors=15) for chunk in (1, 2, 3)]
    done = channel.ends()
    begin = ACTIVATE + COLUMN + PATH
    assert [done[i] for i in (first, *others)] == [begin + 4, begin + 8, begin + 12, begin + 16]
    assert channel.rig.device_counter("dram_busy_ticks") == 16 * 256


def test_activates_of_other_banks_overlap_transfers() -> None:
    channel = Channel()
    for bank in range(4):
        channel.access(line_in(channel, bank, 0), sectors=15)
    begin = ACTIVATE + COLUMN + PATH
    assert sorted(channel.ends().values()) == [begin + 4, begin + 8, begin + 12, begin + 16]


def test_a_row_hit_overtakes_and_fcfs_does_not() -> None:
    order = {}
    for policy in ("fr_fcfs", "fcfs"):
        channel = Channel(dram_order=policy)
        channel.access(line_in(channel, 0, 0), sectors=15)
        for chunk in range(1, 8):  # keeps the bus taken for longer than a row change
            channel.access(line_in(channel, 0, 0, chunk), sectors=15)
            channel.access(line_in(channel, 0, 0, chunk), sectors=15)
        other = channel.access(line_in(channel, 0, 1))
        hit = channel.access(line_in(channel, 0, 0, 1))
        done = channel.ends()
        order[policy] = done[hit] < done[other]
    assert order == {"fr_fcfs": True, "fcfs": False}


def test_patience_ends_overtaking() -> None:
    """A row that is asked for again and again holds up another row's request for `patience_cycles`."""
    waited = {}
    for patience in (0, 100, 400):
        channel = Channel(dram_patience_cycles=patience, dram_queue_entries=512)
        other = 0
        for time in range(0, 1000, 2):
            channel.access(line_in(channel, 0, 0, time // 2 % 8), at=time, sectors=15)
            if time == 60:
                other = channel.access(line_in(channel, 0, 1), at=time)
        waited[patience] = channel.ends()[other] - 60 - PATH
    assert waited[0] < waited[100] < waited[400]
    assert 100 < waited[100] < 200
    assert 400 < waited[400] < 500


def test_patience_counts_from_when_the_scheduler_sees_a_request() -> None:
    """A backlog beyond the queue does not make everything urgent: rows are still used together."""
    channel = Channel(dram_queue_entries=8, dram_patience_cycles=200)
    for i in range(80):
        channel.access(line_in(channel, 0, i % 2, i // 2 % 8), sectors=15)
    assert max(channel.ends().values()) > 3 * 200
    assert channel.rig.device_counter("dram_row_misses") < 80 // 3


def test_a_bank_that_is_ready_goes_before_one_that_is_not() -> None:
    channel = Channel(dram_queue_entries=8)
    for chunk in range(8):
        channel.access(line_in(channel, 0, 0, chunk), sectors=15)
        channel.access(line_in(channel, 0, 0, chunk), sectors=15)
    conflict = channel.access(line_in(channel, 0, 1))
    free = channel.access(line_in(channel, 1, 0))
    done = channel.ends()
    assert done[free] < done[conflict]


def test_turning_the_bus_around_costs_time() -> None:
    channel = Channel()
    read = channel.access(line_in(channel, 0, 0), sectors=15)
    write = channel.access(line_in(channel, 0, 0, 1), sectors=15, write=1)
    done = channel.ends()
    assert done[read] == ACTIVATE + COLUMN + 4 + PATH
    assert done[write] == ACTIVATE + COLUMN + 4 + TURN + 4
    assert channel.rig.device_counter("dram_read_bursts") == 4
    assert channel.rig.device_counter("dram_write_bursts") == 4


def test_reads_go_before_writes_until_these_fill_three_quarters() -> None:
    channel = Channel(dram_queue_entries=8)
    for chunk in range(8):  # 32 cycles of the bus, so that the rest has to queue
        channel.access(line_in(channel, 0, 0, chunk), sectors=15)
        channel.access(line_in(channel, 0, 0, chunk), sectors=15)
    writes = [channel.access(line_in(channel, 1, 0, chunk), sectors=1, write=1) for chunk in range(4)]
    reads = [channel.access(line_in(channel, 2, 0, chunk), sectors=1) for chunk in range(4)]
    done = channel.ends()
    assert max(done[i] for i in reads) - PATH < min(done[i] for i in writes)


def test_writes_drain_together() -> None:
    """Of alternating reads and writes the bus turns around once for a batch, not once for each."""
    channel = Channel(dram_queue_entries=16)
    count = 200
    for i in range(count):
        channel.access(line_in(channel, i % 4, 0, i % 8), sectors=15, write=i & 1)
    last = max(channel.ends().values())
    assert last < count * 4 * BURST + count // 8 * TURN + 200
    assert channel.rig.device_counter("dram_write_bursts") == count // 2 * 4


def test_a_refresh_holds_the_channel_up_and_closes_its_rows() -> None:
    channel = Channel(dram_refresh_interval_ns=1000, dram_refresh_ns=200)
    # One channel of one: it refreshes at 0, 1000, 2000 ...
    during = channel.access(line_in(channel, 0, 0), at=50)
    hit = channel.access(line_in(channel, 0, 0, 1), at=900)
    after = channel.access(line_in(channel, 0, 0, 2), at=1300)
    done = channel.ends()
    assert done[during] == 200 + ACTIVATE + COLUMN + BURST + PATH
    assert done[hit] == 900 + COLUMN + BURST + PATH
    assert done[after] == 1300 + ACTIVATE + COLUMN + BURST + PATH


def test_channels_take_turns_to_refresh() -> None:
    rig = Rig(machine(dram_refresh_interval_ns=1000, dram_refresh_ns=200))
    free = [int(dram.after_refresh(rig.record, channel, 0)) // 256 for channel in range(4)]
    assert free == [0, 0, 0, 200]
    assert int(dram.after_refresh(rig.record, 0, 750 * 256)) // 256 == 950
    assert int(dram.after_refresh(rig.record, 0, 749 * 256)) // 256 == 749


def test_the_queue_is_as_long_as_the_machine_says() -> None:
    channel = Channel(dram_queue_entries=4)
    for i in range(100):
        channel.access(line_in(channel, i % 4, i % 3), sectors=15)
    record = channel.rig.memory.arrays["channels"][0]
    assert record["seen"] == 4
    assert record["wait_head"] != 0
    assert len(channel.ends()) == 100
    assert record["seen"] == 0
    assert record["wait_head"] == 0


H200 = {
    "device_sms": 132, "device_clock_mhz": 1980, "network_request_cycles": 60, "network_response_cycles": 60,
    "network_response_bytes_per_cycle": 96, "network_far_cycles": 210, "l2_slices": 96, "l2_bytes": 62914560,
    "l2_ways": 16, "l2_hit_cycles": 126, "l2_mshrs": 128, "dram_channels": 192, "dram_banks": 16,
    "dram_gigabytes_per_second": 4800, "dram_queue_entries": 64, "dram_path_ns": 85, "dram_precharge_ns": 14,
    "dram_column_ns": 14, "dram_turnaround_ns": 8, "dram_refresh_interval_ns": 3900, "dram_refresh_ns": 350,
}  # fmt: skip


def gigabytes_per_second(pattern: int, sectors: int, in_flight: int, each: int, span: int) -> float:
    """Read bandwidth of the H200's memory side with `in_flight` requests of every SM out."""
    rig = Rig(machine(**H200))
    cycles = memory_load.drive(rig.device, rig.record, pattern, in_flight, each, span, 60)
    rig.finish()
    read = 32 * rig.device_counter("dram_read_bursts")
    assert read <= 132 * each * sectors * 32
    busy = rig.device_counter("dram_busy_ticks")
    assert busy <= 192 * cycles * 256
    return read / (cycles / 1.98)


def test_streaming_reads_reach_three_quarters_of_the_peak_and_not_nine_tenths() -> None:
    assert 0.75 * 4800 < gigabytes_per_second(memory_load.STREAM, 4, 200, 1000, 1 << 30) < 0.90 * 4800


def test_random_sectors_get_clearly_less_than_a_stream() -> None:
    assert gigabytes_per_second(memory_load.RANDOM_SECTORS, 1, 400, 1000, 1 << 26) < 0.6 * 4800


def test_bandwidth_needs_requests_in_flight() -> None:
    few, some = (gigabytes_per_second(memory_load.STREAM, 4, n, 40 * n, 1 << 30) for n in (8, 16))
    assert some == pytest.approx(2 * few, rel=0.15)


@pytest.mark.parametrize("pattern", [memory_load.STREAM, memory_load.RANDOM_LINES, memory_load.COPY])
@pytest.mark.parametrize(
    "changes", [{}, {"dram_order": "fcfs"}, {"dram_channels": 3}, {"dram_burst_bytes": 64}]
)
def test_no_run_beats_the_bus(pattern: int, changes: dict[str, Any]) -> None:
    rig = Rig(machine(device_sms=4, l2_bytes=32768, l2_ways=2, **changes))
    cycles = memory_load.drive(rig.device, rig.record, pattern, 30, 300, 1 << 24, 20)
    rig.finish()
    bursts = rig.device_counter("dram_read_bursts") + rig.device_counter("dram_write_bursts")
    assert bursts == rig.device_counter("dram_row_hits") + rig.device_counter("dram_row_misses")
    assert rig.device_counter("dram_busy_ticks") == bursts * rig.record.dram_burst_ticks
    read = rig.device_counter("dram_read_bursts") * rig.spec.dram.burst_bytes
    assert read <= rig.spec.dram.gigabytes_per_second * cycles
    assert (
        rig.spec.dram.channels * cycles * 256
        >= rig.device_counter("dram_read_bursts") * rig.record.dram_burst_ticks
    )


def test_one_request_is_one_answer() -> None:
    rig = Rig(machine())
    rig.request(0, READ, 0, 15)
    rig.finish()
    assert len(rig.answers(0)) == 1
