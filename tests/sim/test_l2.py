"""The L2: homes, copies, hits, merges, stores, atomics, replacement, bandwidth, limits; counted by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from memory_rig import Rig, lines_with_home, machine

from tinygpu.sim.state import ATOMIC, READ, REDUCTION, WRITE
from tinygpu.sim.units import l2_places

# Of the bench machine, unloaded: to a slice 20 cycles, look-up 50, one sector 1, to the SM 30.
NEAR = 20 + 50 + 1 + 30
FAR = NEAR + 100
# A closed row: activate 14, column 12, one burst 1, path 100.
DRAM = NEAR + 14 + 12 + 1 + 100


def ask(rig: Rig, sm: int, kind: int, line: int, sectors: int = 1, lanes: int = 1) -> tuple[int, int]:
    """(cycles, level) of one request on an idle machine; the bench's time goes on by 10000."""
    core = rig.sms[sm]
    start = 10000 * (1 + rig.used)
    rig.used += 1
    rig.request(sm, kind, line, sectors, time=start, lanes=lanes)
    rig.finish()
    (time, answered, _, came, level) = rig.answers(sm)[0]
    assert (answered, came) == (kind, sectors)
    core.inbox_count = core.requests_out = 0
    return time - start, level


@pytest.mark.parametrize("slices", [8, 10, 80, 96, 192])
@pytest.mark.parametrize("stride", [1, 2, 8, 80, 96, 192, 1024, 4096])
def test_any_stride_spreads_over_all_slices_and_sets(slices: int, stride: int) -> None:
    rig = Rig(machine(l2_slices=slices, l2_bytes=slices * 16384))
    row = rig.record
    homes = Counter(int(l2_places.home_slice(row, i * stride)) for i in range(40 * slices))
    assert set(homes) == set(range(slices))
    assert max(homes.values()) <= 90  # the mean is 40
    sets = {int(l2_places.set_of(rig.memory.record[0], row, 3, i * stride)) for i in range(64 * slices)}
    assert len(sets) == 16  # 16 sets of 8 ways in a slice of 16 KB


def test_a_line_misses_then_hits_nearby() -> None:
    rig = Rig(machine())
    (line,) = lines_with_home(rig, 0, 1)
    assert ask(rig, 0, READ, line) == (DRAM, 4)
    assert ask(rig, 0, READ, line) == (NEAR, 2)
    counters = ("l2_accesses", "l2_hits", "l2_far_hits", "l2_misses", "l2_merges")
    assert [rig.device_counter(name) for name in counters] == [2, 1, 0, 1, 0]


def test_a_far_line_is_fetched_once_and_then_near() -> None:
    rig = Rig(machine())
    near, far = lines_with_home(rig, 0, 1)[0], lines_with_home(rig, 1, 1)[0]
    assert ask(rig, 1, READ, far) == (DRAM, 4)  # at home for SM 1
    assert ask(rig, 0, READ, far) == (FAR, 3)
    assert ask(rig, 0, READ, far) == (NEAR, 2)
    assert ask(rig, 0, READ, near) == (DRAM, 4)
    assert ask(rig, 1, READ, near) == (FAR, 3)
    assert ask(rig, 1, READ, near) == (NEAR, 2)
    counters = ("l2_accesses", "l2_hits", "l2_far_hits", "l2_misses", "l2_merges")
    assert [rig.device_counter(name) for name in counters] == [6, 2, 2, 2, 0]


def test_a_far_miss_pays_both() -> None:
    rig = Rig(machine())
    (far,) = lines_with_home(rig, 1, 1)
    assert ask(rig, 0, READ, far) == (DRAM + 100, 4)


def test_without_copies_every_far_access_is_far() -> None:
    rig = Rig(machine(l2_near_copies=False))
    (far,) = lines_with_home(rig, 1, 1)
    assert ask(rig, 0, READ, far) == (DRAM + 100, 4)
    assert [ask(rig, 0, READ, far) for _ in range(2)] == [(FAR, 3), (FAR, 3)]
    assert rig.device_counter("l2_far_hits") == 2


def test_one_partition_has_no_far_lines() -> None:
    rig = Rig(machine(l2_partitions=1))
    for line in range(16):
        ask(rig, line % 2, READ, line)
        assert ask(rig, 1, READ, line) == (NEAR, 2)


def test_only_missing_sectors_are_read_from_dram() -> None:
    rig = Rig(machine())
    ask(rig, 0, READ, 0, sectors=0b0001)
    ask(rig, 0, READ, 0, sectors=0b1111)
    assert rig.device_counter("dram_read_bursts") == 4
    counters = ("l2_accesses", "l2_hits", "l2_misses")
    assert [rig.device_counter(name) for name in counters] == [5, 1, 4]


def test_requests_for_a_line_on_its_way_merge() -> None:
    rig = Rig(machine(device_sms=4))
    for sm in (0, 2):
        rig.request(sm, READ, 0, 0b0011)
    rig.request(2, READ, 0, 0b0110, time=1)
    rig.finish()
    counters = ("l2_accesses", "l2_misses", "l2_merges", "dram_read_bursts")
    assert [rig.device_counter(name) for name in counters] == [6, 3, 3, 3]
    assert [level for *_, level in rig.answers(0) + rig.answers(2)] == [4, 4, 4]


def test_two_sms_share_the_fetch_of_a_copy() -> None:
    rig = Rig(machine(device_sms=4))
    (far,) = lines_with_home(rig, 1, 1)
    ask(rig, 1, READ, far)
    for sm in (0, 2):
        rig.request(sm, READ, far, 1, time=50000)
    rig.finish()
    assert rig.answers(0) == [(50000 + FAR, READ, 0, 1, 3)]
    # The second looks one slice-time (half a cycle) later, merges, and is answered with the first.
    assert rig.answers(2) == [(50000 + FAR, READ, 0, 1, 3)]
    assert rig.device_counter("l2_merges") == 1


def test_a_store_is_kept_and_its_sectors_then_hit() -> None:
    rig = Rig(machine())
    assert ask(rig, 0, WRITE, 0, sectors=0b0101) == (NEAR, 2)
    assert ask(rig, 0, READ, 0, sectors=0b0101)[1] == 2
    assert ask(rig, 0, READ, 0, sectors=0b1000)[1] == 4
    assert rig.device_counter("l2_writes") == 2
    assert rig.device_counter("dram_write_bursts") == 0


@pytest.mark.parametrize("kind", [WRITE, ATOMIC, REDUCTION])
def test_what_is_written_at_home_leaves_the_copies(kind: int) -> None:
    rig = Rig(machine())
    (far,) = lines_with_home(rig, 1, 1)
    ask(rig, 1, READ, far, sectors=15)
    ask(rig, 0, READ, far, sectors=15)
    assert ask(rig, 0, READ, far)[1] == 2
    ask(rig, 1, kind, far, sectors=0b0001)
    assert ask(rig, 0, READ, far, sectors=0b1110)[1] == 2
    assert ask(rig, 0, READ, far, sectors=0b0001) == (FAR, 3)


def test_a_far_store_goes_home() -> None:
    rig = Rig(machine())
    (far,) = lines_with_home(rig, 1, 1)
    assert ask(rig, 0, WRITE, far) == (FAR, 3)
    assert ask(rig, 1, READ, far) == (NEAR, 2)


@pytest.mark.parametrize("lanes", [1, 2, 3, 8, 16, 31, 32])
def test_atomics_on_one_address_take_a_turn_each(lanes: int) -> None:
    rig = Rig(machine(l2_atomic_lane_cycles=3))
    ask(rig, 0, READ, 0)
    assert ask(rig, 0, ATOMIC, 0, lanes=lanes) == (NEAR + 3 * lanes, 2)


@pytest.mark.parametrize("sectors", [0b1, 0b11, 0b1111])
def test_atomics_on_different_addresses_take_a_turn_a_sector(sectors: int) -> None:
    rig = Rig(machine(l2_atomic_sector_cycles=5, network_response_bytes_per_cycle=128))
    ask(rig, 0, READ, 0, sectors)
    assert ask(rig, 0, ATOMIC, 0, sectors) == (NEAR + 5 * sectors.bit_count(), 2)
    assert rig.device_counter("l2_atomics") == sectors.bit_count()


def test_atomics_queue_for_the_unit_of_their_slice() -> None:
    rig = Rig(machine(l2_partitions=1))
    ask(rig, 0, READ, 0)
    for sm in (0, 1):
        rig.request(sm, REDUCTION, 0, 1, time=50000, lanes=32)
    rig.finish()
    assert rig.answers(0)[0][0] == 50000 + NEAR + 64
    assert rig.answers(1)[0][0] == 50000 + NEAR + 128


def test_an_atomic_on_a_missing_line_reads_it_first() -> None:
    rig = Rig(machine())
    assert ask(rig, 0, ATOMIC, 0) == (DRAM + 2, 4)
    assert rig.device_counter("dram_read_bursts") == 1
    assert rig.device_counter("l2_accesses") == 0  # that counter is for loads
    assert ask(rig, 0, ATOMIC, 0) == (NEAR + 2, 2)


def fill_set(rig: Rig, ways: int) -> list[int]:
    """Lines of one set of the slice that is line 0's home, one more than it has ways."""
    memory, row = rig.memory.record[0], rig.record
    place = l2_places.set_of(memory, row, l2_places.home_slice(row, 0), 0)
    found = []
    line = 0
    while len(found) <= ways:
        home = l2_places.home_slice(row, line)
        if home == l2_places.home_slice(row, 0) and l2_places.set_of(memory, row, home, line) == place:
            found.append(line)
        line += 1
    return found


def test_dirty_sectors_go_to_dram_when_their_line_is_replaced() -> None:
    rig = Rig(machine(l2_partitions=1))
    lines = fill_set(rig, 8)
    ask(rig, 0, WRITE, lines[0], sectors=0b0110)
    for line in lines[1:8]:
        ask(rig, 0, READ, line)
    assert rig.device_counter("l2_write_backs") == 0
    ask(rig, 0, READ, lines[8])
    assert rig.device_counter("l2_write_backs") == 2
    assert rig.device_counter("dram_write_bursts") == 2
    assert ask(rig, 0, READ, lines[0])[1] == 4


@pytest.mark.parametrize(("policy", "gone"), [("lru", 1), ("fifo", 0)])
def test_replacement_follows_the_machine(policy: str, gone: int) -> None:
    rig = Rig(machine(l2_partitions=1, l2_replacement=policy))
    lines = fill_set(rig, 8)
    for line in [*lines[:8], lines[0], lines[8]]:
        ask(rig, 0, READ, line)
    assert ask(rig, 0, READ, lines[1 - gone])[1] == 2
    assert ask(rig, 0, READ, lines[gone])[1] == 4


def test_a_machine_without_write_back_stores_through() -> None:
    rig = Rig(machine(l2_write_back=False))
    assert ask(rig, 0, WRITE, 0, sectors=15)[1] == 2
    assert rig.device_counter("dram_write_bursts") == 4
    assert rig.device_counter("l2_write_backs") == 0
    assert ask(rig, 0, READ, 0)[1] == 2


# A slice of 64 bytes a cycle looks at a request of two sectors a cycle, and never at more.
def test_bandwidth_of_a_slice() -> None:
    rig = Rig(machine(device_sms=8, l2_partitions=1, network_response_bytes_per_cycle=1024))
    ask(rig, 0, READ, 0, sectors=15)
    for sm in range(8):
        rig.request(sm, READ, 0, 15, time=50000)
    rig.finish()
    # Eight requests of 128 bytes: one every two cycles; the answer itself takes an eighth, rounded up.
    assert [rig.answers(sm)[0][0] - 50000 for sm in range(8)] == [NEAR + 2 * i for i in range(8)]


def test_a_slice_without_mshrs_holds_requests_back_and_loses_none() -> None:
    rig = Rig(machine(l2_partitions=1, l2_slices=1, l2_bytes=131072, l2_mshrs=2, dram_channels=1))
    for i in range(10):
        rig.request(0, READ, i, 1, name=i)
    ports = rig.memory.arrays["ports"]
    for cycle in range(0, 2000, 5):
        rig.advance(cycle)
        assert ports["misses"].max() <= 2
    rig.finish()
    assert [name for _, _, name, _, _ in rig.answers(0)] == list(range(10))
    assert rig.answers(0)[9][0] > 5 * (127 - 50)


def test_a_hit_behind_a_blocked_miss_waits_its_turn() -> None:
    one = {"l2_slices": 1, "dram_channels": 1, "dram_gigabytes_per_second": 32}
    rig = Rig(machine(l2_partitions=1, l2_bytes=131072, l2_mshrs=1, **one))
    ask(rig, 0, READ, 5)
    for i, line in enumerate((0, 1, 5)):
        rig.request(0, READ, line, 1, time=50000, name=i)
    rig.finish()
    times = {name: time - 50000 for time, _, name, _, _ in rig.answers(0)}
    # Line 5 is here, but line 1 could not go before line 0 had come, out of a row that is open. Half a
    # cycle after line 1 is line 5's turn.
    assert times[0] == times[2] == DRAM - 14
    assert times[1] == (DRAM - 14) + (DRAM - 14) - NEAR


def test_two_partitions_waiting_for_each_other_do_not_stand_still() -> None:
    rig = Rig(machine(l2_mshrs=1, l2_slices=2, l2_bytes=32768, dram_channels=1))
    for i in range(60):
        for sm in (0, 1):
            rig.request(sm, READ, 2 * i + sm, 15, name=i)
            rig.request(sm, READ, 2 * i + 1 - sm, 15, name=i)
    rig.finish()
    assert [len(rig.answers(sm)) for sm in (0, 1)] == [120, 120]


def test_contents_last_until_flush() -> None:
    rig = Rig(machine())
    (near,) = lines_with_home(rig, 0, 1)
    ask(rig, 0, READ, near)
    rig.memory.reset()
    assert ask(rig, 0, READ, near) == (NEAR, 2)
    rig.memory.flush()
    assert ask(rig, 0, READ, near)[1] == 4
