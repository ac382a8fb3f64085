"""A measuring campaign: groups of experiments in turn, clocks watched, the record saved as it grows."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tinygpu.isa.errors import MissingError
from tinygpu.validate.measure import check, clockrate, counters, device, launching, placement, walks
from tinygpu.validate.measure.experiments import GROUPS, experiments
from tinygpu.validate.measure.launch import Gpu
from tinygpu.validate.measure.record import SCHEMA, write
from tinygpu.validate.measure.reduce import measure, warm_up

BUFFER = 6 << 30
"""Bytes of the buffer that experiments share: 4 GB to walk through, and room for strides and flushing."""

ATTEMPTS = 3
"""How often a group is run when the clock moves, before the record says that it did."""

COUNTED = ("shared", "global", "launch")
"""Groups of profiled launches."""

SPECIAL: dict[str, Callable[[Gpu], Any]] = {
    "checks": check.run,
    "clock.under_load": clockrate.under_load,
    "placement": placement.sharing,
    "launch.empty": launching.empty,
    "launch.succession": launching.succession,
    "l2.lines": walks.lines,
    "l2.lines_far": lambda gpu: walks.lines(gpu, 4096, 4096 + walks.LINE),
    "l2.per_sm": lambda gpu: walks.per_sm(gpu, 132),
    "walk.ca": lambda gpu: walks.footprints(gpu, "ca"),
    "walk.cg": lambda gpu: walks.footprints(gpu, "cg", tuple(s for s in walks.FOOTPRINTS if s >= 256 << 10)),
}
"""What is no plain launch of one body, by the name it has in the record."""


def run_group(gpu: Gpu, group: str) -> dict[str, Any]:
    """Measures one group: its experiments, special values, failures, and the clocks before and after."""
    part: dict[str, Any] = {"clocks": {}, "experiments": {}, "special": {}, "failures": {}}
    warm_up(gpu)
    before = device.clocks()
    for name, make in SPECIAL.items() if group == "special" else ():
        try:
            part["special"][name] = make(gpu)
        except Exception as error:  # one failed part must not lose the others
            part["failures"][name] = repr(error)
    for experiment in experiments((group,)) if group in GROUPS else []:
        try:
            part["experiments"][experiment.name] = measure(gpu, experiment)
        except Exception as error:
            part["failures"][experiment.name] = repr(error)
            break  # the context may be lost with the kernel
    part["clocks"][group] = [before, device.clocks()]
    return part


def steady(clocks: list[dict[str, float]]) -> bool:
    """Whether no clock differs by more than 1 % between the two readings."""
    before, after = clocks
    return all(abs(before[name] - after[name]) <= 0.01 * before[name] for name in before)


def record(groups: tuple[str, ...], say: Callable[[str], None], target: Path) -> dict[str, Any]:
    """Runs the groups in this process and returns the record, saved to `target` after each.

    A group during which the clock moved is thrown away and run again, `ATTEMPTS` times at most; then it is a
    failure of the record.
    """
    gpu = Gpu(BUFFER)
    gpu.randomize()
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "device": {**device.facts(gpu.cuda), **device.query()},
        "versions": device.versions(),
        **{key: {} for key in ("clocks", "experiments", "special", "failures")},
    }
    for group in groups:
        begin = time.monotonic()
        for _ in range(ATTEMPTS):
            part = run_group(gpu, group)
            if steady(part["clocks"][group]):
                break
        else:
            part["failures"][f"clock.{group}"] = "the clock moved in every attempt"
        result = merge(result, part)
        write(result, target)
        say(f"{group}: {time.monotonic() - begin:.1f} s at {part['clocks'][group][1]['sm_mhz']:.0f} MHz")
    return result


def merge(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """`whole` with the measurements of `part` added; the facts of the device are those of the first part."""
    if not whole:
        return part
    for key in ("clocks", "experiments", "special", "failures"):
        whole[key] |= part[key]
    return whole


def each_alone(groups: tuple[str, ...], target: Path) -> dict[str, Any]:
    """Runs every group in a process of its own, since a fault of one kernel ends all work of its process."""
    device.query()
    whole: dict[str, Any] = {}
    for group in groups:
        part = target.with_suffix(f".{group}.part")
        options = ["--single", "--groups", group, "--record", str(part)]
        done = subprocess.run([sys.executable, "-m", "tinygpu.validate.measure", *options], check=False)
        if part.exists():
            whole = merge(whole, json.loads(part.read_text(encoding="utf-8")))
            part.unlink()
            write(whole, target)
        elif done.returncode == MissingError.exit_code:
            raise MissingError(f"group {group} could not start: see the message above")
        else:
            whole.setdefault("failures", {})[group] = f"the process ended with {done.returncode}"
    return whole


def profiled(result: dict[str, Any]) -> None:
    """Adds the hardware counters to the record, or says in it why there are none."""
    for group in COUNTED:
        try:
            result.setdefault("counters", {})[group] = counters.collect(group)
        except MissingError as error:
            result.setdefault("failures", {})[f"counters.{group}"] = f"{error.message} {error.hint}".strip()
