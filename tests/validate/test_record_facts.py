"""Laws of the H200 that the record shows, so that a model can be built on them."""

import pytest

from tinygpu.validate.measure import record

H200 = record.load("h200")


def cycles(name, key="warps"):
    return {label[key]: value for label, value in H200.per_operation(name)}


def test_a_barrier_costs_12_and_2_a_warp():
    for warps, value in cycles("flow.barrier").items():
        assert value == 12 + 2 * warps


def test_one_warp_waits_2_cycles_for_each_further_wavefront():
    found = cycles("shared.degree.chase", "pattern")
    assert [found[f"degree_{d}"] for d in range(1, 33)] == [23 + 2 * (d - 1) for d in range(1, 33)]


@pytest.mark.parametrize("operation", ["load", "store"])
def test_an_sm_serves_a_wavefront_a_cycle(operation):
    found = cycles(f"shared.degree.{operation}.w8", "pattern")
    for degree in range(1, 33):
        assert found[f"degree_{degree}"] / 8 == pytest.approx(degree, rel=0.025)


def test_a_line_of_l1_takes_a_cycle():
    found = cycles("global.lines.64.w8", "pattern")
    for lines in (4, 8, 16, 32):
        assert found[f"lines_{lines}"] / 8 == pytest.approx(lines, rel=0.01)


def test_shared_atomics_serialise_on_a_bank_whatever_the_word():
    found = cycles("shared.atomic.add.chase", "pattern")
    for lanes in (2, 4, 8, 16, 32):
        assert found[f"same_{lanes}"] == found[f"bank_{lanes}"]
        assert found[f"same_{lanes}"] - found["same_1"] == pytest.approx(2 * (lanes - 1), abs=0.1)


@pytest.mark.parametrize(
    "unit, interval",
    [
        ("ex2", 8),
        ("popc", 8),
        ("imad", 2),
        ("iadd3", 2),
        ("dfma", 2),
        ("ffma_imm", 1),
        ("hfma2", 1),
        ("imad_hi", 4),
    ],
)
def test_units_take_a_warp_every_so_many_cycles(unit, interval):
    found = cycles(f"rate.{unit}.ilp8")
    assert found[16] / 4 == pytest.approx(interval, rel=0.09)  # with the loop's own instructions


def test_operands_of_one_bank_cost_a_cycle_where_warps_alternate():
    assert cycles("rate.ffma.ilp1")[16] == pytest.approx(8.0, rel=0.01)
    assert cycles("rate.ffma_imm.ilp1")[16] == pytest.approx(4.37, rel=0.01)


def test_youngest_warps_end_first():
    point = next(p for p in H200.points("schedule.ffma_imm.ilp8") if p["warps"] == 16)
    assert max(point["end"][8:]) < 0.6 * min(point["end"][:8])


def test_warps_share_a_sub_core_modulo_four():
    for row in H200.data["special"]["placement"]:
        warps = row["warps"]
        assert row["groups"] == [list(range(w, warps, 4)) for w in range(min(4, warps))]


def test_levels_of_memory_show_in_the_walk():
    found = {row["bytes"] >> 10: row["median"] for row in H200.data["special"]["walk.ca"]}
    assert found[64] == pytest.approx(35, abs=1)
    assert found[1024] == pytest.approx(282, abs=3)
    assert 500 < found[40960] < 540
    assert 580 < found[262144] < 700


def test_lines_of_l2_are_near_or_far():
    histogram = {int(k): n for k, n in H200.data["special"]["l2.lines"]["histogram"].items()}
    gap = range(279, 285)
    assert sum(histogram.get(value, 0) for value in gap) <= 8
    near = sum(n for value, n in histogram.items() if value < 279)
    assert 0.4 < near / sum(histogram.values()) < 0.65


def test_dram_is_read_at_94_percent_of_nominal():
    loads = {row["load"]: row for row in H200.data["special"]["clock.under_load"]}
    nominal = 2 * 3.201 * 6016 / 8
    assert loads["read"]["gb_s"]["median"] / nominal == pytest.approx(0.943, abs=0.01)
    assert 1900 < loads["read"]["sm_mhz"]["median"] < loads["spin"]["sm_mhz"]["median"] < 1981


def test_one_address_takes_an_atomic_every_1_6_cycles():
    found = cycles("global.atomic.add.w8.b132", "pattern")
    assert found["same_1"] / (8 * 132) == pytest.approx(1.585, abs=0.02)
    assert found["same_32"] / found["same_1"] == pytest.approx(32, rel=0.01)


def test_straight_code_is_free_up_to_24_kilobytes():
    per = {n: cycles(f"code.ffma.{n}")[4] for n in (1536, 4096, 16384)}
    assert per[1536] == pytest.approx(1.02, abs=0.02)
    assert per[4096] == pytest.approx(2.2, abs=0.1)
    assert per[16384] == pytest.approx(5.7, abs=0.2)


def test_blocks_are_launched_at_most_one_every_1_2_cycles():
    row = [r for r in H200.counts("launch") if r["blocks"] == 132000][-1]
    assert row["gpc__cycles_elapsed.max"] / 132000 == pytest.approx(1.21, abs=0.02)


def test_every_record_of_code_is_of_these_bodies():
    import json

    from tinygpu.validate.measure.experiments import experiments

    found = json.loads((record.FOLDER / "h200_code.json").read_text(encoding="utf-8"))
    bodies = {e.body.name: e.body.digest() for e in experiments()}
    assert all(bodies[name] == row["digest"] for name, row in found.items())
    assert found["latency_ffma"]["parts"][1].count("FFMA") == 16
    assert len(found) > 250
