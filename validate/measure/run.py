"""Measures the GPU present: `python -m tinygpu.validate.measure --record FILE` runs every experiment once."""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tinygpu.isa.errors import MissingError, TinygpuError
from tinygpu.validate.measure import check, code, counters, device, launching, placement, walks
from tinygpu.validate.measure.experiments import GROUPS, Experiment, experiments
from tinygpu.validate.measure.launch import Gpu, Point, intervals, latencies, spans
from tinygpu.validate.measure.statistics import estimate

SCHEMA = 1
BUFFER = 6 << 30


def measure(gpu: Gpu, experiment: Experiment) -> dict[str, Any]:
    """One experiment's part of the record: digest, registers, and a result for each point."""
    reduce = REDUCE[experiment.kind]
    rows = [{**point.label, **reduce(gpu, experiment, point)} for point in experiment.points]
    return {
        "group": experiment.group, "kind": experiment.kind, "body": experiment.body.name,
        "digest": experiment.body.digest(), "registers": gpu.registers(experiment.body),
        "counts": list(experiment.body.counts), "points": rows,
    }  # fmt: skip


def _latency(gpu: Gpu, experiment: Experiment, point: Point) -> dict[str, Any]:
    return estimate(latencies(experiment.body, gpu.run(experiment.body, point, point.iters[0]))).to_dict()


def _slope(gpu: Gpu, experiment: Experiment, point: Point) -> dict[str, Any]:
    few, many = (spans(experiment.body, gpu.run(experiment.body, point, n)) for n in point.iters)
    per = (np.median(many, axis=1) - np.median(few)) / (point.iters[1] - point.iters[0])
    return {**estimate(per).to_dict(), "base": float(np.median(few))}


def _stamps(gpu: Gpu, experiment: Experiment, point: Point) -> dict[str, Any]:
    steps = intervals(experiment.body, gpu.run(experiment.body, point, point.iters[0]))[:, 0]
    return {"stamps": [estimate(steps[:, i]).to_dict() for i in range(steps.shape[1])]}


def _lanes(gpu: Gpu, experiment: Experiment, point: Point) -> dict[str, Any]:
    stamps = gpu.run(experiment.body, point, point.iters[0])[..., : experiment.body.stamps]
    since = (stamps - stamps[..., :1]).astype(np.uint32).astype(np.float64)
    since[stamps == 0] = -1
    return {"lanes": np.median(since, axis=0).astype(int).tolist()}


def _warps(gpu: Gpu, experiment: Experiment, point: Point) -> dict[str, Any]:
    stamps = gpu.run(experiment.body, point, point.iters[0])
    begin, end = stamps[..., 0], stamps[..., len(experiment.body.parts)]
    origin = begin[:, :1]
    since = [(part - origin).astype(np.int32).astype(np.int64) for part in (begin, end)]
    first = since[0].min(axis=1, keepdims=True)
    return {name: np.median(part - first, axis=0).tolist() for name, part in zip(("begin", "end"), since, strict=True)}


REDUCE: dict[str, Callable[[Gpu, Experiment, Point], dict[str, Any]]] = {
    "latency": _latency, "slope": _slope, "stamps": _stamps, "lanes": _lanes, "warps": _warps,
}  # fmt: skip


def warm_up(gpu: Gpu, seconds: float = 0.5) -> None:
    """Keeps the GPU busy so that its clock has risen before anything is timed."""
    experiment = experiments(("rate",))[0]
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        gpu.run(experiment.body, Point(warps=8, blocks=132, reps=4), 20000)


COUNTED = ("shared", "global", "launch")
"""Groups of profiled launches."""

CODED = ("latency", "rate", "mix", "shared", "atomic", "l1", "flow", "issue", "curve", "bandwidth")
"""Groups whose machine code is kept."""

SPECIAL: dict[str, Callable[[Gpu], Any]] = {
    "checks": check.run,
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


def record(groups: tuple[str, ...], say: Callable[[str], None], save: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Runs the groups and returns the record; saves after every group, so that a cut-off run keeps what it has."""
    gpu = Gpu(BUFFER)
    gpu.randomize()
    result: dict[str, Any] = {
        "schema": SCHEMA, "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "device": {**device.facts(gpu.cuda), **device.query()}, "versions": device.versions(), "clocks": {},
        "experiments": {}, "special": {}, "failures": {},
    }  # fmt: skip
    for group in groups:
        begin = time.monotonic()
        warm_up(gpu)
        before = device.clocks()
        for name, make in SPECIAL.items() if group == "special" else ():
            try:
                result["special"][name] = make(gpu)
            except Exception as error:  # noqa: BLE001 (one failed part must not lose the others' measurements)
                result["failures"][name] = repr(error)
        for experiment in experiments((group,)) if group in GROUPS else []:
            try:
                result["experiments"][experiment.name] = measure(gpu, experiment)
            except Exception as error:  # noqa: BLE001
                result["failures"][experiment.name] = repr(error)
                break  # the context may be lost with the kernel
        result["clocks"][group] = [before, device.clocks()]
        save(result)
        say(f"{group}: {time.monotonic() - begin:.1f} s, clocks {result['clocks'][group]}")
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
    whole: dict[str, Any] = {}
    for group in groups if groups != ("",) else ():
        part = target.with_suffix(f".{group}.part")
        command = [sys.executable, "-m", "tinygpu.validate.measure", "--single", "--groups", group, "--record", str(part)]
        done = subprocess.run(command, check=False)
        if part.exists():
            whole = merge(whole, json.loads(part.read_text(encoding="utf-8")))
            part.unlink()
            write(whole, target)
        elif done.returncode == MissingError.exit_code:
            raise MissingError(f"group {group} could not start: see the message above")
        else:
            whole.setdefault("failures", {})[group] = f"the process ended with {done.returncode}"
    return whole


def write(result: dict[str, Any], target: Path) -> None:
    """Replaces `target` by the record, whole or not at all."""
    partial = target.with_suffix(".partial")
    partial.write_text(json.dumps(result), encoding="utf-8")
    partial.replace(target)


def profiled(result: dict[str, Any]) -> None:
    """Adds the hardware counters to the record, or says in it why there are none."""
    for group in COUNTED:
        try:
            result.setdefault("counters", {})[group] = counters.collect(group)
        except MissingError as error:
            result.setdefault("failures", {})[f"counters.{group}"] = f"{error.message} {error.hint}".strip()


def main(arguments: list[str] | None = None) -> int:
    """Command line; the exit code is that of the error, 0 when all went well."""
    parser = argparse.ArgumentParser(prog="python -m tinygpu.validate.measure", description=__doc__)
    parser.add_argument("--record", type=Path, required=True, help="file to write")
    parser.add_argument("--groups", default=",".join((*GROUPS, "special")), help="which groups, with commas")
    parser.add_argument("--counters", action="store_true", help="read hardware counters too, through ncu")
    parser.add_argument("--code", type=Path, help="file to write the machine code of the benchmarks to")
    parser.add_argument("--single", action="store_true", help="all in this process")
    options = parser.parse_args(arguments)
    groups = tuple(options.groups.split(","))
    try:
        if options.single:
            result = record(groups, lambda line: print(line, file=sys.stderr, flush=True), lambda r: write(r, options.record))
        else:
            result = each_alone(groups, options.record)
            if options.counters:
                profiled(result)
                write(result, options.record)
            if options.code:
                write(code.collect(CODED), options.code)
    except TinygpuError as error:
        print(f"error: {error.message}", file=sys.stderr)
        return error.exit_code
    for name, why in result.get("failures", {}).items():
        print(f"failed: {name}: {why}", file=sys.stderr)
    return 1 if result.get("failures") else 0
