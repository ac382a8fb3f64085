"""Disassembly, walks, placement, launches, reductions and the command, all without a GPU."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tinygpu.isa.errors import InputError, MissingError
from tinygpu.validate.measure import __main__ as command
from tinygpu.validate.measure import campaign, check, device, launching, placement, sass, walks
from tinygpu.validate.measure.body import Body
from tinygpu.validate.measure.launch import Gpu, Point, intervals, latencies, spans

LISTING = """
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   CS2R.32 R9, SR_CLOCKLO ;
        /*0020*/                   FFMA R4, R0.reuse, R4, R7 ;
        /*0030*/              @!P0 BRA `(.L_x_0) ;
        /*0040*/                   CS2R.32 R11, SR_CLOCKLO ;
        /*0050*/               @P1 LDS.64 R2, [R2+UR4] ;
        /*0060*/                   CS2R.32 R12, SR_CLOCKLO ;
        /*0070*/                   EXIT ;
"""


def test_listing_becomes_instructions():
    code = sass.instructions(LISTING)
    assert len(code) == 8
    assert code[2] == "FFMA R4, R0.reuse, R4, R7"
    assert code[3] == "@!P0 BRA `(.L_x_0)"


def test_parts_lie_between_clock_reads():
    parts = sass.between_stamps(sass.instructions(LISTING))
    assert parts == [["FFMA R4, R0.reuse, R4, R7", "@!P0 BRA `(.L_x_0)"], ["@P1 LDS.64 R2, [R2+UR4]"]]


def test_mnemonics_are_counted_without_guards_and_modifiers():
    assert sass.mnemonics(["@P1 LDS.64 R2, [R2]", "LDS R1, [R2]", "FFMA R1, R2, R3, R4"]) == {
        "FFMA": 1,
        "LDS": 2,
    }


def test_missing_tool_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(MissingError) as caught:
        sass.tool("ptxas")
    assert caught.value.hint == "pip install nvidia-cuda-nvcc"


def test_walk_is_one_cycle_through_every_line():
    image = walks.cycle(64, base=1000)
    at, seen = 0, set()
    for _ in range(64):
        seen.add(at)
        at = (int(image[at * 16]) - 1000) // walks.LINE
    assert at == 0
    assert len(seen) == 64
    assert len(image) == 64 * 16


def test_footprints_grow():
    assert list(walks.FOOTPRINTS) == sorted(set(walks.FOOTPRINTS))
    assert all(size % walks.LINE == 0 for size in walks.FOOTPRINTS)


def test_warps_that_are_slow_together_are_grouped():
    slow = np.zeros((5, 5), dtype=bool)
    slow[0, 4] = slow[4, 0] = True
    assert placement._groups(slow) == [[0, 4], [1], [2], [3]]


def test_gaps_between_blocks_are_from_an_end_to_the_next_begin():
    # begin, timer, SM, timer, end: SM 0 holds two blocks at once, then two more; SM 1 one after another
    rows = [[0, 5, 0, 0, 100], [2, 9, 0, 0, 110], [130, 0, 0, 0, 230], [150, 0, 0, 0, 250]]
    rows += [[40, 6, 1, 0, 90], [95, 0, 1, 0, 190]]
    found = launching._gaps(np.array(rows))
    assert found["median"] == 30.0  # 130 - 100, 150 - 110, 95 - 90
    assert (found["low"], found["high"], found["n"]) == (5.0, 40.0, 3)


def stamped(rows):
    return np.array(rows, dtype=np.uint32)


def test_latency_is_the_difference_of_two_lengths():
    body = Body("b", ("", "", ""), (8, 16, 48))
    # parts of 100, 16 x 4 + 7 and 48 x 4 + 7 cycles; then SM and value
    found = latencies(body, stamped([[[0, 100, 171, 370, 0, 0]]]))
    assert found.tolist() == [4.0]


def test_spans_are_by_sm():
    body = Body("b", ("",), (1,))
    rows = [[[10, 50, 3, 0], [12, 70, 3, 0], [1000, 1010, 8, 0]]]
    assert spans(body, stamped(rows)).tolist() == [[60.0, 10.0]]


def test_intervals_are_between_stamps():
    body = Body("b", ("", ""), (1, 1))
    assert intervals(body, stamped([[[5, 9, 19, 0, 0]]])).tolist() == [[[4.0, 10.0]]]


def test_offsets_of_a_point():
    assert Point().offsets().tolist() == [0] * 32
    assert Point(warps=2, step=8).offsets()[[1, 63]].tolist() == [8, 504]
    assert Point(table=tuple(range(32))).offsets()[31] == 31


def test_binary32_rounding_is_to_nearest_even():
    from fractions import Fraction

    assert check.round_to_binary32(Fraction(1) + Fraction(1, 2**24)) == 1.0
    assert check.round_to_binary32(Fraction(1) + Fraction(3, 2**24)) == 1.0 + 2.0**-22
    assert check.round_to_binary32(Fraction(1, 3)) == float(np.float32(1 / 3))


def test_expected_values_of_chains():
    x = 0
    for _ in range(72):
        x = (x * 5 + 0x5A5A1234) % 2**32
    assert check.expected("imad") == x
    value = np.float32(1.0000001)
    for _ in range(72):
        value = np.float32(np.float64(value) * np.float64(np.uint32(check.Y0).view(np.float32)) + 2.0**-7)
    assert check.expected("ffma") == int(value.view(np.uint32))


def test_clock_is_steady_within_one_percent():
    reading = {"sm_mhz": 1980.0, "memory_mhz": 3201.0}
    assert campaign.steady([reading, {"sm_mhz": 1965.0, "memory_mhz": 3201.0}])
    assert not campaign.steady([reading, {"sm_mhz": 1755.0, "memory_mhz": 3201.0}])


def test_parts_of_a_record_merge():
    part = {"clocks": {"a": 1}, "experiments": {"x": 1}, "special": {}, "failures": {}}
    other = {"clocks": {"b": 2}, "experiments": {"y": 2}, "special": {"s": 3}, "failures": {"f": "why"}}
    whole = campaign.merge(campaign.merge({}, part), other)
    assert whole == {
        "clocks": {"a": 1, "b": 2},
        "experiments": {"x": 1, "y": 2},
        "special": {"s": 3},
        "failures": {"f": "why"},
    }


def test_groups_are_chosen_by_name():
    assert command.chosen("rate,special") == ("rate", "special")
    assert command.chosen("") == ()
    with pytest.raises(InputError, match="unknown group 'rat'"):
        command.chosen("rat")


def test_without_a_gpu_the_command_says_so_and_writes_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    target = tmp_path / "r.json"
    assert command.main(["--record", str(target), "--groups", "rate"]) == 4
    assert "nvidia-smi is not installed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(MissingError):
        Gpu(1024)


def test_device_reads_the_first_line_of_nvidia_smi(monkeypatch):
    line = "NVIDIA H200, 580.1, 143771, 1980, 3201, 36, 87.07, 0x0"
    done = subprocess.CompletedProcess([], 0, stdout=line + "\n", stderr="")
    monkeypatch.setattr("shutil.which", lambda name: "/bin/nvidia-smi")
    monkeypatch.setattr("subprocess.run", lambda *a, **k: done)
    assert device.clocks() == {"sm_mhz": 1980.0, "memory_mhz": 3201.0}
    assert device.query()["name"] == "NVIDIA H200"


def test_versions_hold_python_and_numpy():
    found = device.versions()
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["numpy"] == np.__version__
    json.dumps(found)
