"""Runs a planned launch in the reference interpreter: arrays in, final arrays out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .interpreter import InterpreterResult, Memory, interpret
from .launch import LaunchPlan, pack_parameters

# Where the first array stands unless the caller says otherwise, and how arrays are kept apart:
# far above what fits into 32 bits, so that a program that loses the high half faults.
FIRST_ADDRESS = 0x7F0000000000
ALIGNMENT = 512


def interpret_plan(
    plan: LaunchPlan, addresses: Mapping[str, int] | None = None, *, max_steps: int = 20_000_000
) -> tuple[InterpreterResult, dict[str, NDArray[Any]]]:
    """Interpret a launch; gives the interpreter's result and the arrays' final values by name.

    addresses: where arrays stand, by name. The plan's own arrays stay as they are. Raises what
    `interpret` raises.
    """
    finals = {name: np.array(array, order="C") for name, array in plan.arrays.items()}
    placed = dict(addresses) if addresses is not None else _places(finals)
    memory = Memory([(placed[name], array, name) for name, array in finals.items()])
    parameters = pack_parameters(plan.program, {**plan.arguments, **placed})
    result = interpret(plan.program, plan.grid, plan.block, parameters, memory, max_steps=max_steps)
    return result, finals


def _places(arrays: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    """An address for each array, in order, with a gap that belongs to nobody after each."""
    places = {}
    free = FIRST_ADDRESS
    for name, array in arrays.items():
        places[name] = free
        free += -(-array.nbytes // ALIGNMENT) * ALIGNMENT + ALIGNMENT
    return places
