"""The reference interpreter and the core agree on every byte: all opcodes, shipped and generated programs."""

from __future__ import annotations

import pytest
from helpers.bench import bench
from helpers.launch import differences, interpret, prepare, run
from helpers.opcodes import COMPUTING, LANES, program

BATCH = 40


@pytest.mark.parametrize("start", range(0, len(COMPUTING), BATCH))
def test_every_computing_opcode_gives_the_same_bits_on_edge_values(start: int) -> None:
    text, data, cases = program(COMPUTING[start : start + BATCH], 3, start)
    launch = prepare(text, args={"data": data})
    expected, outcome = interpret(launch), run(launch, bench())
    wrong = []
    for case in cases:
        place = slice(LANES * case.number, LANES * (case.number + 1))
        want, got = expected["out"][place], outcome.outputs["out"][place]
        for lane in (want != got).nonzero()[0][:1]:
            values = ", ".join(f"{row[lane]:#x}" for row in case.data)
            text = f"{case.guard}{case.opcode.name} {values}, {case.constants}"
            wrong.append(f"{text}: {want[lane]:#x} and {got[lane]:#x}")
    assert not wrong, "interpreter and core differ:\n" + "\n".join(wrong)
    assert not differences(launch, expected, outcome.outputs)
