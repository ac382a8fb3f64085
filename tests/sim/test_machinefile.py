"""Machine files: what the shipped ones say, origins, bases, overrides, and all errors at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tinygpu.isa.errors import InputError, MachineError
from tinygpu.sim import machinefile
from tinygpu.sim.machine_report import places
from tinygpu.sim.spec import TIMING_CLASSES

HEAD = 'base = "h200"\nname = "mine"\ntitle = "mine"\n'


def write(tmp_path: Path, text: str, name: str = "mine.toml") -> str:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / name)


def errors(path: str, settings: tuple[str, ...] = ()) -> list[str]:
    """The first line of each error, without the path."""
    with pytest.raises(MachineError) as caught:
        machinefile.load(path, settings)
    lines = caught.value.message.splitlines()
    return [line.removeprefix(path + ":") for line in lines if ": error: " in line]


def whole(name: str) -> str:
    """A machine's file written out in full, without a base."""
    machine = machinefile.load(name)
    rows = [f'name = "{name}"', 'title = "written out"']
    for key in machinefile.known_keys():
        value = machinefile.value_of(machine.spec, key)
        text = f'"{value}"' if isinstance(value, str) else str(value).lower().replace("(", "[")
        rows.append(f'{key} = [{text.replace(")", "]")}, "guess"]')
    return "\n".join(rows) + "\n"


def test_four_machines_are_shipped() -> None:
    assert machinefile.names() == ["a6000", "h200", "tiny", "v100"]


@pytest.mark.parametrize("name", ["a6000", "h200", "tiny", "v100"])
def test_every_value_has_an_origin_and_published_ones_a_source(name: str) -> None:
    machine = machinefile.load(name)
    assert machine.spec.name == name
    assert sorted(machine.origins) == sorted(machinefile.known_keys())
    assert {origin.word for origin in machine.origins.values()} <= set(machinefile.ORIGINS)
    bare = [k for k, o in machine.origins.items() if o.word == "published" and not o.source]
    assert bare == []


@pytest.mark.parametrize("name", ["a6000", "h200", "tiny", "v100"])
def test_every_key_is_described(name: str) -> None:
    assert [key for key in machinefile.known_keys() if len(machinefile.describe(key)) < 5] == []


# What was measured on an H200: latency and issue cost of each class.
MEASURED = {
    "fp32": (4, 1), "int32": (4, 2), "imad": (4, 2), "imad_wide": (4, 2), "half": (8, 1), "fp64": (8, 2),
    "sfu": (17, 8), "popc": (17, 8), "compare": (4, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", list(MEASURED))
def test_h200_has_the_measured_latencies(name: str) -> None:
    timing = machinefile.load("h200").spec.timing[name]
    assert (timing.latency_cycles, timing.issue_cycles) == MEASURED[name]


def test_h200_has_the_measured_memory_path() -> None:
    spec = machinefile.load("h200").spec
    shared, l1 = spec.shared, spec.l1
    assert [shared.load_cycles + more * shared.word_cycles for more in (0, 1, 3)] == [23, 26, 32]
    assert shared.shuffle_cycles == 24
    assert l1.hit_cycles == 33
    assert spec.lsu.dispatch_cycles == 4 and spec.lsu.instruction_cycles == 1
    assert [spec.barrier.base_cycles + warps * spec.barrier.warp_cycles for warps in (1, 2, 4, 8, 16)] == [
        14, 16, 20, 28, 44,
    ]  # fmt: skip
    assert spec.timing["compare"].latency_cycles + spec.bypass.guard_extra_cycles == 13
    assert spec.timing["int32"].latency_cycles + spec.bypass.address_extra_cycles == 5
    assert spec.timing["fp32"].latency_cycles + spec.bypass.cross_pipe_extra_cycles == 5
    pair = spec.timing["convert"].latency_cycles + spec.timing["int32"].latency_cycles
    assert pair in (22, 23, 24)  # F2I and back by I2F, which runs on the integer pipe: 23
    assert spec.dram.channels == 192 and spec.dram.gigabytes_per_second == 4800
    assert spec.sm.carveout_bytes == tuple(k * 1024 for k in (0, 8, 16, 32, 64, 100, 132, 164, 196, 228))


@pytest.mark.parametrize(
    ("name", "sms", "mhz", "warps", "lanes", "sfu", "shared", "dram"),
    [
        ("v100", 80, 1380, 64, 64, 16, 96, 900),
        ("a6000", 84, 1800, 48, 128, 16, 100, 768),
        ("h200", 132, 1980, 64, 128, 16, 228, 4800),
    ],
)
def test_generations_are_as_published(
    name: str, sms: int, mhz: float, warps: int, lanes: int, sfu: int, shared: int, dram: float
) -> None:
    spec = machinefile.load(name).spec
    assert (spec.device.sms, spec.device.clock_mhz, spec.sm.warps) == (sms, mhz, warps)
    assert spec.sm.subcores * 32 // spec.timing["fp32"].issue_cycles == lanes
    assert spec.sm.subcores * 32 // spec.timing["sfu"].issue_cycles == sfu
    assert spec.sm.shared_bytes == shared * 1024
    assert spec.dram.gigabytes_per_second == dram


def test_tiny_is_small_enough_to_see() -> None:
    spec = machinefile.load("tiny").spec
    assert (spec.device.sms, spec.sm.subcores, spec.sm.warps) == (2, 1, 8)
    assert spec.timing["fp32"].issue_cycles == 4  # 8 lanes wide: four passes
    assert (spec.l2.slices, spec.l2.partitions, spec.dram.channels) == (2, 1, 2)
    assert max(timing.latency_cycles for timing in spec.timing.values()) <= 10


def test_a_base_gives_what_is_not_said(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD + '[l1]\nways = [2, "guess", "a trial"]\n')
    mine, base = machinefile.load(path), machinefile.load("h200")
    assert mine.spec.l1.ways == 2 and base.spec.l1.ways != 2
    assert mine.spec.l1.model_copy(update={"ways": base.spec.l1.ways}) == base.spec.l1
    assert mine.origins["l1.ways"] == machinefile.Origin("guess", "a trial")
    assert mine.origins["l1.hit_cycles"] == base.origins["l1.hit_cycles"]
    assert mine.path == Path(path)


def test_a_base_may_be_a_file_beside(tmp_path: Path) -> None:
    write(tmp_path, HEAD + 'device.sms = [5, "guess"]\n', "first.toml")
    path = write(tmp_path, 'base = "first.toml"\nname = "second"\ntitle = "t"\nl1.ways = [2, "guess"]\n')
    spec = machinefile.load(path).spec
    assert (spec.name, spec.device.sms, spec.l1.ways) == ("second", 5, 2)


def test_a_file_without_base_that_says_everything_loads(tmp_path: Path) -> None:
    spec = machinefile.load(write(tmp_path, whole("tiny"))).spec
    assert spec == machinefile.load("tiny").spec.model_copy(update={"title": "written out"})


BAD = """\
base = "h200"
name = "bad"
title = "three kinds of errors and more"

[device]
sms = ["132", "published", "data sheet"]
clock = [1000, "guess"]

[l1]
ways = [999, "guess"]
hit_cycles = 5
replacement = ["lruu", "guess"]

[timing]
fp32 = { pipe = ["fmaa", "guess"], latency_cycles = [4, "mesured"] }
fp33.pipe = ["fma", "guess"]
fp33.issue_cycles = [1, "guess"]
sfu.issue_cycles = [8, "published"]
"""


def test_all_errors_come_at_once_with_place_and_nearest_name(tmp_path: Path) -> None:
    path = write(tmp_path, BAD)
    pipes = "'fma', 'int', 'half', 'fp64', 'sfu', 'control', 'uniform' or 'tensor'"
    assert errors(path) == [
        "6:1: error: device.sms: should be a valid integer, not '132'",
        "7:1: error: device.clock: there is no such value",
        "10:1: error: l1.ways: should be less than or equal to 64, not 999",
        '11:1: error: l1.hit_cycles: a value is written [value, "origin", "source"]',
        "12:1: error: l1.replacement: should be 'lru', 'fifo' or 'random', not 'lruu'",
        f"15:10: error: timing.fp32.pipe: should be {pipes}, not 'fmaa'",
        "15:36: error: timing.fp32.latency_cycles: there is no origin 'mesured'",
        "16:1: error: timing.fp33: there is no such timing class",
        "18:1: error: timing.sfu.issue_cycles: a published value names its source",
    ]
    with pytest.raises(MachineError) as caught:
        machinefile.load(path)
    text = caught.value.message
    for name in ("device.clock_mhz", "lru", "fma", "measured", "fp32"):
        assert f"    hint: did you mean {name}?\n" in text
    assert '    clock = [1000, "guess"]\n    ^~~~~\n' in text


def test_more_than_twenty_errors_are_counted(tmp_path: Path) -> None:
    rows = "".join(f"x{number} = 1\n" for number in range(23))
    with pytest.raises(MachineError, match=r"\(3 more errors\)$") as caught:
        machinefile.load(write(tmp_path, HEAD + "[l1]\n" + rows))
    assert caught.value.message.count(": error: ") == 20


def test_errors_of_a_base_are_reported_in_its_file(tmp_path: Path) -> None:
    write(tmp_path, HEAD + "[l1]\nways = [99, 'guess']\n", "first.toml")
    path = write(tmp_path, 'base = "first.toml"\nname = "second"\ntitle = "t"\nl2.ways = [0, "guess"]\n')
    with pytest.raises(MachineError) as caught:
        machinefile.load(path)
    rows = [line for line in caught.value.message.splitlines() if ": error: " in line]
    assert rows == [
        f"{path}:4:1: error: l2.ways: should be greater than or equal to 1, not 0",
        f"{tmp_path / 'first.toml'}:5:1: error: l1.ways: should be less than or equal to 64, not 99",
    ]


def test_a_missing_timing_class_and_a_missing_value_are_named(tmp_path: Path) -> None:
    text = whole("tiny")
    kept = [r for r in text.splitlines() if not r.startswith(("timing.shuffle.", "l2.ways ", "title"))]
    found = errors(write(tmp_path, "\n".join(kept)))
    assert [row.split(": error: ")[1] for row in found] == [
        "title: is missing",
        "timing: without shuffle",
        "l2.ways: is missing",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('base = "h201"\n', "1:1: error: base: there is no machine 'h201'"),
        ('base = "mine.toml"\n', "1:1: error: base: mine.toml is a base of itself"),
        ("base = 3\n", "1:1: error: base: should be a machine's name or file"),
    ],
)
def test_a_base_that_cannot_be_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    assert errors(write(tmp_path, text)) == [message]


def test_two_files_cannot_be_bases_of_each_other(tmp_path: Path) -> None:
    write(tmp_path, 'base = "mine.toml"\n', "other.toml")
    path = write(tmp_path, 'base = "other.toml"\n')
    with pytest.raises(MachineError, match=r"other\.toml:1:1: error: base: mine\.toml is a base of itself"):
        machinefile.load(path)


def test_a_file_that_is_not_toml_is_an_error_at_its_place(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD + "[l1\nways = 4\n")
    with pytest.raises(MachineError) as caught:
        machinefile.load(path)
    assert caught.value.message.splitlines()[0].startswith(f"{path}:4:4: error: this is not TOML: ")
    assert caught.value.message.splitlines()[1:] == ["    [l1", "       ^"]


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"name = \xff\n")
    with pytest.raises(MachineError, match=r"mine\.toml: error: byte 7 is not UTF-8"):
        machinefile.load(str(tmp_path / "mine.toml"))


def test_an_empty_file_lacks_everything(tmp_path: Path) -> None:
    found = errors(write(tmp_path, ""))
    assert found[0] == "1:1: error: timing: without " + ", ".join(TIMING_CLASSES)
    assert found[1:5] == [f"1:1: error: {name}: is missing" for name in ("name", "title", "device", "sm")]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("h20", "there is no machine 'h20'", "did you mean h200?"),
        ("zzz", "there is no machine 'zzz'", "there are a6000, h200, tiny, v100"),
        ("zzz.toml", "there is no machine file zzz.toml", ""),
        ("no/where", "there is no machine file no/where", ""),
    ],
)
def test_a_machine_that_does_not_exist(name: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        machinefile.load(name)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_a_folder_of_a_machines_name_does_not_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny").mkdir()
    monkeypatch.chdir(tmp_path)
    assert machinefile.load("tiny").spec.name == "tiny"


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("l1.ways=8", 8), ("l1.enabled=false", False), ("issue.scheduler=lrr", "lrr"),
        ("issue.scheduler = 'lrr'", "lrr"), ("dram.path_ns=12.5", 12.5), ("dram.path_ns=12", 12.0),
        ("timing.fp32.latency_cycles=9", 9),
    ],
)  # fmt: skip
def test_a_setting_replaces_a_value(setting: str, value: Any) -> None:
    machine = machinefile.load("h200", [setting])
    key = setting.split("=")[0].strip()
    assert machinefile.value_of(machine.spec, key) == value
    assert machine.origins[key].word == "set"
    assert machine.origins["l1.hit_cycles"].word == "measured"


def test_settings_that_are_possible_only_together() -> None:
    sizes = "sm.carveout_bytes=[0, 65536]"
    spec = machinefile.load("h200", ["sm.shared_bytes=65536", sizes, "sm.block_shared_bytes=64512"]).spec
    assert (spec.sm.shared_bytes, spec.sm.carveout_bytes) == (65536, (0, 65536))


@pytest.mark.parametrize(
    ("setting", "message", "hint"),
    [
        ("l1.way=8", "the machine has no l1.way", "did you mean l1.ways?"),
        ("zzz=1", "the machine has no zzz", "`tinygpu machine show NAME` lists the values"),
        ("l1.ways", "'l1.ways' is no setting", "write key=value, such as l1.ways=8"),
        ("l1.ways=65", "l1.ways: should be less than or equal to 64, not 65", ""),
        ("l1.ways=eight", "l1.ways: should be a valid integer, not 'eight'", ""),
        ("l1.ways=8.5", "l1.ways: should be a valid integer, not 8.5", ""),
        ("l1.ways=", "l1.ways: should be a valid integer, not ''", ""),
        ("l1.enabled=1", "l1.enabled: should be a valid boolean, not 1", ""),
        ("l1.replacement=lry", "l1.replacement: should be 'lru', 'fifo' or 'random', not 'lry'",
         "did you mean lru?"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be(setting: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        machinefile.load("h200", [setting])
    assert (caught.value.message, caught.value.hint) == (message, hint)
    assert not isinstance(caught.value, MachineError)  # the file is fine


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["sm.warps=62"], "sm.warps: 62 warps do not spread evenly over 4 sub-cores"),
        (["sm.warps=32"], "sm.threads: 2048 threads are more than 32 warps have"),
        (["sm.threads=512"], "sm.block_threads: a block of 1024 threads does not fit 512 of an SM"),
        (["sm.registers=1024", "sm.register_unit=2048"],
         "sm.register_unit: is more than all 1024 registers"),
        (["sm.reserved_shared_bytes=1025"],
         "sm.block_shared_bytes: 232448 and 1025 reserved are more than the 233472 of an SM"),
        (["sm.carveout_bytes=[8192, 0, 233472]"], "sm.carveout_bytes: should be sizes in ascending order"),
        (["sm.carveout_bytes=[]"], "sm.carveout_bytes: should be sizes in ascending order"),
        (["sm.carveout_bytes=[0, 8192]"],
         "sm.carveout_bytes: the largest should be shared_bytes (233472), not 8192"),
        (["sm.unified_bytes=131072"], "sm.unified_bytes: shared_bytes (233472) is a part of it"),
        (["front_end.instruction_bytes=12"],
         "front_end.line_bytes: should be whole instructions of 12 bytes"),
        (["sm.unified_bytes=0", "l1.bytes=256"], "l1.bytes: should hold a set of 4 lines of 128 bytes"),
        (["lsu.entry_cycles=24"], "shared.load_cycles: should be more than lsu.entry_cycles (24), not 23"),
    ],
)  # fmt: skip
def test_values_that_contradict_one_another(settings: list[str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        machinefile.load("h200", settings)
    assert message in caught.value.message.splitlines()


def test_a_contradiction_in_a_file_is_reported_at_its_key(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD + "\n[sm]\nwarps = [62, 'guess']\nthreads = [1024, 'guess']\n")
    assert errors(path) == ["6:1: error: sm.warps: 62 warps do not spread evenly over 4 sub-cores"]


def test_known_keys_reach_every_timing_class() -> None:
    keys = machinefile.known_keys()
    assert len(keys) == len(set(keys))
    assert {key.split(".")[1] for key in keys if key.startswith("timing.")} == set(TIMING_CLASSES)
    assert {"device.sms", "l1.hit_cycles", "timing.fp32.latency_cycles", "host.copy_latency_us"} <= set(keys)
    assert not {"name", "title", "timing"} & set(keys)


def test_places_of_tables_keys_and_inline_tables() -> None:
    text = 'name = "x"\n[a.b]\n  c = [1]\nd.e = { f = 1, g=2 }\n# h = 1\n'
    assert places(text) == {
        "name": (1, 1, 4),
        "a.b": (2, 2, 3),
        "a.b.c": (3, 3, 1),
        "a.b.d.e": (4, 1, 3),
        "a.b.d.e.f": (4, 9, 1),
        "a.b.d.e.g": (4, 16, 1),
        "a.b.d": (4, 1, 3),
        "a": (3, 3, 1),
    }
