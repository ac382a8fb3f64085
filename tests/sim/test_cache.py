"""Tag stores and address hashes that L1, L2 and DRAM share."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.sim.jit import address_of
from tinygpu.sim.units import cache

WAYS = 4


class Store:
    """One set of four ways, used through the functions that the caches use."""

    def __init__(self, policy: int) -> None:
        self.policy = policy
        self.bytes = np.zeros(WAYS * cache.STORE_BYTES, np.uint8)
        self.base = address_of(self.bytes)
        self.clock = 0
        self.random = 1

    def use(self, line: int) -> int | None:
        """Look a line up and bring it in if it is missing; the line that had to leave, if any."""
        self.clock += 1
        place = cache.find(self.base, WAYS, 0, line)
        if place >= 0:
            cache.touch(self.base, WAYS, place, self.policy, self.clock)
            return None
        self.random = cache.next_random(self.random)
        place = cache.victim(self.base, WAYS, WAYS, 0, self.policy, self.random)
        leaving = int(cache.line_at(self.base, place))
        cache.install(self.base, WAYS, place, line, 15, self.clock)
        return None if leaving < 0 else leaving


def test_empty_places_are_taken_first() -> None:
    for policy in (cache.LRU, cache.FIFO, cache.RANDOM):
        store = Store(policy)
        assert [store.use(line) for line in (10, 11, 12, 13)] == [None] * 4
        assert [cache.find(store.base, WAYS, 0, line) for line in (10, 11, 12, 13, 14)] == [0, 1, 2, 3, -1]


def test_lru_replaces_what_was_used_least_recently() -> None:
    store = Store(cache.LRU)
    for line in (0, 1, 2, 3, 0, 2):
        store.use(line)
    assert [store.use(line) for line in (4, 5, 6, 7)] == [1, 3, 0, 2]


def test_fifo_replaces_what_came_first_however_often_it_was_used() -> None:
    store = Store(cache.FIFO)
    for line in (0, 1, 2, 3, 0, 0, 1):
        store.use(line)
    assert [store.use(line) for line in (4, 5, 6, 7)] == [0, 1, 2, 3]


def test_random_replaces_every_way_in_the_long_run_and_the_same_in_every_run() -> None:
    def victims() -> list[int | None]:
        store = Store(cache.RANDOM)
        for line in range(4):
            store.use(line)
        return [store.use(100 + i) for i in range(400)]

    first = victims()
    assert first == victims()
    store = Store(cache.RANDOM)
    places: Counter[int] = Counter()
    for line in range(404):
        store.use(line)
        places[int(cache.find(store.base, WAYS, 0, line))] += 1
    assert min(places.values()) > 70


def test_flags_are_a_byte_of_each_place() -> None:
    store = Store(cache.LRU)
    for line in range(4):
        store.use(line)
    cache.set_flags(store.base, WAYS, 2, 0xA5)
    assert [cache.flags(store.base, WAYS, place) for place in range(4)] == [15, 15, 0xA5, 15]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 1 << 33), st.integers(1, 300))
def test_neighbours_take_every_place_once(start: int, count: int) -> None:
    start -= start % count
    assert {cache.spread(start + i, count) for i in range(count)} == set(range(count))


@pytest.mark.parametrize("count", [2, 5, 8, 80, 96, 192, 320])
@pytest.mark.parametrize("stride", [1, 2, 3, 8, 16, 32, 64, 80, 96, 192, 256, 1000, 1024, 4096, 65536])
def test_no_stride_favours_a_place(count: int, stride: int) -> None:
    number = 64 * count
    places = Counter(int(cache.spread(i * stride, count)) for i in range(number))
    assert len(places) == count
    assert max(places.values()) <= 2 * 64  # the mean is 64


@pytest.mark.parametrize("count", [80, 96, 192])
def test_random_addresses_reach_every_place(count: int) -> None:
    generator = np.random.default_rng(7)
    places = Counter(int(cache.spread(int(x), count)) for x in generator.integers(0, 1 << 33, 100 * count))
    assert len(places) == count
    assert max(places.values()) < 160
    assert min(places.values()) > 50
