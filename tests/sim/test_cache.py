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
    """One set of four ways, used through the functions that the caches use; the second of three sets."""

    def __init__(self, policy: int) -> None:
        self.policy = policy
        self.words = np.zeros(3 * 2 * WAYS, np.int64)
        self.first = int(cache.set_at(address_of(self.words), WAYS, 1))
        self.clock = 0
        self.random = 1

    def way(self, line: int) -> int:
        """The way that holds a line, -1 if none does."""
        place = int(cache.find(self.first, WAYS, line))
        return (place - self.first) // 8 if place else -1

    def use(self, line: int) -> int | None:
        """Look a line up and bring it in if it is missing; the line that had to leave, if any."""
        self.clock += 1
        place = cache.find(self.first, WAYS, line)
        if place:
            cache.touch(place, WAYS, self.policy, self.clock)
            return None
        self.random = cache.next_random(self.random)
        place = cache.victim(self.first, WAYS, self.policy, self.random)
        leaving = int(cache.line_at(place))
        cache.install(place, WAYS, line, 15, self.clock)
        assert not self.words[: 2 * WAYS].any()
        assert not self.words[4 * WAYS :].any()
        return None if leaving < 0 else leaving


def test_empty_places_are_taken_first() -> None:
    for policy in (cache.LRU, cache.FIFO, cache.RANDOM):
        store = Store(policy)
        assert [store.use(line) for line in (10, 11, 12, 13)] == [None] * 4
        assert [store.way(line) for line in (10, 11, 12, 13, 14)] == [0, 1, 2, 3, -1]


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
        places[store.way(line)] += 1
    assert min(places.values()) > 70


def test_flags_are_a_byte_of_each_place() -> None:
    store = Store(cache.LRU)
    for line in range(4):
        store.use(line)
    places = [store.first + 8 * way for way in range(4)]
    cache.set_flags(places[2], WAYS, 0xA5)
    assert [cache.flags(place, WAYS) for place in places] == [15, 15, 0xA5, 15]
    for policy in (cache.FIFO, cache.LRU):
        cache.touch(places[2], WAYS, policy, 1000)
        assert cache.flags(places[2], WAYS) == 0xA5
    assert [store.use(line) for line in (4, 5, 6, 7)] == [0, 1, 3, 4]  # the touch at 1000 was the last


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
