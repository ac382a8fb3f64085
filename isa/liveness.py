"""Which named values are alive where: sets are Python integers, one bit a value."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass

from .flow import Block


@dataclass(frozen=True, slots=True)
class Effect:
    """What one instruction does to values, as sets of bits.

    uses: values it reads. defines: values it writes. kills: the defined ones that are written
    wholly and unconditionally, so that the old content is dead before.
    """

    uses: int
    defines: int
    kills: int


@dataclass(frozen=True, slots=True)
class Lives:
    """live_out[i]: values that someone may read after instruction i and that may hold
    something there. unassigned[i]: values that i reads though no path has assigned them."""

    live_out: list[int]
    unassigned: list[int]


def lives(effects: Sequence[Effect], blocks: Sequence[Block], inputs: int = 0) -> Lives:
    """Solve both dataflow problems; `inputs` are assigned on entry.

    A guarded write does not end a life. A value is alive only where some assignment can have
    reached it, so that a guarded first assignment does not stretch its life to the entry.
    """
    reached = _assigned_on_entry(effects, blocks, inputs)
    alive = _alive_on_exit(effects, blocks)
    live_out = [0] * len(effects)
    unassigned = [0] * len(effects)
    for number, block in enumerate(blocks):
        assigned = reached[number]
        after = []
        for index in range(block.start, block.stop):
            unassigned[index] = effects[index].uses & ~assigned
            assigned |= effects[index].defines
            after.append(assigned)
        live = alive[number]
        for index in range(block.stop - 1, block.start - 1, -1):
            live_out[index] = live & after[index - block.start]
            live = live & ~effects[index].kills | effects[index].uses
    return Lives(live_out, unassigned)


def _assigned_on_entry(effects: Sequence[Effect], blocks: Sequence[Block], inputs: int) -> list[int]:
    """Values that some path may have assigned when a block begins."""
    made = [0] * len(blocks)
    for number, block in enumerate(blocks):
        for index in range(block.start, block.stop):
            made[number] |= effects[index].defines
    entry = [inputs, *[0] * (len(blocks) - 1)]
    reached, work = {0}, [0]
    while work:
        number = work.pop(0)
        out = entry[number] | made[number]
        for following in blocks[number].successors:
            if out & ~entry[following] or following not in reached:
                reached.add(following)
                entry[following] |= out
                work.append(following)
    # What cannot run gives nothing to what can; it may itself read whatever is assigned somewhere.
    anything = functools.reduce(operator.or_, made, inputs)
    return [out if number in reached else anything for number, out in enumerate(entry)]


def _alive_on_exit(effects: Sequence[Effect], blocks: Sequence[Block]) -> list[int]:
    """Values that some path may read after a block's end before they are written wholly."""
    reads, kills = [0] * len(blocks), [0] * len(blocks)
    for number, block in enumerate(blocks):
        for index in range(block.start, block.stop):
            reads[number] |= effects[index].uses & ~kills[number]
            kills[number] |= effects[index].kills
    before: list[list[int]] = [[] for _ in blocks]
    for number, block in enumerate(blocks):
        for following in block.successors:
            before[following].append(number)
    out = [0] * len(blocks)
    work = list(range(len(blocks) - 1, -1, -1))
    while work:
        number = work.pop(0)
        live = reads[number] | out[number] & ~kills[number]
        for previous in before[number]:
            if live & ~out[previous]:
                out[previous] |= live
                work.append(previous)
    return out


def interference(effects: Sequence[Effect], live_out: Sequence[int], count: int) -> list[int]:
    """For every value the set of values that need a register of their own beside it.

    A value conflicts with what is alive after an instruction that defines it. A source that
    dies there does not: an instruction reads its sources before it writes.
    """
    graph = [0] * count
    for effect, live in zip(effects, live_out, strict=True):
        for value in bits(effect.defines):
            graph[value] |= live | effect.defines
    for value in range(count):
        graph[value] &= ~(1 << value)
        for other in bits(graph[value]):
            graph[other] |= 1 << value
    return graph


def bits(mask: int) -> list[int]:
    """The numbers of the set bits, lowest first."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
