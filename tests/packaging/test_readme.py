"""README's commands are the ones that CI runs, its files exist, and nothing local leaks out."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tinygpu.isa.assembler import assemble
from tinygpu.isa.launch import plan

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [
    "python -m pip install . && tinygpu run matmul.s --trace",
    "python -m pip install -e '.[test]' && python -m pytest",
]
PAGES = ["README.md", "CONTRIBUTING.md", "docs/design.md"]


def tracked() -> list[Path]:
    """The files under version control; every file but hidden and generated ones without git."""
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return [p for p in ROOT.rglob("*") if p.is_file() and not re.search(r"/(\.|build|dist)", str(p))]
    return [ROOT / name for name in done.stdout.split("\0") if name]


def test_readme_states_the_two_commands_near_its_top() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    stated = [line for line in lines if line.startswith("python -m pip install ")]
    assert stated == COMMANDS
    assert all(lines.index(command) < 30 for command in COMMANDS)


def test_ci_takes_its_commands_from_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    pattern = re.search(r"grep -E '(.*?)' README\.md", script)
    assert pattern is not None
    found = [line for line in (ROOT / "README.md").read_text().splitlines() if re.search(pattern[1], line)]
    assert found == COMMANDS
    assert "pip install " not in script.replace(pattern[0], "")


def test_ci_is_valid_bash() -> None:
    assert subprocess.run(["bash", "-n", ".ci/run"], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("page", PAGES)
def test_links_of_the_pages_lead_to_files(page: str) -> None:
    text = (ROOT / page).read_text()
    links = re.findall(r"\]\(([^)#\s]+)", text) + re.findall(r'src="([^"]+)"', text)
    local = [link for link in links if "://" not in link]
    assert local, "a page without a single link to a file"
    broken = [link for link in local if not ((ROOT / page).parent / link).exists()]
    assert broken == []


def test_no_local_path_and_no_tool_of_ours_is_named() -> None:
    words = ["/" + "work/", "/opt/" + "venv", "/ro" + "ot/", "/home/" + "user"]
    found = []
    for path in tracked():
        if path.is_symlink() or path.suffix in (".png", ".npz", ".npy") or not path.exists():
            continue
        text = path.read_text(errors="replace")
        found += [f"{path.relative_to(ROOT)}: {word}" for word in words if word in text]
    assert found == []


def test_licence_stands_beside_the_sources() -> None:
    text = (ROOT / "LICENSE").read_text()
    assert text.startswith("MIT License") and "tinygpu authors" in text


def test_the_kernel_of_the_tour_assembles_and_computes_what_it_says() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    kernel = re.search(r"```\n(\.kernel saxpy.*?)```", text, re.S)
    assert kernel is not None
    planned = plan(assemble(kernel[1], "saxpy.s"), {"N": "256"})
    assert (planned.grid, planned.block) == ((2, 1, 1), (128, 1, 1))
    x, y = planned.arrays["X"], planned.arrays["Y"]
    (right,) = planned.check({"Y": np.float32(2.5) * x + y})
    (wrong,) = planned.check({"Y": x + y})
    assert right.ok and not wrong.ok


def test_commands_of_the_tour_exist() -> None:
    from tinygpu.cli import COMMANDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    used = set(re.findall(r"tinygpu ([a-z]+)\b", re.sub(r"<!-- end -->|import tinygpu as tg", "", text)))
    assert {"run", "isa", "machine", "programs"} <= used & set(COMMANDS)
