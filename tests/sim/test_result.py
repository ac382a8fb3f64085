"""Results made of a raw run that is made by hand: fields, JSON, checks, counts, digest, notebook."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tinygpu.isa.assembler import assemble
from tinygpu.isa.errors import SourceError
from tinygpu.isa.launch import LaunchPlan, plan
from tinygpu.sim import machinefile
from tinygpu.sim.counters import DEVICE_NAMES, NAMES
from tinygpu.sim.engine import RawRun
from tinygpu.sim.occupancy import occupancy
from tinygpu.sim.result import RUN_COUNTS, RunResult, digest, make_result
from tinygpu.sim.state import PROFILE, STATES

TEXT = """\
.kernel twice(X: ptr.f32, n: s32)
.let N = 64
.launch grid = N/32, block = 32
.arg X = arange(N), n = N
.expect X ~ 2 * X
.count sectors_per_request @first = 4
.count warp_instructions = 2 * blocks * 5

    mov.u32       tid, %tid.x
    mad.wide.s32  px, tid, 4, X
first:
    ld.global.f32 x, [px]
    add.f32       x, x, x
    exit
"""
TINY = machinefile.load("tiny")
LOAD = 2  # the pc of `first`


def planned(text: str = TEXT) -> LaunchPlan:
    return plan(assemble(text, "some/where/twice.s"))


def raw_run(given: LaunchPlan, **changes: Any) -> RawRun:
    """Two warps of five instructions, 500 cycles; the result is right."""
    profile = np.zeros(len(given.program.instructions), PROFILE)
    profile["issued"] = 2
    profile["lanes"] = 64
    profile["requests"][LOAD], profile["sectors"][LOAD] = 2, 8
    profile["stall"][:, STATES.index("selected")] = 2
    profile["stall"][LOAD + 1, STATES.index("long_scoreboard")] = 90
    counters = {**dict.fromkeys(NAMES, 0), "warp_instructions": 20, "thread_instructions": 640}
    base = RawRun(
        cycles=500,
        launch_cycles=10,
        counters={**counters, "global_load_requests": 2, "global_load_sectors": 8},
        device_counters={**dict.fromkeys(DEVICE_NAMES, 0), "l2_accesses": 8, "l2_misses": 8},
        profile=profile,
        schedulers={"issued": 20, "stalled": 80, "empty": 900},
        occupancy=occupancy(TINY.spec, 32, 4, 0),
        blocks=2,
        threads=64,
        outputs={"X": 2 * np.arange(64, dtype=np.float32)},
        wall_seconds=0.25,
    )
    return replace(base, **changes)


def result(check: bool = True, text: str = TEXT, **changes: Any) -> RunResult:
    given = planned(text)
    return make_result(raw_run(given, **changes), given, TINY, check=check)


def test_a_result_says_what_ran() -> None:
    found = result()
    assert (found.program, found.file, found.machine) == ("twice", "twice.s", "tiny")
    assert (found.grid, found.block, found.seed) == ((2, 1, 1), (32, 1, 1), 0)
    assert (found.cycles, found.launch_cycles, found.sms, found.clock_mhz) == (500, 10, 2, 1000)
    assert found.simulated_seconds == pytest.approx(500e-9)
    assert (found.warp_instructions, found.thread_instructions, found.ipc) == (20, 640, 0.04)
    assert [row["source"] for row in found.listing][LOAD] == "ld.global.f32 x, [px]"


def test_counters_of_sms_and_device_stand_together() -> None:
    counters = result().counters
    assert set(counters) == {*NAMES, *DEVICE_NAMES}
    assert counters["global_load_sectors"] == counters["l2_misses"] == 8


def test_stalls_are_summed_over_instructions_and_named() -> None:
    stalls = result().stalls
    assert list(stalls) == list(STATES)
    assert {name: count for name, count in stalls.items() if count} == {
        "selected": 10,
        "long_scoreboard": 90,
    }


def test_occupancy_names_limiters_and_what_was_achieved() -> None:
    facts = result().occupancy
    # 100 warp-cycles in 100 cycles with warps, one scheduler an SM.
    assert facts["achieved"] == 1
    assert (facts["blocks"], facts["warps"], facts["max_warps"]) == (4, 4, 8)
    assert facts["limiter"] == "blocks"


def test_a_right_result_is_correct() -> None:
    found = result()
    assert found.correct is True
    assert [(check.name, check.ok, check.elements) for check in found.checks] == [("X", True, 64)]
    assert [(count.name, count.got) for count in found.counts] == [
        ("sectors_per_request", 4),
        ("warp_instructions", 20),
    ]


def test_a_wrong_element_is_found() -> None:
    wrong = 2 * np.arange(64, dtype=np.float32)
    wrong[5] += 1
    found = result(outputs={"X": wrong})
    assert found.correct is False
    assert found.checks[0].first_bad_index == (5,) and found.checks[0].bad == 1
    assert all(count.ok for count in found.counts)


def test_a_wrong_count_is_a_wrong_result() -> None:
    counters = {**raw_run(planned()).counters, "warp_instructions": 21}
    found = result(counters=counters)
    assert found.correct is False and found.checks[0].ok
    assert [count.ok for count in found.counts] == [True, False]


def test_unchecked_is_neither_right_nor_wrong() -> None:
    assert result(check=False).correct is None
    assert result(check=False).checks == ()
    bare = "\n".join(line for line in TEXT.splitlines() if not line.startswith((".expect", ".count")))
    assert result(text=bare).correct is None


def test_an_interrupted_run_is_not_checked() -> None:
    found = result(interrupted=True, outputs={"X": np.zeros(64, np.float32)})
    assert found.interrupted and found.correct is None and found.checks == ()


@pytest.mark.parametrize(
    ("count", "got"),
    [
        ("cycles = 500", 500),
        ("l2_misses = 8", 8),
        ("issued = 10", 10),
        ("lanes @first = 64", 64),
        ("requests @first = 2", 2),
        ("issued @first = 2", 2),
    ],
)
def test_what_a_count_may_name(count: str, got: int) -> None:
    text = TEXT.replace("warp_instructions = 2 * blocks * 5", count)
    assert [one.got for one in result(text=text).counts] == [4, got]
    assert result(text=text).correct


@pytest.mark.parametrize(
    ("count", "name", "hint"),
    [
        ("warp_instruction = 1", "warp_instruction", "did you mean warp_instructions?"),
        ("warp_instructions @first = 2", "warp_instructions", ""),
    ],
)
def test_a_count_that_does_not_exist_is_an_error_at_its_place(count: str, name: str, hint: str) -> None:
    with pytest.raises(SourceError) as caught:
        result(text=TEXT.replace("warp_instructions = 2 * blocks * 5", count))
    (found,) = caught.value.diagnostics
    assert (found.line, found.column, found.message) == (7, 8, f"there is no counter {name}")
    assert hint in found.hint


def test_counters_have_distinct_names_for_counts() -> None:
    assert len(set(RUN_COUNTS)) == len(RUN_COUNTS)


def test_json_has_what_is_promised_and_is_json() -> None:
    facts = result().to_json()
    promised = {
        "schema", "program", "machine", "correct", "checks", "counts", "cycles", "warp_instructions",
        "thread_instructions", "ipc", "wall_seconds", "occupancy", "stalls", "schedulers", "counters",
        "digest",
    }  # fmt: skip
    assert promised <= set(facts)
    assert facts["schema"] == 1
    again = json.loads(json.dumps(facts, allow_nan=False))
    assert again == facts
    assert again["counts"][0]["got"] == 4 and again["occupancy"]["limits"]["warps"] == 8
    assert again["peaks"]["issue"] == pytest.approx(0.02)


def test_json_has_none_for_what_is_no_number() -> None:
    facts = result().to_json()
    assert facts["metrics"]["store_sectors_per_request"] is None
    assert facts["metrics"]["load_sectors_per_request"] == 4


def test_the_digest_is_of_what_happened_only() -> None:
    same = result().digest
    assert len(same) == 64 and int(same, 16) >= 0
    assert result(wall_seconds=9.0).digest == same
    assert result(check=False).digest == same
    assert result(warnings=["a word"]).digest == same


@pytest.mark.parametrize(
    "changes",
    [
        {"cycles": 501},
        {"counters": {**dict.fromkeys(NAMES, 0), "blocks": 1}},
        {"device_counters": {**dict.fromkeys(DEVICE_NAMES, 0), "l2_hits": 1}},
        {"schedulers": {"issued": 21, "stalled": 79, "empty": 900}},
        {"outputs": {"X": np.arange(64, dtype=np.float32)}},
        {"outputs": {"Y": 2 * np.arange(64, dtype=np.float32)}},
        {"outputs": {"X": (2 * np.arange(64, dtype=np.float32)).reshape(8, 8)}},
        {"outputs": {"X": (2 * np.arange(64, dtype=np.float32)).view(np.int32)}},
    ],
)
def test_the_digest_sees_every_change(changes: dict[str, Any]) -> None:
    assert result(check=False, **changes).digest != result(check=False).digest


def test_the_digest_sees_a_stall() -> None:
    given = planned()
    profile = raw_run(given).profile
    profile["stall"][0, STATES.index("wait")] += 1
    assert result(profile=profile).digest != result().digest


def test_the_digest_of_a_known_run_is_known() -> None:
    # Another value means that results made by other versions can no longer be compared.
    raw = raw_run(planned(), counters={"warp_instructions": 1}, device_counters={"l2_hits": 2}, outputs={})
    lines = (("cycles", 500), ("warp_instructions", 1), ("l2_hits", 2), ("wait", 3))
    lines += (("empty", 900), ("issued", 20), ("stalled", 80))
    text = "".join(f"{name}\0{count}\n" for name, count in lines)
    assert digest(raw, {"wait": 3}) == hashlib.sha256(text.encode()).hexdigest()


def test_a_notebook_shows_a_table() -> None:
    shown = result()._repr_html_()
    assert shown.startswith("<table><caption>twice on tiny</caption>")
    assert "<td>correct</td>" in shown and "<td>500 (0.5 µs)</td>" in shown
    assert "<th style='text-align:left'>stall: long_scoreboard</th><td>90.0%</td>" in shown
    assert shown.count("<tr>") == shown.count("</tr>") == 13


def test_a_notebook_shows_names_as_text() -> None:
    shown = replace(result(), program="<b>", correct=False)._repr_html_()
    assert "&lt;b&gt; on tiny" in shown and "<td>WRONG</td>" in shown


def test_repr_is_short_enough_to_read() -> None:
    assert len(repr(result())) < 6000
