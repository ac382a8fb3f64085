"""The wheel of time and the heap beside it: events come out in the order of time, then of scheduling."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tinygpu.sim.jit import address_of, zeros
from tinygpu.sim.units import heap, wheel
from tinygpu.sim.units.memory_records import MEMORY


class Bench:
    """A wheel of its own."""

    def __init__(self) -> None:
        self.arrays = {
            "nodes": np.zeros(4096 * wheel.NODE_BYTES, np.uint8),
            "slots": np.zeros(wheel.SLOTS * wheel.SLOT_BYTES, np.uint8),
            "words": np.zeros(wheel.WORDS, np.uint32),
            "groups": np.zeros(wheel.GROUPS, np.uint32),
            "far_events": np.zeros(4096 * wheel.FAR_BYTES, np.uint8),
        }
        self.records = zeros(1, MEMORY)
        self.memory: Any = self.records[0]
        for name, array in self.arrays.items():
            self.records[0][name] = address_of(array)

    def take(self) -> tuple[int, int]:
        """(time, what) of the next event."""
        time = int(wheel.next_ticks(self.memory))
        return time, int(wheel.take(self.memory, time))

    def left(self) -> int:
        """How many events there are."""
        return int(self.memory.wheel_count + self.memory.far_count)


def test_events_of_one_tick_keep_their_order() -> None:
    bench = Bench()
    for what in (5, 3, 9):
        wheel.schedule(bench.memory, what, 100)
    wheel.schedule(bench.memory, 1, 99)
    assert [bench.take() for _ in range(4)] == [(99, 1), (100, 5), (100, 3), (100, 9)]
    assert bench.left() == 0


def test_an_event_at_the_present_comes_before_later_ones() -> None:
    bench = Bench()
    wheel.schedule(bench.memory, 1, 50)
    wheel.schedule(bench.memory, 2, 51)
    assert bench.take() == (50, 1)
    wheel.schedule(bench.memory, 3, 50)
    assert [bench.take(), bench.take()] == [(50, 3), (51, 2)]


def test_the_last_slot_is_on_the_wheel_and_the_next_is_beyond() -> None:
    bench = Bench()
    wheel.schedule(bench.memory, 1, wheel.SLOTS)
    wheel.schedule(bench.memory, 2, wheel.SLOTS - 1)
    assert (bench.memory.wheel_count, bench.memory.far_count) == (1, 1)
    assert [bench.take(), bench.take()] == [(wheel.SLOTS - 1, 2), (wheel.SLOTS, 1)]


def test_a_far_event_comes_before_a_wheel_event_of_the_same_tick() -> None:
    bench = Bench()
    far = wheel.SLOTS + 10
    wheel.schedule(bench.memory, 7, far)
    wheel.schedule(bench.memory, 1, 1000)
    assert bench.take() == (1000, 1)
    wheel.schedule(bench.memory, 6, far)
    assert [bench.take(), bench.take()] == [(far, 7), (far, 6)]


def test_the_wheel_goes_round() -> None:
    bench = Bench()
    time = 0
    for turn in range(10):
        time += wheel.SLOTS - 3
        wheel.schedule(bench.memory, turn, time)
        assert bench.take() == (time, turn)
    assert not bench.arrays["words"].any()
    assert not bench.arrays["groups"].any()


DELAYS = st.one_of(st.integers(0, 3), st.integers(0, 5000), st.integers(0, 3 * wheel.SLOTS))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), DELAYS), max_size=120))
def test_against_a_sorted_list(steps: list[int | None]) -> None:
    bench = Bench()
    expected: list[tuple[int, int, int, int]] = []  # time, beyond the wheel first, order, what
    now = 0
    for number, delay in enumerate(steps):
        if delay is None:
            if expected:
                time, _, _, what = expected.pop(0)
                assert bench.take() == (time, what)
                now = time
        else:
            beyond = delay >= wheel.SLOTS
            expected.append((now + delay, 0 if beyond else 1, number, number))
            expected.sort()
            wheel.schedule(bench.memory, number, now + delay)
        assert bench.left() == len(expected)
    for time, _, _, what in expected:
        assert bench.take() == (time, what)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=60), st.integers(0, 60))
def test_heap_against_a_sorted_list(pairs: list[tuple[int, int]], replaced: int) -> None:
    store = np.zeros(64 * heap.ENTRY_BYTES, np.uint8)
    view = store.view(np.int64)
    base = address_of(store)
    for count, (time, order) in enumerate(pairs):
        heap.push(base, count, time, order)
    expected = sorted(pairs)
    if expected and replaced < 20:
        heap.sink(base, len(expected), replaced, 9)
        expected = sorted([*expected[1:], (replaced, 9)])
    for count in range(len(expected), 0, -1):
        assert (view[0], view[1]) == expected[len(expected) - count]
        heap.pop(base, count)
