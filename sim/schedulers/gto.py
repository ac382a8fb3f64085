"""Greedy then oldest: the warp that issued last goes on, else the one launched first."""

from __future__ import annotations

from typing import Any

from ..jit import core


@core
def priority(spec: Any, sub: Any, warp: Any, local: int) -> int:
    """Lower is sooner."""
    return -1 if warp.slot == sub.last else warp.age
