"""What the plans ask of a GPU: the points of each experiment, by hand."""

from tinygpu.validate.measure import plan_flow, plan_global, plan_shared, plan_units
from tinygpu.validate.measure.experiments import experiments
from tinygpu.validate.measure.units import MIXES, TENSOR, UNITS

NAMED = {e.name: e for e in experiments()}


def labels(name, key):
    return [point.label[key] for point in NAMED[name].points]


def test_every_unit_has_a_latency_and_a_rate():
    for unit in UNITS:
        assert NAMED[f"latency.{unit}"].kind == "latency"
        assert NAMED[f"rate.{unit}.ilp8"].kind == "slope"
    for name in TENSOR:
        assert f"latency.mma.{name}" in NAMED
        assert f"rate.mma.{name}" in NAMED


def test_units_name_the_machine_instruction():
    assert UNITS["ffma"].machine == "FFMA"
    assert all(unit.machine for unit in UNITS.values())
    assert all(unit.steps == unit.ptx.count("\n") + 1 for unit in UNITS.values() if unit.steps > 2)


def test_curves_run_over_warps_and_chains():
    for unit in ("ffma", "iadd3", "ex2"):
        for chains in (1, 2, 4, 8):
            assert labels(f"rate.{unit}.ilp{chains}", "warps")[0] == 1
            assert labels(f"rate.{unit}.ilp{chains}", "warps")[-1] == 32
            assert len(NAMED[f"rate.{unit}.ilp{chains}"].points) == 14
    for place in ("shared", "l1", "l2", "l2_one_sm", "dram"):
        for items in (1, 2, 4, 8):
            assert labels(f"curve.{place}.items{items}", "warps")[-1] == 32


def test_mixes_come_in_three_proportions():
    assert [NAMED[f"mix.ffma_iadd3.{p}"].body.counts for p in ("1_1", "2_1", "1_2")] == [(16,), (24,), (24,)]
    assert len([n for n in NAMED if n.startswith("mix.")]) == 3 * len(MIXES)


def test_code_grows_to_256_kilobytes():
    assert plan_units.CODE_LINES[-1] * 16 == 262144
    assert NAMED["code.ffma.16384"].body.parts[0].count("fma.rn") == 16384


def test_streams_touch_distinct_bytes():
    point = NAMED["bandwidth.dram.128.items4"].points[-1]
    assert (point.warps, point.blocks, point.step) == (32, 132, 16)
    assert point.pa == 16 * 32 * 32 * 132  # the whole grid's bytes of one item
    assert point.pb == 2**32 - 1
    assert point.offsets()[-1] == point.pa - 16


def test_shared_resources_are_measured_without_pauses():
    for e in NAMED.values():
        for point in e.points:
            if point.blocks > 1:
                assert point.gap == 0, e.name


def test_l2_data_is_brought_in_first_and_dram_data_thrown_out():
    assert NAMED["curve.l2.items1"].points[0].prime == 1 << 23
    assert NAMED["curve.dram.items1"].points[0].prime == 1 << 32
    assert NAMED["curve.shared.items1"].points[0].prime == 0


def test_widths_and_items_cover_bytes_in_flight():
    in_flight = {
        point.warps * 32 * point.label["width"] // 8 * point.label["items"]
        for e in NAMED.values()
        if e.name.startswith("bandwidth.dram")
        for point in e.points
    }
    assert min(in_flight) == 512
    assert max(in_flight) == 131072


def test_atomics_run_from_one_lane_to_all_on_one_word():
    rows = plan_shared.same_address()
    same = [row for row in rows if row.name.startswith("same")]
    assert [row.active for row in same] == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]
    assert all(set(row.offsets) <= {0, -1} for row in same)
    bank = next(row for row in rows if row.name == "bank_32")
    assert {o // 4 % 32 for o in bank.offsets} == {0}
    assert len(set(bank.offsets)) == 32


def test_global_atomics_are_on_one_sm_and_on_all():
    assert {p.blocks for n in NAMED if n.startswith("global.atomic.add.") for p in NAMED[n].points} == {
        1,
        132,
    }
    assert "lines_32" in labels("global.atomic.fadd.w8.b132", "pattern")


def test_else_masks_have_the_lanes_of_their_names():
    counts = {name: mask.bit_count() for name, mask in plan_flow.ELSE_MASKS.items()}
    assert counts == {
        "none": 0, "all": 32, "odd": 16, "even": 16, "lane0": 1, "lane31": 1, "low": 16, "high": 16,
        "most": 31, "few": 3, "low15": 15, "low17": 17, "high15": 15, "high17": 17, "mixed15": 15,
        "mixed19": 19,
    }  # fmt: skip
    point = next(p for p in NAMED["flow.divergence.8"].points if p.label["else_mask"] == "few")
    assert point.table == (1, 1, 1) + (0,) * 29


def test_barriers_run_over_all_warp_counts():
    assert labels("flow.barrier", "warps") == [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32]


def test_bursts_and_issues_have_conflict_free_rows():
    for name, step in (("issue.lds", 4), ("issue.lds64", 8), ("burst.sts.8", 4), ("burst.ldg64.8", 8)):
        assert NAMED[name].points[0].table == tuple(step * lane for lane in range(32))


def test_walks_through_places_are_powers_of_two():
    for blocks, size in plan_global.PLACES.values():
        assert blocks in (1, 132)
        assert size & (size - 1) == 0
