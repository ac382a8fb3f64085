"""Numba-cuda kernels around a body: one inline-PTX intrinsic each, compiled for the GPU present or for
none."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from tinygpu.isa.errors import MissingError
from tinygpu.validate.measure.body import CONSTRAINTS, Body


def numba_cuda() -> ModuleType:
    """The module `numba.cuda`; MissingError with the way to install it."""
    if not hasattr(np, "row_stack"):  # gone from numpy 2.5, still named by numba-cuda 0.30
        np.row_stack = np.vstack  # type: ignore[attr-defined, unused-ignore]
    try:
        from numba import cuda
    except ImportError as error:
        raise MissingError(
            f"numba-cuda cannot be imported: {error}", hint="pip install 'tinygpu-sim[validate]'"
        ) from error
    return cuda  # type: ignore[no-any-return, unused-ignore]


def inline(text: str) -> Any:
    """A device function `(off, mem, outp, stride, zero, iters, reps, gap, pa, pb)` that is the PTX `text`."""
    numba_cuda()
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic

    def block(typing, off, mem, outp, stride, zero, iters, reps, gap, pa, pb):  # type: ignore[no-untyped-def]
        kinds = [types.int64] * 4 + [types.int32] * 4 + [types.int64] * 2

        def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
            words = [ir.IntType(64 if kind == types.int64 else 32) for kind in kinds]
            escaped = text.replace(chr(34), "\\22")  # as LLVM writes a quote inside a string
            call = ir.InlineAsm(ir.FunctionType(ir.VoidType(), words), escaped, CONSTRAINTS, side_effect=True)
            builder.call(call, list(args))
            return context.get_dummy_value()

        return types.void(*kinds), emit

    return intrinsic(block)


def function(body: Body) -> Callable[..., None]:
    """The Python function of the kernel: finds its row of the output and runs the body's repetitions."""
    cuda = numba_cuda()
    run = inline(body.text())
    shift = 0 if body.every_lane else 5
    columns = 4 * body.columns

    def benchmark(table, mem, out, zero, iters, reps, gap, pa, pb):  # type: ignore[no-untyped-def]
        thread = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        rows = (cuda.gridDim.x * cuda.blockDim.x) >> shift
        off = table[thread % table.size]
        run(off, mem, out + (thread >> shift) * columns, rows * columns, zero, iters, reps, gap, pa, pb)

    return benchmark


def signature() -> Any:
    """Argument types of every benchmark kernel."""
    from numba import types

    table = types.Array(types.int64, 1, "C")
    return types.void(table, types.int64, types.int64, *[types.int32] * 4, types.int64, types.int64)


def compiled(body: Body) -> Any:
    """The kernel, compiled for the GPU present."""
    return numba_cuda().jit(signature())(function(body))


def ptx(body: Body, version: str = "9.0") -> str:
    """PTX of the kernel for compute capability 9.0, made without a GPU; `version` is the PTX version
    stated."""
    text, _ = numba_cuda().compile_ptx(function(body), signature(), cc=(9, 0))
    text = text.decode() if isinstance(text, bytes) else text
    return re.sub(r"\.version \d+\.\d+", f".version {version}", text)
