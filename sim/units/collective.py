"""Warp-wide instructions: shuffles, votes, matches, reductions over the lanes of a warp.

Lanes are real lane numbers, never a running count of active ones, and every source is read before
any result is written.
"""

from __future__ import annotations

from typing import Any

from ..jit import core, peek32, poke32
from ..rows import fill_row
from ..state import LANES
from .registers import FULL, OUTPUT_ROW, predicate_value, scratch, source_row, write_predicate, write_row

SHUFFLES = ("up", "down", "bfly", "idx")
VOTES = ("all", "any", "uni", "ballot", "activemask")
REDUCTIONS = ("add", "min", "max", "and", "or", "xor")


@core
def shuffle_source(mode: int, lane: int, offset: int, clamp: int) -> int:
    """The lane that `lane` reads, or -1 when it is out of range (PTX ISA, shfl.sync).

    clamp: bits 0-4 the clamp value, bits 8-12 the segment mask.
    """
    segment = (clamp >> 8) & 31
    limit = (lane & segment) | (clamp & 31 & ~segment)
    base = lane & segment
    offset &= 31
    if mode == 0:
        source = lane - offset
        return source if source >= limit else -1
    if mode == 1:
        source = lane + offset
    elif mode == 2:
        source = lane ^ offset
    else:
        source = base | (offset & ~segment)
    return source if source <= limit else -1


@core
def shuffle(device: Any, sm: Any, warp: Any, code: Any, mask: int) -> int:
    """Lanes of `mask` exchange a word; returns the lanes that read from an inactive lane."""
    value = source_row(device, sm, warp, code, 0)
    offsets = source_row(device, sm, warp, code, 1)
    clamps = source_row(device, sm, warp, code, 2)
    out = scratch(sm, OUTPUT_ROW)
    valid = 0
    stale = 0
    for lane in range(LANES):
        if (mask >> lane) & 1:
            source = shuffle_source(code.mode, lane, peek32(offsets + 4 * lane), peek32(clamps + 4 * lane))
            if source >= 0:
                valid |= 1 << lane
                if not (mask >> source) & 1:
                    stale |= 1 << lane
            else:
                source = lane
            poke32(out + 4 * lane, peek32(value + 4 * source))
    write_row(sm, warp, code.dest, out, mask)
    if code.shuffle_predicate >= 0:
        write_predicate(warp, code.shuffle_predicate, valid, mask)
    return stale


@core
def vote(sm: Any, warp: Any, code: Any, mask: int) -> None:
    """all, any, uni give a predicate, ballot and activemask a mask of lanes."""
    if code.mode == 4:
        held = mask
    elif code.source_kind[0] == 2:
        held = predicate_value(warp, code.source[0], code.source_negated[0]) & mask
    else:
        held = 0
    if code.mode >= 3:
        out = scratch(sm, OUTPUT_ROW)
        fill_row(out, held)
        write_row(sm, warp, code.dest, out, mask)
        return
    if code.mode == 0:
        result = held == mask
    elif code.mode == 1:
        result = held != 0
    else:
        result = held == mask or held == 0
    write_predicate(warp, code.dest_predicate, FULL if result else 0, mask)


@core
def match(device: Any, sm: Any, warp: Any, code: Any, mask: int) -> None:
    """match.any: the lanes that hold the same value; match.all: all of them if one value, else none."""
    value = source_row(device, sm, warp, code, 0)
    words = code.source_words[0]
    out = scratch(sm, OUTPUT_ROW)
    everybody = True
    for lane in range(LANES):
        if (mask >> lane) & 1:
            same = 0
            for other in range(LANES):
                if (mask >> other) & 1 and equal_lanes(value, words, lane, other):
                    same |= 1 << other
            everybody = everybody and same == mask
            poke32(out + 4 * lane, same)
    if code.mode == 1:
        fill_row(out, mask if everybody else 0)
    write_row(sm, warp, code.dest, out, mask)
    if code.shuffle_predicate >= 0:
        write_predicate(warp, code.shuffle_predicate, FULL if everybody else 0, mask)


@core
def equal_lanes(row: int, words: int, lane: int, other: int) -> bool:
    """Whether two lanes hold the same value in the rows at `row`."""
    difference = 0
    for w in range(words):
        difference |= peek32(row + 128 * w + 4 * lane) ^ peek32(row + 128 * w + 4 * other)
    return difference == 0


@core
def reduce(device: Any, sm: Any, warp: Any, code: Any, mask: int) -> None:
    """Every lane gets the sum, minimum, maximum, and, or, xor over the lanes of `mask`."""
    value = source_row(device, sm, warp, code, 0)
    result = 0
    first = True
    for lane in range(LANES):
        if (mask >> lane) & 1:
            word = peek32(value + 4 * lane)
            if code.signed and word >= 1 << 31:
                word -= 1 << 32
            result = word if first else combine(code.mode, result, word)
            first = False
    out = scratch(sm, OUTPUT_ROW)
    fill_row(out, result & FULL)
    write_row(sm, warp, code.dest, out, mask)


@core
def combine(mode: int, a: int, b: int) -> int:
    """One step of a reduction."""
    if mode == 0:
        return a + b
    if mode == 1:
        return min(a, b)
    if mode == 2:
        return max(a, b)
    if mode == 3:
        return a & b
    if mode == 4:
        return a | b
    return a ^ b
