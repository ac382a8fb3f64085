"""A campaign without a GPU: clocks that move, parts that fail, groups in processes of their own."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tinygpu.isa.errors import MissingError
from tinygpu.validate.measure import campaign, clockrate
from tinygpu.validate.measure import record as records

STILL = {"sm_mhz": 1980.0, "memory_mhz": 3201.0}
SLOW = {"sm_mhz": 1200.0, "memory_mhz": 3201.0}


class NoGpu:
    cuda = None

    def __init__(self, size):
        self.size = size

    def randomize(self):
        pass


@pytest.fixture
def bare(monkeypatch):
    """A campaign whose device answers from memory and whose experiments take no time."""
    monkeypatch.setattr(campaign, "Gpu", NoGpu)
    monkeypatch.setattr(campaign, "warm_up", lambda gpu: None)
    monkeypatch.setattr(campaign.device, "facts", lambda cuda: {"name": "Made Up"})
    monkeypatch.setattr(campaign.device, "query", lambda: {"driver_version": "1"})
    monkeypatch.setattr(campaign.device, "clocks", lambda: dict(STILL))
    point = {"warps": 1, "median": 1.0, "low": 1.0, "high": 1.0, "n": 32, "base": 0.0}
    row = {
        "group": "g",
        "kind": "slope",
        "body": "b",
        "digest": "d",
        "registers": 1,
        "counts": [1],
        "points": [point],
    }
    monkeypatch.setattr(campaign, "measure", lambda gpu, experiment: dict(row))
    monkeypatch.setattr(campaign, "SPECIAL", {"seven": lambda gpu: 7})
    return monkeypatch


def test_record_holds_the_groups_and_is_sound(bare, tmp_path):
    said = []
    target = tmp_path / "r.json"
    result = campaign.record(("schedule", "special"), said.append, target)
    assert records.problems(result) == []
    assert len(result["experiments"]) == 6
    assert result["special"] == {"seven": 7}
    assert result["clocks"] == {"schedule": [STILL, STILL], "special": [STILL, STILL]}
    assert result["device"] == {"name": "Made Up", "driver_version": "1"}
    assert records.load(target).data == result
    assert [line.split(":")[0] for line in said] == ["schedule", "special"]
    assert said[0].endswith("at 1980 MHz")


def test_a_group_whose_clock_moved_is_run_again(bare, tmp_path):
    readings = iter([STILL, SLOW, STILL, STILL])
    runs = []
    bare.setattr(campaign.device, "clocks", lambda: dict(next(readings)))
    bare.setattr(campaign, "SPECIAL", {"n": lambda gpu: runs.append(1) or len(runs)})
    result = campaign.record(("special",), lambda line: None, tmp_path / "r.json")
    assert result["special"] == {"n": 2}
    assert result["failures"] == {}


def test_a_clock_that_never_stands_still_is_a_failure_of_the_record(bare, tmp_path):
    readings = iter([STILL, SLOW] * campaign.ATTEMPTS)
    bare.setattr(campaign.device, "clocks", lambda: dict(next(readings)))
    result = campaign.record(("special",), lambda line: None, tmp_path / "r.json")
    assert result["failures"] == {"clock.special": "the clock moved in every attempt"}


def test_a_failing_experiment_ends_its_group_and_is_named(bare):
    def fail(gpu, experiment):
        raise RuntimeError("misaligned address")

    bare.setattr(campaign, "measure", fail)
    part = campaign.run_group(None, "schedule")
    assert part["failures"] == {"schedule.ffma_imm.ilp1": "RuntimeError('misaligned address')"}
    assert part["experiments"] == {}


def test_failing_special_values_do_not_stop_the_others(bare):
    bare.setattr(campaign, "SPECIAL", {"bad": lambda gpu: 1 / 0, "good": lambda gpu: 3})
    part = campaign.run_group(None, "special")
    assert part["special"] == {"good": 3}
    assert list(part["failures"]) == ["bad"]


def fake_process(code, part):
    """A `subprocess.run` that leaves `part` of a record and ends with `code`."""

    def run(command, check):
        target = Path(command[command.index("--record") + 1])
        group = command[command.index("--groups") + 1]
        if part is not None:
            target.write_text(json.dumps(part | {"clocks": {group: []}}))
        return subprocess.CompletedProcess(command, code)

    return run


PART = {"clocks": {}, "experiments": {}, "special": {}, "failures": {}}


def test_every_group_has_its_own_process(bare, tmp_path):
    bare.setattr(campaign.subprocess, "run", fake_process(0, PART))
    result = campaign.each_alone(("rate", "flow"), tmp_path / "r.json")
    assert list(result["clocks"]) == ["rate", "flow"]
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_a_process_that_dies_leaves_its_code_in_the_record(bare, tmp_path):
    bare.setattr(campaign.subprocess, "run", fake_process(-9, None))
    assert campaign.each_alone(("rate",), tmp_path / "r.json")["failures"] == {
        "rate": "the process ended with -9"
    }


def test_a_process_that_misses_something_ends_the_session(bare, tmp_path):
    bare.setattr(campaign.subprocess, "run", fake_process(4, None))
    with pytest.raises(MissingError, match="group rate"):
        campaign.each_alone(("rate",), tmp_path / "r.json")


def test_counters_that_cannot_be_read_are_said(bare):
    def missing(group):
        raise MissingError(f"ncu has no {group}", hint="install it")

    bare.setattr(campaign.counters, "collect", missing)
    result = {}
    campaign.profiled(result)
    assert result["failures"]["counters.shared"] == "ncu has no shared install it"
    assert set(result["failures"]) == {"counters.shared", "counters.global", "counters.launch"}


def test_counters_stand_in_the_record_by_group(bare):
    bare.setattr(campaign.counters, "collect", lambda group: [{"group": group}])
    result = {}
    campaign.profiled(result)
    assert result["counters"]["launch"] == [{"group": "launch"}]
    assert "failures" not in result


def test_clock_rate_is_cycles_over_nanoseconds():
    table = np.array([[100, 5000, 198100, 105000], [0, 0, 1980, 1000]], dtype=np.int64)
    assert clockrate.rate(table).tolist() == [1980.0, 1980.0]
