"""Runs one experiment on the GPU present, and turns its stamps into the results of a record."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tinygpu.validate.measure import arithmetic
from tinygpu.validate.measure.experiment import Experiment
from tinygpu.validate.measure.launch import Gpu, Point, intervals, latencies, spans
from tinygpu.validate.measure.statistics import estimate
from tinygpu.validate.measure.units import UNITS


def measure(gpu: Gpu, experiment: Experiment) -> dict[str, Any]:
    """One experiment's part of the record: digest, registers, and a result for each point."""
    reduce = REDUCE[experiment.kind]
    rows = [{**point.label, **reduce(gpu, experiment, point)} for point in experiment.points]
    return {
        "group": experiment.group,
        "kind": experiment.kind,
        "body": experiment.body.name,
        "digest": experiment.body.digest(),
        "registers": gpu.registers(experiment.body),
        "counts": list(experiment.body.counts),
        "points": rows,
    }


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
    return {
        name: np.median(part - first, axis=0).tolist()
        for name, part in zip(("begin", "end"), since, strict=True)
    }


REDUCE: dict[str, Callable[[Gpu, Experiment, Point], dict[str, Any]]] = {
    "latency": _latency,
    "slope": _slope,
    "stamps": _stamps,
    "lanes": _lanes,
    "warps": _warps,
}


def warm_up(gpu: Gpu, seconds: float = 0.5) -> None:
    """Keeps the GPU busy so that its clock has risen before anything is timed."""
    body = arithmetic.throughput(UNITS["ffma"], 8)
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        gpu.run(body, Point(warps=8, blocks=132, reps=4), 20000)
