"""CONTRIBUTING.md's recipes, carried out block by block on a copy of the sources."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COPIED = ("isa", "sim", "viz", "programs", "validate", "src", "tests", "docs", "pyproject.toml")
RECIPES = ("Add an instruction", "Add a warp scheduler", "Add a machine", "Add a program")


@dataclass(frozen=True)
class Step:
    """A fenced block, its language, and the path that the words before it name."""

    language: str
    text: str
    verb: str
    path: str


def steps(title: str) -> list[Step]:
    """The blocks of a recipe in order; a block without a path of its own goes on with the last one."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    found: list[Step] = []
    verb = path = ""
    for words, language, text in re.findall(r"(.*?)^```(\w*)\n(.*?)^```$", section, re.S | re.M):
        places = re.findall(r"^(At the end of|In|New file) `([^`]+)`", words, re.M)
        if places:
            verb, path = places[-1]
        found.append(Step(language, text, verb, path))
    return found


def change(path: Path, diff: str) -> None:
    """Replace the lines marked - and unmarked by those marked + and unmarked; they occur once."""
    lines = diff.splitlines()
    before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    text = path.read_text(encoding="utf-8")
    assert text.count(before + "\n") == 1, (
        f"{path.name} has these lines {text.count(before)} times:\n{before}"
    )
    path.write_text(text.replace(before + "\n", after + "\n"), encoding="utf-8")


def execute(text: str, copy: Path) -> None:
    """Run each `$ command`; the lines below it are words that its output must hold."""
    environment = os.environ | {
        "PYTHONPATH": str(copy / "src"), "NUMBA_DISABLE_JIT": "1", "NO_COLOR": "1",
        "TINYGPU_CACHE": str(copy / "cache"), "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
        line = re.sub(r"^python ", f"{sys.executable} ", command)
        line = re.sub(r"^tinygpu ", f"{sys.executable} -m tinygpu ", line)
        done = subprocess.run(
            line.split(), cwd=copy, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
        for words in expected.splitlines():
            assert words in done.stdout, f"$ {command}\n{done.stdout}{done.stderr}"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The sources with their links, without caches."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", ".hypothesis")
            shutil.copytree(source, tmp_path / name, symlinks=True, ignore=ignore)
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("title", RECIPES)
def test_recipe_works(title: str, copy: Path) -> None:
    commands = 0
    for step in steps(title):
        if step.language == "console":
            execute(step.text, copy)
            commands += 1
        elif step.language == "diff":
            change(copy / step.path, step.text)
        elif step.verb == "At the end of":
            with (copy / step.path).open("a", encoding="utf-8") as file:
                file.write(step.text)
        else:
            assert step.verb == "New file" and not (copy / step.path).exists()
            (copy / step.path).parent.mkdir(exist_ok=True)
            (copy / step.path).write_text(step.text, encoding="utf-8")
    assert commands >= 1


def test_an_instruction_touches_one_file_besides_its_test() -> None:
    paths = {step.path for step in steps("Add an instruction") if step.language != "console"}
    assert paths == {"isa/instructions/integer.py", "tests/isa/test_semantics_integer.py"}


def test_every_recipe_of_the_page_is_tested() -> None:
    assert tuple(re.findall(r"^## (Add .*)$", PAGE, re.M)) == RECIPES


def test_a_change_that_does_not_fit_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    change(tmp_path / "a.py", " one\n-two\n+three\n")
    assert (tmp_path / "a.py").read_text() == "one\nthree\n"
    with pytest.raises(AssertionError, match="0 times"):
        change(tmp_path / "a.py", "-two\n+four\n")
