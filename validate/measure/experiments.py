"""All experiments, by group: the list that the GPU runs and that a simulator can run too."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tinygpu.isa.errors import InputError
from tinygpu.validate.measure import plan_flow, plan_global, plan_shared, plan_units
from tinygpu.validate.measure.experiment import Experiment

GROUPS: dict[str, tuple[Callable[[], Iterator[Experiment]], ...]] = {
    "latency": (plan_units.latencies,),
    "rate": (plan_units.rates,),
    "mix": (plan_units.mixes,),
    "schedule": (plan_units.schedules,),
    "code": (plan_units.code_sizes,),
    "shared": (plan_shared.patterns, plan_shared.degrees, plan_shared.matrices, plan_shared.addresses),
    "atomic": (plan_shared.atomics, plan_global.atomics),
    "l1": (plan_global.hits, plan_global.l2_patterns),
    "flow": (plan_flow.loops, plan_flow.branches, plan_flow.barriers),
    "issue": (plan_flow.issue,),
    "burst": (plan_flow.bursts,),
    "curve": (plan_shared.curves, plan_global.curves),
    "bandwidth": (plan_global.bandwidth,),
}


def experiments(groups: tuple[str, ...] = ()) -> list[Experiment]:
    """The experiments of the named groups, or of all; InputError for an unknown group."""
    for name in groups:
        if name not in GROUPS:
            raise InputError(f"unknown group {name!r}", hint="one of " + ", ".join(GROUPS))
    return [e for name in groups or tuple(GROUPS) for make in GROUPS[name] for e in make()]
