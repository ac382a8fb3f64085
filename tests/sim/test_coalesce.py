"""The coalescer: lines and sectors of a warp's addresses, by hand and by definition."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.sim import state
from tinygpu.sim.jit import zeros
from tinygpu.sim.units import coalesce

FULL = 0xFFFFFFFF
SM = zeros(1, state.SM)[0]


def run(addresses: list[int], size: int, mask: int = FULL) -> tuple[int, int, list[Any]]:
    """(lines, sectors, the line records) of an access."""
    op = SM.memops[0]
    op.mask = mask
    op.address[:] = addresses
    lines, sectors = coalesce.coalesce(SM, op, size)
    assert (SM.coalesced_lines, SM.coalesced_sectors) == (lines, sectors)
    coalesce.contend(SM, op)
    return lines, sectors, [SM.coalesced[i] for i in range(lines)]


@pytest.mark.parametrize(
    ("size", "start", "lines", "sectors"),
    [
        (4, 0, 1, 4),
        (4, 32, 2, 4),
        (4, 4, 2, 5),  # misaligned by a word: 128 bytes over five sectors
        (1, 0, 1, 1),
        (1, 24, 1, 2),
        (2, 0, 1, 2),
        (8, 0, 2, 8),
        (8, 8, 3, 9),
        (16, 0, 4, 16),
        (16, 112, 5, 17),
    ],
)
def test_lanes_in_a_row(size: int, start: int, lines: int, sectors: int) -> None:
    assert run([start + size * lane for lane in range(32)], size)[:2] == (lines, sectors)


@pytest.mark.parametrize(
    ("stride", "lines", "sectors"),
    [
        (0, 1, 1),
        (1, 1, 4),
        (2, 2, 8),
        (3, 3, 12),
        (4, 4, 16),
        (8, 8, 32),
        (16, 16, 32),
        (32, 32, 32),
        (33, 32, 32),
    ],
)
def test_strides_of_words(stride: int, lines: int, sectors: int) -> None:
    assert run([4 * stride * lane for lane in range(32)], 4)[:2] == (lines, sectors)


def test_inactive_lanes_touch_nothing() -> None:
    addresses = [128 * lane for lane in range(32)]
    assert run(addresses, 4, 0b101)[:2] == (2, 2)
    assert run(addresses, 4, 0)[:2] == (0, 0)
    assert run([4 * lane for lane in range(32)], 4, 0xFF)[:2] == (1, 1)


def test_lines_stand_in_the_order_of_their_first_lane() -> None:
    addresses = [640] * 8 + [128] * 8 + [640 + 96] * 8 + [0] * 8
    _, sectors, lines = run(addresses, 4)
    assert sectors == 4
    assert [(x.line, x.lanes, x.sectors) for x in lines] == [
        (5, 0x00FF00FF, 0b1001),
        (1, 0x0000FF00, 0b0001),
        (0, 0xFF000000, 0b0001),
    ]


def test_a_straddling_run_is_split_between_its_lines() -> None:
    _, _, lines = run([96 + 4 * lane for lane in range(32)], 4)
    assert [(x.line, x.lanes, x.sectors, x.bytes) for x in lines] == [
        (0, 0x000000FF, 0b1000, 32),
        (1, 0xFFFFFF00, 0b0111, 96),
    ]


def test_bytes_written_are_at_most_what_the_lanes_or_the_sectors_hold() -> None:
    assert run([0] * 32, 4)[2][0].bytes == 32
    assert run([0] * 32, 4, 0b11)[2][0].bytes == 8


@pytest.mark.parametrize("lanes", range(1, 33))
def test_contention_counts_the_lanes_on_one_address(lanes: int) -> None:
    addresses = [256] * lanes + [512 + 4 * lane for lane in range(32 - lanes)]
    _, _, lines = run(addresses, 4)
    assert lines[0].contention == lanes
    assert all(line.contention == 1 for line in lines[1:])


ADDRESSES = st.one_of(
    st.lists(st.integers(0, 1000), min_size=32, max_size=32),
    st.lists(st.integers(0, 60), min_size=32, max_size=32),
    st.tuples(st.integers(0, 1 << 30), st.integers(-9, 40)).map(
        lambda t: [t[0] + 400 + t[1] * i for i in range(32)]
    ),
)


@settings(max_examples=400, deadline=None)
@given(ADDRESSES, st.sampled_from([1, 2, 4, 8, 16]), st.one_of(st.just(FULL), st.integers(0, FULL)))
def test_lines_and_sectors_by_definition(elements: list[int], size: int, mask: int) -> None:
    addresses = [e * size for e in elements]
    active = [lane for lane in range(32) if mask >> lane & 1]
    lines, sectors, found = run(addresses, size, mask)
    assert lines == len({addresses[lane] // 128 for lane in active})
    assert sectors == len({addresses[lane] // 32 for lane in active})
    assert -(-len({addresses[lane] for lane in active}) * size // 32) <= sectors <= len(active)
    assert [x.line for x in found] == list(dict.fromkeys(addresses[lane] // 128 for lane in active))
    for x in found:
        mine = [lane for lane in active if addresses[lane] // 128 == x.line]
        assert x.lanes == sum(1 << lane for lane in mine)
        assert x.sectors == sum({1 << addresses[lane] // 32 % 4 for lane in mine})
        assert x.contention == max(Counter(addresses[lane] for lane in mine).values())


@given(st.integers(0, FULL))
def test_lane_count(mask: int) -> None:
    assert coalesce.lane_count(mask) == mask.bit_count()
