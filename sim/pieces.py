"""The core in pieces: parts that are compiled apart from each other and call each other by address.

LLVM's time grows faster than the code that it sees at once, and a function that is linked into its
caller is optimised again there. So the big units meet at these borders: a piece has one signature,
`(device, sm, spec, a, b, c) -> int`, its address stands in `device.entries`, and each is compiled
and cached on its own (two at a time, in two processes).
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types

from .jit import COMPILED, CORE_SOURCES, core, core_cache, fingerprint, intrinsic
from .packed import SPEC
from .state import DEVICE, SM, field_offset

_slot: Callable[[Any, Any], Any] = cgutils.alloca_once
Piece = Callable[[Any, Any, Any, int, int, int], int]

# The order gives each piece its place in device.entries.
NAMES = ("run_sm", "lsu_step", "respond", "issue", "memory", "warp_wide", "control", "retire",
         "memory_advance", "serve_blocks")  # fmt: skip

KEPT_VERSIONS = 6  # compiled cores that stay in the cache folder

_I64 = ir.IntType(64)
_BYTES = ir.IntType(8).as_pointer()
# Numba's own calling convention: status, then where the result and an exception go, then the arguments.
_PIECE = ir.FunctionType(ir.IntType(32), [_I64.as_pointer(), _BYTES.as_pointer(), *[_BYTES] * 3, *[_I64] * 3])
_functions: dict[str, Piece] = {}


def piece(name: str) -> Callable[[Piece], Piece]:
    """Declare a function to be a piece of the core; it is compiled by `install`."""

    def declare(function: Piece) -> Piece:
        _functions[name] = core(function)
        return _functions[name]

    return declare


def caller(name: str) -> Piece:
    """The function by which compiled code calls a piece: through its address in the device record."""
    if not COMPILED:
        return lambda device, sm, spec, a, b, c: _functions[name](device, sm, spec, a, b, c)
    offset = field_offset(DEVICE, "entries") + 8 * NAMES.index(name)

    @intrinsic
    def call(context: Any, device: Any, sm: Any, spec: Any, a: Any, b: Any, c: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            records = [builder.bitcast(record, _BYTES) for record in args[:3]]
            place = builder.add(builder.ptrtoint(records[0], _I64), _I64(offset))
            address = builder.load(builder.inttoptr(place, _I64.as_pointer()))
            function = builder.inttoptr(address, _PIECE.as_pointer())
            result, trouble = _slot(builder, _I64), _slot(builder, _BYTES)
            builder.call(function, [result, trouble, *records, *args[3:]])
            return builder.load(result)

        return types.int64(device, sm, spec, *([types.int64] * 3)), generate

    return call


@functools.cache
def _entry(name: str) -> int:
    """Compile a piece, or load it from the cache; its address."""
    _import_units()
    function: Any = _functions[name]
    records = [numba.from_dtype(dtype) for dtype in (DEVICE, SM, SPEC)]
    function.compile((*records, *([types.int64] * 3)))
    (compiled_piece,) = function.overloads.values()
    address = compiled_piece.library.get_pointer_to_function(compiled_piece.fndesc.llvm_func_name)
    return int(address)


def _import_units() -> None:
    """Every unit declares its pieces when it is imported."""
    from .units import control, device, dispatcher, issue, issue_memory, lsu, sm, warp_wide  # noqa: F401


def _marker() -> Path | None:
    """A file in the cache folder that says that all pieces are there."""
    folder = core_cache()
    return None if folder is None else Path(folder) / "complete"


def compiled() -> bool:
    """Whether nothing but loading is left to do."""
    marker = _marker()
    return not COMPILED or (marker is not None and marker.exists())


def install(device: Any, notice: Callable[[str], None] | None = None) -> None:
    """Put the addresses of all pieces into the device record; compiles them when they are not cached."""
    if not COMPILED:
        _import_units()
        return
    if not compiled():
        if notice is not None:
            notice("compiling the simulator's core (once for this version; takes about half a minute)")
        _compile_together()
    for number, name in enumerate(NAMES):
        device.entries[number] = _entry(name)


def _compile_together() -> None:
    """Fill the cache with a second process's help: each takes every other piece."""
    marker = _marker()
    if marker is not None:
        _prune(marker.parent.parent)
    helper = None
    if marker is not None and (os.cpu_count() or 1) > 1:
        command = [sys.executable, "-c", "from tinygpu.sim.pieces import compile_half; compile_half(1)"]
        helper = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    compile_half(0)
    if helper is not None:
        helper.wait()
    for name in NAMES:
        _entry(name)
    if marker is None:
        return
    if fingerprint(*CORE_SOURCES) not in marker.parent.name:
        # Somebody edited the sources meanwhile: what was compiled may be neither of the two versions.
        shutil.rmtree(marker.parent, ignore_errors=True)
        return
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_text(time.strftime("%Y-%m-%d\n"))


def _prune(folder: Path) -> None:
    """Drop the machine code of versions that were compiled longest ago."""
    versions = sorted(folder.glob("core-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in versions[KEPT_VERSIONS:]:
        shutil.rmtree(old, ignore_errors=True)


# The pieces in two halves that take about the same time to compile.
HALVES = (("memory_advance", "memory", "run_sm"),
          ("control", "lsu_step", "respond", "issue", "warp_wide", "retire", "serve_blocks"))  # fmt: skip


def compile_half(number: int) -> None:
    """Compile one half of the pieces into the cache."""
    for name in HALVES[number]:
        _entry(name)
