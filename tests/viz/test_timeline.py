"""The picture of the timeline: its plan, its pixels, its file."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from synthetic import busy_trace, events, meta

from tinygpu.isa.errors import InputError
from tinygpu.sim.state import EVENT, STATES
from tinygpu.sim.tracefile import NO_STATE, TraceData
from tinygpu.viz import palette, timeline


def pixels(path: Path) -> np.ndarray:
    return (matplotlib.image.imread(path)[:, :, :3] * 255).round().astype(int)


def count(image: np.ndarray, colour: str) -> int:
    return int((image == np.array(palette.rgb(colour))).all(axis=2).sum())


def test_every_state_has_a_look_of_its_own() -> None:
    assert set(palette.LOOKS) == set(STATES)
    looks = [(seen.colour, seen.hatch) for seen in palette.LOOKS.values()]
    twice = [pair for pair in looks if looks.count(pair) > 1]
    assert twice == []
    assert palette.look("something new") is palette.UNKNOWN


def test_every_timing_class_has_a_letter() -> None:
    from tinygpu.sim.spec import TIMING_CLASSES

    assert [c for c in TIMING_CLASSES if palette.kind(c) == "?"] == []
    assert palette.kind("nonsense") == "?"


def test_texture_paints_states_rows_and_gaps() -> None:
    names = ("selected", "branch_resolving")
    image = palette.textured(np.array([[0, NO_STATE], [1, 0]], np.uint8), names, 8)
    assert image.shape == (16, 2, 3)
    assert image[0, 0].tolist() == list(palette.rgb(palette.GREEN))
    assert image[0, 1].tolist() == list(palette.rgb(palette.EMPTY_COLOUR))
    assert image[7].tolist() == [[255, 255, 255]] * 2  # the line between rows
    stripe = {tuple(pixel) for pixel in image[8:15, 0].tolist()}
    assert len(stripe) == 2 and palette.rgb(palette.YELLOW) in stripe


def test_a_short_trace_needs_no_close_up() -> None:
    plan = timeline.make_plan(busy_trace(warps=1, cycles=50, loop=1))
    assert plan.close == (0, 0) and len(plan.rows) == 1
    assert plan.row_pixels == 22


def test_a_long_trace_gets_a_close_up_of_the_busiest_cycles() -> None:
    trace = busy_trace(warps=16, cycles=4000)
    plan = timeline.make_plan(trace)
    assert plan.close[1] - plan.close[0] == timeline.CLOSE_CYCLES
    quarter = (plan.end - plan.start) // 4
    assert plan.start + quarter <= plan.close[0] and plan.close[1] <= plan.end - quarter
    assert len(plan.close_rows) == 16


def test_many_warps_leave_one_subcore_to_the_close_up() -> None:
    plan = timeline.make_plan(busy_trace(warps=64, cycles=500, sms=4))
    assert [row.sm for row in plan.rows] == [0] * 64
    assert plan.left_out == 192
    assert {(row.sm, row.subcore) for row in plan.close_rows} == {(0, 0)}
    assert len(plan.close_rows) == 16


@pytest.mark.parametrize(
    ("warps", "sms", "asked", "kept"),
    [
        (8, 4, None, [0, 1, 2, 3]),
        (16, 4, None, [0, 1]),
        (16, 4, [0, 1, 2, 3], [0, 1, 2, 3]),
        (64, 3, [1, 2], [1, 2]),
    ],
)
def test_as_many_whole_sms_as_have_room(
    warps: int, sms: int, asked: list[int] | None, kept: list[int]
) -> None:
    plan = timeline.make_plan(busy_trace(warps=warps, cycles=300, sms=sms), sms=asked)
    assert sorted({row.sm for row in plan.rows}) == kept
    assert len(plan.rows) == warps * len(kept)


def test_the_window_and_the_sms_can_be_chosen() -> None:
    trace = busy_trace(warps=4, cycles=2000, sms=3)
    plan = timeline.make_plan(trace, window=(100, 900), close=(200, 260), sms=[2])
    assert (plan.start, plan.end, plan.close) == (100, 900, (200, 260))
    assert {row.sm for row in plan.rows} == {2}


def test_subtitle_says_what_is_shown_and_what_is_missing() -> None:
    trace = busy_trace(warps=64, cycles=500, sms=4, dropped=7)
    text = timeline.subtitle(trace, timeline.make_plan(trace, window=(0, 400)))
    assert "SM 0 of 2" in text and "64 warp slots" in text
    assert "grid 4, block 128" in text and "cycles 0 to 400 of 500" in text
    assert "192 more warp slots not shown" in text and "7 stretches dropped" in text


@pytest.mark.parametrize(("warps", "cycles", "loop"), [(1, 50, 1), (4, 300, 1), (16, 4000, 6), (64, 9000, 6)])
def test_pictures_show_every_family_of_states(tmp_path: Path, warps: int, cycles: int, loop: int) -> None:
    size = timeline.draw(busy_trace(warps=warps, cycles=cycles, loop=loop), tmp_path / "a.png")
    assert size == (tmp_path / "a.png").stat().st_size
    image = pixels(tmp_path / "a.png")
    assert image.shape[1] == timeline.WIDTH
    for colour in (palette.GREEN, palette.RED, palette.ORANGE, palette.BLUE, palette.GREY, palette.SKY):
        assert count(image, colour) > 100, colour


def test_pixels_of_one_state_are_in_proportion_to_its_cycles(tmp_path: Path) -> None:
    rows: list[tuple[int, int, str, int]] = []
    for warp in range(4):
        rows += [(warp, 30_000, "barrier", 0), (warp, 90_000, "long_scoreboard", 0)]
    timeline.draw(TraceData(events(rows), meta=meta()), tmp_path / "a.png", close=(0, 100))
    image = pixels(tmp_path / "a.png")
    body = image[164:240, timeline.LEFT + 2 : timeline.WIDTH - timeline.RIGHT - 2]
    blue, red = count(body, palette.BLUE), count(body, palette.RED)
    assert red / blue == pytest.approx(3, rel=0.1)


def test_a_million_cycles_become_one_image_and_few_artists() -> None:
    rows: list[tuple[int, int, str, int]] = [
        (w, 20, s, 0) for w in range(8) for s in ("wait", "barrier") for _ in range(9)
    ]
    table = np.tile(events(rows), 60)
    table["start"] += np.repeat(np.arange(60), len(rows)) * 16_000
    trace = TraceData(table, meta=meta())
    figure = timeline._figure(trace, timeline.make_plan(trace))
    artists = sum(len(axes.get_children()) for axes in figure.axes)
    assert trace.window[1] > 900_000
    assert artists < 200


def test_same_trace_same_picture(tmp_path: Path) -> None:
    trace = busy_trace(warps=4, cycles=300, loop=1)
    for suffix in (".png", ".svg"):
        first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
        timeline.draw(trace, first)
        timeline.draw(trace, second)
        assert first.read_bytes() == second.read_bytes()


def test_svg_holds_polygons_and_no_date(tmp_path: Path) -> None:
    timeline.draw(busy_trace(warps=4, cycles=300, loop=1), tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert "demo on tiny" in text or "<path" in text
    assert not re.search(r"<dc:date>", text)
    assert "#009e73" in text


def test_errors_leave_no_file(tmp_path: Path) -> None:
    trace = busy_trace(warps=1, cycles=50)
    with pytest.raises(InputError, match=r"cannot draw a \.gif"):
        timeline.draw(trace, tmp_path / "a.gif")
    with pytest.raises(InputError, match="no events") as caught:
        timeline.draw(trace, tmp_path / "a.png", sms=[9])
    assert "SMs in the trace: 0" in caught.value.hint
    with pytest.raises(InputError, match="no events"):
        timeline.draw(TraceData(np.zeros(0, EVENT)), tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.png"
    target.write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(timeline.Figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        timeline.draw(busy_trace(warps=1, cycles=50), target)
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]
