"""The layers import downwards, and each folder has one name only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("isa", "sim", "programs", "viz", "validate")


def python(code: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_refuses_to_be_imported_from_the_root(folder: str) -> None:
    done = python(f"import {folder}")
    assert done.returncode == 1
    assert f"ImportError: import this package as tinygpu.{folder}, not as {folder}" in done.stderr


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_as_part_of_tinygpu(folder: str, tmp_path: Path) -> None:
    done = python(f"import tinygpu.{folder} as it; print(it.__name__)", tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, f"tinygpu.{folder}"), done.stderr


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_links_are_relative(folder: str) -> None:
    link = ROOT / "src" / "tinygpu" / folder
    assert link.is_symlink()
    assert link.readlink() == Path("..") / ".." / folder


def test_import_contracts_hold() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Contracts: 3 kept, 0 broken." in done.stdout


def test_a_forbidden_import_breaks_the_contract(tmp_path: Path) -> None:
    package = tmp_path / "tinygpu"
    for folder in FOLDERS:
        (package / folder).mkdir(parents=True)
        (package / folder / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "sim" / "leak.py").write_text("import tinygpu.viz\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from importlinter.cli import lint_imports_command as c; c(['--no-cache'])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", _with_site(code)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "tinygpu.sim.leak -> tinygpu.viz" in done.stdout


def _with_site(code: str) -> str:
    """Plain paths instead of `site`, so that an editable install does not hide the copy under test."""
    paths = [p for p in sys.path if p.endswith("site-packages")]
    return f"import sys; sys.path += {paths!r}\n{code}"
