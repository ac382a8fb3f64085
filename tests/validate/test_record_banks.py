"""The bank rule of the simulator against the hardware counters of the record: every count equal."""

import pytest

from tinygpu.sim.units.banks import bank_conflicts
from tinygpu.validate.measure import patterns_shared as ps
from tinygpu.validate.measure import record

H200 = record.load("h200")
ROWS = [row for row in H200.counts("shared") if row["pattern"] != "nobody"]
MATRICES = {p.name: p for p in ps.matrix_rows()}
COUNTER = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"


def predicted(row):
    operation = row["operation"]
    if operation.startswith("ldmatrix"):
        pattern, kind, width = MATRICES[row["pattern"]], "ldmatrix", 32 * int(operation[-1])
    else:
        pattern = next(p for p in ps.patterns(row["width"]) if p.name == row["pattern"])
        kind, width = operation.split("_")[0], row["width"]
    mask = sum(1 << lane for lane, offset in enumerate(pattern.offsets) if offset >= 0)
    return bank_conflicts(kind, width, [max(offset, 0) for offset in pattern.offsets], mask)


def test_there_are_enough_of_each_kind():
    kinds = [row["operation"].split("_")[0] for row in ROWS]
    assert (kinds.count("load"), kinds.count("store"), kinds.count("atomic"), kinds.count("ldmatrix")) == (
        490,
        490,
        196,
        51,
    )


@pytest.mark.parametrize(
    "kind, counter", [("load", "ld"), ("store", "st"), ("atomic", "atom"), ("ldmatrix", "ldsm")]
)
def test_wavefronts_are_exact(kind, counter):
    rows = [row for row in ROWS if row["operation"].startswith(kind)]
    wrong = [
        (row["operation"], row["width"], row["pattern"])
        for row in rows
        if row[COUNTER.format(counter)] != predicted(row).wavefronts
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", ["load", "store", "ldmatrix"])
def test_conflicts_are_exact(kind):
    rows = [row for row in ROWS if row["operation"].startswith(kind)]
    wrong = [row for row in rows if row.get(CONFLICTS, 0) != predicted(row).conflicts]
    assert wrong == []


@pytest.mark.parametrize("width", [8, 16, 32])
def test_an_sm_takes_one_cycle_a_wavefront(width):
    rows = {p["pattern"]: p["median"] / 256 for p in H200.points(f"shared.load.{width}.w8")}
    for row in ROWS:
        if row["operation"] == "load" and row["width"] == width:
            assert rows[row["pattern"]] == pytest.approx(predicted(row).wavefronts, abs=0.05), row["pattern"]
