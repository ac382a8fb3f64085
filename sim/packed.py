"""The specification as the compiled core reads it: one flat record made from the models.

Field `hit_cycles` of section `l1` is `l1_hit_cycles`. Whole numbers and switches are int64,
other numbers float64, a choice is the index of its word, timing classes are an array.
"""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

import numpy as np

from .jit import record_at, zeros
from .spec import PIPES, TIMING_CLASSES, MachineSpec, Section

# Memory-side times are whole ticks, so that a DRAM burst need not last whole cycles.
TICKS_PER_CYCLE = 256

TIMING = np.dtype(
    [("pipe", "i8"), ("latency_cycles", "i8"), ("issue_cycles", "i8"), ("port_cycles", "i8")], align=True
)


def choices(annotation: Any) -> tuple[Any, ...]:
    """The words of a Literal annotation, or nothing."""
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _scalar_fields() -> list[tuple[str, str, Any]]:
    """(section, field, annotation) of every scalar in the order of the models."""
    found = []
    for section, info in MachineSpec.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, Section):
            for name, leaf in model.model_fields.items():
                if leaf.annotation in (int, float, bool) or choices(leaf.annotation):
                    found.append((section, name, leaf.annotation))
    return found


SPEC = np.dtype(
    [(f"{s}_{n}", "f8" if a is float else "i8") for s, n, a in _scalar_fields()]
    + [(f"dram_{n}_ticks", "i8") for n in ("path", "activate", "precharge", "column", "turnaround", "burst",
                                           "refresh", "refresh_interval")]
    + [("timing", TIMING, (len(TIMING_CLASSES),))],
    align=True,
)  # fmt: skip

spec_at = record_at(SPEC)


def ticks(nanoseconds: float, clock_mhz: float) -> int:
    """Nanoseconds in ticks of the SM clock, rounded to the nearest."""
    return round(nanoseconds * clock_mhz / 1000 * TICKS_PER_CYCLE)


def pack(spec: MachineSpec) -> np.ndarray[Any, Any]:
    """The record of a specification, as an array of one."""
    packed = zeros(1, SPEC)
    row = packed[0]
    for section, name, annotation in _scalar_fields():
        value = getattr(getattr(spec, section), name)
        words = choices(annotation)
        row[f"{section}_{name}"] = words.index(value) if words else value
    clock = spec.device.clock_mhz
    for name in ("path", "activate", "precharge", "column", "turnaround", "refresh", "refresh_interval"):
        row[f"dram_{name}_ticks"] = ticks(getattr(spec.dram, f"{name}_ns"), clock)
    burst_ns = spec.dram.burst_bytes * spec.dram.channels / spec.dram.gigabytes_per_second
    row["dram_burst_ticks"] = max(1, ticks(burst_ns, clock))
    for number, key in enumerate(TIMING_CLASSES):
        timing = spec.timing[key]
        row["timing"][number] = (
            PIPES.index(timing.pipe), timing.latency_cycles, timing.issue_cycles, timing.port_cycles,
        )  # fmt: skip
    return packed
