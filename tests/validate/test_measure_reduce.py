"""Stamps become results: each kind of experiment on a GPU that returns made-up stamps."""

import numpy as np
import pytest

from tinygpu.validate.measure.body import Body
from tinygpu.validate.measure.experiment import Experiment, lane_steps, over_patterns, over_warps
from tinygpu.validate.measure.launch import Point
from tinygpu.validate.measure.patterns_shared import Pattern
from tinygpu.validate.measure.reduce import REDUCE, measure

REPS = 4


class MadeUp:
    """Answers `run` with stamps made by a function of the loop count; the registers are always 20."""

    def __init__(self, make):
        self.make = make
        self.asked = []

    def run(self, body, point, iters):
        self.asked.append((point.warps, iters))
        return np.array([self.make(iters, rep) for rep in range(REPS)], dtype=np.uint32)

    def registers(self, body):
        return 20


def experiment(kind, body, **point):
    return Experiment("e", "g", kind, body, (Point({"warps": 2}, warps=2, **point),))


def test_slope_is_the_difference_of_two_loop_counts():
    body = Body("b", ("",), (64,))
    # two warps of SM 5: the second begins 3 later and ends 7 later; 11 cycles an iteration, 40 around them
    gpu = MadeUp(lambda n, rep: [[100, 100 + 11 * n + 40, 5, 0], [103, 147 + 11 * n, 5, 0]])
    found = measure(gpu, experiment("slope", body, iters=(6, 18)))
    assert gpu.asked == [(2, 6), (2, 18)]
    assert found["points"] == [
        {"warps": 2, "median": 11.0, "low": 11.0, "high": 11.0, "n": REPS, "base": 113.0}
    ]
    assert (found["kind"], found["registers"], found["counts"], found["digest"]) == (
        "slope",
        20,
        [64],
        body.digest(),
    )


def test_slope_takes_the_median_sm():
    body = Body("b", ("",), (1,))
    speeds = {0: 10, 1: 12, 2: 30}
    gpu = MadeUp(lambda n, rep: [[0, speeds[sm] * n, sm, 0] for sm in speeds])
    assert measure(gpu, experiment("slope", body, iters=(1, 2)))["points"][0]["median"] == 12.0


def test_latency_is_averaged_over_warps():
    body = Body("b", ("", "", ""), (1, 10, 30))
    gpu = MadeUp(lambda n, rep: [[0, 9, 9 + 50, 59 + 130, 0, 0], [0, 9, 9 + 50, 59 + 170, 0, 0]])
    assert measure(gpu, experiment("latency", body))["points"][0]["median"] == 5.0  # (4 + 6) / 2


def test_stamps_are_medians_of_the_first_row():
    body = Body("b", ("", ""), (1, 1))
    gpu = MadeUp(lambda n, rep: [[0, 10 + rep, 20 + rep, 0, 0], [0, 99, 199, 0, 0]])
    rows = measure(gpu, experiment("stamps", body))["points"][0]["stamps"]
    assert [row["median"] for row in rows] == [11.5, 10.0]
    assert (rows[0]["low"], rows[0]["high"]) == (10.0, 13.0)


def test_lanes_keep_every_stamp_and_mark_unused_ones():
    body = Body("b", ("",), (1,), extra_stamps=2, every_lane=True)
    gpu = MadeUp(lambda n, rep: [[100, 400, 150, 0, 3, 0], [100, 400, 0, 260, 3, 0]])
    found = measure(gpu, experiment("lanes", body))["points"][0]["lanes"]
    assert found == [[0, 300, 50, -1], [0, 300, -1, 160]]


def test_warps_begin_and_end_relative_to_the_first():
    body = Body("b", ("",), (1,))
    gpu = MadeUp(lambda n, rep: [[2**32 - 4, 96, 0, 0], [2**32 - 6, 46, 0, 0]])
    found = measure(gpu, experiment("warps", body))["points"][0]
    assert found["begin"] == [2.0, 0.0]
    assert found["end"] == [102.0, 52.0]


def test_all_kinds_are_reduced():
    assert set(REDUCE) == {"latency", "slope", "stamps", "lanes", "warps"}


def test_points_over_warps_and_patterns():
    assert [p.label for p in over_warps((1, 8), (2, 6), chains=4)] == [
        {"warps": 1, "chains": 4},
        {"warps": 8, "chains": 4},
    ]
    (point,) = over_patterns([Pattern("p", 32, lane_steps(4))], 8, (2, 6))
    assert point.label == {"pattern": "p", "warps": 8}
    assert (point.warps, point.iters, point.table[31]) == (8, (2, 6), 124)


@pytest.mark.parametrize("kind", ["latency", "slope", "stamps", "lanes", "warps"])
def test_results_have_the_keys_that_a_record_asks_for(kind):
    from tinygpu.validate.measure.record import RESULTS

    body = Body("b", ("", "", ""), (1, 2, 4))
    gpu = MadeUp(lambda n, rep: [[0, 5, 11 * n, 40 * n, 0, 0], [0, 5, 11 * n, 40 * n, 0, 0]])
    found = measure(gpu, experiment(kind, body, iters=(1, 2) if kind == "slope" else (1,)))["points"][0]
    assert set(found) == {"warps", *RESULTS[kind]}
