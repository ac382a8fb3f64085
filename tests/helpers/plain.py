"""Prints what generated programs do on random machines, as JSON; run with NUMBA_DISABLE_JIT=1 or without."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from generator import generate

from helpers.launch import Outcome, prepare, run
from helpers.variants import variant


def summary(outcome: Outcome) -> dict[str, Any]:
    """Everything that a run must reproduce, outputs and trace as digests."""
    digest = hashlib.sha256()
    for name in sorted(outcome.outputs):
        digest.update(outcome.outputs[name].tobytes())
    for records in (outcome.raw.profile, outcome.trace.events, outcome.trace.memory):
        for name in records.dtype.names or ():
            digest.update(records[name].tobytes())
    return {"cycles": outcome.raw.cycles, "counters": outcome.counters, "digest": digest.hexdigest()}


def summaries(seeds: range) -> list[dict[str, Any]]:
    """Small programs, one warp or two, on small random machines."""
    found = []
    for seed in seeds:
        launch = prepare(generate(seed, 8, blocks=1, threads=(32, 40)[seed % 2]).text)
        found.append(summary(run(launch, variant(seed, device__sms=1))))
    return found


if __name__ == "__main__":
    print(json.dumps(summaries(range(int(sys.argv[1]), int(sys.argv[2])))))
