"""The same input gives the same bytes: across processes, hash seeds, repeated runs, tracing and bursts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import tinygpu as tg
from tinygpu.sim import host as host_module

PRINT_DIGEST = """
import sys, tinygpu as tg
for name, machine, sizes in (("matmul", "tiny", {"N": 32}), ("histogram_global", "tiny", {"N": 1024}),
                             ("divergence_three", "v100", {"N": 512})):
    print(tg.run(name, machine, **sizes).digest)
"""


def digests(seed: str) -> list[str]:
    """The digests of three runs in a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", PRINT_DIGEST], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_processes_and_hash_seeds_do_not_matter() -> None:
    first = digests("0")
    assert len(first) == 3 and len(set(first)) == 3
    assert digests("1") == first
    assert digests("random") == first


@pytest.mark.parametrize("name", ["matmul", "reduce_shuffle", "histogram_private"])
def test_a_traced_run_takes_the_same_cycles_and_counts_the_same(name: str) -> None:
    sizes = {"N": 32} if name == "matmul" else {"N": 2048}
    plain, traced = tg.run(name, "tiny", **sizes), tg.run(name, "tiny", trace=True, **sizes)
    assert traced.trace is not None and len(traced.trace.events)
    assert plain.digest == traced.digest


@pytest.mark.parametrize("burst", [1, 7, 1000])
def test_bursts_cannot_be_seen(burst: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tg.run("histogram_global", "tiny", N=1024).digest
    monkeypatch.setattr(host_module, "FIRST_BURST", burst)
    monkeypatch.setattr(host_module, "BURST_CYCLES", burst)
    assert tg.run("histogram_global", "tiny", N=1024).digest == whole


def test_the_digest_tells_other_inputs_apart() -> None:
    assert tg.run("vecadd", "tiny", N=256).digest != tg.run("vecadd", "tiny", N=256, seed=1).digest
