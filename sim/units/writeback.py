"""Completion of memory instructions: registers become ready and the warp wakes."""

from __future__ import annotations

from typing import Any

from ..jit import core


@core
def complete(device: Any, sm: Any, index: int, time: int) -> None:
    """The memory instruction `sm.memops[index]` has all its data at `time`."""
    sm.memops[index].ready = time
