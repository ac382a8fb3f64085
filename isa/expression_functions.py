"""The functions and constants that expressions may use; NumPy loads when an array is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .errors import InputError

MAX_ELEMENTS = 1 << 28  # of one array that an expression makes
Random = Any  # numpy.random.Generator, named here without the import

CONSTANT_NAMES: Mapping[str, Any] = {
    "pi": math.pi, "inf": math.inf, "nan": math.nan, "true": True, "false": False,
}  # fmt: skip


def _cdiv(a: int, b: int) -> int:
    """a / b rounded up."""
    return -(-a // b)


def _floordiv(a: Any, b: Any) -> Any:
    """a / b rounded down; in a program text `//` begins a comment."""
    return a // b


def _log2(value: float) -> float:
    """The binary logarithm; an integer when the value is a power of two."""
    if isinstance(value, int) and value > 0 and value & (value - 1) == 0:
        return value.bit_length() - 1
    return math.log2(value)


CONSTANT_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "min": min, "max": max, "abs": abs, "cdiv": _cdiv, "floordiv": _floordiv,
    "log2": _log2, "sqrt": math.sqrt,
    "floor": math.floor, "ceil": math.ceil, "exp": math.exp, "log": math.log,
    "sin": math.sin, "cos": math.cos, "round": round,
}  # fmt: skip


def _numpy() -> Any:
    import numpy

    return numpy


def _shape(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as sizes or as one tuple; refuses what is no size or too large."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    for size in sizes:
        if isinstance(size, bool) or not hasattr(size, "__index__") or size < 0:
            raise InputError(f"{size!r} is not the size of an array")
    shape = tuple(int(size) for size in sizes)
    if math.prod(shape) > MAX_ELEMENTS:
        raise InputError(f"an array of {math.prod(shape)} elements is too large")
    return shape


def _draws(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function whose first argument is the random generator."""
    function.random = True  # type: ignore[attr-defined]
    return function


@_draws
def _uniform(random: Random, *shape: Any, low: float = 0.0, high: float = 1.0) -> Any:
    return random.uniform(low, high, _shape(shape))


@_draws
def _normal(random: Random, *shape: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    return random.normal(mean, std, _shape(shape))


@_draws
def _integers(random: Random, low: int, high: int, *shape: Any) -> Any:
    return random.integers(low, high, _shape(shape))


@_draws
def _permutation(random: Random, n: int) -> Any:
    return random.permutation(_shape((n,))[0])


def _zeros(*shape: Any) -> Any:
    return _numpy().zeros(_shape(shape))


def _ones(*shape: Any) -> Any:
    return _numpy().ones(_shape(shape))


def _full(shape: Any, value: Any) -> Any:
    return _numpy().full(_shape((shape,)), value)


def _arange(*bounds: Any) -> Any:
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    _shape((max(math.ceil((stop - start) / step), 0),))
    return _numpy().arange(start, stop, step)


def _iota(*shape: Any) -> Any:
    """0, 1, 2, ... in the given shape."""
    sizes = _shape(shape)
    return _numpy().arange(math.prod(sizes)).reshape(sizes)


def _reshape(array: Any, *shape: Any) -> Any:
    if len(shape) == 1 and isinstance(shape[0], tuple):
        shape = shape[0]
    return _numpy().reshape(array, shape)


def _reduced(name: str) -> Callable[..., Any]:
    """A reduction by NumPy's name; min and max of several values work elementwise."""

    def reduce(array: Any, *others: Any, axis: Any = None, keepdims: bool = False) -> Any:
        numpy = _numpy()
        if others:
            if name not in ("min", "max"):
                raise InputError(f"{name} takes one array")
            pairwise = numpy.minimum if name == "min" else numpy.maximum
            for other in others:
                array = pairwise(array, other)
            return array
        return getattr(numpy, name)(array, axis=axis, keepdims=keepdims)

    return reduce


def _elementwise(name: str) -> Callable[..., Any]:
    """A NumPy function of one array, by name."""
    return lambda array: getattr(_numpy(), name)(array)


def _passed(name: str, *keywords: str) -> Callable[..., Any]:
    """A NumPy function with some of its keywords, by name."""

    def call(*arguments: Any, **named: Any) -> Any:
        unknown = set(named) - set(keywords)
        if unknown:
            raise InputError(f"{name} has no argument {sorted(unknown)[0]}")
        return getattr(_numpy(), name)(*arguments, **named)

    return call


def _bincount(array: Any, length: int) -> Any:
    numpy = _numpy()
    return numpy.bincount(numpy.asarray(array).astype(numpy.int64).ravel(), minlength=_shape((length,))[0])


def _cast(dtype: str, bits: int) -> Callable[[Any], Any]:
    """A conversion to a type; integers wrap, numbers with a fraction are cut toward zero."""

    def cast(array: Any) -> Any:
        numpy = _numpy()
        values = numpy.asarray(array)
        if dtype[0] in "iu":
            wide = values if values.dtype.kind in "iub" else numpy.trunc(values).astype(numpy.int64)
            return wide.astype(dtype)
        return values.astype(dtype)

    return cast


def _bf16(array: Any) -> Any:
    """Rounded to bfloat16 (nearest even) and held as float32."""
    from .values import bf16_bits, bf16_values

    return bf16_values(bf16_bits(array))


ARRAY_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "uniform": _uniform, "normal": _normal, "integers": _integers, "permutation": _permutation,
    "zeros": _zeros, "ones": _ones, "full": _full, "arange": _arange, "iota": _iota,
    "reshape": _reshape, "transpose": _passed("transpose", "axes"),
    "sum": _reduced("sum"), "mean": _reduced("mean"), "prod": _reduced("prod"),
    "max": _reduced("max"), "min": _reduced("min"), "argmax": _passed("argmax", "axis"),
    "argmin": _passed("argmin", "axis"), "all": _reduced("all"), "any": _reduced("any"),
    "exp": _elementwise("exp"), "exp2": _elementwise("exp2"), "log": _elementwise("log"),
    "log2": _elementwise("log2"), "sqrt": _elementwise("sqrt"), "abs": _elementwise("abs"),
    "sin": _elementwise("sin"), "cos": _elementwise("cos"), "tanh": _elementwise("tanh"),
    "floor": _elementwise("floor"), "ceil": _elementwise("ceil"), "sign": _elementwise("sign"),
    "round": _elementwise("rint"), "popcount": _elementwise("bitwise_count"),
    "where": _passed("where"), "cumsum": _passed("cumsum", "axis"), "sort": _passed("sort", "axis"),
    "roll": _passed("roll", "axis"), "flip": _passed("flip", "axis"),
    "concatenate": _passed("concatenate", "axis"),
    "minimum": _passed("minimum"), "maximum": _passed("maximum"), "outer": _passed("outer"),
    "bincount": _bincount, "cdiv": _cdiv, "floordiv": _floordiv,
    "f64": _cast("float64", 64), "f32": _cast("float32", 32), "f16": _cast("float16", 16), "bf16": _bf16,
    "s8": _cast("int8", 8), "s16": _cast("int16", 16), "s32": _cast("int32", 32), "s64": _cast("int64", 64),
    "u8": _cast("uint8", 8), "u16": _cast("uint16", 16), "u32": _cast("uint32", 32),
    "u64": _cast("uint64", 64),
}  # fmt: skip
