"""Register banks to the cycle: conflicts, the collection window, reuse."""

from __future__ import annotations

from typing import Any

import pytest
from helpers.bench import bench
from helpers.launch import Outcome, run

# One read a cycle and bank, two banks, and no time to collect beyond the cycle of issue.
TIGHT: dict[str, Any] = {
    "register_file.banks": 2, "register_file.reads_per_cycle": 1, "register_file.window_cycles": 1,
    "register_file.reuse": False, "sm.subcores": 1,
}  # fmt: skip


def gaps(texts: list[str], changes: dict[str, Any] | None = None) -> list[int]:
    """Issue cycles relative to the first of some instructions."""
    return [cycle - issues(texts, changes)[0] for cycle in issues(texts, changes)]


def issues(texts: list[str], changes: dict[str, Any] | None = None) -> list[int]:
    return [cycle for cycle, _ in outcome(texts, changes).issues()][: len(texts)]


def outcome(texts: list[str], changes: dict[str, Any] | None = None) -> Outcome:
    return run("\n".join([*texts, "exit"]), bench({**TIGHT, **(changes or {})}))


def fma(dest: int, a: int, b: int, c: int) -> str:
    return f"fma.f32 %r{dest}, %r{a}, %r{b}, %r{c}"


def test_operands_of_different_banks_cost_nothing() -> None:
    texts = [f"add.f32 %r{40 + i}, %r2, %r3" for i in range(4)]
    assert gaps(texts) == [0, 1, 2, 3]


@pytest.mark.parametrize("rate", [1, 2, 3])
@pytest.mark.parametrize("reads", [1, 2, 3])
def test_reads_of_one_bank_pass_one_after_another(reads: int, rate: int) -> None:
    """A stream of instructions whose busier bank has `worst` reads issues every worst / rate cycles."""
    operands = [2, 4, 6][:reads] + [1, 3][: 3 - reads]
    texts = [fma(40 + i, *[*operands, 255, 255][:3]) for i in range(6)]
    texts = [text.replace("%r255", "%r5") for text in texts]
    even = sum(r % 2 == 0 for r in operands)
    worst = max(even, 3 - even)
    got = gaps(texts, {"register_file.reads_per_cycle": rate})
    assert got == [i * -(-worst // rate) for i in range(6)]


@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_the_window_hides_a_backlog_of_its_size(window: int) -> None:
    """Two reads of bank 0 an instruction: the backlog grows by one a cycle until the window is full."""
    texts = [f"add.f32 %r{40 + i}, %r2, %r4" for i in range(8)]
    got = gaps(texts, {"register_file.window_cycles": window})
    backlog, time, expected = 0, 0, []
    for i in range(8):
        if i:
            time += 1
            backlog = max(0, backlog - 1)
        wait = max(0, backlog + min(2, window) - window)
        time, backlog = time + wait, backlog - wait + 2
        expected.append(time)
    assert got == expected
    if window == 3:
        assert got == [0, 1, 3, 5, 7, 9, 11, 13]  # the same by hand


def test_a_wait_for_banks_is_a_dispatch_stall() -> None:
    text = "a: add.f32 %r40, %r2, %r4\nb: add.f32 %r41, %r2, %r4\nexit"
    found = run(text, bench(TIGHT))
    assert found.gap("a", "b") == 2
    assert found.waits("b") == {"dispatch_stall": 1, "selected": 1}


def test_more_reads_than_the_window_holds_wait_for_an_idle_bank() -> None:
    """Three reads with a window of one: each instruction waits for the three of the one before."""
    assert gaps([fma(40 + i, 2, 4, 6) for i in range(4)]) == [0, 3, 6, 9]


def test_64_bit_operands_read_both_banks() -> None:
    texts = [f"add.f64 %r{40 + 2 * i}, %r2, %r4" for i in range(3)]
    assert gaps(texts, {"timing.fp64.issue_cycles": 1}) == [0, 2, 4]


@pytest.mark.parametrize(("reuse", "expected"), [(False, [0, 2, 4, 6]), (True, [0, 1, 2, 3])])
def test_the_reuse_slot_spares_the_same_operand_in_the_same_place(reuse: bool, expected: list[int]) -> None:
    """%r2 stays in its slot: one read of bank 0 is left."""
    texts = [f"add.f32 %r{41 + 2 * i}, %r2, %r{4 + 2 * i}" for i in range(4)]
    got = gaps(texts, {"register_file.reuse": reuse})
    assert got == ([0, 2, 3, 4] if reuse else expected)


def test_another_warp_s_instruction_empties_the_slot() -> None:
    """Round robin between two warps: nothing is reused."""
    texts = [f"add.f32 %r{41 + 2 * i}, %r2, %r{4 + 2 * i}" for i in range(4)]
    changes = {**TIGHT, "register_file.reuse": True, "issue.scheduler": "lrr"}
    found = run("\n".join([*texts, "exit"]), bench(changes), block=64)
    times = sorted(cycle for warp in (0, 1) for cycle, pc in found.issues(warp) if pc < 4)
    assert [cycle - times[0] for cycle in times] == [2 * i for i in range(8)]
