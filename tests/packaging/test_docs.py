"""Pictures in docs are what their scripts draw, and pages name files that exist."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_picture_of_the_design_is_current() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "img" / "draw_flow.py"))
    assert (ROOT / "docs" / "img" / "flow.svg").read_text(encoding="utf-8") == script["picture"]()


def test_boxes_of_the_picture_stay_inside_and_apart() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "img" / "draw_flow.py"))
    boxes = [(name, *box[1:5]) for name, box in script["BOXES"].items()]
    for i, (name, x, y, width, height) in enumerate(boxes):
        assert x >= 0 and y >= 30 and x + width <= script["WIDTH"] and y + height <= script["HEIGHT"], name
        for other, x2, y2, width2, height2 in boxes[i + 1 :]:
            apart = x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y
            assert apart, f"{name} overlaps {other}"


def test_output_in_the_readme_is_what_the_command_prints() -> None:
    done = subprocess.run(
        [sys.executable, "docs/refresh.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + "bring it up to date: python docs/refresh.py"


def test_what_differs_from_host_to_host_is_not_compared() -> None:
    steady = runpy.run_path(str(ROOT / "docs" / "refresh.py"))["steady"]
    one = "simulated   in 4.05 s wall, 488 k warp instructions a second\ntrace       a.npz (423 kB, 9 events)"
    two = "simulated   in 9.9 ms wall, 7 warp instructions a second\ntrace       a.npz (4.2 MB, 9 events)"
    assert steady(one) == steady(two)
    assert steady("time        22,752 cycles") != steady("time        22,753 cycles")
    assert steady("  DRAM reads  524 kB") != steady("  DRAM reads  525 kB")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/design.md"])
def test_files_that_a_page_names_exist(page: str) -> None:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"New file `[^`]+`", "", text)
    named = set(re.findall(r"`((?:isa|sim|viz|programs|validate|src|tests|docs)/[\w./]+\.\w+)`", text))
    units = {f"sim/units/{name}" for name in re.findall(r"`(\w+\.py)`", text)}
    assert named and text
    elsewhere = {path.name for path in ROOT.glob("*/*.py")}
    missing = [n for n in named if not (ROOT / n).exists()]
    missing += [u for u in units if not (ROOT / u).exists() and Path(u).name not in elsewhere]
    assert missing == []
