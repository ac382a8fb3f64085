"""Kinds of faults that users of other GPU simulators report: each is a named test that it is not ours.

Numbers follow the list of kinds that the project keeps: shuffles, locks, barriers, wide accesses,
atomics, hazards of vector operands, odd sizes, counters, precise faults, fences and peak rates.
"""

from __future__ import annotations

import numpy as np
import pytest
from helpers.bench import bench
from helpers.launch import agree, prepare, run

from tinygpu.isa.errors import DeadlockError, FaultError, TinygpuError

POLICIES = ("stack", "independent")


def machine(policy: str = "independent", **more: object):
    return bench({"divergence.policy": policy}, **more)


# --- 1: shuffles under a mask that is not contiguous -----------------------------------------------


@pytest.mark.parametrize("clamp", ["0x1f", "0x101f", "0x181f"])  # widths 32, 16, 8
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_fault_01_shuffles_use_real_lanes_and_read_before_they_write(mode: str, clamp: str) -> None:
    clamp = clamp.replace("1f", "00") if mode == "up" else clamp
    text = f"""
    .kernel k(out: ptr.u32)
    .arg out = zeros(32)
    mov.u32 t, %tid.x
    mad.wide.u32 p, t, 4, out
    add.u32 x, t, 100
    and.b32 low, t, 5
    setp.eq.u32 mine, low, 1                    // lanes 1, 3, 9, 11, 17, 19, 25, 27: with gaps
    vote.sync.ballot.b32 lanes, mine, 0xffffffff
    @mine shfl.sync.{mode}.b32 x, x, 2, {clamp}, lanes
    st.global.u32 [p], x
    exit
    """
    agree(text, machine("stack"), machine("independent"))


def test_fault_01_a_read_from_an_inactive_lane_is_reported() -> None:
    text = """
    mov.u32 t, %laneid
    setp.lt.u32 low, t, 16
    @low shfl.sync.bfly.b32 x, t, 16, 0x1f, 0x0000ffff
    exit
    """
    assert any("did not take part" in warning for warning in run(text).raw.warnings)


# --- 3: a lock taken inside one warp ----------------------------------------------------------------

LOCK = """
.kernel k(lock: ptr.u32, count: ptr.u32)
.arg lock = zeros(1), count = zeros(1)
.expect count == 64
again:
atom.global.cas.b32 old, [lock], 0, 1
setp.ne.u32 taken, old, 0
@taken bra again
ld.global.volatile.u32 x, [count]
add.u32 x, x, 1
st.global.volatile.u32 [count], x
fence.gpu
atom.global.exch.b32 old, [lock], 0
exit
"""


def test_fault_03_a_lock_inside_a_warp_is_passed_on_under_independent() -> None:
    outcome = run(LOCK, machine("independent"), block=64)
    assert int(outcome.outputs["count"][0]) == 64


def test_fault_03_under_stack_the_deadlock_is_named() -> None:
    with pytest.raises(DeadlockError) as caught:
        run(LOCK, machine("stack"), block=32)
    words = f"{caught.value} {caught.value.hint}"
    assert "lanes 0x" in words and "test.s:" in words and "independent" in words


# --- 4, 5, 6, 7, 8: barriers ------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("block", [64, 96, 100])
def test_fault_04_exited_threads_leave_the_count(policy: str, block: int) -> None:
    """Threads return before, between and after barriers, in a loop, and the last warp is ragged."""
    text = """
    .kernel k(out: ptr.u32)
    .arg out = zeros(128)
    mov.u32 t, %tid.x
    mad.wide.u32 p, t, 4, out
    setp.lt.u32 early, t, 5
    @early exit
    bar.sync 0
    mov.u32 round, 0
    again:
    add.u32 round, round, 1
    st.global.u32 [p], round
    lea.u32 until, round, 40, 2
    setp.gt.u32 late, t, until
    @late exit
    bar.sync 0
    setp.lt.u32 more, round, 6
    @more bra again
    bar.sync 0
    exit
    """
    agree(text, machine(policy), block=block)


def test_fault_05_a_barrier_at_two_places_names_both_lines() -> None:
    text = (
        "mov.u32 t, %tid.x\nsetp.lt.u32 low, t, 32\n@low bra other\nbar.sync 0\nexit\nother: bar.sync 0\nexit"
    )
    with pytest.raises(FaultError) as caught:
        run(text, block=64)
    assert "test.s:5" in str(caught.value) and "test.s:7" in str(caught.value)


@pytest.mark.parametrize("policy", POLICIES)
def test_fault_05_a_part_of_a_block_at_a_barrier_is_a_deadlock_with_its_line(policy: str) -> None:
    text = """
    mov.u32 t, %tid.x
    setp.ge.u32 high, t, 32
    @high bra wait
    bar.sync 1, 64
    exit
    wait: bar.sync 2, 64
    exit
    """
    with pytest.raises(DeadlockError, match=r"barrier [12]"):
        run(text, machine(policy), block=64)


def test_fault_06_a_fault_before_a_barrier_stops_the_launch() -> None:
    text = """
    mov.u32 t, %tid.x
    setp.eq.u32 bad, t, 37
    mov.u64 p, 64
    @bad ld.global.u32 x, [p]
    bar.sync 0
    exit
    """
    with pytest.raises(FaultError) as caught:
        run(text, block=64)
    words = str(caught.value)
    assert "thread (37, 0, 0)" in words and "lane 5" in words and "block (0, 0, 0)" in words
    assert "test.s:6" in words


def test_fault_07_ten_thousand_barriers_in_a_row_in_many_blocks() -> None:
    text = """
    mov.u32 left, 2500
    again:
    bar.sync 0
    bar.sync 0
    bar.sync 0
    bar.sync 0
    sub.u32 left, left, 1
    setp.ne.u32 more, left, 0
    @more bra again
    exit
    """
    outcome = run(text, block=64, grid=4, traced=False)
    assert outcome.counters["barriers"] == 4 * 10_000


@pytest.mark.parametrize(
    "text",
    ["exit", "mov.u32 t, %tid.x\nsetp.lt.u32 p, t, 20\n@p exit\nexit", "bra end\nexit\nend: exit"],
)
@pytest.mark.parametrize("policy", POLICIES)
def test_fault_07_exit_as_first_last_and_predicated_instruction(policy: str, text: str) -> None:
    assert run(text, machine(policy), block=70, grid=3).counters["blocks"] == 3


def test_fault_08_a_thousand_generations_of_sixteen_barriers_do_not_mix() -> None:
    """Each pair of warps has a barrier of its own; all 16 are in use at once."""
    pairs = "\n".join(f"setp.eq.u32 p, pair, {b}\n@p bra pair{b}" for b in range(16))
    loops = "\n".join(
        f"pair{b}:\nmov.u32 left, 60\nagain{b}:\nbar.sync {b}, 64\nsub.u32 left, left, 1\n"
        f"setp.ne.u32 more, left, 0\n@more bra again{b}\nbra done"
        for b in range(16)
    )
    text = f"mov.u32 t, %tid.x\nshr.u32 pair, t, 6\n{pairs}\nexit\n{loops}\ndone: exit"
    outcome = run(text, block=1024, traced=False)
    assert outcome.counters["barriers"] == 16 * 60


def test_fault_08_arrivals_do_not_starve_and_generations_follow() -> None:
    text = """
    mov.u32 t, %tid.x
    setp.lt.u32 producer, t, 32
    mov.u32 left, 1000
    again:
    @producer bra give
    bar.sync 1, 64
    bra next
    give:
    bar.sync 1, 64
    next:
    sub.u32 left, left, 1
    setp.ne.u32 more, left, 0
    @more bra again
    exit
    """
    assert run(text, block=64, traced=False).counters["barriers"] == 1000


# --- 9: wide shared accesses ------------------------------------------------------------------------


@pytest.mark.parametrize(("vec", "bytes_", "wavefronts"), [("", 4, 1), (".v2", 8, 2), (".v4", 16, 4)])
def test_fault_09_wide_accesses_take_their_wavefronts(vec: str, bytes_: int, wavefronts: int) -> None:
    names = {"": "%r40", ".v2": "{%r40, %r41}", ".v4": "{%r40, %r41, %r42, %r43}"}[vec]
    text = f"""
    .shared words: u32[128]
    mov.u32 t, %laneid
    mul.lo.u32 at, t, {bytes_}
    ld.shared{vec}.u32 {names}, [words + at]
    exit
    """
    outcome = run(text)
    assert outcome.counters["shared_load_wavefronts"] == wavefronts
    assert outcome.counters["shared_load_conflicts"] == 0


# --- 13: atomics ------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", ["global", "shared"])
def test_fault_13_an_atomic_returns_the_old_value_in_lane_order(space: str) -> None:
    place = "out" if space == "global" else "cell"
    text = f"""
    .kernel k(out: ptr.u32)
    .shared cell: u32[2]
    .arg out = zeros(64)
    mov.u32 t, %tid.x
    atom.{space}.add.u32 old, [{place}], 3
    add.u32 i, t, 1
    mad.wide.u32 p, i, 4, out
    st.global.u32 [p], old
    exit
    """
    (outcome,) = agree(text)
    assert list(outcome.outputs["out"][1:33]) == [3 * lane for lane in range(32)]


@pytest.mark.parametrize("space", ["global", "shared"])
def test_fault_13_a_carry_does_not_spill_into_the_neighbour(space: str) -> None:
    place = "out" if space == "global" else "cell"
    text = f"""
    .kernel k(out: ptr.u32)
    .shared cell: u32[2]
    .arg out = zeros(4)
    mov.u32 x, 0xffffffff
    st.{space}.u32 [{place}], x
    red.{space}.add.u32 [{place}], 1
    ld.{space}.u32 a, [{place}]
    ld.{space}.u32 b, [{place} + 4]
    st.global.v2.u32 [out + 8], {{a, b}}
    exit
    """
    (outcome,) = agree(text)  # 32 lanes add 1 to 0xffffffff
    assert list(outcome.outputs["out"][2:]) == [31, 0]


def test_fault_13_an_unsupported_type_is_a_clear_error() -> None:
    with pytest.raises(TinygpuError, match=r"has no form \.f16"):
        run("atom.global.add.f16 x, [y], 1\nexit")


# --- 14: hazards on the last register of a vector ------------------------------------------------------


def test_fault_14_read_after_write_on_the_last_register() -> None:
    text = """
    .shared words: u32[128]
    load: ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [words]
    use: add.u32 %r8, %r7, 1
    exit
    """
    assert run(text).gap("load", "use") == 23 + 3 * 3  # the latency of 128 bits, not of the first word


def test_fault_14_write_after_read_on_the_last_register() -> None:
    text = """
    .shared words: u32[128]
    store: st.shared.v4.u32 [words], {%r4, %r5, %r6, %r7}
    over: mov.u32 %r7, 1
    exit
    """
    assert run(text).gap("store", "over") == 6  # once the queue has read it: lsu.entry_cycles


def test_fault_14_write_after_write_on_the_last_register() -> None:
    text = """
    .shared words: u32[128]
    load: ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [words]
    over: mov.u32 %r7, 1
    exit
    """
    outcome = run(text)
    assert outcome.gap("load", "over") >= 23 + 3 * 3 - 5 + 1  # it may not arrive before the older one


# --- 15: a functional mode that differs from the timed one ------------------------------------------------


@pytest.mark.parametrize("scheduler", ["gto", "cggty", "lrr", "two_level"])
@pytest.mark.parametrize("policy", POLICIES)
def test_fault_15_the_timed_core_gives_the_memory_of_the_interpreter(policy: str, scheduler: str) -> None:
    text = """
    .kernel k(data: ptr.u32, out: ptr.u32)
    .shared tile: u32[96]
    .arg data = integers(0, 1000, 192), out = zeros(192)
    mov.u32 t, %tid.x
    mov.u32 b, %ctaid.x
    mad.lo.u32 i, b, 96, t
    mad.wide.u32 from, i, 4, data
    mad.wide.u32 to, i, 4, out
    ld.global.u32 x, [from]
    shl.b32 at, t, 2
    st.shared.u32 [tile + at], x
    bar.sync 0
    mov.u32 sum, 0
    again:
    ld.shared.u32 y, [tile + at]
    add.u32 sum, sum, y
    and.b32 odd, y, 1
    setp.eq.u32 even, odd, 0
    @even bra less
    add.u32 sum, sum, 7
    less:
    sub.u32 at, at, 4
    setp.ge.s32 more, at, 0
    @more bra again
    st.global.u32 [to], sum
    exit
    """
    launch = prepare(text, grid=2, block=96)
    agree(launch, machine(policy, issue__scheduler=scheduler))


# --- 16: sizes that do not fit -----------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 31, 32, 33, 63, 65, 1024])
@pytest.mark.parametrize("grid", [1, 3, 7])
def test_fault_16_odd_blocks_and_grids_run_every_thread_once(block: int, grid: int) -> None:
    text = """
    .kernel k(out: ptr.u32)
    .arg out = zeros(8192)
    mov.u32 t, %tid.x
    mov.u32 b, %ctaid.x
    mov.u32 width, %ntid.x
    mad.lo.u32 i, b, width, t
    mad.wide.u32 p, i, 4, out
    red.global.add.u32 [p], 1
    exit
    """
    outcome = run(text, block=block, grid=grid, traced=False)
    out = outcome.outputs["out"]
    assert np.all(out[: block * grid] == 1) and not out[block * grid :].any()
    assert outcome.counters["thread_instructions"] == 7 * block * grid
    assert outcome.counters["warp_instructions"] == 7 * grid * -(-block // 32)


# --- 17: counters -------------------------------------------------------------------------------------


def test_fault_17_counters_are_sums_of_64_bits() -> None:
    raw = run("nop\nexit").raw
    assert raw.profile["stall"].dtype == np.int64
    assert all(value >= 0 for value in (*raw.counters.values(), *raw.device_counters.values()))


# --- 20: unaligned and byte accesses ---------------------------------------------------------------------


@pytest.mark.parametrize(("type_", "offset"), [("u16", 1), ("u32", 2), ("u64", 4)])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_fault_20_a_misaligned_access_names_its_lane_and_line(space: str, type_: str, offset: int) -> None:
    place = "out" if space == "global" else "words"
    text = f"""
    .kernel k(out: ptr.u32)
    .shared words: u32[64]
    .arg out = zeros(64)
    ld.{space}.{type_} x, [{place} + {offset}]
    exit
    """
    with pytest.raises(FaultError) as caught:
        run(text)
    assert "not aligned" in str(caught.value) and "lane 0" in str(caught.value) and "ld." in str(caught.value)


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("type_", ["u8", "s8", "u16", "s16"])
def test_fault_20_bytes_and_halfwords_are_legal_anywhere_they_fit(space: str, type_: str) -> None:
    size = 1 if "8" in type_ else 2
    place = "data" if space == "global" else "bytes"
    base = "mad.wide.u32 a, t, 1, data" if size == 1 else "mad.wide.u32 a, t, 2, data"
    if space == "shared":
        base = f"mul.lo.u32 a, t, {size}\nadd.u32 a, a, bytes"
    text = f"""
    .kernel k(data: ptr.u32, out: ptr.u32)
    .shared {"bytes" if space == "shared" else "unused"}: u32[64]
    .arg data = zeros(64), out = zeros(32)
    mov.u32 t, %tid.x
    {base}
    mul.lo.u32 v, t, 0x1234567
    st.{space}.{type_} [a], v
    ld.{space}.{type_} x, [a]
    mad.wide.u32 p, t, 4, out
    st.global.u32 [p], x
    exit
    """
    assert place in text
    agree(text)


# --- 22: fences order memory only ---------------------------------------------------------------------------


def test_fault_22_a_fence_does_not_stop_other_warps() -> None:
    """Warp 0 waits for its store at a fence while warp 4 of the same sub-core goes on."""
    text = """
    .kernel k(out: ptr.u32)
    .arg out = zeros(256)
    mov.u32 t, %tid.x
    mad.wide.u32 p, t, 4, out
    setp.ge.u32 other, t, 32
    @other bra work
    st.global.u32 [p], t
    fence: fence.gpu
    after: nop
    exit
    work:
    .repeat k, 10
    add.u32 t, t, 1
    .end
    end: exit
    """
    outcome = run(text, bench({"sm.subcores": 1}), block=64)
    assert outcome.cycle("end", warp=1) < outcome.cycle("after", warp=0)
    assert outcome.waits("after", warp=0).get("membar", 0) > 50


def test_fault_22_four_schedulers_issue_four_instructions_a_cycle() -> None:
    text = "\n".join(f"fma.f32 %r{4 + k % 8}, %r{4 + k % 8}, 1.0, 1.0" for k in range(800)) + "\nexit"
    outcome = run(text, block=128, traced=False)
    issue = outcome.counters["warp_instructions"]
    assert issue / (outcome.raw.cycles - 100 - 50 - 60) > 3.8
