"""Paths of a warp whose lanes have parted: who runs, where they come together again.

A warp runs one path (`warp.pc`, `warp.active`); the others stand in `warp.splits`, the newest on
top. Lanes that part at a branch form a convergence group: at the group's pc they wait for each
other and go on as one path. Policy `stack` runs paths strictly from the top, so a path that waits
for another can hang, as on GPUs before Volta. Policy `independent` lets any path that can run do
so, and a loop that polls memory lets the others have a turn, so every lane makes progress.
"""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..rows import popcount
from ..state import LANES

FEWER = 2  # order of the words in spec.Divergence.first
STACK, INDEPENDENT = 0, 1  # order of the words in spec.Divergence.policy
FREE = -1  # a split that waits for no barrier
SYNC = 100  # a split that waits for the other lanes of a warp-wide instruction


@core
def push(warp: Any, pc: int, mask: int, group: int, barrier: int) -> None:
    """Put a path on top of the waiting ones."""
    split = warp.splits[warp.split_count]
    split.pc = pc
    split.mask = mask
    split.group = group
    split.barrier = barrier
    warp.split_count += 1


@core
def remove(warp: Any, index: int) -> None:
    """Take a waiting path out, keeping the order of the others."""
    for i in range(index, warp.split_count - 1):
        here, above = warp.splits[i], warp.splits[i + 1]
        here.pc = above.pc
        here.mask = above.mask
        here.group = above.group
        here.barrier = above.barrier
    warp.split_count -= 1


@core
def new_group(warp: Any, pc: int, mask: int, parent: int) -> int:
    """A convergence group for the lanes of `mask` at `pc`; there are never more than lanes."""
    for g in range(LANES):
        group = warp.groups[g]
        if group.mask == 0:
            group.mask = mask
            group.arrived = 0
            group.pc = pc
            group.parent = parent
            return g
    return -1


@core
def place(warp: Any, pc: int, mask: int, group: int) -> None:
    """A path gets to `pc`: it waits in its group if it comes together there, else it can run."""
    while group >= 0 and warp.groups[group].pc == pc:
        record = warp.groups[group]
        record.arrived |= mask
        if record.arrived != record.mask:
            return
        mask = record.mask
        group = record.parent
        record.mask = 0
    if mask:
        push(warp, pc, mask, group, FREE)


@core
def select(spec: Any, warp: Any) -> None:
    """Let the newest path that can run do so; none under `stack` when the newest waits."""
    warp.active = 0
    warp.join_pc = -1
    for back in range(warp.split_count):
        index = warp.split_count - 1 - back
        split = warp.splits[index]
        if split.barrier == FREE:
            warp.pc = split.pc
            warp.active = split.mask
            warp.group = split.group
            warp.join_pc = warp.groups[split.group].pc if split.group >= 0 else -1
            remove(warp, index)
            return
        if spec.divergence_policy == STACK:
            return


@core
def go(spec: Any, warp: Any, pc: int) -> None:
    """The running path goes on at `pc` as a whole."""
    if pc != warp.join_pc:
        warp.pc = pc
        return
    mask = warp.active
    place(warp, pc, mask, warp.group)
    select(spec, warp)


@core
def part(spec: Any, warp: Any, taken: int, target: int, reconverge: int) -> None:
    """The lanes of `taken` jump to `target`, the other active ones fall through."""
    group = warp.group
    if reconverge >= 0 and (group < 0 or warp.groups[group].pc != reconverge):
        group = new_group(warp, reconverge, warp.active, group)
    other = warp.active & ~taken
    taken_first = spec.divergence_first == 0
    if spec.divergence_first == FEWER:
        taken_first = popcount(taken) < popcount(other)
    if taken_first:
        place(warp, warp.pc + 1, other, group)
        place(warp, target, taken, group)
    else:
        place(warp, target, taken, group)
        place(warp, warp.pc + 1, other, group)
    select(spec, warp)


@core
def yield_turn(spec: Any, warp: Any) -> None:
    """A polling loop went round: let another path run, or free the lanes that wait for this one."""
    warp.polls += 1
    if spec.divergence_policy != INDEPENDENT or warp.polls < spec.divergence_yield_branches:
        return
    warp.polls = 0
    for index in range(warp.split_count):
        if warp.splits[index].barrier == FREE:
            rotate(spec, warp)
            return
    group = warp.group
    while group >= 0:
        record = warp.groups[group]
        if record.arrived:
            free = record.arrived
            record.mask &= ~free
            record.arrived = 0
            place(warp, record.pc, free, record.parent)
            rotate(spec, warp)
            return
        group = record.parent


@core
def rotate(spec: Any, warp: Any) -> None:
    """The running path goes to the bottom, the newest other one runs."""
    pc, mask, group = warp.pc, warp.active, warp.group
    select(spec, warp)
    push(warp, pc, mask, group, FREE)
    for back in range(warp.split_count - 1):
        swap(warp, warp.split_count - 1 - back)


@core
def swap(warp: Any, index: int) -> None:
    """Exchange a waiting path with the one below it."""
    upper, lower = warp.splits[index], warp.splits[index - 1]
    pc, mask, group, barrier = upper.pc, upper.mask, upper.group, upper.barrier
    upper.pc, upper.mask, upper.group, upper.barrier = lower.pc, lower.mask, lower.group, lower.barrier
    lower.pc, lower.mask, lower.group, lower.barrier = pc, mask, group, barrier


@core
def drop_lanes(warp: Any, mask: int) -> None:
    """Lanes exit (or leave their groups for good): nobody waits for them any more."""
    for g in range(LANES):
        group = warp.groups[g]
        if group.mask & mask:
            group.mask &= ~mask
            group.arrived &= ~mask
    settle(warp)


@core
def settle(warp: Any) -> None:
    """Groups that have become complete go on."""
    for g in range(LANES):
        group = warp.groups[g]
        if group.mask and group.arrived == group.mask:
            mask = group.mask
            group.mask = 0
            place(warp, group.pc, mask, group.parent)


@core
def park(spec: Any, warp: Any, barrier: int, pc: int) -> None:
    """The running path waits (for `barrier`, or SYNC) and will go on at `pc`; another may run."""
    push(warp, pc, warp.active, warp.group, barrier)
    select(spec, warp)


@core
def gather(warp: Any, needed: int) -> bool:
    """Bring the parked paths that hold `needed` lanes of this instruction to the running one."""
    together = warp.active
    for i in range(warp.split_count):
        split = warp.splits[i]
        if split.barrier == SYNC and split.pc == warp.pc:
            together |= split.mask
    if needed & ~together:
        return False
    index = 0
    joined = 0
    mixed = False
    while index < warp.split_count:
        split = warp.splits[index]
        if split.barrier == SYNC and split.pc == warp.pc:
            joined |= split.mask
            mixed = mixed or split.group != warp.group
            remove(warp, index)
        else:
            index += 1
    warp.active |= joined
    if mixed:
        leave_groups(warp)
    return True


@core
def leave_groups(warp: Any) -> None:
    """Lanes of several groups now run as one path; none of the groups waits for them any more."""
    warp.group = -1
    warp.join_pc = -1
    drop_lanes(warp, warp.active)


@core
def waiting_lanes(warp: Any, barrier: int) -> int:
    """How many lanes wait for a barrier."""
    count = 0
    for i in range(warp.split_count):
        if warp.splits[i].barrier == barrier:
            count += popcount(warp.splits[i].mask)
    return count
