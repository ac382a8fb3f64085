"""Two levels: round robin among a small active set; a warp that waits long leaves it.

After Narasiman et al. (MICRO 2011) and Gebhart et al. (ISCA 2011): a warp whose operand comes from
a response that is out, or that stands at a barrier, gives its place to the
pending warp of the lowest slot that could issue.
"""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..state import NEVER
from . import lrr

OUTSIDE = NEVER


@core
def prepare(spec: Any, sub: Any, time: int) -> None:
    """Drop warps that wait for a response, then fill the active set with warps that could issue."""
    count = 0
    locals_ = (spec.sm_warps + spec.sm_subcores - 1) // spec.sm_subcores
    for local in range(locals_):
        if sub.wake[local] == NEVER:
            sub.in_active_set[local] = 0
        count += sub.in_active_set[local]
    for local in range(locals_):
        if count >= spec.issue_two_level_active:
            return
        if sub.in_active_set[local] == 0 and sub.wake[local] <= time:
            sub.in_active_set[local] = 1
            count += 1


@core
def priority(spec: Any, sub: Any, warp: Any, local: int) -> int:
    """Lower is sooner; a warp outside the active set does not issue."""
    return lrr.priority(spec, sub, warp, local) if sub.in_active_set[local] else OUTSIDE
