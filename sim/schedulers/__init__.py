"""Warp schedulers: each policy is one small file with a `priority`; the lowest value issues.

The order of the branches below is the order of the words in spec.Issue.scheduler.
"""

from __future__ import annotations

from typing import Any

from ..jit import core
from . import cggty, gto, lrr, two_level


@core
def priority(spec: Any, sub: Any, warp: Any, local: int) -> int:
    """How urgent a warp that could issue is under the machine's policy; lower is sooner."""
    if spec.issue_scheduler == 0:
        return gto.priority(spec, sub, warp, local)
    if spec.issue_scheduler == 1:
        return cggty.priority(spec, sub, warp, local)
    if spec.issue_scheduler == 2:
        return lrr.priority(spec, sub, warp, local)
    return two_level.priority(spec, sub, warp, local)


@core
def prepare(spec: Any, sub: Any, time: int) -> None:
    """Called once a decision, before the warps are looked at."""
    if spec.issue_scheduler == 3:
        two_level.prepare(spec, sub, time)
