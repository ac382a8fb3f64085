"""The report: every section's words and figures by hand, widths, colour, wrong results."""

from __future__ import annotations

import re

import numpy as np
import pytest
from synthetic_report import BAD, counters, demo_result

from tinygpu.isa.checks import CheckResult, CountResult
from tinygpu.sim.metrics import Peak
from tinygpu.sim.state import PROFILE, STATES
from tinygpu.viz import report_memory
from tinygpu.viz.report_lines import hottest_lines, statement
from tinygpu.viz.report_text import render


def section(text: str, first: str) -> list[str]:
    """The lines of the section that begins with `first`."""
    return next(part for part in text.split("\n\n") if part.startswith(first)).splitlines()


def test_head_says_what_ran_how_long_and_how_right() -> None:
    assert section(render(demo_result()), "matmul") == [
        "matmul (matmul.s) on h200",
        "launch      grid 16 x 16 = 256 blocks, block 16 x 16, seed 0",
        "correct     C: 65,536 elements, largest error 3.1e-07 relative, 1.2e-05 absolute",
        "counts      1 of 1 as stated",
        "time        20,000 cycles = 10 us at 2,000 MHz (2,000 cycles are the launch)",
        "work        1,000,000 warp instructions, 32 lanes each; IPC 50, 0.379 an SM (132 SMs)",
        "simulated   in 2 s wall, 500 k warp instructions a second",
    ]


def test_what_was_set_is_said() -> None:
    text = render(demo_result(settings={"N": "128", "l1.ways": "8"}))
    assert "\nset         N = 128, l1.ways = 8\n" in text
    assert "\nset " not in render(demo_result())


def test_a_wrong_result_says_where_and_by_how_much() -> None:
    wrong_count = CountResult("conflicts", -1, False, 0.0, 32.0, 14)
    text = render(demo_result(checks=[BAD], counts=[wrong_count], correct=False))
    assert "WRONG       C (line 9): 7 of 65,536 elements; first [3, 4] is 4.0, should be 1.5" in text
    assert "counts      0 of 1 as stated" in text
    assert "conflicts (line 14) is 32, should be 0" in text


def test_exact_results_and_unchecked_ones() -> None:
    exact = CheckResult("out", True, 0, 0, None, None, None, 3, "==", 0, 64)
    assert "correct     out: 64 elements equal" in render(demo_result(checks=[exact]))
    assert "unchecked   the program states no expectation" in render(demo_result(checks=[]))


def test_peaks_with_bars_and_the_verdict() -> None:
    lines = section(render(demo_result(), unicode=False), "share of peak")
    assert (
        lines[1]
        == "  issue         ##########..............  41.2 %  0.41 warp instructions a scheduler and cycle"
    )
    assert lines[2] == "  FP32          ######..................  25.0 %"
    assert lines[-1].startswith("  -> latency bound: no unit is above 60 % of its peak;")


def test_a_unit_without_a_peak_has_no_share() -> None:
    lines = section(
        render(demo_result(peaks=[Peak("DRAM", float("nan"), "")]), unicode=False), "share of peak"
    )
    assert lines[1] == "  DRAM          ........................       -"


def test_occupancy_with_limiter_and_next_step() -> None:
    assert section(render(demo_result()), "occupancy") == [
        "occupancy   16 of 64 warps an SM (25.0 %): 2 blocks an SM, limited by blocks of the grid",
        "            more blocks: the grid has 1.94 an SM",
    ]


def test_stalls_are_sorted_and_sum_to_a_hundred() -> None:
    text = render(demo_result(stalls={"selected": 1, "wait": 1, "long_scoreboard": 1, "barrier": 0}))
    lines = section(text, "where the warps' time went")
    assert lines[0].endswith("(100 % = 3 warp-cycles)")
    shares = [float(re.findall(r"([\d.]+) %$", line)[0]) for line in lines[1:4]]
    assert shares == [33.4, 33.3, 33.3]
    assert "barrier" not in "\n".join(lines)
    assert lines[-1].startswith("  schedulers: 10.0 % of cycles issued, 30.0 % stalled")


def test_memory_table_by_hand() -> None:
    assert section(render(demo_result()), "memory") == [
        "memory",
        "                 requests  sectors  /request    hits  merges    bytes",
        "  global loads      1,000    4,000         4       -       -   128 kB",
        "  global stores       250    1,000         4       -       -    32 kB",
        "  L1 look-ups           -    4,000         -  25.0 %  25.0 %   128 kB",
        "  SM to L2            750    3,000         4       -       -    96 kB",
        "  L2 look-ups           -    2,000         -  60.0 %   0.0 %    64 kB",
        "  DRAM reads            -      800         -       -       -  25.6 kB",
        "  DRAM rows             -      800         -  75.0 %       -",
    ]


def test_shared_table_by_hand() -> None:
    assert section(render(demo_result()), "shared memory") == [
        "shared memory",
        "          requests  wavefronts  /request  conflicts",
        "  loads     64,000      96,000       1.5     32,000",
        "  stores     2,000       2,000         1          0",
    ]


@pytest.mark.parametrize("kind", ["load", "store", "atomic"])
def test_every_kind_of_traffic_gets_its_row(kind: str) -> None:
    made = counters(**{f"global_{kind}_requests": 2, f"global_{kind}_sectors": 5})
    rows = report_memory.memory_table(made, {})
    assert rows[1:] == [(f"global {kind}s", "2", "5", "2.5", "-", "-", "160 B")]
    made = counters(
        **{f"shared_{kind}_requests": 2, f"shared_{kind}_wavefronts": 6, f"shared_{kind}_conflicts": 4}
    )
    assert report_memory.shared_table(made)[1:] == [(f"{kind}s", "2", "6", "3", "4")]


def test_bursts_of_another_size_and_local_traffic() -> None:
    made = counters(dram_write_bursts=3, local_load_requests=1, local_store_requests=1, local_sectors=8)
    rows = report_memory.memory_table(made, {"dram_burst_bytes": 64})
    assert rows[1:] == [
        ("local", "2", "8", "4", "-", "-", "256 B"),
        ("DRAM writes", "-", "3", "-", "-", "-", "192 B"),
    ]


def test_no_traffic_no_tables() -> None:
    text = render(demo_result(counters=counters(warp_instructions=1, thread_instructions=1)))
    assert "\nmemory\n" not in text and "requests" not in text


def test_hottest_lines_in_the_report() -> None:
    assert section(render(demo_result()), "hottest lines")[1:] == [
        "  40.0 %  matmul.s:31  long scoreboard   ld.global.f32 a, [pa]",
        "  30.0 %  matmul.s:40  short scoreboard  fma.f32 acc, x, y, acc",
    ]


def test_hottest_lines_sum_a_lines_instructions_and_leave_out_ready_warps() -> None:
    profile = np.zeros(4, PROFILE)
    profile["issued"] = [1, 2, 3, 4]
    profile["stall"][0, STATES.index("wait")] = 5
    profile["stall"][1, STATES.index("long_scoreboard")] = 7
    profile["stall"][2, STATES.index("selected")] = 1000
    profile["stall"][2, STATES.index("not_selected")] = 1000
    profile["stall"][3, STATES.index("barrier")] = 9
    listing = [{"file": "a.s", "line": 5, "source": "x"}] * 2 + [
        {"file": "a.s", "line": 6},
        {"text": "bar.sync"},
    ]
    found = hottest_lines(profile, listing)
    assert [(h.place, h.text, h.stalled, h.state, h.issued) for h in found] == [
        ("a.s:5", "x", 12, "long_scoreboard", 3),
        ("pc 3", "bar.sync", 9, "barrier", 4),
    ]
    assert len(hottest_lines(profile, listing, most=1)) == 1


def test_comments_and_columns_of_a_source_line_are_left_out() -> None:
    assert statement("    ld.shared.f32 a[k],   [As]   // As[ty][k]") == "ld.shared.f32 a[k], [As]"


@pytest.mark.parametrize("width", [72, 80, 100, 200])
def test_no_line_is_wider_than_asked(width: int) -> None:
    result = demo_result(checks=[BAD], warnings=["a word " * 60], verdict="long " * 60)
    wide = [line for line in render(result, width).splitlines() if len(line) > width]
    assert wide == []


def test_colour_changes_nothing_but_colour() -> None:
    plain, coloured = render(demo_result(), 100), render(demo_result(), 100, True)
    assert "\x1b[" not in plain and "\x1b[32mcorrect" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_an_interrupted_run_says_so_and_warnings_come_last() -> None:
    text = render(demo_result(interrupted=True, warnings=["lane 3 read from an inactive lane"]))
    assert "time        interrupted after 20,000 cycles" in text
    assert text.endswith("warning: lane 3 read from an inactive lane")


def test_nothing_happened_is_no_division_by_zero() -> None:
    result = demo_result(
        cycles=0, wall_seconds=0.0, counters=counters(), stalls={},
        schedulers=dict.fromkeys(("issued", "stalled", "empty"), 0),
        occupancy={},
    )  # fmt: skip
    assert "0 warp instructions, 0 lanes each; IPC 0" in render(result)
