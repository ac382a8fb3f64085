"""Measures the GPU present: `python -m tinygpu.validate.measure --record FILE` runs every experiment once."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tinygpu.isa.errors import TinygpuError
from tinygpu.validate.measure import device, launching, walks
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


REDUCE: dict[str, Callable[[Gpu, Experiment, Point], dict[str, Any]]] = {
    "latency": _latency, "slope": _slope, "stamps": _stamps, "lanes": _lanes,
}  # fmt: skip


def warm_up(gpu: Gpu, seconds: float = 0.5) -> None:
    """Keeps the GPU busy so that its clock has risen before anything is timed."""
    experiment = experiments(("rate",))[0]
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        gpu.run(experiment.body, Point(warps=8, blocks=132, reps=4), 20000)


def special(gpu: Gpu) -> dict[str, Any]:
    """Walks and launches, which are no plain launch of one body."""
    return {
        "launch.empty": launching.empty(gpu),
        "launch.succession": launching.succession(gpu),
        "l2.lines": walks.lines(gpu),
        "l2.per_sm": walks.per_sm(gpu, 132),
        "walk.ca": walks.footprints(gpu, "ca"),
        "walk.cg": walks.footprints(gpu, "cg", tuple(s for s in walks.FOOTPRINTS if s >= 256 << 10)),
    }


def record(groups: tuple[str, ...], say: Callable[[str], None], save: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Runs the groups and returns the record; saves after every group, so that a cut-off run keeps what it has."""
    gpu = Gpu(BUFFER)
    result: dict[str, Any] = {
        "schema": SCHEMA, "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "device": {**device.facts(gpu.cuda), **device.query()}, "versions": device.versions(), "clocks": {},
        "experiments": {}, "failures": {},
    }  # fmt: skip
    for group in groups:
        begin = time.monotonic()
        warm_up(gpu)
        before = device.clocks()
        try:
            if group == "special":
                result["special"] = special(gpu)
        except Exception as error:  # noqa: BLE001 (one failed part must not lose the others' measurements)
            result["failures"][group] = repr(error)
        for experiment in experiments((group,)) if group in GROUPS else []:
            try:
                result["experiments"][experiment.name] = measure(gpu, experiment)
            except Exception as error:  # noqa: BLE001
                result["failures"][experiment.name] = repr(error)
        result["clocks"][group] = [before, device.clocks()]
        save(result)
        say(f"{group}: {time.monotonic() - begin:.1f} s, clocks {result['clocks'][group]}")
    return result


def main(arguments: list[str] | None = None) -> int:
    """Command line; the exit code is that of the error, 0 when all went well."""
    parser = argparse.ArgumentParser(prog="python -m tinygpu.validate.measure", description=__doc__)
    parser.add_argument("--record", type=Path, required=True, help="file to write")
    parser.add_argument("--groups", default=",".join((*GROUPS, "special")), help="which groups, with commas")
    options = parser.parse_args(arguments)

    def save(result: dict[str, Any]) -> None:
        partial = options.record.with_suffix(".partial")
        partial.write_text(json.dumps(result), encoding="utf-8")
        os.replace(partial, options.record)

    try:
        result = record(tuple(options.groups.split(",")), lambda line: print(line, file=sys.stderr, flush=True), save)
    except TinygpuError as error:
        print(f"error: {error.message}", file=sys.stderr)
        return error.exit_code
    for name, why in result["failures"].items():
        print(f"failed: {name}: {why}", file=sys.stderr)
    return 1 if result["failures"] else 0
