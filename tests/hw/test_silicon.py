"""The same experiments on the GPU present: values right, and an H200 as its record says."""

import pytest

from tinygpu.validate.measure import check, placement, record
from tinygpu.validate.measure.experiments import experiments
from tinygpu.validate.measure.reduce import measure, warm_up

H200 = record.load("h200")


@pytest.fixture(scope="module")
def h200(gpu):
    name = gpu.cuda.get_current_device().name
    name = name.decode() if isinstance(name, bytes) else name
    if name != H200.data["device"]["name"]:
        pytest.skip(f"the record is of an {H200.data['device']['name']}, and this is a {name}")
    warm_up(gpu)
    return gpu


def test_kernels_compute_what_python_computes(gpu):
    assert check.run(gpu) > 250


def test_warps_share_a_sub_core_modulo_four(h200):
    for row in placement.sharing(h200):
        warps = row["warps"]
        assert row["groups"] == [list(range(w, warps, 4)) for w in range(min(4, warps))]


@pytest.mark.parametrize("name", ["latency.ffma", "latency.ex2", "flow.barrier", "shared.degree.chase"])
def test_latencies_are_those_of_the_record(h200, name):
    experiment = next(e for e in experiments() if e.name == name)
    found = [p["median"] for p in measure(h200, experiment)["points"]]
    assert found == pytest.approx([p["median"] for p in H200.points(name)], abs=0.1)


@pytest.mark.parametrize("name", ["shared.load.32.w8", "rate.ex2.ilp8", "rate.imad.ilp8"])
def test_rates_are_those_of_the_record(h200, name):
    experiment = next(e for e in experiments() if e.name == name)
    found = [p["median"] for p in measure(h200, experiment)["points"]]
    assert found == pytest.approx([p["median"] for p in H200.points(name)], rel=0.02)
