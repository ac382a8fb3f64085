"""The source lines at which warps stood longest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..sim.state import STATES

Array = np.ndarray[Any, Any]
NOT_STALLED = ("selected", "not_selected")


@dataclass(frozen=True, slots=True)
class HotLine:
    """A source line: warp-cycles that warps were stalled at it, mostly in `state`; issues."""

    place: str
    text: str
    stalled: int
    state: str
    issued: int


def hottest_lines(profile: Array, listing: Sequence[Mapping[str, Any]], most: int = 5) -> list[HotLine]:
    """The source lines with the most stalled warp-cycles, largest first; of equals the earlier line.

    profile: PROFILE records, one an instruction. listing: as in a trace, see sim.tracefile.listing.
    A warp that issues or could issue is not stalled.
    """
    places: dict[tuple[str, int], list[int]] = {}
    for pc, entry in enumerate(listing):
        places.setdefault((str(entry.get("file", "")), int(entry.get("line", 0))), []).append(pc)
    counted = np.array([name not in NOT_STALLED for name in STATES])
    found = []
    for (file, line), pcs in places.items():
        stall = profile["stall"][pcs].sum(axis=0) * counted
        if not stall.sum():
            continue
        entry = listing[pcs[0]]
        text = statement(str(entry.get("source") or entry.get("text", "")))
        found.append(
            HotLine(
                place=f"{file}:{line}" if line else f"pc {pcs[0]}",
                text=text,
                stalled=int(stall.sum()),
                state=STATES[int(np.argmax(stall))],
                issued=int(profile["issued"][pcs].sum()),
            )
        )
    return sorted(found, key=lambda one: -one.stalled)[:most]


def statement(source: str) -> str:
    """A source line without its comment, its spaces made single."""
    return " ".join(source.split("//")[0].split())
