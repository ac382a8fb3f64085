"""`tinygpu run` on the machine tiny: report, JSON, files, overrides, exit codes."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tinygpu.commands import progress, run
from tinygpu.sim import tracefile

from .conftest import SAXPY, Call

TINY = ("run", "saxpy.s", "--machine", "tiny")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_run_reports_and_writes_nothing(tinygpu: Call, folder: Path) -> None:
    done = tinygpu(*TINY)
    assert done.code == 0 and done.err == ""
    assert done.out.splitlines()[0] == "saxpy (saxpy.s) on tiny"
    for words in ("correct", "share of peak", "occupancy", "where the warps' time went", "128 elements"):
        assert words in done.out
    assert "\x1b" not in done.out  # no colour but on a terminal
    assert files(folder) == ["saxpy.s"]


def test_json_is_one_object_with_what_is_promised(tinygpu: Call) -> None:
    done = tinygpu(*TINY, "--json")
    assert done.code == 0 and done.err == ""
    facts = done.json
    assert (facts["schema"], facts["program"], facts["machine"], facts["correct"]) == (
        1,
        "saxpy",
        "tiny",
        True,
    )
    assert facts["warp_instructions"] == 4 * 11  # 4 warps of 11 instructions
    assert facts["thread_instructions"] == 4 * 11 * 32
    assert facts["ipc"] == pytest.approx(44 / facts["cycles"])
    assert sum(facts["schedulers"].values()) == 2 * facts["cycles"]  # 2 SMs of one scheduler
    assert facts["counters"]["global_load_requests"] == 8
    assert facts["occupancy"]["blocks"] == 4 and len(facts["digest"]) == 64


def test_the_same_run_gives_the_same_digest_traced_or_not(tinygpu: Call) -> None:
    first = tinygpu(*TINY, "--json").json
    assert tinygpu(*TINY, "--json").json["digest"] == first["digest"]
    traced = tinygpu(*TINY, "--json", "--trace").json
    assert (traced["digest"], traced["cycles"]) == (first["digest"], first["cycles"])
    assert tinygpu(*TINY, "--json", "--seed", "1").json["digest"] != first["digest"]


def test_trace_writes_two_files_and_says_where_and_how_large(tinygpu: Call, folder: Path) -> None:
    done = tinygpu(*TINY, "--trace")
    assert files(folder) == ["saxpy.s", "saxpy.trace.npz", "saxpy.trace.png"]
    assert "trace       saxpy.trace.npz (" in done.out
    assert "picture     saxpy.trace.png (" in done.out
    assert "saxpy on tiny: SM 0" in done.out  # the text timeline
    trace = tracefile.load(folder / "saxpy.trace.npz")
    assert f"{len(trace.events):,} events" in done.out
    assert trace.sms == [0, 1] and trace.program == "saxpy"
    assert (folder / "saxpy.trace.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("output", "written"),
    [
        ("t.npz", ["t.npz", "t.png"]),
        ("t.svg", ["t.npz", "t.svg"]),
        ("t", ["t.npz", "t.png"]),
        ("out", ["saxpy.trace.npz", "saxpy.trace.png"]),
        ("out/x.npz", ["x.npz", "x.png"]),
    ],
)
def test_output_says_where_the_trace_goes(
    tinygpu: Call, folder: Path, output: str, written: list[str]
) -> None:
    (folder / "out").mkdir()
    facts = tinygpu(*TINY, "-o", output, "--json").json["trace"]
    place = folder / "out" if output.startswith("out") else folder
    assert [name for name in files(place) if name not in ("out", "saxpy.s")] == written
    assert Path(facts["file"]).stat().st_size == facts["bytes"]
    assert Path(facts["picture"]).stat().st_size == facts["picture_bytes"]


def test_a_window_and_fewer_sms_are_traced(tinygpu: Call, folder: Path) -> None:
    tinygpu(*TINY, "--trace", "--trace-sms", "1", "--window", "20:60")
    trace = tracefile.load(folder / "saxpy.trace.npz")
    assert trace.sms == [0]
    starts = trace.events["start"]
    assert len(starts) and starts.min() >= 20 and starts.max() < 60


def test_a_window_without_events_has_no_picture(tinygpu: Call, folder: Path) -> None:
    facts = tinygpu(*TINY, "--trace", "--window", "900000:", "--json").json["trace"]
    assert (facts["events"], facts["picture"]) == (0, None)
    assert files(folder) == ["saxpy.s", "saxpy.trace.npz"]


def test_set_changes_constants_and_the_machine(tinygpu: Call) -> None:
    done = tinygpu(*TINY, "--set", "N=256", "--set", "l1.hit_cycles=20", "--json").json
    assert done["grid"] == [4, 1, 1]
    assert done["settings"] == {"N": "256", "l1.hit_cycles": "20"}
    plain = tinygpu(*TINY, "--set", "N=256", "--json").json
    assert done["cycles"] > plain["cycles"] and done["correct"]


def test_policies_have_options_of_their_own(tinygpu: Call) -> None:
    facts = tinygpu(*TINY, "--scheduler", "lrr", "--divergence", "stack", "--json").json
    assert facts["settings"] == {"issue.scheduler": "lrr", "divergence.policy": "stack"}
    assert facts["correct"]


def test_grid_block_and_arguments_are_overridden(tinygpu: Call, folder: Path) -> None:
    x = np.arange(64, dtype=np.float32)
    np.save(folder / "x.npy", x)
    words = ("--grid", "1", "--block", "32x2", "--arg", "X=@x.npy", "--arg", "Y=ones(64)", "--arg", "a=2")
    done = tinygpu(*TINY, *words, "--arg", "n=40", "--no-check", "--save", "Y=y.npy")
    assert done.code == 0, done.err
    # %tid.x goes to 31 only: the second row of the block repeats the first.
    expected = np.ones(64, np.float32)
    assert "block 32 x 2" in done.out and "saved       Y in y.npy (" in done.out
    got = np.load(folder / "y.npy")
    assert got.dtype == np.float32 and np.array_equal(got[32:], expected[32:])
    assert files(folder) == ["saxpy.s", "x.npy", "y.npy"]


def test_saved_arrays_are_the_result(tinygpu: Call, folder: Path) -> None:
    for name in "xy":
        np.save(folder / f"{name}.npy", np.full(128, 3, np.float32))
    tinygpu(*TINY, "--arg", "X=@x.npy", "--arg", "Y=@y.npy", "--save", "Y=y.npy", "--save", "X=x2.npy")
    assert np.array_equal(np.load(folder / "y.npy"), np.full(128, 10.5, np.float32))
    assert np.array_equal(np.load(folder / "x2.npy"), np.full(128, 3, np.float32))


def test_a_wrong_result_is_exit_1(tinygpu: Call, folder: Path) -> None:
    (folder / "wrong.s").write_text(SAXPY.replace("~ 2.5 * X + Y", "~ 2.5 * X"))
    done = tinygpu("run", "wrong.s", "--machine", "tiny")
    assert done.code == 1
    assert "WRONG" in done.out and "(line 6)" in done.out
    assert tinygpu("run", "wrong.s", "--machine", "tiny", "--json").json["correct"] is False
    unchecked = tinygpu("run", "wrong.s", "--machine", "tiny", "--json", "--no-check")
    assert unchecked.code == 0 and unchecked.json["correct"] is None


def test_a_wrong_count_is_exit_1(tinygpu: Call, folder: Path) -> None:
    (folder / "wrong.s").write_text(SAXPY.replace("@first = 4", "@first = 8"))
    done = tinygpu("run", "wrong.s", "--machine", "tiny")
    assert done.code == 1 and "sectors_per_request (line 7) is 4, should be 8" in done.out


def test_a_fault_is_exit_1_with_its_line(tinygpu: Call, folder: Path) -> None:
    (folder / "bad.s").write_text(SAXPY.replace("[px]", "[px + 2]"))
    done = tinygpu("run", "bad.s", "--machine", "tiny", "--trace", "--save", "Y=y.npy")
    assert done.code == 1 and done.out == ""
    assert "bad.s:16" in done.err and "fault" in done.err and "Traceback" not in done.err
    assert files(folder) == ["bad.s", "saxpy.s"]  # nothing half-written


def test_a_limit_of_cycles_is_exit_3(tinygpu: Call) -> None:
    done = tinygpu(*TINY, "--limit-cycles", "50")
    assert done.code == 3 and "has not finished after 50 cycles" in done.err
    assert "saxpy.s" in done.err  # where the warps are


def test_a_launch_that_does_not_fit_is_exit_2(tinygpu: Call) -> None:
    done = tinygpu(*TINY, "--block", "512")
    assert done.code == 2
    assert done.err == (
        "error: 512 threads in a block; tiny has 256 at most\n    hint: smaller blocks, and more of them\n"
    )


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--set", "M=2"), "the program has no constant or parameter M", "N"),
        (("--set", "l1.way=2"), "the machine has no l1.way", "did you mean l1.ways?"),
        (("--set", "N"), "--set N: write NAME=VALUE", "`tinygpu run --help`"),
        (("--set", "N=1/0"), "N", ""),
        (("--arg", "Z=1"), "the program has no constant or parameter Z", ""),
        (("--arg", "X=@no.npy"), "X: no.npy cannot be read: No such file or directory", ""),
        (("--arg", "X=@saxpy.s"), "X: saxpy.s cannot be read", ""),
        (("--save", "Q=q.npy"), "--save Q=q.npy: the kernel has no array Q", "arrays: X, Y"),
        (("--save", "Y=no/y.npy"), "there is no folder no", ""),
        (("--save", "Y=."), ". is a folder, not a file", ""),
        (("-o", "no/t.npz"), "there is no folder no", ""),
        (("-o", "no/"), "there is no folder no", ""),
        (("--trace", "--window", "9"), "--window 9: write A:B", ""),
        (("--trace", "--window", "9:3"), "--window 9:3: write A:B", ""),
        (("--trace", "--window", "a:b"), "--window a:b: write A:B", ""),
        (("--machine", "tinny"), "there is no machine 'tinny'", "did you mean tiny?"),
        (("--scheduler", "gtoo"), "issue.scheduler: should be", "did you mean gto?"),
        (("--divergence", "stak"), "divergence.policy: should be", "did you mean stack?"),
        (("--limit-cycles", "0"), "0 is not in the range x>=1", ""),
        (("--seed", "x"), "'x' is not a valid integer", ""),
        (("--seed", "-1"), "-1 is not in the range x>=0", ""),
        (("--window", "1:9"), "--window says what to trace: add --trace", ""),
        (("--grid", "0"), "the grid is 0", "one to three whole numbers above 0"),
        (("--grid", "1,2,3,4"), "the grid is (1, 2, 3, 4)", ""),
        (("--mchine", "tiny"), "--mchine", "--machine"),
    ],
)
def test_bad_words_are_exit_2_with_a_reason(
    tinygpu: Call, folder: Path, words: tuple[str, ...], message: str, hint: str
) -> None:
    done = tinygpu(*TINY, *words)
    assert done.code == 2 and done.out == ""
    assert done.err.startswith(("error: ", "saxpy.s:"))
    assert message in done.err and hint in done.err
    assert "Traceback" not in done.err
    assert files(folder) == ["saxpy.s"]


def test_a_program_that_does_not_assemble_is_shown_with_a_caret(tinygpu: Call, folder: Path) -> None:
    (folder / "bad.s").write_text(SAXPY.replace("fma.f32", "fmaa.f32"))
    done = tinygpu("run", "bad.s")
    assert done.code == 2 and done.out == ""
    assert done.err.splitlines()[:3] == [
        "bad.s:18:5: error: unknown instruction fmaa.f32",
        "        fmaa.f32       y, a, x, y",
        "        ^~~~~~~~",
    ]
    assert "did you mean fma.f32?" in done.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.s", "there is no file and no shipped program nothing.s"),
        ("matmull", "did you mean matmul?"),
        ("folder", "folder is a folder, not a program"),
        ("bytes.s", "bytes.s is not a text in UTF-8: byte 3 is invalid start byte"),
    ],
)
def test_a_program_that_is_none(tinygpu: Call, folder: Path, name: str, message: str) -> None:
    (folder / "folder").mkdir()
    (folder / "bytes.s").write_bytes(b"// \xff")
    done = tinygpu("run", name)
    assert done.code == 2 and message in done.err and "Traceback" not in done.err


def test_a_file_comes_before_a_shipped_program(tinygpu: Call, folder: Path) -> None:
    (folder / "matmul.s").write_text(SAXPY)
    assert tinygpu("run", "matmul.s", "--machine", "tiny", "--json").json["program"] == "saxpy"


def test_ctrl_c_gives_the_partial_report_and_130(tinygpu: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = progress.Progress.__call__

    def press(self: progress.Progress, cycles: int, seconds: float) -> None:
        signal.raise_signal(signal.SIGINT)
        plain(self, cycles, seconds)

    monkeypatch.setattr(progress.Progress, "__call__", press)
    monkeypatch.setattr(progress.Progress, "_running", True, raising=False)
    before = signal.getsignal(signal.SIGINT)
    done = tinygpu(*TINY)
    assert done.code == 130
    assert "interrupted after" in done.out
    assert done.err == "interrupted; the report is about the part that was simulated\n"
    assert signal.getsignal(signal.SIGINT) == before


def test_ctrl_c_before_the_run_is_130_without_a_report(
    tinygpu: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "prepare", press)
    done = tinygpu(*TINY)
    assert (done.code, done.out, done.err) == (130, "", "\nerror: interrupted\n")


def test_a_pipe_is_a_program_with_settings_of_its_own(tinygpu: Call, folder: Path) -> None:
    pipe = folder / "pipe.s"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(SAXPY,), daemon=True)
    writer.start()
    done = tinygpu("run", "pipe.s", "-m", "tiny", "--set", "N=64", "--json")
    writer.join()
    assert (done.code, done.json["grid"], done.json["correct"]) == (0, [1, 1, 1], True)


def test_an_empty_device_is_a_program_without_instructions(tinygpu: Call) -> None:
    done = tinygpu("run", "/dev/null")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("/dev/null:1:1: error: the program has no instructions\n")
