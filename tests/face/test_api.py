"""The Python interface: run, assemble, Launch, machines and programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tinygpu as tg
from tinygpu import library
from tinygpu.isa.errors import DeadlockError, InputError, LaunchError, LimitError

from .conftest import SAXPY

SPIN = """\
.kernel spin(X: ptr.u32)
.launch grid = 1, block = 32
.arg X = zeros(1)
again:
    bra again
    exit
"""


def test_every_public_name_is_there() -> None:
    for name in tg.__all__:
        assert getattr(tg, name) is not None
    assert set(tg.__all__) <= set(dir(tg))
    with pytest.raises(AttributeError, match="module 'tinygpu' has no attribute 'rum'"):
        _ = tg.rum


def test_run_a_shipped_program_by_name() -> None:
    result = tg.run("matmul", machine="tiny", N=32)
    assert result.correct and result.program == "matmul" and result.grid == (2, 2, 1)
    assert result.outputs["C"].shape == (32, 32)
    assert np.allclose(result.outputs["C"], result.outputs["A"] @ result.outputs["B"], rtol=1e-4)


def test_run_a_file_a_text_and_a_program_alike(folder: Path) -> None:
    digests = {
        tg.run("saxpy.s", machine="tiny").digest,
        tg.run(folder / "saxpy.s", machine="tiny").digest,
        tg.run(SAXPY, machine="tiny").digest,
        tg.run(tg.assemble(SAXPY), machine="tiny").digest,
        tg.run(SAXPY, machine=tg.load_machine("tiny")).digest,
    }
    assert len(digests) == 1


def test_run_takes_constants_arguments_and_arrays() -> None:
    x, y = np.arange(128, dtype=np.float32), np.ones(128, np.float32)
    result = tg.run(SAXPY, machine="tiny", X=x, args={"Y": y}, a=3.0, check=False)
    assert np.array_equal(result.outputs["Y"], 3 * x + 1)
    assert np.array_equal(y, np.ones(128))  # the caller's array is not touched
    assert result.correct is None
    assert tg.run(SAXPY, machine="tiny", N=64, X="ones(N)").outputs["X"].tolist() == [1] * 64


def test_run_takes_shapes_and_seed() -> None:
    result = tg.run(SAXPY, machine="tiny", grid=1, block=(64, 1), seed=3, check=False)
    assert (result.grid, result.block, result.seed) == ((1, 1, 1), (64, 1, 1), 3)
    assert result.warp_instructions == 22
    assert tg.run(SAXPY, machine="tiny", seed=4).digest != tg.run(SAXPY, machine="tiny").digest


def test_settings_are_a_mapping_or_words() -> None:
    one = tg.run(SAXPY, machine="tiny", settings={"l1.enabled": False, "issue.scheduler": "lrr"})
    two = tg.run(SAXPY, machine="tiny", settings=["l1.enabled=false", "issue.scheduler=lrr"])
    assert one.digest == two.digest
    assert one.settings == {"l1.enabled": False, "issue.scheduler": "lrr"}
    assert two.settings == {"l1.enabled": "false", "issue.scheduler": "lrr"}
    with pytest.raises(InputError, match="settings go with a machine's name"):
        tg.load_machine(tg.load_machine("tiny"), ["l1.ways=1"])


def test_trace_is_kept_when_asked_for() -> None:
    assert tg.run(SAXPY, machine="tiny").trace is None
    trace = tg.run(SAXPY, machine="tiny", trace=True).trace
    assert trace is not None and trace.sms == [0, 1]
    only = tg.run(SAXPY, machine="tiny", trace=tg.TraceOptions(sms=1)).trace
    assert only is not None and only.sms == [0]


def test_progress_is_told_and_may_interrupt() -> None:
    told: list[int] = []
    result = tg.run(SAXPY, machine="tiny", progress=lambda cycles, seconds: told.append(cycles))
    assert told and told == sorted(told) and told[-1] <= result.cycles

    def stop(cycles: int, seconds: float) -> None:
        raise KeyboardInterrupt

    stopped = tg.run(SPIN, machine="tiny", progress=stop)
    assert stopped.interrupted and stopped.correct is None
    assert stopped.counters["branches"] > 100


def test_an_endless_loop_ends_at_the_limit_with_its_place() -> None:
    with pytest.raises(LimitError, match="has not finished after 3000 cycles") as caught:
        tg.run(SPIN, machine="tiny", limit_cycles=3000)
    assert "bra again" in caught.value.hint


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tg.run("matmull"), "there is no file and no shipped program matmull"),
        (lambda: tg.run("matmul", machine="h20"), "there is no machine 'h20'"),
        (lambda: tg.run("matmul", M=3), "the program has no constant or parameter M"),
        (lambda: tg.run(SAXPY, seed=-1), "a seed is a whole number from 0, not -1"),
        (lambda: tg.run(SAXPY, args={"Z": 1}), "the kernel has no parameter Z"),
        (lambda: tg.run(SAXPY, X=np.zeros(4)), r"X \(ptr.f32\) is float64, not float32"),
        (lambda: tg.run(SAXPY, machine="tiny", block=512), "512 threads in a block"),
    ],
)
def test_mistakes_are_input_errors(call: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()  # type: ignore[operator]


def test_errors_keep_their_hints() -> None:
    with pytest.raises(LaunchError) as caught:
        tg.run(SAXPY, machine="tiny", block=512)
    assert caught.value.hint == "smaller blocks, and more of them"
    assert caught.value.__cause__ is None
    assert issubclass(DeadlockError, tg.TinygpuError)


def test_a_launch_changes_arrays_in_place() -> None:
    x, y = np.arange(70, dtype=np.float32), np.ones(70, np.float32)
    launch = tg.Launch(SAXPY, grid=2, block=64, arguments={"X": x, "Y": y, "a": 2, "n": 70})
    assert launch.result is None
    result = launch.run("tiny")
    assert np.array_equal(y, 2 * np.arange(70) + 1) and np.array_equal(x, np.arange(70))
    assert launch.result is result and result.correct is None
    launch.run("tiny")
    assert np.array_equal(y, 4 * np.arange(70) + 1)


def test_a_launch_gives_back_through_any_memory_layout() -> None:
    x = np.ones((8, 8), np.float32)
    y = np.zeros((8, 16), np.float32)[:, ::2]
    tg.Launch(SAXPY, 1, 64, {"X": x, "Y": y, "a": 3, "n": 64}).run("tiny")
    assert np.array_equal(y, np.full((8, 8), 3))


def test_a_launch_says_when_it_cannot_give_back() -> None:
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    x.flags.writeable = False
    launch = tg.Launch(SAXPY, 1, 64, {"X": x, "Y": y, "a": 3, "n": 64})
    launch.run("tiny")  # X is only read
    y.flags.writeable = False
    with pytest.raises(InputError, match="the kernel writes to Y, which is read-only"):
        launch.run("tiny")
    assert launch.result is not None
    assert np.array_equal(launch.result.outputs["Y"], np.full(64, 6))


def test_a_launch_takes_integers_of_either_sign() -> None:
    text = ".kernel one(X: ptr.u32)\n    st.global.u32 [X], 0xffffffff\n    exit\n"
    signed = np.zeros(2, np.int32)
    tg.Launch(text, 1, 1, {"X": signed}).run("tiny")
    assert signed.tolist() == [-1, 0]


def test_a_launch_needs_every_argument() -> None:
    with pytest.raises(LaunchError, match="the parameter a"):
        tg.Launch(SAXPY.replace("a = 2.5, ", ""), 1, 64, {"n": 64}).run("tiny")


def test_machines_and_programs_are_lists_of_names() -> None:
    assert tg.machines() == ["a6000", "h200", "tiny", "v100"]
    assert "matmul" in tg.programs() and tg.programs() == sorted(tg.programs())
    assert tg.load_machine("h200").spec.device.sms == 132


def test_programs_are_found_by_name_with_suffix_and_folder() -> None:
    path = library.shipped()["matmul"]
    assert library.find("matmul") == library.find("matmul.s") == path
    assert library.find("matmul/matmul.s") == path
    assert library.find(str(path)) == path


def test_no_two_programs_share_a_name() -> None:
    stems = [path.stem for path in library.folder().rglob("*.s")]
    assert sorted(stems) == list(library.shipped())


@pytest.mark.parametrize("name", ["../isa/table", "..", "", "matmul/../../isa/x"])
def test_no_name_leads_out_of_the_programs(name: str, folder: Path) -> None:
    with pytest.raises(InputError):
        library.find(name)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("// One.\n// Two.\n", "One."),
        ("\n//\n//  Spaced.  \n.kernel k()\n", "Spaced."),
        (".kernel k()\n// Late.\n", ""),
        ("", ""),
    ],
)
def test_the_title_is_the_first_comment(tmp_path: Path, text: str, title: str) -> None:
    (tmp_path / "p.s").write_text(text)
    assert library.title(tmp_path / "p.s") == title


def test_a_result_shows_itself_in_a_notebook() -> None:
    shown = tg.run(SAXPY, machine="tiny")._repr_html_()
    assert shown.startswith("<table>") and "saxpy on tiny" in shown
