"""Greedy then youngest: the warp that issued last goes on, else the one launched last.

The policy of modern sub-cores according to Huerta et al. (MICRO 2025, arXiv 2503.20481).
"""

from __future__ import annotations

from typing import Any

from ..jit import core
from ..state import NEVER


@core
def priority(spec: Any, sub: Any, warp: Any, local: int) -> int:
    """Lower is sooner."""
    return -NEVER if warp.slot == sub.last else -warp.age
