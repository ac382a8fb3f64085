"""The shipped record is sound and complete, and the record's reader says what is wrong with others."""

import json

import pytest

from tinygpu.isa.errors import InputError
from tinygpu.validate.measure import patterns_global as pg
from tinygpu.validate.measure import patterns_shared as ps
from tinygpu.validate.measure import record
from tinygpu.validate.measure.experiments import experiments

H200 = record.load("h200")


def test_it_says_where_it_comes_from():
    device = H200.data["device"]
    assert device["name"] == "NVIDIA H200"
    assert device["compute_capability"] == [9, 0]
    assert device["multiprocessor_count"] == 132
    assert device["driver_version"].startswith("580.")
    assert {"numba-cuda", "python", "ptxas"} <= set(H200.data["versions"])
    assert H200.data["date"].startswith("20")
    assert H200.data["failures"] == {}


def test_the_clock_stood_still():
    for group, (before, after) in H200.data["clocks"].items():
        assert before == after, group
        assert before["sm_mhz"] == 1980.0


def test_every_experiment_is_in_it_with_the_instructions_of_today():
    found = H200.data["experiments"]
    for e in experiments():
        assert found[e.name]["digest"] == e.body.digest(), e.name
        assert len(found[e.name]["points"]) == len(e.points), e.name
    assert len(found) == len(experiments())


def test_medians_are_of_at_least_30_samples_except_where_code_is_long():
    for name, e in H200.data["experiments"].items():
        for point in e["points"]:
            if "n" in point:
                assert point["n"] >= (16 if e["group"] == "code" else 30), name


def test_known_latencies():
    wanted = {"ffma": 4.0, "imad": 4.0, "lop3": 4.0, "dfma": 8.0, "ex2": 17.0, "hfma2": 8.0}
    assert {name: H200.value(f"latency.{name}") for name in wanted} == wanted
    assert H200.value("shared.chase.32", pattern="stride_1") == 23.0
    assert H200.value("shared.chase.32", pattern="stride_32") == 85.0
    assert H200.value("flow.barrier", warps=32) == 76.0


def test_wavefronts_are_what_shared_memory_takes():
    rows = {label["pattern"]: cycles / 8 for label, cycles in H200.per_operation("shared.load.32.w8")}
    assert rows["stride_1"] == pytest.approx(1.0, abs=0.05)
    assert rows["stride_2"] == pytest.approx(2.0, abs=0.05)
    assert rows["stride_32"] == pytest.approx(32.0, abs=0.05)
    assert rows["stride_33"] == pytest.approx(1.0, abs=0.05)


def test_the_side_with_fewer_lanes_runs_first():
    for point in H200.points("flow.divergence.24"):
        lanes = point["lanes"]
        otherwise = [lane[4] for lane in lanes if lane[4] >= 0]
        direct = [lane[2] for lane in lanes if lane[2] >= 0]
        if otherwise and direct:
            fewer_first = min(otherwise) < min(direct)
            assert fewer_first == (len(otherwise) < len(direct)), point["else_mask"]


def test_counters_cover_the_patterns():
    shared = {(r["operation"], r["width"], r["pattern"]) for r in H200.counts("shared")}
    for width in ps.WIDTHS:
        for pattern in ps.patterns(width):
            assert ("load", width, pattern.name) in shared
            assert ("store", width, pattern.name) in shared
    found = {(r["operation"], r["width"], r["pattern"]) for r in H200.counts("global")}
    for width in pg.WIDTHS:
        for pattern in pg.patterns(width):
            assert {("load", width, pattern.name), ("store", width, pattern.name)} <= found


def test_sectors_and_lines_are_the_distinct_ones():
    patterns = {(p.width, p.name): p for p in pg.every_pattern()}
    rows = H200.counts("global")
    assert len(rows) == 460
    for row in rows:
        p = patterns[row["width"], row["pattern"]]
        touched = {o + k for o in p.offsets if o >= 0 for k in range(p.width // 8)}
        kind = "ld" if row["operation"] == "load" else "st"
        assert row[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{kind}.sum"] == len({b // 32 for b in touched})
        assert row["smsp__sass_l1tex_tags_mem_global.sum"] == len({b // 128 for b in touched})


def test_lookup_errors_name_the_nearest():
    with pytest.raises(InputError) as caught:
        H200.points("latency.ffmaa")
    assert "latency.ffma" in caught.value.hint
    with pytest.raises(InputError, match="2 points"):
        H200.value("flow.branches")


def test_slopes_are_divided_by_the_operations_of_an_iteration():
    label, cycles = H200.per_operation("rate.ex2.ilp8")[0]
    assert label == {"warps": 1, "chains": 8}
    assert cycles == H200.points("rate.ex2.ilp8")[0]["median"] / 64


def minimal(**change):
    point = {"warps": 1, "median": 4.0, "low": 4.0, "high": 4.0, "n": 32}
    experiment = {
        "group": "latency",
        "kind": "latency",
        "body": "b",
        "digest": "0",
        "registers": 8,
        "counts": [1],
    }
    data = {
        "schema": 1, "date": "", "device": {}, "versions": {}, "clocks": {}, "special": {}, "failures": {},
        "experiments": {"x": experiment | {"points": [point]}},
    }  # fmt: skip
    return data | change


def test_a_minimal_record_is_sound_and_comes_back_from_its_file(tmp_path):
    target = tmp_path / "r.json"
    data = minimal() | {"counters": {"shared": [{"a": 1}, {"a": 2}], "global": []}}
    record.write(data, target)
    assert record.load(target).data == data
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_problems_are_named():
    assert record.problems([]) == ["a record is a JSON object"]
    assert record.problems({"schema": 1})[0] == "no 'date'"
    assert record.problems(minimal(schema=7)) == ["schema 7, expected 1"]
    data = minimal()
    data["experiments"]["x"]["points"][0]["low"] = 5.0
    assert record.problems(data) == ["x: point 0: the median lies outside its interval"]
    data["experiments"]["x"]["kind"] = "guess"
    assert record.problems(data) == ["x: kind 'guess' is unknown"]
    data = minimal()
    del data["experiments"]["x"]["points"][0]["n"]
    del data["experiments"]["x"]["digest"]
    assert record.problems(data) == ["x: no 'digest'", "x: point 0 has no 'n'"]


def test_files_that_are_no_record(tmp_path):
    with pytest.raises(InputError) as caught:
        record.load(tmp_path / "none.json")
    assert "h200" in caught.value.hint
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        record.load(tmp_path / "bad.json")
    (tmp_path / "empty.json").write_text(json.dumps({"schema": 1}))
    with pytest.raises(InputError, match="no 'date'"):
        record.load(tmp_path / "empty.json")
