"""Register rows as whole vectors: 32 lanes of 32 bits are one LLVM vector, a lane mask its predicate.

A row is 128 bytes at an address. The functions copy, blend and test rows without a loop over
lanes; as plain Python (NUMBA_DISABLE_JIT=1) they do the same lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types

from .jit import COMPILED, intrinsic, peek32, poke32

LANES = 32
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)
_ROW = ir.VectorType(_I32, LANES)
_FLAGS = ir.VectorType(ir.IntType(1), LANES)


def _vector(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _ROW.as_pointer())


def _flags(builder: Any, mask: Any) -> Any:
    return builder.bitcast(builder.trunc(mask, _I32), _FLAGS)


def _blend() -> Callable[[int, int, int], None]:
    if not COMPILED:

        def interpreted(target: int, source: int, mask: int) -> None:
            for lane in range(LANES):
                if (int(mask) >> lane) & 1:
                    poke32(target + 4 * lane, peek32(source + 4 * lane))

        return interpreted

    @intrinsic
    def blend(context: Any, target: Any, source: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _vector(builder, args[0])
            new = builder.load(_vector(builder, args[1]), align=4)
            old = builder.load(pointer, align=4)
            builder.store(builder.select(_flags(builder, args[2]), new, old), pointer, align=4)
            return context.get_dummy_value()

        return types.none(types.int64, types.int64, types.int64), generate

    return blend


def _copy() -> Callable[[int, int], None]:
    if not COMPILED:

        def interpreted(target: int, source: int) -> None:
            for lane in range(LANES):
                poke32(target + 4 * lane, peek32(source + 4 * lane))

        return interpreted

    @intrinsic
    def copy(context: Any, target: Any, source: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(
                builder.load(_vector(builder, args[1]), align=4), _vector(builder, args[0]), align=4
            )
            return context.get_dummy_value()

        return types.none(types.int64, types.int64), generate

    return copy


def _fill() -> Callable[[int, int], None]:
    if not COMPILED:

        def interpreted(target: int, value: int) -> None:
            for lane in range(LANES):
                poke32(target + 4 * lane, value)

        return interpreted

    @intrinsic
    def fill(context: Any, target: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            one = builder.insert_element(
                ir.Constant(_ROW, ir.Undefined), builder.trunc(args[1], _I32), _I32(0)
            )
            zeros = ir.Constant(_ROW, [0] * LANES)
            row = builder.shuffle_vector(one, ir.Constant(_ROW, ir.Undefined), zeros)
            builder.store(row, _vector(builder, args[0]), align=4)
            return context.get_dummy_value()

        return types.none(types.int64, types.int64), generate

    return fill


def _expand() -> Callable[[int, int], None]:
    if not COMPILED:

        def interpreted(target: int, mask: int) -> None:
            for lane in range(LANES):
                poke32(target + 4 * lane, (int(mask) >> lane) & 1)

        return interpreted

    @intrinsic
    def expand(context: Any, target: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            row = builder.zext(_flags(builder, args[1]), _ROW)
            builder.store(row, _vector(builder, args[0]), align=4)
            return context.get_dummy_value()

        return types.none(types.int64, types.int64), generate

    return expand


def _pack() -> Callable[[int], int]:
    if not COMPILED:

        def interpreted(source: int) -> int:
            mask = 0
            for lane in range(LANES):
                mask |= (1 if peek32(source + 4 * lane) else 0) << lane
            return mask

        return interpreted

    @intrinsic
    def pack(context: Any, source: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            row = builder.load(_vector(builder, args[0]), align=4)
            flags = builder.icmp_unsigned("!=", row, ir.Constant(_ROW, [0] * LANES))
            return builder.zext(builder.bitcast(flags, _I32), _I64)

        return types.int64(types.int64), generate

    return pack


def _count() -> Callable[[int], int]:
    if not COMPILED:
        return lambda mask: (int(mask) & 0xFFFFFFFF).bit_count()

    @intrinsic
    def popcount(context: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.zext(builder.ctpop(builder.trunc(args[0], _I32)), _I64)

        return types.int64(types.int64), generate

    return popcount


def _first() -> Callable[[int], int]:
    if not COMPILED:

        def interpreted(mask: int) -> int:
            word = int(mask) & 0xFFFFFFFF
            return (word & -word).bit_length() - 1 if word else LANES

        return interpreted

    @intrinsic
    def lowest(context: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word = builder.trunc(args[0], _I32)
            return builder.zext(builder.cttz(word, ir.Constant(ir.IntType(1), 0)), _I64)

        return types.int64(types.int64), generate

    return lowest


def _call() -> Callable[[int, int, int, int, int, int], None]:
    if not COMPILED:
        from .lanes import call_interpreted

        return call_interpreted

    @intrinsic
    def call(context: Any, function: Any, out: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.VoidType(), [_I64] * 5)
            builder.call(builder.inttoptr(args[0], kind.as_pointer()), list(args[1:]))
            return context.get_dummy_value()

        return types.none(*([types.int64] * 6)), generate

    return call


def _call_cell() -> Callable[[int, int, int, int], int]:
    if not COMPILED:
        from .lanes import call_cell_interpreted

        return call_cell_interpreted

    @intrinsic
    def call(context: Any, function: Any, old: Any, b: Any, c: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(_I64, [_I64] * 3)
            return builder.call(builder.inttoptr(args[0], kind.as_pointer()), list(args[1:]))

        return types.int64(*([types.int64] * 4)), generate

    return call


blend_row = _blend()  # (target, source, mask): lanes of the mask take the source's words
copy_row = _copy()  # (target, source)
fill_row = _fill()  # (target, value): every lane
expand_mask = _expand()  # (target, mask): 1 in the lanes of the mask, 0 elsewhere
pack_mask = _pack()  # (source) -> mask of the lanes that are not 0
popcount = _count()  # (mask) -> lanes
lowest_lane = _first()  # (mask) -> first lane, 32 for none
call_row = _call()  # (function, out, a, b, c, d): a compiled row function on five row addresses
call_cell = _call_cell()  # (function, old, b, c) -> new: an atomic's operation on one cell
