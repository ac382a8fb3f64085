"""The commands that list and print: asm, dis, isa, machine, programs, doctor."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tinygpu import library
from tinygpu.commands import common, doctor, machine
from tinygpu.isa import table
from tinygpu.isa.assembler import assemble
from tinygpu.sim import machinefile

from .conftest import SAXPY, Call


def test_asm_lists_instructions_with_their_lines(tinygpu: Call) -> None:
    done = tinygpu("asm", "saxpy.s")
    assert done.code == 0 and done.err == ""
    rows = [row for row in done.out.splitlines() if re.match(r" +\d+ ", row)]
    assert len(rows) == 11
    assert (
        rows[0].split()[0] == "0"
        and "mov.u32" in rows[0]
        and rows[0].endswith("9  mov.u32       tid, %tid.x")
    )
    assert "first:" in done.out.splitlines()


def test_asm_gives_the_same_facts_as_json(tinygpu: Call) -> None:
    facts = tinygpu("asm", "saxpy.s", "--json").json
    assert (facts["schema"], facts["program"], facts["file"]) == (1, "saxpy", "saxpy.s")
    assert facts["parameters"][1] == {"name": "Y", "type": "ptr.f32", "offset": 8, "bytes": 8}
    assert [row["pc"] for row in facts["instructions"]] == list(range(11))
    assert facts["instructions"][8]["opcode"] == "fma.f32" and facts["instructions"][8]["line"] == 18
    assert facts["registers"] == assemble(SAXPY).registers


def test_asm_takes_other_constants(tinygpu: Call, folder: Path) -> None:
    (folder / "many.s").write_text(".kernel many()\n.let K = 2\n.repeat k, K\n    nop\n.end\n    exit\n")
    assert len(tinygpu("asm", "many.s", "--json").json["instructions"]) == 3
    assert len(tinygpu("asm", "many.s", "--set", "K=5", "--json").json["instructions"]) == 6


def test_dis_prints_text_that_assembles_to_the_same_program(tinygpu: Call) -> None:
    done = tinygpu("dis", "saxpy.s")
    assert assemble(done.out) == assemble(SAXPY)
    assert re.search(r"fma\.f32 %r\d+, ", done.out)
    assert tinygpu("dis", "saxpy.s", "--json").json["text"] == done.out


def test_isa_prints_a_page(tinygpu: Call) -> None:
    done = tinygpu("isa", "fma.f32")
    assert done.code == 0 and "fma" in done.out and "timing class: fp32" in done.out


def test_isa_lists_every_entry_in_a_line(tinygpu: Call) -> None:
    out = tinygpu("isa").out
    for entry in table.entries():
        assert entry.doc in out


def test_isa_takes_several_names_and_json(tinygpu: Call) -> None:
    rows = tinygpu("isa", "fma.f32", "bar.sync", "fma.f32", "--json").json["instructions"]
    assert len(rows) == 2 and rows[0]["timing"] == "fp32" and rows[1]["timing"] == "barrier"
    assert len(tinygpu("isa", "--json").json["instructions"]) == len(list(table.entries()))


def test_isa_knows_what_is_meant(tinygpu: Call) -> None:
    done = tinygpu("isa", "fmaa")
    assert done.code == 2 and done.out == ""
    assert done.err.startswith("error: there is no instruction fmaa\n    hint: did you mean ")
    assert "fma" in done.err.splitlines()[1]
    assert "`tinygpu isa` lists all" in tinygpu("isa", "zzzzzz").err


def test_machine_lists_what_is_shipped(tinygpu: Call) -> None:
    for words in (("machine",), ("machine", "list")):
        assert [row.split()[0] for row in tinygpu(*words).out.splitlines()] == [
            "a6000",
            "h200",
            "tiny",
            "v100",
        ]
    rows = tinygpu("machine", "list", "--json").json["machines"]
    assert rows == tinygpu("machine", "--json").json["machines"]
    assert [row["sms"] for row in rows] == [84, 132, 2, 80]


def test_machine_show_has_a_row_for_every_value(tinygpu: Call) -> None:
    done = tinygpu("machine", "show", "h200")
    lines = done.out.splitlines()
    assert lines[0].startswith("h200: NVIDIA H200")
    assert lines[2].split() == ["key", "value", "unit", "origin", "meaning"]
    assert [line.split()[0] for line in lines[3:]] == machinefile.known_keys()
    row = next(line for line in lines if line.startswith("l1.hit_cycles "))
    assert row.split()[1:4] == ["33", "cycles", "measured"]
    assert row.endswith("32-bit load hit to use [pointer chase]")


def test_machine_show_as_json(tinygpu: Call) -> None:
    facts = tinygpu("machine", "show", "tiny", "--json").json
    rows = {row["key"]: row for row in facts["values"]}
    assert facts["name"] == "tiny" and len(rows) == len(machinefile.known_keys())
    assert rows["sm.carveout_bytes"]["value"] == [16384]
    assert rows["l1.enabled"]["value"] is True
    assert rows["device.clock_mhz"]["unit"] == "MHz"


@pytest.mark.parametrize(
    ("key", "count"), [("l1", 11), ("l1.ways", 1), ("timing.fp32", 4), ("timing", 92), ("host", 3)]
)
def test_machine_show_a_part(tinygpu: Call, key: str, count: int) -> None:
    rows = tinygpu("machine", "show", "h200", key, "--json").json["values"]
    assert len(rows) == count
    assert all(row["key"] == key or row["key"].startswith(key + ".") for row in rows)


def test_machine_show_tells_what_is_set(tinygpu: Call) -> None:
    (row,) = tinygpu("machine", "show", "h200", "l1.ways", "--set", "l1.ways=8", "--json").json["values"]
    assert (row["value"], row["origin"]) == (8, "set")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("h20",), "there is no machine 'h20'", "did you mean h200?"),
        (("h200", "l1.way"), "a machine has no l1.way", "did you mean l1.ways?"),
        (("h200", "shred"), "a machine has no shred", "did you mean shared?"),
        (("h200", "--set", "l1.ways=0"), "l1.ways: should be greater than or equal to 1, not 0", ""),
    ],
)
def test_machine_show_of_what_is_not_there(
    tinygpu: Call, words: tuple[str, ...], message: str, hint: str
) -> None:
    done = tinygpu("machine", "show", *words)
    assert done.code == 2 and done.out == ""
    assert done.err.startswith(f"error: {message}\n") and hint in done.err


def test_a_machine_file_with_three_errors_shows_them_all(tinygpu: Call, folder: Path) -> None:
    (folder / "mine.toml").write_text(
        'base = "tiny"\nname = "mine"\ntitle = "t"\nl1.way = [1, "guess"]\n'
        'l2.ways = [0, "guess"]\ndram.order = ["fifo", "guess"]\n'
    )
    for words in (("machine", "show", "mine.toml"), ("run", "saxpy.s", "--machine", "mine.toml")):
        done = tinygpu(*words)
        assert done.code == 2 and done.out == ""
        places = [line.split(" ")[0] for line in done.err.splitlines() if ": error: " in line]
        assert places == ["mine.toml:4:1:", "mine.toml:5:1:", "mine.toml:6:1:"]
        assert not done.err.startswith("error:")  # each line says it itself


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("l1.hit_cycles", "cycles"), ("sm.shared_bytes", "B"), ("l1.bytes", "B"), ("device.clock_mhz", "MHz"),
        ("dram.path_ns", "ns"), ("host.copy_latency_us", "µs"), ("dram.gigabytes_per_second", "GB/s"),
        ("network.response_bytes_per_cycle", "B/cycle"), ("l1.tag_base_quarters", "1/4 cycle"),
        ("register_file.reads_per_cycle", "1/cycle"), ("l1.ways", ""), ("issue.scheduler", ""),
    ],
)  # fmt: skip
def test_units_follow_from_names(key: str, unit: str) -> None:
    assert key in machinefile.known_keys()
    assert machine.unit(key) == unit


def test_programs_are_listed_by_lesson_with_their_title(tinygpu: Call) -> None:
    out = tinygpu("programs").out
    assert out == tinygpu("programs", "list").out
    rows = tinygpu("programs", "--json").json["programs"]
    assert [row["name"] for row in rows if row["name"] == "matmul"] == ["matmul"]
    assert sorted(row["name"] for row in rows) == list(library.shipped())
    for row in rows:
        assert f"  {row['name']} " in out and row["title"] in out
        assert row["lesson"] in out.splitlines()


def test_programs_show_prints_the_text(tinygpu: Call) -> None:
    done = tinygpu("programs", "show", "matmul")
    assert done.out == library.shipped()["matmul"].read_text()
    assert tinygpu("programs", "show", "matmul.s", "--json").json["text"] == done.out
    missing = tinygpu("programs", "show", "matmull")
    assert missing.code == 2 and "did you mean matmul" in missing.err


def test_doctor_finds_nothing_bad_here(tinygpu: Call) -> None:
    done = tinygpu("doctor", "--json")
    assert done.code == 0 and done.json["healthy"] is True
    names = [finding["name"] for finding in done.json["findings"]]
    assert {"python", "numba", "folders", "core", "machines", "terminal"} <= set(names)
    plain = tinygpu("doctor")
    assert plain.code == 0 and all(name in plain.out for name in names)


def test_doctor_says_when_links_are_broken(tmp_path: Path) -> None:
    for name in doctor.FOLDERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    assert [finding.state for finding in doctor.folders(tmp_path)] == ["ok"]
    (tmp_path / "viz" / "__init__.py").unlink()
    (finding,) = doctor.folders(tmp_path)
    assert (finding.state, finding.detail) == ("bad", "viz not there: links broken")
    assert "core.symlinks" in finding.remedy


def test_doctor_exits_with_4_when_something_is_missing(
    tinygpu: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "NEEDED", ("numpy", "no_such_package"))
    done = tinygpu("doctor")
    assert done.code == 4
    assert re.search(r"^bad +no_such_package +not installed$", done.out, re.M)
    assert "no_such_package: python -m pip install no_such_package\n" in done.err
    assert tinygpu("doctor", "--json").json["healthy"] is False


def test_every_machine_looks_well() -> None:
    assert [finding.state for finding in doctor.machines()] == ["ok"]


def test_a_table_has_columns_and_no_trailing_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    common.print_table([("a", "bbb", "c"), ("aaaa", "b", "")], indent=1)
    assert capsys.readouterr().out == " a     bbb  c\n aaaa  b\n"
    common.print_table([])
    assert capsys.readouterr().out == ""


def test_json_is_strict(capsys: pytest.CaptureFixture[str]) -> None:
    common.print_json({"µ": [1, None]})
    assert json.loads(capsys.readouterr().out) == {"schema": 1, "µ": [1, None]}
    with pytest.raises(ValueError, match="JSON"):
        common.print_json({"x": float("nan")})


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fails(file: Any) -> None:
        file.write(b"half")
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        common.write_whole(path, fails)
    assert path.read_bytes() == b"old"
    assert common.write_whole(path, lambda file: file.write(b"whole")) == 5  # type: ignore[arg-type, return-value]
    assert path.read_bytes() == b"whole"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    with pytest.raises(FileNotFoundError) as caught:
        common.write_whole(tmp_path / "no" / "file", fails)
    assert caught.value.filename == str(tmp_path / "no" / "file")


@pytest.mark.parametrize("text", ["N=1", " N = 1 ", "N=a=b"])
def test_settings_are_split_once(text: str) -> None:
    name, value = common.split_setting(text, "--set")
    assert name == "N" and value == text.split("=", 1)[1].strip()


class Terminal:
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_colour_needs_a_terminal_and_no_objection(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    assert common.colored(Terminal())  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "1")
    assert not common.colored(Terminal())  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert not common.colored(Terminal())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("encoding", "fits"), [("utf-8", True), ("ascii", False), ("latin-1", False), (None, False)]
)
def test_bars_need_an_encoding_that_has_them(encoding: str | None, fits: bool) -> None:
    stream = Terminal()
    stream.encoding = encoding  # type: ignore[assignment]
    assert common.unicode_fits(stream) is fits  # type: ignore[arg-type]
