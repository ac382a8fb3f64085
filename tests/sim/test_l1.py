"""The L1: hits, misses and merges by sector, MSHRs and their limits, stores, atomics, the operators."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_rig import Rig, machine

from tinygpu.sim.state import ATOMIC, READ, REDUCTION, WRITE
from tinygpu.sim.units import l1

ROW = [4 * lane for lane in range(32)]  # one line
COLUMN = [128 * lane for lane in range(32)]  # 32 lines, sector 0 of each


def counts(rig: Rig, sm: int = 0) -> tuple[int, int, int, int]:
    """(accesses, hits, misses, merges) in sectors; the law accesses = hits + misses + merges holds."""
    names = ("l1_accesses", "l1_hits", "l1_misses", "l1_merges")
    accesses, hits, misses, merges = (rig.counter(sm, name) for name in names)
    assert accesses == hits + misses + merges
    return accesses, hits, misses, merges


def sent(rig: Rig, sm: int = 0) -> list[tuple[int, int, int]]:
    """(kind, line, sectors) of the requests in an SM's outbox, oldest first."""
    core = rig.sms[sm]
    ring = rig.spec.network.outstanding
    box = [core.outbox[(core.outbox_head + i) % ring] for i in range(core.outbox_count)]
    return [(int(r.kind), int(r.line), int(r.sectors)) for r in box]


def empty(rig: Rig, sm: int = 0) -> bool:
    """Whether an SM has no MSHR, waiter or request in use."""
    core = rig.sms[sm]
    return not (core.mshr_count or core.waiter_count or core.requests_out or core.mshr_buckets.any())


def test_a_miss_waits_for_its_line_and_then_hits() -> None:
    rig = Rig(machine())
    first = rig.operation(0, ROW)
    assert rig.load(0, first) == 1
    assert rig.sms[0].memops[first].remaining == 1
    assert sent(rig) == [(READ, 0, 15)]
    rig.settle(0)
    assert rig.sms[0].memops[first].level == 4
    second = rig.operation(0, ROW)
    assert rig.load(0, second, 5000) == 1
    assert (rig.sms[0].memops[second].remaining, rig.sms[0].memops[second].level) == (0, 1)
    assert counts(rig) == (8, 4, 4, 0)
    assert empty(rig)


def test_latency_through_l1_to_l2_is_the_sum_of_its_parts() -> None:
    rig = Rig(machine())
    for time in (0, 1000):
        index = rig.operation(0, [0], mask=1)
        rig.load(0, index, time, l1.CG)
        rig.settle(0)
    # request 20, slice 50, response 1 (32 bytes at 64 a cycle, rounded up) + 30, data stage 33 - 3.
    assert rig.sms[0].memops[index].ready == 1000 + 20 + 50 + 1 + 30 + 30
    assert rig.sms[0].memops[index].level == 2


def test_width_lengthens_the_data_stage() -> None:
    rig = Rig(machine())
    ready = []
    for size in (4, 8, 16):
        index = rig.operation(0, [0], mask=1, size=size)
        rig.load(0, index, 0, l1.CG)
        rig.settle(0)
        index = rig.operation(0, [0], mask=1, size=size)
        rig.load(0, index, 1000 * size, l1.CG)
        rig.settle(0)
        ready.append(int(rig.sms[0].memops[index].ready) - 1000 * size)
    assert ready == [131, 132, 134]


def test_only_missing_sectors_are_requested() -> None:
    rig = Rig(machine())
    rig.load(0, rig.operation(0, ROW, mask=0x0000FF00))  # sector 1
    rig.settle(0)
    index = rig.operation(0, ROW)
    rig.load(0, index, 1000)
    assert sent(rig) == [(READ, 0, 0b1101)]
    rig.settle(0)
    assert counts(rig) == (5, 1, 4, 0)


def test_a_second_load_joins_the_mshr_and_asks_only_for_new_sectors() -> None:
    rig = Rig(machine())
    first = rig.operation(0, ROW, mask=0x0000FFFF)  # sectors 0, 1
    rig.load(0, first)
    second = rig.operation(0, ROW, mask=0x00FFFF00)  # sectors 1, 2
    rig.load(0, second, 1)
    third = rig.operation(0, ROW, mask=0x000000FF)
    rig.load(0, third, 2)
    assert sent(rig) == [(READ, 0, 0b0011), (READ, 0, 0b0100)]
    assert rig.sms[0].mshr_count == 1
    assert counts(rig) == (5, 0, 3, 2)
    rig.settle(0)
    ready = [int(rig.sms[0].memops[i].ready) for i in (first, second, third)]
    assert ready[0] == ready[2] <= ready[1]
    assert empty(rig)


def test_a_load_of_many_lines_waits_for_the_last() -> None:
    rig = Rig(machine())
    index = rig.operation(0, COLUMN)
    rig.load(0, index)
    assert rig.sms[0].memops[index].remaining == 32
    rig.finish()
    times = sorted(time for time, *_ in rig.answers(0))
    rig.hear(0)
    assert rig.sms[0].memops[index].ready == times[-1] + 30
    assert rig.sms[0].memops[index].level == 4


def test_no_mshr_means_try_again_and_nothing_has_changed() -> None:
    rig = Rig(machine(l1_mshrs=40))
    assert rig.load(0, rig.operation(0, COLUMN)) == 1
    before = rig.sms[0].tobytes()
    late = rig.operation(0, [8192 + a for a in COLUMN], mask=0x1FF)  # nine lines, eight MSHRs left
    scratch = rig.sms[0].tobytes()
    assert before != scratch
    assert rig.load(0, late, 1) == 0
    assert rig.sms[0].tobytes() == scratch
    assert rig.load(0, rig.operation(0, [8192 + a for a in COLUMN], mask=0xFF), 1) == 1
    assert rig.sms[0].mshr_count == 40
    rig.settle(0)
    assert rig.load(0, rig.operation(0, [8192 + a for a in COLUMN], mask=0x1FF), 9000) == 1
    rig.settle(0)
    assert empty(rig)


def test_merges_on_one_line_are_limited() -> None:
    rig = Rig(machine(l1_mshr_merges=3))
    accepted = [rig.load(0, rig.operation(0, ROW), time) for time in range(5)]
    assert accepted == [1, 1, 1, 0, 0]
    rig.settle(0)
    assert counts(rig) == (12, 0, 4, 8)


def test_requests_out_are_limited() -> None:
    rig = Rig(machine(network_outstanding=33))
    assert rig.load(0, rig.operation(0, COLUMN)) == 1
    index = rig.operation(0, [8192, 8192 + 128], mask=0b11)
    assert l1.store(rig.device, rig.sms[0], rig.record, index, 1) == 0
    assert rig.sms[0].warps[3].stores_out == 0
    assert l1.store(rig.device, rig.sms[0], rig.record, rig.operation(0, [8192], mask=1), 1) == 1
    assert rig.sms[0].requests_out == 33
    rig.settle(0)
    assert empty(rig)


@pytest.mark.parametrize("operator", [l1.CG, l1.VOLATILE])
def test_operators_that_bypass_neither_look_nor_keep_nor_join(operator: int) -> None:
    rig = Rig(machine())
    rig.load(0, rig.operation(0, ROW))
    rig.settle(0)
    for time in (1000, 1001):
        index = rig.operation(0, ROW)
        rig.load(0, index, time, operator)
        assert rig.sms[0].memops[index].remaining == 1
    assert rig.sms[0].mshr_count == 2
    assert counts(rig) == (12, 0, 12, 0)
    rig.settle(0)
    index = rig.operation(0, [4096], mask=1)
    rig.load(0, index, 3000, operator)
    rig.settle(0)
    rig.load(0, rig.operation(0, [4096], mask=1), 4000)
    assert counts(rig)[1] == 0  # not kept by the bypassing load
    rig.settle(0)
    assert empty(rig)


@pytest.mark.parametrize("operator", [l1.DEFAULT, l1.CA, l1.CS])
def test_operators_that_use_l1(operator: int) -> None:
    rig = Rig(machine())
    for time in (0, 5000):
        rig.load(0, rig.operation(0, ROW), time, operator)
        rig.settle(0)
    assert counts(rig) == (8, 4, 4, 0)


def test_a_machine_without_l1_asks_every_time() -> None:
    for spec in (machine(l1_enabled=False), machine()):
        rig = Rig(spec)
        if spec.l1.enabled:
            rig.sms[0].l1_sets = 0  # the whole of it is shared memory
        for time in (0, 5000):
            rig.load(0, rig.operation(0, ROW), time)
            rig.settle(0)
        assert counts(rig) == (8, 0, 8, 0)
        assert empty(rig)


def test_a_store_goes_through_and_is_acknowledged_by_line() -> None:
    rig = Rig(machine())
    index = rig.operation(0, [64 + 4 * lane for lane in range(32)])
    assert l1.store(rig.device, rig.sms[0], rig.record, index, 0) == 1
    assert rig.sms[0].memops[index].remaining == 0
    assert rig.sms[0].warps[3].stores_out == 2
    assert sent(rig) == [(WRITE, 0, 0b1100), (WRITE, 1, 0b0011)]
    rig.settle(0)
    assert rig.sms[0].warps[3].stores_out == 0
    rig.load(0, rig.operation(0, [64], mask=1), 1000)
    assert counts(rig) == (1, 0, 1, 0)  # no line was allotted
    assert rig.counter(0, "l2_write_sectors") == 4
    assert rig.counter(0, "l2_requests") == 3
    rig.settle(0)
    assert rig.counter(0, "l2_responses") == 3


def test_a_store_leaves_a_line_in_l1_readable() -> None:
    rig = Rig(machine())
    rig.load(0, rig.operation(0, ROW))
    rig.settle(0)
    l1.store(rig.device, rig.sms[0], rig.record, rig.operation(0, ROW), 1000)
    rig.load(0, rig.operation(0, ROW), 1001)
    assert counts(rig) == (8, 4, 4, 0)


@pytest.mark.parametrize("returns", [0, 1])
def test_an_atomic_is_sent_and_drops_the_sectors(returns: int) -> None:
    rig = Rig(machine())
    rig.load(0, rig.operation(0, ROW))
    rig.settle(0)
    index = rig.operation(0, [0, 4, 32, 32], mask=0b1111)
    assert l1.atomic(rig.device, rig.sms[0], rig.record, index, returns, 1000) == 1
    assert sent(rig) == [(ATOMIC if returns else REDUCTION, 0, 0b0011)]
    assert rig.sms[0].outbox[rig.sms[0].outbox_head].lanes == 2
    assert rig.sms[0].memops[index].remaining == returns
    assert rig.sms[0].warps[3].stores_out == 1 - returns
    rig.settle(0)
    assert rig.sms[0].warps[3].stores_out == 0
    if returns:
        # 20 + two lanes on one address at 2 cycles + 50 + 64 bytes at 64 a cycle + 30, then the data stage.
        assert rig.sms[0].memops[index].ready == 1000 + 20 + 4 + 50 + 1 + 30 + 30
    rig.load(0, rig.operation(0, ROW), 2000)
    assert counts(rig) == (8, 2, 6, 0)
    assert rig.counter(0, "l2_atomic_sectors") == 2


def test_request_port_spaces_requests_and_store_data() -> None:
    rig = Rig(machine())
    core = rig.sms[0]
    rig.load(0, rig.operation(0, COLUMN, mask=0b11), 5)
    l1.store(rig.device, core, rig.record, rig.operation(0, ROW), 5)
    rig.load(0, rig.operation(0, [9000 * 128], mask=1), 5)
    leave = [int(core.outbox[i].time) // 256 - 20 for i in range(core.outbox_count)]
    assert leave == [5, 6, 7, 12]  # one cycle a packet, and one for each of the store's four sectors


@pytest.mark.parametrize(("policy", "kept"), [("lru", True), ("fifo", False)])
def test_replacement_follows_the_machine(policy: str, kept: bool) -> None:
    rig = Rig(machine(l1_replacement=policy))
    rig.sms[0].l1_sets = 1
    for time, line in enumerate([0, 1, 2, 3, 0, 4, 0]):
        rig.load(0, rig.operation(0, [128 * line], mask=1), 1000 * time)
        rig.settle(0)
    hits = counts(rig)[1]
    assert hits == (2 if kept else 1)


def test_flush_forgets_everything() -> None:
    rig = Rig(machine())
    rig.load(0, rig.operation(0, ROW))
    rig.settle(0)
    rig.load(0, rig.operation(0, COLUMN), 900)  # a launch that breaks off here
    rig.memory.reset()
    l1.flush(rig.sms[0])
    assert empty(rig)
    assert rig.sms[0].outbox_count == rig.sms[0].inbox_count == 0
    rig.load(0, rig.operation(0, ROW), 1000)
    assert rig.sms[0].mshr_count == 1
    rig.settle(0)
    assert empty(rig)


def test_lines_stay_in_one_set_store() -> None:
    """As many consecutive lines as L1 holds all stay: no set is asked for more than its ways."""
    rig = Rig(machine())
    rig.sms[0].l1_sets = 24  # not a power of two, as with odd carve-outs
    total = 24 * 4
    for turn in range(2):
        for line in range(0, total, 32):
            addresses = [128 * (line + lane) for lane in range(32)]
            rig.load(0, rig.operation(0, addresses), 10000 * turn + 1000 * line)
            rig.settle(0)
    assert counts(rig) == (2 * total, total, total, 0)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["load", "load", "load", "cg", "store", "atomic", "red"]),
        st.integers(0, 40),
        st.integers(0, 3),
        st.integers(1, 12),
        st.integers(0, 400),
    ),
    max_size=40,
)


@settings(max_examples=40, deadline=None)
@given(STEPS, st.sampled_from(["lru", "fifo", "random"]))
def test_every_request_is_answered_and_every_count_adds_up(
    steps: list[tuple[str, int, int, int, int]], policy: str
) -> None:
    rig = Rig(machine(l1_replacement=policy, l1_mshrs=32, l1_mshr_merges=2, network_outstanding=40))
    core = rig.sms[0]
    core.l1_sets = 3
    time = 0
    loads = []
    for kind, line, sector, lanes, gap in steps:
        time += gap
        addresses = [128 * (line + lane) + 32 * sector for lane in range(lanes)]
        accepted = 0
        while not accepted:
            index = rig.operation(0, addresses, (1 << lanes) - 1)
            if kind == "store":
                accepted = l1.store(rig.device, core, rig.record, index, time)
            elif kind in ("atomic", "red"):
                accepted = l1.atomic(rig.device, core, rig.record, index, int(kind == "atomic"), time)
            else:
                accepted = rig.load(0, index, time, l1.CG if kind == "cg" else l1.DEFAULT)
            if not accepted:
                time += 10
            rig.advance(time)
            rig.hear(0, time)
        if kind in ("load", "cg", "atomic"):
            loads.append(index)
    rig.settle(0)
    counts(rig)
    assert empty(rig)
    assert core.warps[3].stores_out == 0
    assert all(core.memops[index].remaining == 0 for index in loads)
    assert rig.counter(0, "l2_requests") == rig.counter(0, "l2_responses")
    assert not core.l1_tags[3 * 4 * 2 :].any()  # nothing outside its three sets of four ways
