"""Gives named values their physical registers: lowest free first, groups side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .liveness import bits


@dataclass(slots=True)
class Group:
    """Values that stand side by side: `offsets[value]` in registers from the group's base.

    base % modulus == residue; `fixed` is the base when an explicit register decides it.
    """

    offsets: dict[int, int]
    modulus: int = 1
    residue: int = 0
    fixed: int | None = None


class PlacementError(Exception):
    """Values that must stand side by side in two ways at once (internal: becomes a diagnostic)."""


@dataclass(slots=True)
class Groups:
    """Collects which values stand side by side; `words[value]` is a value's size."""

    words: Mapping[int, int]
    group_of: dict[int, Group] = field(default_factory=dict)

    def of(self, value: int) -> Group:
        """The group of a value; at first it stands alone, aligned to its own size."""
        group = self.group_of.get(value)
        if group is None:
            group = Group({value: 0}, modulus=max(self.words[value], 1))
            self.group_of[value] = group
        return group

    def place_together(self, values: Sequence[int], total: int) -> None:
        """Demand that the values follow one another, the first aligned to `total` registers.

        Raises PlacementError when that contradicts an earlier demand.
        """
        offset = 0
        first = values[0]
        self._align(self.of(first), self.of(first).offsets[first], total)
        for value in values:
            if value != first:
                self._join(first, value, offset)
            offset += self.words[value]

    def fix(self, value: int, register: int) -> None:
        """Demand a physical register for a value."""
        group = self.of(value)
        base = register - group.offsets[value]
        if group.fixed not in (None, base) or base % group.modulus != group.residue or base < 0:
            raise PlacementError
        group.fixed = base

    def _align(self, group: Group, offset: int, modulus: int) -> None:
        """Demand (base + offset) % modulus == 0."""
        residue = -offset % modulus
        low, high = sorted(((modulus, residue), (group.modulus, group.residue)))
        if high[1] % low[0] != low[1]:
            raise PlacementError
        group.modulus, group.residue = high
        if group.fixed is not None and group.fixed % group.modulus != group.residue:
            raise PlacementError

    def _join(self, first: int, value: int, distance: int) -> None:
        """Demand that `value` stands `distance` registers behind `first`."""
        group, other = self.of(first), self.of(value)
        where = group.offsets[first] + distance
        if other is group:
            if group.offsets[value] != where:
                raise PlacementError
            return
        shift = where - other.offsets[value]  # what to add to the other group's offsets
        self._align(group, shift - other.residue, other.modulus)
        if other.fixed is not None:
            if group.fixed not in (None, other.fixed - shift):
                raise PlacementError
            group.fixed = other.fixed - shift
        if group.fixed is not None and group.fixed % group.modulus != group.residue:
            raise PlacementError
        for member, offset in other.offsets.items():
            group.offsets[member] = offset + shift
            self.group_of[member] = group

    def all(self) -> list[Group]:
        """Every group once, in the order of its lowest value number."""
        unique = {id(group): group for _, group in sorted(self.group_of.items())}
        return list(unique.values())


@dataclass(frozen=True, slots=True)
class Allocation:
    """positions[value] is its first register; `used` is the highest one in use + 1."""

    positions: dict[int, int]
    used: int


def allocate(
    groups: Sequence[Group],
    words: Mapping[int, int],
    conflicts: Sequence[int],
    reserved: int = 0,
) -> Allocation:
    """Place every group at the lowest base where no member meets a conflicting value.

    conflicts[value] is the set of values that must not share a register with it; `reserved`
    is the set of registers that nobody may get. There is no upper limit: the caller compares
    `used` with what exists. Two orders are tried (as written, and large groups first), and
    the one that needs fewer registers is taken.
    """
    fixed = [g for g in groups if g.fixed is not None]
    free = [g for g in groups if g.fixed is None]
    large_first = sorted(free, key=lambda g: -sum(words[v] for v in g.offsets))
    tries = [_place(fixed + order, words, conflicts, reserved) for order in (free, large_first)]
    return min(tries, key=lambda allocation: allocation.used)


def _place(
    groups: Sequence[Group], words: Mapping[int, int], conflicts: Sequence[int], reserved: int
) -> Allocation:
    taken: dict[int, int] = {}  # value -> registers that its placed neighbours hold
    positions: dict[int, int] = {}
    used = 0
    for group in groups:
        base = group.fixed if group.fixed is not None else _lowest(group, words, taken, reserved)
        for value, offset in group.offsets.items():
            positions[value] = base + offset
            mask = ((1 << words[value]) - 1) << positions[value]
            used = max(used, positions[value] + words[value])
            for other in bits(conflicts[value]):
                taken[other] = taken.get(other, 0) | mask
    return Allocation(positions, used)


def _lowest(group: Group, words: Mapping[int, int], taken: Mapping[int, int], reserved: int) -> int:
    """The lowest base, aligned as the group asks, whose registers are all free."""
    blocked = 0
    lowest = -min(group.offsets.values())
    for value, offset in group.offsets.items():
        busy = reserved | taken.get(value, 0)
        for word in range(words[value]):
            distance = offset + word
            blocked |= busy >> distance if distance >= 0 else busy << -distance
    base = lowest + (group.residue - lowest) % group.modulus
    while blocked >> base & 1:
        base += group.modulus
    return base


def overlaps(
    positions: Mapping[int, int], words: Mapping[int, int], conflicts: Sequence[int]
) -> list[tuple[int, int]]:
    """Pairs of conflicting values that share a register (their groups left no choice)."""
    found = []
    for value, start in positions.items():
        for other in bits(conflicts[value] >> (value + 1) << (value + 1)):
            if (
                other in positions
                and start < positions[other] + words[other]
                and positions[other] < start + words[value]
            ):
                found.append((value, other))
    return found


def pressure(live: int, sized: Mapping[int, int]) -> int:
    """Registers that the values of a set occupy together; sized[w]: the values w registers wide."""
    return sum(words * (live & values).bit_count() for words, values in sized.items())
