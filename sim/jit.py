"""How the core is compiled: one decorator, and typed access to memory by address.

State lives in NumPy record arrays; compiled functions reach it as a record (a pointer) or by
an address plus index. A view object of an array is never made, so nothing is reference
counted and small functions cost nothing (docs/design.md). With NUMBA_DISABLE_JIT=1 the
same functions run as plain Python, and the accessors go through ctypes.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import mmap
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic as numba_intrinsic

F = TypeVar("F", bound=Callable[..., Any])


def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Numba's intrinsic: `function` types a call and returns (signature, generator of LLVM code)."""
    made: Callable[..., Any] = numba_intrinsic(function)
    return made


_config: Any = numba.config
_njit: Any = numba.njit
COMPILED = not _config.DISABLE_JIT
_I64 = ir.IntType(64)
MAPPED_BYTES = 1 << 20  # arrays from this size on are mapped
_ROOT = Path(__file__).resolve().parent.parent


def fingerprint(*patterns: str) -> str:
    """A hash of the project's source files that match the patterns, and of the compiler.

    Numba looks only at a function's own file to decide whether its cached machine code is
    current; the code of its callees is linked in. So the cache folder's name says it all.
    """
    digest = hashlib.sha256(f"{sys.version}{numba.__version__}{_ROOT}".encode())
    for pattern in patterns:
        for path in sorted(_ROOT.glob(pattern)):
            # Numba keys its index by path and time of change, so these belong to the name as well.
            digest.update(f"{path.name} {path.stat().st_mtime_ns} ".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled code is kept: $TINYGPU_CACHE, else the user's cache folder.

    None when no such folder can be written: then everything is compiled anew in each process.
    """
    base = os.environ.get("TINYGPU_CACHE")
    if not base:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        base = str(Path(base) / "tinygpu")
    folder = Path(base)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


# What the compiled core is made of: its functions, and the records and numbers that are linked in.
CORE_SOURCES = (
    "sim/units/*.py", "sim/schedulers/*.py", "sim/jit.py", "sim/rows.py", "sim/pieces.py", "sim/packed.py",
    "sim/spec.py", "sim/state.py", "sim/counters.py", "sim/isa_numbers.py", "isa/table.py",
)  # fmt: skip


@functools.cache
def core_cache() -> str | None:
    """The folder of the core as its sources stand now, inside the cache folder."""
    folder = cache_folder()
    return None if folder is None else str(folder / f"core-{fingerprint(*CORE_SOURCES)}")


def core(function: F) -> F:
    """Compile a function of the core: cached, no reference counting, NumPy's error model."""
    if not COMPILED:
        return function
    folder = core_cache()
    previous = _config.CACHE_DIR
    _config.CACHE_DIR = folder or previous
    try:
        compile_: Callable[[F], F] = _njit(_nrt=False, error_model="numpy", cache=folder is not None)
        return compile_(function)
    finally:
        _config.CACHE_DIR = previous


def record_at(dtype: np.dtype[Any]) -> Callable[[int, int], Any]:
    """Make `at(base, index)`: the record number `index` of the array of `dtype` at `base`."""
    if not COMPILED:

        def interpreted(base: int, index: int) -> Any:
            raw = (ctypes.c_char * dtype.itemsize).from_address(int(base) + int(index) * dtype.itemsize)
            array: Any = np.frombuffer(raw, dtype=dtype)  # type: ignore[call-overload]
            return array.view(np.recarray)[0]

        return interpreted
    record = numba.from_dtype(dtype)
    size = dtype.itemsize

    @intrinsic
    def at(context: Any, base: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            offset = builder.mul(args[1], ir.Constant(_I64, size))
            return builder.inttoptr(builder.add(args[0], offset), context.get_value_type(record))

        return record(types.int64, types.int64), generate

    return at


def _loader(bits: int, ctype: Any) -> Callable[[int], int]:
    """Make `peek(address)`: the unsigned integer of `bits` bits there, as int64."""
    if not COMPILED:
        return lambda address: int(ctype.from_address(int(address)).value)

    @intrinsic
    def peek(context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
            value = builder.load(pointer, align=1)
            return value if bits == 64 else builder.zext(value, _I64)

        return types.int64(types.int64), generate

    return peek


def _storer(bits: int, ctype: Any) -> Callable[[int, int], None]:
    """Make `poke(address, value)`: store the low `bits` bits of an int64."""
    if not COMPILED:
        mask = (1 << bits) - 1

        def interpreted(address: int, value: int) -> None:
            ctype.from_address(int(address)).value = int(value) & mask

        return interpreted

    @intrinsic
    def poke(context: Any, address: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.IntType(bits)
            pointer = builder.inttoptr(args[0], kind.as_pointer())
            stored = args[1] if bits == 64 else builder.trunc(args[1], kind)
            builder.store(stored, pointer, align=1)
            return context.get_dummy_value()

        return types.none(types.int64, types.int64), generate

    return poke


peek8 = _loader(8, ctypes.c_uint8)
peek16 = _loader(16, ctypes.c_uint16)
peek32 = _loader(32, ctypes.c_uint32)
peek64 = _loader(64, ctypes.c_int64)
poke8 = _storer(8, ctypes.c_uint8)
poke16 = _storer(16, ctypes.c_uint16)
poke32 = _storer(32, ctypes.c_uint32)
poke64 = _storer(64, ctypes.c_int64)


def zeros(count: int, dtype: Any) -> np.ndarray[Any, Any]:
    """A zeroed array; its pages are touched, and so take memory, only when they are used.

    Large arrays are mapped here, because NumPy advises huge pages for them: one touched byte of a
    state that is made for the largest machine would then take two megabytes.
    """
    kind = np.dtype(dtype)
    size = count * kind.itemsize
    if size < MAPPED_BYTES:
        array = np.zeros(count, dtype=kind)
    else:
        array = np.frombuffer(mmap.mmap(-1, size), dtype=kind, count=count)
    return array.view(np.recarray) if kind.names else array


def address_of(array: np.ndarray[Any, Any]) -> int:
    """The address of an array's first byte; the caller keeps the array alive."""
    return int(array.ctypes.data)
