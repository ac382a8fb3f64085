"""Tight gates of launches and blocks: start, succession, dispatch, drain, residence, to the cycle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.bench import bench
from helpers.launch import Outcome, run

ONE: dict[str, Any] = {"device.sms": 1}


def lives(outcome: Outcome) -> dict[int, tuple[int, int, int]]:
    """(SM, first cycle, cycle after the last) of every block."""
    events = outcome.trace.events
    found = {}
    for block in np.unique(events["block"]):
        rows = events[events["block"] == block]
        sms = set(rows["sm"].tolist())
        assert len(sms) == 1
        found[int(block)] = (sms.pop(), int(rows["start"].min()), int((rows["start"] + rows["cycles"]).max()))
    return found


@pytest.mark.parametrize("cycles", [0, 100, 101])
def test_the_first_block_starts_launch_cycles_after_the_launch(cycles: int) -> None:
    outcome = run("nop\nexit", bench({"device.launch_cycles": cycles}))
    assert lives(outcome)[0] == (0, cycles, cycles + 40 + 2)
    assert outcome.raw.launch_cycles == cycles


@pytest.mark.parametrize("cycles", [0, 50, 51])
def test_a_kernel_ends_drain_cycles_after_its_last_warp(cycles: int) -> None:
    outcome = run("nop\nexit", bench({"device.drain_cycles": cycles}))
    assert outcome.raw.cycles == 142 + cycles


@pytest.mark.parametrize("cycles", [1, 3, 4])
def test_blocks_of_one_sm_start_dispatch_cycles_apart(cycles: int) -> None:
    outcome = run("nop\nexit", bench({**ONE, "device.block_dispatch_cycles": cycles}), grid=3)
    assert [start for _, start, _ in lives(outcome).values()] == [100, 100 + cycles, 100 + 2 * cycles]


def test_sms_are_filled_in_rounds() -> None:
    outcome = run("nop\nexit", bench({"device.sms": 3}), grid=7)
    assert [sm for sm, _, _ in lives(outcome).values()] == [0, 1, 2, 0, 1, 2, 0]
    assert [start for _, start, _ in lives(outcome).values()] == [100] * 3 + [103] * 3 + [106]


@pytest.mark.parametrize("cycles", [1, 40, 41])
def test_a_block_s_successor_starts_block_start_cycles_after_its_end(cycles: int) -> None:
    outcome = run("nop\nexit", bench({**ONE, "sm.blocks": 1, "device.block_start_cycles": cycles}), grid=3)
    first, second, third = lives(outcome).values()
    assert second[1] == first[2] + cycles
    assert third[1] == second[2] + cycles
    assert second[2] - second[1] == 2, "the instruction caches are warm"


def test_a_block_goes_where_the_first_one_ends() -> None:
    """Block 0 sleeps: its SM gets nothing more, the other SM takes all the rest."""
    text = "mov.u32 b, %ctaid.x\nsetp.eq.u32 first, b, 0\n@first nanosleep 5000\nexit"
    outcome = run(text, bench({"device.sms": 2, "sm.blocks": 1}), grid=6)
    assert [sm for sm, _, _ in lives(outcome).values()] == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("changes", "block", "resident"),
    [
        ({"sm.blocks": 3}, 32, 3),
        ({"sm.warps": 8}, 64, 4),
        ({"sm.threads": 128}, 64, 2),
        ({"sm.registers": 4096}, 64, 4),  # 8 registers: 256 a warp, 4 warps a block by the unit: 1024
    ],
)
def test_no_more_blocks_are_resident_than_fit(changes: dict[str, Any], block: int, resident: int) -> None:
    outcome = run("mov.u32 %r7, 1\nnanosleep 500\nexit", bench({**ONE, **changes}), grid=12, block=block)
    assert outcome.raw.occupancy.blocks == resident
    spans = list(lives(outcome).values())
    ends = sorted(end for _, _, end in spans)
    started = [sum(start < ends[0] for _, start, _ in spans)]
    assert started == [resident]


def test_shared_memory_limits_residence_too() -> None:
    """40,000 bytes and 1,024 reserved: two blocks in 102,400."""
    text = ".shared s: u8[40000]\nnanosleep 500\nexit"
    outcome = run(text, bench(ONE), grid=4)
    assert outcome.raw.occupancy.blocks == 2
    first, second, third, fourth = lives(outcome).values()
    assert (first[1], second[1]) == (100, 103)
    assert third[1] >= first[2] + 40 and fourth[1] >= second[2] + 40


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_a_block_finds_its_registers_shared_and_local_memory_zero(blocks: int) -> None:
    """Each block leaves ones behind in everything that it has; its successor in the same place sees none."""
    text = """
        .kernel k(out: ptr.u32)
        .shared s: u32[64]
        .local l: u32[4]
        .arg out = zeros(160)
        mov.u32 t, %tid.x
        mov.u32 b, %ctaid.x
        mad.lo.u32 i, b, 32, t
        mad.wide.u32 p, i, 4, out
        shl.b32 o, t, 2
        ld.shared.u32 x, [s + o]
        ld.local.u32 y, [l + 4]
        or.b32 x, x, y
        or.b32 x, x, %r50
        add.u32 x, x, 1
        st.global.u32 [p], x
        st.shared.u32 [s + o], x
        st.local.u32 [l + 4], x
        mov.u32 %r50, 1
        exit"""
    outcome = run(text, bench({**ONE, "sm.blocks": 1}), grid=blocks)
    assert list(outcome.outputs["out"][: 32 * blocks]) == [1] * 32 * blocks


def test_warps_of_a_block_fill_the_sub_cores_in_turn() -> None:
    outcome = run("nop\nexit", bench(ONE), block=32 * 6)
    assert sorted({int(w) for w in outcome.trace.events["warp"]}) == list(range(6))
    assert outcome.issues(4)[0][0] == outcome.issues(0)[1][0] + 1, "warp 4 shares sub-core 0"
