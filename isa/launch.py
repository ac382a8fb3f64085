"""Plans a launch: evaluates a program's directives with the user's overrides, and checks results."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .arguments import Array, as_argument, as_numbers
from .assembler import assemble
from .checks import CheckResult, CountResult, compare, compare_count
from .errors import Diagnostic, InputError, LaunchError, SourceError
from .expressions import Expression, ExpressionError, parse_expression
from .parse_report import did_you_mean
from .program import KernelParameter, Program

Dimensions = tuple[int, int, int]
Extent = str | int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """A program with everything that a launch needs.

    grid, block: blocks of the grid and threads of a block along x, y, z. arguments: the
    initial value of every parameter, in the kernel's order: read-only arrays, NumPy scalars.
    """

    program: Program
    grid: Dimensions
    block: Dimensions
    arguments: dict[str, Any]
    seed: int = 0
    _names: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def arrays(self) -> dict[str, Array]:
        """The array arguments by name."""
        return {n: a for n, a in self.arguments.items() if isinstance(a, np.ndarray)}

    def check(self, finals: Mapping[str, Array]) -> list[CheckResult]:
        """Compare final arrays with every `.expect`; `finals` are by name, shaped as the arguments.

        `~` computes the expected value in float64, `==` in the arrays' own types.
        Raises SourceError when an expectation cannot be computed.
        """
        types = {p.name: p.type for p in self.program.parameters}
        results = []
        for expectation in self.program.expectations:
            wide = expectation.relation == "~"
            before, after = dict(self._names), dict(self._names)
            for name, array in self.arrays.items():
                before[name] = as_numbers(array, types[name], wide=wide)
                after[name] = as_numbers(np.asarray(finals.get(name, array)), types[name], wide=wide)
            got = _value(expectation.left, after)
            expected = _value(expectation.right, before)
            tolerance = [
                default if given is None else float(_value(given, self._names))
                for given, default in ((expectation.rtol, 1e-5), (expectation.atol, 1e-8))
            ]
            try:
                results.append(compare(expectation, got, expected, *tolerance))
            except InputError as error:
                raise _located(expectation.right, error) from None
        return results

    def check_counts(
        self, read: Callable[[str, int], float], known: tuple[str, ...] = ()
    ) -> list[CountResult]:
        """Compare the run's counters with every `.count`.

        read(name, pc) gives a counter of one instruction, or of the whole run when pc is -1,
        and raises KeyError for a name that it does not know. `a_per_b` is the ratio of two.
        The expressions may use `blocks`, `warps` and `threads` of the launch.
        """
        return [compare_count(count, _value(count.expression, self._sizes(), constant=True), read, known)
                for count in self.program.counts]  # fmt: skip

    def _sizes(self) -> dict[str, Any]:
        threads = math.prod(self.block)
        blocks = math.prod(self.grid)
        scalars = {n: v.item() for n, v in self.arguments.items() if not isinstance(v, np.ndarray)}
        sizes = {"blocks": blocks, "threads": blocks * threads, "warps": blocks * -(-threads // 32)}
        return {**sizes, **scalars, **self.program.lets}


def plan(
    program: Program,
    overrides: Mapping[str, str] | None = None,
    grid: Extent | None = None,
    block: Extent | None = None,
    args: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> LaunchPlan:
    """Evaluate the directives of a program for one launch.

    overrides: texts for .let constants (the program is then assembled anew) and for arguments:
    an expression, or `@file.npy`. grid, block: instead of .launch; a text, a number or a
    tuple. args: values from Python, arrays of the parameter's own type. seed: of all the
    random inputs; each argument draws from a stream of its own name.
    Raises InputError and its kin: unknown names with the nearest one, values of the wrong
    type, missing arguments, an impossible grid or block.
    """
    lets, texts = split_overrides(program, overrides or {})
    program = reassemble(program, lets)
    names: dict[str, Any] = dict(program.lets)
    arguments = _arguments(program, texts, dict(args or {}), seed, names)
    return LaunchPlan(
        program,
        _extent("grid", program.launch.get("grid"), grid, names),
        _extent("block", program.launch.get("block"), block, names),
        arguments,
        seed,
        names,
    )


def split_overrides(program: Program, overrides: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Part overrides into those of .let constants and those of arguments.

    Raises InputError, with the nearest name, for one that is neither.
    """
    parameters = [p.name for p in program.parameters]
    for name in overrides:
        if name not in program.lets and name not in parameters:
            known = [*program.lets, *parameters]
            hint = did_you_mean(name, known) or ("it has " + (", ".join(known) or "none"))
            raise InputError(f"the program has no constant or parameter {name}", hint=hint)
    lets = {n: v for n, v in overrides.items() if n in program.lets}
    return lets, {n: v for n, v in overrides.items() if n not in program.lets}


def reassemble(program: Program, lets: Mapping[str, str]) -> Program:
    """The program with other values for its .let constants; the same one when there are none."""
    if not lets:
        return program
    return assemble(program.text, program.file, include=program.includes.__getitem__, lets=lets)


def pack_parameters(program: Program, values: Mapping[str, Any]) -> bytes:
    """The parameter space of a launch: scalars as they are, pointers as 64-bit addresses."""
    space = bytearray(program.parameter_bytes)
    for parameter in program.parameters:
        value = values[parameter.name]
        if parameter.type.startswith("ptr."):
            raw = int(value).to_bytes(8, "little")
        else:
            raw = value.tobytes().ljust(parameter.bytes, _fill(value))
        space[parameter.offset : parameter.offset + parameter.bytes] = raw
    return bytes(space)


def _fill(value: Any) -> bytes:
    """What fills a short scalar up to its word: its sign."""
    return b"\xff" if value.dtype.kind == "i" and value < 0 else b"\0"


def _arguments(
    program: Program, texts: Mapping[str, str], given: dict[str, Any], seed: int, names: dict[str, Any]
) -> dict[str, Any]:
    """Every parameter's initial value; `names` gains them for later expressions."""
    parameters = {p.name: p for p in program.parameters}
    for name in given:
        if name not in parameters:
            hint = did_you_mean(name, parameters) or "parameters: " + (", ".join(parameters) or "none")
            raise InputError(f"the kernel has no parameter {name}", hint=hint)
    found: dict[str, Any] = {}
    order = [n for n in parameters if n in given]
    order += [n for n in texts if n not in order]
    order += [n for n in program.arguments if n not in order]
    for name in order:
        parameter = parameters[name]
        if name in given:
            value = as_argument(given[name], parameter, exact=True)
        elif name in texts:
            value = _from_text(texts[name], parameter, names, seed)
        else:
            expression = program.arguments[name]
            try:
                value = as_argument(_value(expression, names, _random(seed, name)), parameter)
            except LaunchError as error:
                raise _located(expression, error) from None
        found[name] = value
        names[name] = as_numbers(value, parameter.type) if isinstance(value, np.ndarray) else value.item()
    missing = [n for n in parameters if n not in found]
    if missing:
        raise LaunchError(
            f"the parameter {missing[0]} ({parameters[missing[0]].type}) has no value",
            hint=f"add .arg {missing[0]} = ..., or give it on the command line",
        )
    return {name: found[name] for name in parameters}


def _from_text(text: str, parameter: KernelParameter, names: Mapping[str, Any], seed: int) -> Any:
    """An argument from the command line: an expression, or a file after `@`."""
    name = parameter.name
    if text.startswith("@"):
        try:
            loaded = np.load(Path(text[1:]), allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            reason = getattr(error, "strerror", None) or "it is no .npy file"
            raise InputError(f"{name}: {text[1:]} cannot be read: {reason}") from None
        return as_argument(loaded, parameter, exact=True)
    try:
        value = parse_expression(text).array(names, _random(seed, name))
    except ExpressionError as error:
        raise InputError(f"{name} = {text}: {error.message}", hint=error.hint) from None
    return as_argument(value, parameter)


def _random(seed: int, name: str) -> np.random.Generator:
    """The stream of one argument: adding another argument does not change it."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def _value(
    expression: Expression, names: Mapping[str, Any], random: Any = None, *, constant: bool = False
) -> Any:
    """An expression's value; what goes wrong is reported at its place in the text."""
    try:
        return expression.constant(names) if constant else expression.array(names, random)
    except ExpressionError as error:
        raise _located(expression, error) from None


def _located(expression: Expression, error: InputError) -> InputError:
    """The error as a diagnostic at the expression."""
    piece = expression.piece
    if piece is None:
        return error
    offset, width = 0, len(piece.text.split("\n")[0])
    if isinstance(error, ExpressionError):
        offset, width = error.offset, error.width or 1
    line, column = piece.place(min(offset, max(len(piece.text) - 1, 0)))
    text = line.text.split("\n")[0]
    return SourceError([Diagnostic(line.file, line.line, column, error.message, text, width, error.hint)])


def _extent(
    what: str, expression: Expression | None, given: Extent | None, names: Mapping[str, Any]
) -> Dimensions:
    """Three sizes from a directive or the user; sizes that are not given are 1."""
    if isinstance(given, str):
        try:
            value: Any = parse_expression(given).constant(names)
        except ExpressionError as error:
            raise InputError(f"{what} = {given}: {error.message}", hint=error.hint) from None
    elif given is not None:
        value = given
    elif expression is not None:
        value = _value(expression, names, constant=True)
    else:
        raise LaunchError(f"the program does not say its {what}", hint=f"add .launch {what} = ...")
    sizes = value if isinstance(value, (tuple, list)) else (value,)
    if not (1 <= len(sizes) <= 3 and all(_is_size(s) for s in sizes)):
        wrong = LaunchError(f"the {what} is {value}", hint="one to three whole numbers above 0")
        raise wrong if expression is None or given is not None else _located(expression, wrong)
    x, y, z = (*sizes, 1, 1)[:3]
    return int(x), int(y), int(z)


def _is_size(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 < int(value) < 1 << 31
