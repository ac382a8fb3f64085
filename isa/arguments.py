"""Turns values into a kernel's arguments: arrays and scalars of the parameters' types."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import LaunchError
from .program import KernelParameter
from .values import DTYPES, bf16_bits, bf16_values

Array = npt.NDArray[Any]


def as_argument(value: Any, parameter: KernelParameter, *, exact: bool = False) -> Any:
    """The argument for a parameter: a read-only array, or a NumPy scalar.

    exact: an array must have the parameter's own type already (signed or not makes no
    difference); otherwise numbers are converted, and must fit. Types without a NumPy twin are
    held as their bits: bf16 as uint16 (numbers are rounded), f16x2 and bf16x2 as uint32.
    Raises LaunchError.
    """
    if parameter.type.startswith("ptr."):
        return _array(value, parameter, exact=exact)
    return _scalar(value, parameter)


def _scalar(value: Any, parameter: KernelParameter) -> Any:
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf":
        raise LaunchError(f"{parameter.name} is one {parameter.type}, not {_words(value)}")
    return _converted(array, parameter, parameter.type)[()]


def _array(value: Any, parameter: KernelParameter, *, exact: bool) -> Array:
    type_ = parameter.type.removeprefix("ptr.")
    array = np.asarray(value)
    if array.ndim == 0:
        hint = f"zeros(n) or full(n, {value}) makes one"
        raise LaunchError(
            f"{parameter.name} ({parameter.type}) takes an array, not {_words(value)}", hint=hint
        )
    if array.dtype.kind not in "biuf":
        raise LaunchError(f"{parameter.name} ({parameter.type}) takes numbers, not {array.dtype}")
    wanted = np.dtype(DTYPES[type_])
    if type_ == "bf16" and array.dtype != wanted:
        array = bf16_bits(array)
    elif type_ == "f16x2" and array.dtype == np.float16 and array.shape[-1] % 2 == 0:
        array = np.ascontiguousarray(array).view(np.uint32)
    elif exact and isinstance(value, np.ndarray):
        same = array.dtype.itemsize == wanted.itemsize and (
            array.dtype == wanted or (array.dtype.kind in "iu" and wanted.kind in "iu")
        )
        if not same:
            hint = f"use .astype(numpy.{wanted})"
            raise LaunchError(
                f"{parameter.name} ({parameter.type}) is {array.dtype}, not {wanted}", hint=hint
            )
        array = array.view(wanted)
    else:
        array = _converted(array, parameter, type_)
    array = np.array(array, order="C", copy=True)
    array.flags.writeable = False
    return array


def _converted(array: Array, parameter: KernelParameter, type_: str) -> Array:
    """Numbers in the parameter's type; integers must be whole and in range."""
    wanted = np.dtype(DTYPES[type_])
    if wanted.kind in "iu":
        if array.dtype.kind == "f" and not np.array_equal(array, np.trunc(array)):
            raise LaunchError(f"{parameter.name} ({parameter.type}) takes whole numbers")
        low, high = int(np.iinfo(wanted).min), int(np.iinfo(wanted).max)
        if type_.startswith("b"):  # bits have no sign
            low = -(high + 1) // 2
        if array.size and not (low <= array.min() and array.max() <= high):
            bad = array.min() if array.min() < low else array.max()
            raise LaunchError(f"{parameter.name} ({parameter.type}) cannot hold {bad}")
        if array.dtype.kind == "f":
            return array.astype(np.int64 if low else np.uint64).astype(wanted)
    with np.errstate(over="ignore"):
        return array.astype(wanted)


def as_numbers(array: Array, type_: str, *, wide: bool = False) -> Array:
    """The numbers of an array argument; `wide` gives floating-point ones as float64."""
    base = type_.removeprefix("ptr.")
    if base == "bf16":
        array = bf16_values(array)
    return array.astype(np.float64) if wide and array.dtype.kind == "f" else array


def _words(value: Any) -> str:
    array = np.asarray(value)
    return f"an array of shape {array.shape}" if array.ndim else repr(value)
