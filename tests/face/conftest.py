"""A command line to call in this process, in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tinygpu import cli

SAXPY = """\
// y = a * x + y, one element a thread.
.kernel saxpy(X: ptr.f32, Y: ptr.f32, a: f32, n: s32)
.let    N = 128
.launch grid = N/64, block = 64
.arg    X = uniform(N), Y = uniform(N), a = 2.5, n = N
.expect Y ~ 2.5 * X + Y
.count  sectors_per_request @first = 4

    mov.u32       tid, %tid.x
    mov.u32       block, %ctaid.x
    mad.lo.s32    i, block, 64, tid
    setp.lt.s32   inside, i, n
    mad.wide.s32  px, i, 4, X
    mad.wide.s32  py, i, 4, Y
first:
@inside ld.global.f32 x, [px]
@inside ld.global.f32 y, [py]
    fma.f32       y, a, x, y
@inside st.global.f32 [py], y
    exit
"""


@dataclass(frozen=True)
class Done:
    """What a command line gave: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)


Call = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with one program in it."""
    (tmp_path / "saxpy.s").write_text(SAXPY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.fixture
def tinygpu(folder: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Call `tinygpu` with words as in a shell, in a folder that holds saxpy.s."""

    def call(*words: str) -> Done:
        capsys.readouterr()
        code = cli.invoke(list(words))
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return call
