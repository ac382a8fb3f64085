"""The reference interpreter and the core agree on every byte: all opcodes, shipped and generated programs."""

from __future__ import annotations

import re

import pytest
from generator import generate
from helpers import memory_opcodes
from helpers.bench import bench
from helpers.launch import agree, differences, interpret, prepare, run
from helpers.opcodes import COMPUTING, LANES, program
from helpers.variants import variant

from tinygpu import library
from tinygpu.isa.assembler import assemble
from tinygpu.isa.launch import plan

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


MEMORY = {"load": memory_opcodes.LOADS, "store": memory_opcodes.STORES, "atomic": memory_opcodes.ATOMICS}


@pytest.mark.parametrize(
    ("kind", "start"), [(kind, start) for kind, found in MEMORY.items() for start in range(0, len(found), 50)]
)
def test_every_memory_opcode_moves_the_same_bytes(kind: str, start: int) -> None:
    text, data = memory_opcodes.program(MEMORY[kind][start : start + 50], start)
    agree(prepare(text, args={"data": data}), bench())


SEEDS = 500
BATCHES = 20


@pytest.mark.parametrize("batch", range(BATCHES))
def test_generated_programs_agree_on_random_machines(batch: int) -> None:
    """Each program on a machine of random policies, latencies and limits; divergence policies in turn."""
    for seed in range(batch, SEEDS, BATCHES):
        policy = ("stack", "independent")[seed // BATCHES % 2]
        launch = prepare(generate(seed).text)
        outcome = run(launch, variant(seed, divergence__policy=policy))
        where = differences(launch, interpret(launch), outcome.outputs)
        assert not where, f"program {seed} differs from the interpreter:\n" + "\n".join(where)


@pytest.mark.parametrize("scheduler", ["gto", "cggty", "lrr", "two_level"])
@pytest.mark.parametrize("policy", ["stack", "independent"])
@pytest.mark.parametrize("threads", [32, 64, 96, 128])
def test_every_policy_agrees_on_the_same_programs(scheduler: str, policy: str, threads: int) -> None:
    for seed in (1000, 1001):
        text = generate(seed, threads=threads).text
        agree(text, bench({"issue.scheduler": scheduler, "divergence.policy": policy, "sm.subcores": 2}))


@pytest.mark.parametrize("first", ["taken", "fallthrough"])
@pytest.mark.parametrize("policy", ["stack", "independent"])
def test_either_side_of_a_branch_may_run_first(policy: str, first: str) -> None:
    for seed in range(1010, 1016):
        agree(generate(seed).text, bench({"divergence.first": first, "divergence.policy": policy}))


def small(text: str) -> dict[str, str]:
    """A small size for a shipped program, since the interpreter takes one lane at a time."""
    lets = re.findall(r"^\.let\s+(\w+)", text, re.MULTILINE)
    if "BITS" in lets:
        return {"BITS": "5"}
    if "N" in lets:
        return {"N": "32" if "N, N" in text else "1024"}
    return {}


@pytest.mark.parametrize("policy", ["stack", "independent"])
@pytest.mark.parametrize("name", sorted(library.shipped()))
def test_shipped_programs_agree(name: str, policy: str) -> None:
    path = library.shipped()[name]
    launch = plan(assemble(path.read_text(), str(path), lets=small(path.read_text())))
    (outcome,) = agree(launch, bench({"divergence.policy": policy}))
    assert all(check.ok for check in launch.check(outcome.outputs))
