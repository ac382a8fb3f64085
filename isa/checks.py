"""Compares what a run gave with what its program expects: arrays and counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arguments import Array
from .errors import Diagnostic, InputError, SourceError
from .parse_report import did_you_mean
from .program import CountExpectation, Expectation


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One `.expect`: errors over all elements, and the first element that is wrong.

    max_rel_error is over the elements whose expected value is not 0. bad: how many are wrong.
    """

    name: str
    ok: bool
    max_abs_error: float
    max_rel_error: float
    first_bad_index: tuple[int, ...] | None
    expected: float | None
    got: float | None
    line: int
    relation: str = "=="
    bad: int = 0
    elements: int = 0


@dataclass(frozen=True, slots=True)
class CountResult:
    """One `.count`: the counter's name, what it should be and what it was."""

    name: str
    pc: int
    ok: bool
    expected: float
    got: float
    line: int


def compare(expectation: Expectation, got: Any, expected: Any, rtol: float, atol: float) -> CheckResult:
    """Compare two arrays; NaN equals NaN. Raises InputError when the shapes do not fit."""
    have, want = np.asarray(got), np.asarray(expected)
    try:
        want = np.broadcast_to(want, have.shape)
    except ValueError:
        raise InputError(
            f"the expected value has the shape {want.shape}, {expectation.left.text} has {have.shape}",
            hint="reshape it",
        ) from None
    if expectation.relation == "==":
        rtol = atol = 0.0
    error, size = _errors(have, want)
    wrong = error > atol + rtol * size
    nonzero = size > 0
    relative = float(np.max(error[nonzero] / size[nonzero])) if nonzero.any() else 0.0
    first = None
    if wrong.any():
        first = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), have.shape))
    line = expectation.source_line.line if expectation.source_line else 0
    return CheckResult(
        name=expectation.left.text,
        ok=first is None,
        max_abs_error=float(error.max()) if error.size else 0.0,
        max_rel_error=relative,
        first_bad_index=first,
        expected=None if first is None else want[first].item(),
        got=None if first is None else have[first].item(),
        line=line,
        relation=expectation.relation,
        bad=int(wrong.sum()),
        elements=int(have.size),
    )


def _errors(have: Array, want: Array) -> tuple[Array, Array]:
    """|have - want| and |want| as float64; infinite where only one is NaN or they differ at infinity."""
    if have.dtype.kind in "iub" and want.dtype.kind in "iub":
        # Integers of 64 bits are compared as such; only their distance is rounded.
        same = have == want
    else:
        same = (have == want) | (np.isnan(have) & np.isnan(want))
    with np.errstate(all="ignore"):
        a, b = have.astype(np.float64), want.astype(np.float64)
        error = np.abs(a - b)
        # Different values whose float64 images agree are still one unit apart.
        error = np.where(
            same, 0.0, np.where(np.isnan(error), np.inf, np.maximum(error, np.finfo(float).tiny))
        )
    return error, np.where(np.isfinite(b), np.abs(b), 0.0)


def compare_count(
    count: CountExpectation,
    expected: float,
    read: Callable[[str, int], float],
    known: tuple[str, ...] = (),
) -> CountResult:
    """Compare one counter, or a ratio `a_per_b`; whole numbers exactly, ratios to 1e-9."""
    got = _read(count, read, known)
    ok = math.isclose(got, expected, rel_tol=1e-9) if isinstance(got, float) else got == expected
    return CountResult(count.counter, count.pc, ok, expected, got, count.source_line.line)


_PLURALS = {"request": "requests", "wavefront": "wavefronts", "sector": "sectors", "line": "lines"}


def _read(count: CountExpectation, read: Callable[[str, int], float], known: tuple[str, ...]) -> float:
    name = count.counter
    try:
        return read(name, count.pc)
    except KeyError:
        top, per, bottom = name.partition("_per_")
    try:
        if not per:
            raise KeyError(name)
        divisor = read(_PLURALS.get(bottom, bottom), count.pc)
        return read(top, count.pc) / divisor if divisor else 0.0
    except KeyError:
        line = count.source_line
        hint = did_you_mean(name, known)
        text = line.text.split("\n")[0]
        column = text.find(name) + 1 or 1
        place = Diagnostic(line.file, line.line, column, f"there is no counter {name}", text, len(name), hint)
        raise SourceError([place]) from None
