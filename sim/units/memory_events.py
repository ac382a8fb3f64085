"""The memory side's events: what happens, to which of the things, and when."""

from __future__ import annotations

from typing import Any

from ..jit import core
from . import wheel

FORWARD = 1  # transaction n comes to the home slice in another partition
RETURN = 2  # the copy that transaction n fetched comes to its slice
DATA = 3  # DRAM access n is done
SERVE = 4  # slice n can look at its next request
DECIDE = 5  # DRAM channel n can choose its next access
RESPONSE = 6  # the answer to transaction n leaves L2
KIND_SHIFT = 40


@core
def schedule(memory: Any, kind: int, number: int, ticks: int) -> None:
    """Let something happen at `ticks`."""
    wheel.schedule(memory, kind << KIND_SHIFT | int(number), ticks)


@core
def kind_of(what: int) -> int:
    """One of the kinds above."""
    return what >> KIND_SHIFT


@core
def number_of(what: int) -> int:
    """The number of the transaction, access, slice or channel."""
    return what & ((1 << KIND_SHIFT) - 1)
