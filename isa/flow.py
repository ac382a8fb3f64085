"""Control flow of a program: basic blocks, post-dominators, points of reconvergence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .table import Behaviour


@dataclass(frozen=True, slots=True)
class Step:
    """What control flow needs of an instruction: behaviour, whether guarded, its target."""

    behaviour: Behaviour
    guarded: bool = False
    target: int = -1


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions `start` to `stop` - 1, entered only at the first and left at the last."""

    start: int
    stop: int
    successors: tuple[int, ...]  # numbers of blocks


_LEAVES = (Behaviour.EXIT, Behaviour.TRAP, Behaviour.RET)
_ENDS_BLOCK = (Behaviour.BRANCH, Behaviour.CALL, *_LEAVES)


def successors(steps: Sequence[Step], *, through_calls: bool = False) -> list[tuple[int, ...]]:
    """The instructions that can follow each one in the same thread.

    A call counts as falling through and `ret` as an end; with `through_calls` a call leads to
    its target, and `ret` to whatever follows a call, as the life of values needs it.
    """
    returns = tuple(
        i + 1 for i, s in enumerate(steps) if s.behaviour is Behaviour.CALL and i + 1 < len(steps)
    )
    found: list[tuple[int, ...]] = []
    for index, step in enumerate(steps):
        after = (index + 1,) if index + 1 < len(steps) else ()
        if step.behaviour is Behaviour.BRANCH:
            jump = (step.target,)
            found.append(tuple(dict.fromkeys(jump + after)) if step.guarded else jump)
        elif step.behaviour is Behaviour.CALL and through_calls:
            found.append(tuple(dict.fromkeys((step.target, *after))) if step.guarded else (step.target,))
        elif step.behaviour in _LEAVES:
            goes = returns if step.behaviour is Behaviour.RET and through_calls else ()
            found.append(tuple(dict.fromkeys(goes + after)) if step.guarded else goes)
        else:
            found.append(after)
    return found


def blocks(steps: Sequence[Step], *, through_calls: bool = False) -> list[Block]:
    """Cut the program into basic blocks, in the order of the instructions."""
    follows = successors(steps, through_calls=through_calls)
    leaders = {0}
    for index, step in enumerate(steps):
        if step.behaviour in _ENDS_BLOCK:
            leaders.add(index + 1)
            leaders.update(follows[index])
            leaders.update(() if step.target < 0 else (step.target,))
    starts = sorted(i for i in leaders if i < len(steps))
    number = {start: block for block, start in enumerate(starts)}
    stops = [*starts[1:], len(steps)]
    return [
        Block(start, stop, tuple(number[i] for i in follows[stop - 1]))
        for start, stop in zip(starts, stops, strict=True)
        if stop > start
    ]


def postdominators(successor_sets: Sequence[Iterable[int]], ends: Iterable[int]) -> list[int]:
    """The immediate post-dominator of every node, -1 for the end of the graph.

    `ends` lead to the one virtual end. Nodes from which no end can be reached get -1. The
    method is that of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001),
    on the reversed graph.
    """
    count = len(successor_sets)
    end = count
    goes = [list(s) for s in successor_sets] + [[]]
    for node in ends:
        goes[node].append(end)
    comes: list[list[int]] = [[] for _ in range(count + 1)]
    for node, following in enumerate(goes):
        for other in following:
            comes[other].append(node)
    order = _postorder(comes, end)
    rank = {node: place for place, node in enumerate(order)}
    parent = {end: end}
    changed = True
    while changed:
        changed = False
        for node in reversed(order):
            if node == end:
                continue
            known = [n for n in goes[node] if n in parent]
            if not known:
                continue
            best = known[0]
            for other in known[1:]:
                best = _common(best, other, parent, rank)
            if parent.get(node) != best:
                parent[node] = best
                changed = True
    return [-1 if parent.get(node, end) == end else parent[node] for node in range(count)]


def _postorder(edges: Sequence[Sequence[int]], root: int) -> list[int]:
    """Depth-first postorder without recursion; the root comes last."""
    order: list[int] = []
    seen = {root}
    stack = [(root, iter(edges[root]))]
    while stack:
        node, following = stack[-1]
        for other in following:
            if other not in seen:
                seen.add(other)
                stack.append((other, iter(edges[other])))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def _common(a: int, b: int, parent: dict[int, int], rank: dict[int, int]) -> int:
    """The nearest node that post-dominates both."""
    while a != b:
        while rank[a] < rank[b]:
            a = parent[a]
        while rank[b] < rank[a]:
            b = parent[b]
    return a


def reconvergence(steps: Sequence[Step]) -> list[int]:
    """For every guarded branch the instruction where its lanes come together again, else -1.

    That is the immediate post-dominator, found for the kernel and for every called function
    on its own. Lanes that leave early are not waited for: of several exits only the last one
    counts as the end, and paths that cannot reach it (early `exit`, `trap`) do not keep the
    others apart. All the `ret` of a function count, since their lanes go on in the caller.
    """
    result = [-1] * len(steps)
    if not steps:
        return result
    cut = blocks(steps)
    number = {block.start: index for index, block in enumerate(cut)}
    goes = [block.successors for block in cut]
    entries = dict.fromkeys(
        [0, *(s.target for s in steps if s.behaviour is Behaviour.CALL and s.target >= 0)]
    )
    for entry in entries:
        inside = _reachable(goes, number[entry])
        parents = postdominators(
            [goes[b] if b in inside else () for b in range(len(cut))], _ends(steps, cut, inside)
        )
        for index in inside:
            last = cut[index].stop - 1
            conditional = steps[last].behaviour is Behaviour.BRANCH and steps[last].guarded
            if conditional and result[last] < 0 and parents[index] >= 0:
                result[last] = cut[parents[index]].start
    return result


def _ends(steps: Sequence[Step], cut: Sequence[Block], inside: set[int]) -> list[int]:
    """The blocks that count as ends of a kernel or function."""
    lasts = {b: steps[cut[b].stop - 1] for b in inside}
    returns = [b for b, step in lasts.items() if step.behaviour is Behaviour.RET]
    if returns:
        return sorted(returns)
    finals = [b for b, step in lasts.items() if step.behaviour in _LEAVES or not cut[b].successors]
    exits = [b for b in finals if lasts[b].behaviour is Behaviour.EXIT and not lasts[b].guarded]
    return [max(exits or finals)] if finals else []


def _reachable(goes: Sequence[Sequence[int]], start: int) -> set[int]:
    seen, stack = {start}, [start]
    while stack:
        for other in goes[stack.pop()]:
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return seen
