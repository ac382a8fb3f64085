"""Ports and paths between an SM and L2: not a cycle earlier, not a cycle later."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_rig import Rig, machine

from tinygpu.sim.state import ATOMIC, READ, REDUCTION, WRITE
from tinygpu.sim.units import network


@settings(deadline=None)
@given(
    st.integers(0, 1 << 30), st.sampled_from([READ, WRITE, ATOMIC, REDUCTION]),
    st.integers(0, 4095), st.integers(0, 15), st.integers(1, 4),
)  # fmt: skip
def test_a_response_says_what_was_packed(
    sequence: int, kind: int, name: int, sectors: int, level: int
) -> None:
    order = network.pack(sequence, kind, name, sectors, level)
    assert order >> 32 == sequence
    assert network.kind_of(order) == kind
    assert network.name_of(order) == name
    assert network.sectors_of(order) == sectors
    assert network.level_of(order) == level


def test_a_request_comes_to_l2_after_request_cycles() -> None:
    rig = Rig(machine(network_request_cycles=37))
    rig.request(0, READ, 0, time=100)
    rig.advance(137)
    assert rig.sms[0].outbox_count == 1
    rig.advance(138)
    assert rig.sms[0].outbox_count == 0


@pytest.mark.parametrize(
    ("kind", "sectors", "cycles"),
    [(READ, 15, 3), (WRITE, 1, 5), (WRITE, 15, 11), (ATOMIC, 3, 7), (REDUCTION, 7, 9)],
)
def test_packets_take_the_request_port(kind: int, sectors: int, cycles: int) -> None:
    rig = Rig(machine(network_request_packet_cycles=3, network_request_sector_cycles=2))
    rig.request(0, kind, 0, sectors, time=10)
    rig.request(0, READ, 8, time=10)
    core = rig.sms[0]
    assert core.outbox[0].time == (10 + 20) * 256
    assert core.outbox[1].time == (10 + cycles + 20) * 256
    assert core.port_free == 10 + cycles + 3


def test_the_port_is_free_again_after_a_pause() -> None:
    rig = Rig(machine())
    rig.request(0, READ, 0, time=10)
    rig.request(0, READ, 1, time=50)
    assert [int(rig.sms[0].outbox[i].time) for i in range(2)] == [30 * 256, 70 * 256]


# One sector is 32 bytes: at 64 bytes a cycle half a cycle, and the SM sees whole cycles.
@pytest.mark.parametrize(
    ("bandwidth", "sectors", "cycles"),
    [(64, 1, 1), (64, 15, 2), (32, 15, 4), (96, 15, 2), (128, 15, 1), (1, 1, 32)],
)
def test_a_response_takes_its_bytes_of_the_port(bandwidth: int, sectors: int, cycles: int) -> None:
    rig = Rig(machine(network_response_bytes_per_cycle=bandwidth))
    arrival = network.answer(rig.device, rig.sms[0], rig.record, READ, 1, sectors, 2, 1000 * 256)
    assert arrival == 1000 + cycles + 30


def test_responses_of_one_sm_queue_for_its_port_and_others_do_not() -> None:
    rig = Rig(machine(network_response_bytes_per_cycle=32))
    times = [
        int(network.answer(rig.device, rig.sms[sm], rig.record, READ, 1, 15, 2, 1000 * 256))
        for sm in (0, 0, 1, 0)
    ]
    assert times == [1034, 1038, 1034, 1042]
    late = network.answer(rig.device, rig.sms[0], rig.record, READ, 1, 15, 2, 2000 * 256)
    assert late == 2034


def test_halves_of_a_cycle_are_not_lost() -> None:
    rig = Rig(machine())  # 64 bytes a cycle: two sectors a cycle
    times = [int(network.answer(rig.device, rig.sms[0], rig.record, READ, 1, 1, 2, 0)) for _ in range(6)]
    assert times == [31, 31, 32, 32, 33, 33]


@pytest.mark.parametrize("kind", [WRITE, REDUCTION])
def test_an_acknowledgement_carries_no_data(kind: int) -> None:
    rig = Rig(machine(network_response_bytes_per_cycle=32, network_acknowledge_bytes=16))
    times = [int(network.answer(rig.device, rig.sms[0], rig.record, kind, 1, 15, 2, 0)) for _ in range(4)]
    assert times == [31, 31, 32, 32]


def test_answers_come_in_the_order_in_which_they_were_sent() -> None:
    rig = Rig(machine(network_acknowledge_bytes=0))
    for name in (7, 3, 5):
        network.answer(rig.device, rig.sms[0], rig.record, WRITE, name, 1, 2, 0)
    assert [name for _, _, name, _, _ in rig.answers(0)] == [7, 3, 5]


def test_the_outbox_is_a_ring_of_what_may_be_unanswered() -> None:
    rig = Rig(machine(network_outstanding=32))
    core = rig.sms[0]
    for turn in range(5):
        for i in range(20):
            rig.request(0, READ, 1000 * turn + i, time=10000 * turn, name=i)
        rig.finish()
        assert sorted(name for _, _, name, _, _ in rig.answers(0)) == list(range(20))
        core.inbox_count = core.requests_out = 0
    assert core.outbox_head == 100 % 32


def test_requests_and_their_sectors_are_counted() -> None:
    rig = Rig(machine())
    for kind, sectors in ((READ, 15), (READ, 1), (WRITE, 3), (ATOMIC, 1), (REDUCTION, 7)):
        rig.request(0, kind, 0, sectors)
    names = ("l2_requests", "l2_read_sectors", "l2_write_sectors", "l2_atomic_sectors")
    assert [rig.counter(0, name) for name in names] == [5, 5, 2, 4]
