"""A wheel built from the sdist works in a clean environment and brings one name: tinygpu."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def call(*command: str | Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | environment
    return subprocess.run(
        [str(c) for c in command], cwd=folder, env=clean, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it and not from the checkout."""
    out = tmp_path_factory.mktemp("dist")
    done = call(sys.executable, "-m", "build", "--no-isolation", "-o", out, ROOT, folder=out)
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def clean(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment: the wheel, and the dependencies of this one by path only."""
    place = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    command = ("-m", "pip", "--python", python, "install", "--no-deps", "--no-index", archives[1])
    done = call(sys.executable, *command, folder=place)
    assert done.returncode == 0, done.stdout + done.stderr
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_wheel_holds_one_top_level_name(archives: tuple[Path, Path]) -> None:
    names = zipfile.ZipFile(archives[1]).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"tinygpu", next(t for t in tops if t.endswith(".dist-info"))}
    assert next(t for t in tops if t.endswith(".dist-info")).startswith("tinygpu_sim-")


def test_wheel_brings_every_module_program_and_machine(archives: tuple[Path, Path]) -> None:
    names = set(zipfile.ZipFile(archives[1]).namelist())
    wanted = [
        path.relative_to(ROOT)
        for folder, pattern in (
            ("isa", "*.py"), ("sim", "*.py"), ("viz", "*.py"), ("validate", "*.py"),
            ("programs", "*.s"), ("programs", "*.inc"), ("sim", "machines/*.toml"),
        )
        for path in (ROOT / folder).rglob(pattern)
    ]  # fmt: skip
    assert len(wanted) > 50
    assert [str(p) for p in wanted if f"tinygpu/{p}" not in names] == []
    assert "tinygpu/py.typed" in names


def test_sdist_holds_no_tests_of_ours_twice_and_no_caches(archives: tuple[Path, Path]) -> None:
    with tarfile.open(archives[0]) as archive:
        names = archive.getnames()
    assert not [name for name in names if "__pycache__" in name or name.endswith(".trace.npz")]
    assert len(names) == len(set(names))


def test_clean_environment_takes_tinygpu_from_the_wheel(clean: Path, tmp_path: Path) -> None:
    code = "import tinygpu, tinygpu.sim, tinygpu.isa; print(tinygpu.sim.__file__)"
    done = call(clean, "-c", code, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert str(clean.parents[1]) in done.stdout


def test_command_runs_a_program_from_another_folder(clean: Path, tmp_path: Path) -> None:
    command = (clean.parent / "tinygpu", "run", "matmul", "--machine", "tiny", "--set", "N=16", "--json")
    done = call(*command, folder=tmp_path, NUMBA_DISABLE_JIT="1", TINYGPU_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"correct": true' in done.stdout
    assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir() if p.name != "cache"] == []
