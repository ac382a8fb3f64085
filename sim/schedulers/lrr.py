"""Loose round robin: the next warp after the one that issued last, passing over those that cannot."""

from __future__ import annotations

from typing import Any

from ..jit import core


@core
def priority(spec: Any, sub: Any, warp: Any, local: int) -> int:
    """Lower is sooner: the distance behind the warp that issued last."""
    distance = warp.slot - sub.last - 1
    return distance if distance >= 0 else distance + spec.sm_warps
