"""The host's side: time of copies and launches, stream order, device memory, many launches in one process."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from helpers.bench import bench
from helpers.launch import prepare, run
from helpers.laws import assert_idle

from tinygpu.isa.errors import DeadlockError, FaultError, LaunchError, LimitError, TinygpuError
from tinygpu.sim.host import Host

ADD = """
    .kernel add5(A: ptr.u32, B: ptr.u32)
    .arg A = arange(1024), B = zeros(1024)
    .launch grid = 8, block = 128
    mov.u32 t, %tid.x
    mov.u32 b, %ctaid.x
    mad.lo.u32 i, b, 128, t
    mad.wide.u32 p, i, 4, A
    mad.wide.u32 q, i, 4, B
    ld.global.u32 x, [p]
    add.u32 x, x, 5
    last: st.global.u32 [q], x
    exit"""
BAD = {
    "fault": ADD.replace("last:", "setp.eq.u32 w, i, 700\n@w st.global.u32 [q + 40000], x\nlast:"),
    "limit": ADD.replace("exit", "again: bra again"),
    "deadlock": ADD.replace("exit", "bar.sync 1, 256\nexit"),
}
ERRORS = {"fault": FaultError, "limit": LimitError, "deadlock": DeadlockError}


@pytest.mark.parametrize(("size", "nanoseconds"), [(4, 8000.08), (50_000, 9000), (5_000_000, 108_000)])
def test_a_copy_takes_its_latency_and_its_bytes(size: int, nanoseconds: float) -> None:
    """8 us, and 50 bytes a nanosecond."""
    host = Host(bench())
    place = host.allocate("a", size)
    host.copy_in(place, np.ones(size, np.uint8))
    host.synchronize()
    assert host.environment.now == pytest.approx(nanoseconds)
    assert place.data.all()


def test_copies_of_one_stream_follow_one_another() -> None:
    host = Host(bench())
    place = host.allocate("a", 50_000)
    data = np.arange(50_000 // 4, dtype=np.uint32)
    back = np.zeros_like(data)
    host.copy_in(place, data)
    data[:] = 0  # what is copied is what the array held when it was handed over
    host.copy_out(back, place)
    host.synchronize()
    assert host.environment.now == pytest.approx(18_000)
    assert np.array_equal(back, np.arange(50_000 // 4))


def test_a_launch_takes_its_call_and_its_cycles() -> None:
    """4 us and a cycle a nanosecond, or two at 2000 MHz."""
    for clock in (1000, 2000):
        host = Host(bench({"device.clock_mhz": clock}))
        launch = prepare("nop\nexit")
        raw = host.synchronize(host.launch(launch.program, (1, 1, 1), (32, 1, 1), {}))
        assert raw.cycles == 100 + 40 + 2 + 50
        spent = host.environment.now - 4000
        assert 142 * 1000 / clock - 1 <= spent <= 192 * 1000 / clock + 1


def test_launches_of_one_stream_follow_one_another_and_see_each_other_s_writes() -> None:
    host = Host(bench())
    launch = prepare(ADD)
    first, second, third = (host.allocate(name, 4096) for name in "abc")
    host.copy_in(first, np.arange(1024, dtype=np.uint32))
    host.launch(launch.program, launch.grid, launch.block, {"A": first, "B": second})
    host.launch(launch.program, launch.grid, launch.block, {"A": second, "B": third})
    result = np.zeros(1024, np.uint32)
    host.copy_out(result, third)
    host.synchronize()
    assert np.array_equal(result, np.arange(1024) + 10)
    assert_books_empty(host, left=3)


def assert_books_empty(host: Host, left: int) -> None:
    assert len(host.allocator.live) == left
    for allocation in list(host.allocator.live.values()):
        host.allocator.free(allocation)
    assert_idle(host)


def test_launches_do_not_share_statistics() -> None:
    host = Host(bench())
    first, second = run(ADD, host=host), run(ADD, host=host)
    for name in ("warp_instructions", "global_load_requests", "l2_requests", "blocks"):
        assert first.counters[name] == second.counters[name]
    assert first.counters["warp_instructions"] == 32 * 9
    assert second.raw.profile["issued"].tolist() == [32] * 9
    assert second.trace.events["start"].min() == 100, "a trace counts from its own launch"


def test_l2_keeps_what_a_launch_left_and_l1_does_not() -> None:
    host = Host(bench())
    launch = prepare(ADD)
    a, b = host.allocate("a", 4096), host.allocate("b", 4096)
    runs = []
    for _ in range(2):
        kernel = host.launch(launch.program, launch.grid, launch.block, {"A": a, "B": b})
        runs.append(host.synchronize(kernel))
    assert [r.counters["l1_hits"] for r in runs] == [0, 0]
    assert [r.device_counters["l2_misses"] for r in runs] == [128, 0]
    assert runs[1].cycles < runs[0].cycles


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_launch_after_one_that_failed_is_like_a_first_one(name: str) -> None:
    """Nothing of the broken launch is left: no allocation, no request on its way, no warp."""
    spec = bench({"l2.bytes": 4096 * 8})
    fresh = run(ADD, spec)
    host = Host(spec)
    with pytest.raises(ERRORS[name]):
        run(BAD[name], host=host, limit=20_000)
    assert host.allocator.used == 0 and not host.allocator.live
    again = run(ADD, host=host)
    assert np.array_equal(again.outputs["B"], fresh.outputs["B"])
    for counter in ("warp_instructions", "l2_requests", "l2_responses", "l1_misses", "global_store_sectors"):
        assert again.counters[counter] == fresh.counters[counter]


def test_device_memory_is_given_back_when_there_is_not_enough() -> None:
    host = Host(bench({"dram.bytes": 1 << 20}))
    text = ".kernel k(A: ptr.u8, B: ptr.u8)\n.arg A = zeros(600000), B = zeros(600000)\nexit"
    with pytest.raises(LimitError, match="no room for B"):
        run(text, host=host)
    assert host.allocator.used == 0
    assert run(ADD, host=host).counters["blocks"] == 8


def test_memory_is_freed_once() -> None:
    host = Host(bench())
    place = host.allocate("a", 100)
    host.allocator.free(place)
    with pytest.raises(LaunchError, match="freed twice"):
        host.allocator.free(place)


def test_allocations_are_aligned_and_apart() -> None:
    host = Host(bench())
    places = [host.allocate(str(size), size) for size in (1, 511, 512, 513, 4096)]
    for one, other in itertools.pairwise(places):
        assert one.address % 512 == 0
        assert other.address - (one.address + one.data.nbytes) >= 512


def test_more_than_fits_into_an_array_is_refused() -> None:
    host = Host(bench())
    with pytest.raises(LaunchError, match="holds 4 bytes"):
        host.copy_in(host.allocate("a", 4), np.zeros(8, np.uint8))


def test_five_thousand_launches_leave_nothing_behind() -> None:
    host = Host(bench())
    launch = prepare("nop\nexit")
    cycles = set()
    for _ in range(5000):
        raw = host.synchronize(host.launch(launch.program, (2, 1, 1), (64, 1, 1), {}))
        cycles.add((raw.cycles, raw.counters["warp_instructions"]))
    assert cycles == {(100 + 40 + 2 + 50, 8)}
    assert_idle(host)


def test_the_clock_only_goes_forward_and_launches_do_not_overlap() -> None:
    host = Host(bench())
    launch = prepare("mov.u64 c, %clock64\nst.global.u64 [out], c\nexit".join(
        [".kernel k(out: ptr.u64)\n.arg out = zeros(1)\n", ""]
    ))  # fmt: skip
    times = []
    for _ in range(3):
        out = np.zeros(1, np.uint64)
        host.run(launch.program, (1, 1, 1), (1, 1, 1), {"out": out})
        times.append(int(out[0]))
    assert times[0] >= 140 and times[1] >= times[0] + 100 and times[2] >= times[1] + 100


@pytest.mark.parametrize("block", [(2048, 1, 1), (32, 33, 1), (8, 8, 17)])
def test_a_launch_that_does_not_fit_is_refused(block: tuple[int, int, int]) -> None:
    launch = prepare("exit")
    host = Host(bench())
    with pytest.raises(TinygpuError, match="1,024 at most"):
        host.run(launch.program, (1, 1, 1), block, {})
    assert host.synchronize(host.launch(launch.program, (1, 1, 1), (32, 1, 1), {})).blocks == 1
