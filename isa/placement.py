"""Gives the values of drafted instructions their registers, and reports what cannot be placed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .allocate import Allocation, Groups, PlacementError, allocate, overlaps, pressure
from .flow import Step, blocks
from .liveness import Effect, Lives, bits, interference, lives
from .names import Names, Value
from .parse_instruction import Draft
from .parse_registers import Use
from .parse_report import Piece, Report, did_you_mean
from .program import TRUE_PREDICATE, ZERO_REGISTER, Predicate, Register

PREDICATES = 7
Vector = tuple[tuple[Value, ...], int, Piece]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where everything is; registers and predicates: the highest one in use + 1."""

    positions: dict[int, int]
    registers: int
    predicates: int

    def register(self, use: Use) -> Register:
        """The physical register of an operand."""
        first = use.values[0]
        base = first.fixed if first.fixed >= 0 else self.positions[first.number]
        name = first.name if len(use.values) == 1 else "{" + ", ".join(v.name for v in use.values) + "}"
        return Register(base + use.part, use.words, "" if first.fixed >= 0 and len(use.values) == 1 else name)

    def predicate(self, use: Use) -> Predicate:
        """The physical predicate of an operand."""
        value = use.values[0]
        if value.fixed >= 0:
            return Predicate(value.fixed, use.negated)
        return Predicate(self.positions[value.number], use.negated, value.name)

    def place(self, use: Use) -> Register | Predicate:
        """The physical register or predicate of an operand."""
        return self.register(use) if use.words else self.predicate(use)


def place_values(
    drafts: Sequence[Draft],
    steps: Sequence[Step],
    names: Names,
    vectors: Sequence[Vector],
    report: Report,
    limit: int,
    *,
    fragment: bool = False,
) -> Placement | None:
    """Allocate registers and predicates by liveness; None, with errors, when that fails.

    limit: registers that a thread may have. fragment: values that nothing assigns are inputs.
    """
    effects = [_effect(d) for d in drafts]
    cut = blocks(steps, through_calls=True)
    found, inputs = lives(effects, cut), 0
    if fragment:
        for missing in found.unassigned:
            inputs |= missing
        found = lives(effects, cut, inputs)
    _report_unassigned(drafts, found, names, report)
    if report.diagnostics:
        return None
    sized = {w: sum(1 << v.number for v in names.numbered if v.words == w) for w in (0, 1, 2, 4)}
    loads = [pressure(live, sized) for live in found.live_out]
    if max(loads, default=0) > limit:  # no order can help: do not even try
        _report_pressure(drafts, loads, max(loads), limit, report)
        return None
    conflicts = interference(effects, found.live_out, len(names.numbered))
    for value in bits(inputs):
        conflicts[value] |= inputs & ~(1 << value)
    general = sized[1] | sized[2] | sized[4]
    used = _mentioned(effects) | inputs
    registers = _allocate_registers(names, vectors, conflicts, used & general, report)
    if registers is None:
        return None
    predicates = _allocate_predicates(names, conflicts, used & ~general)
    tall = _highest(names, "register", registers.used)
    if tall > limit:
        _report_pressure(drafts, loads, tall, limit, report)
    if predicates.used > PREDICATES:
        _report_predicates(drafts, found, general, predicates.used, report)
    positions = registers.positions | predicates.positions
    return Placement(positions, tall, _highest(names, "predicate", predicates.used))


def _bit(use: Use) -> int:
    """The set of the named values of an operand."""
    mask = 0
    for value in use.values:
        if value.number >= 0:
            mask |= 1 << value.number
    return mask


def _effect(draft: Draft) -> Effect:
    uses = defines = kills = 0
    for source in draft.sources:
        if isinstance(source, Use):
            uses |= _bit(source)
    if draft.address is not None and isinstance(draft.address.base, Use):
        uses |= _bit(draft.address.base)
    if draft.guard is not None:
        uses |= _bit(draft.guard)
    for dest in draft.dests:
        defines |= _bit(dest)
        if draft.guard is None and dest.whole:
            kills |= _bit(dest)
    return Effect(uses, defines, kills)


def _mentioned(effects: Sequence[Effect]) -> int:
    mask = 0
    for effect in effects:
        mask |= effect.uses | effect.defines
    return mask


def _report_unassigned(drafts: Sequence[Draft], found: Lives, names: Names, report: Report) -> None:
    """A value that no path has assigned where it is read."""
    known = [v.name for v in names.numbered if v.assigned] + [*names.constants, *names.parameters]
    for draft, missing in zip(drafts, found.unassigned, strict=True):
        for number in bits(missing):
            value = names.numbered[number]
            piece = _mention(draft, value.name)
            if value.assigned:
                message = f"{value.name} is read here before anything assigns it"
                report.error(piece, message, hint="no path from the start of the kernel gives it a value")
            else:
                hint = did_you_mean(value.name, [k for k in known if k != value.name])
                report.error(piece, f"{value.name} is never assigned", hint=hint)


def _mention(draft: Draft, name: str) -> Piece:
    """Where a draft mentions a name; the whole statement when that is not to be found."""
    pieces = [*draft.statement.operands]
    if draft.guard is not None and draft.statement.guard is not None:
        pieces.append(draft.statement.guard)
    dests = sum(spec.role == "dest" for spec in draft.opcode.operands[:1])
    for piece in [*pieces[dests:], *pieces[:dests]]:
        start = piece.text.find(name)
        while start >= 0:
            around = piece.text[max(start - 1, 0) : start] + piece.text[start + len(name) :][:1]
            if not any(c.isalnum() or c in "_$%" for c in around):
                return Piece(name, *piece.place(start), piece.written)
            start = piece.text.find(name, start + 1)
    return draft.statement.whole


def _allocate_registers(
    names: Names, vectors: Sequence[Vector], conflicts: Sequence[int], wanted: int, report: Report
) -> Allocation | None:
    sizes = {v.number: v.words for v in names.numbered}
    groups = Groups(sizes)
    for number in bits(wanted):
        groups.of(number)
    for values, total, piece in vectors:
        try:
            _demand(groups, values, total)
        except PlacementError:
            message = "these values cannot stand side by side: another vector orders them differently"
            hint = "a vector is consecutive aligned registers: copy a value with mov to use it twice"
            report.error(piece, message, hint=hint)
    if report.diagnostics:
        return None
    reserved = sum(1 << i for kind, i in names.explicit if kind == "register" and i != ZERO_REGISTER)
    allocation = allocate(groups.all(), sizes, conflicts, reserved)
    clashes = overlaps(allocation.positions, sizes, conflicts)
    for one, other in clashes[:3]:
        for values, _, piece in vectors:
            if any(v.number in (one, other) for v in values):
                pair = f"{names.numbered[one].name} and {names.numbered[other].name}"
                hint = "both are alive at once: copy one of them with mov"
                report.error(piece, f"the vectors put {pair} into one register", hint=hint)
                break
    return None if clashes else allocation


def _demand(groups: Groups, values: Sequence[Value], total: int) -> None:
    """Demand the order of one vector; explicit registers in it decide where it lies."""
    fixed = [(i, v.fixed) for i, v in enumerate(values) if v.number < 0]
    each = total // len(values)
    if fixed:
        base = fixed[0][1] - fixed[0][0] * each
        if base % total or base < 0 or any(at != base + i * each for i, at in fixed):
            raise PlacementError
        for index, value in enumerate(values):
            if value.number >= 0:
                groups.fix(value.number, base + index * each)
        return
    groups.place_together([v.number for v in values], total)


def _allocate_predicates(names: Names, conflicts: Sequence[int], wanted: int) -> Allocation:
    sizes = dict.fromkeys(bits(wanted), 1)
    groups = Groups(sizes)
    for number in sizes:
        groups.of(number)
    reserved = sum(1 << i for kind, i in names.explicit if kind == "predicate" and i != TRUE_PREDICATE)
    return allocate(groups.all(), sizes, conflicts, reserved)


def _highest(names: Names, kind: str, used: int) -> int:
    """The number of registers in use, explicit ones included."""
    top = ZERO_REGISTER if kind == "register" else TRUE_PREDICATE
    return max([used, *(i + 1 for k, i in names.explicit if k == kind and i != top)])


def _missing(count: int) -> str:
    return "1 is missing" if count == 1 else f"{count} are missing"


def _report_pressure(
    drafts: Sequence[Draft], loads: Sequence[int], needed: int, limit: int, report: Report
) -> None:
    """Too many registers: say how many are missing, and point at the line where most are alive."""
    peak = max(range(len(loads)), key=loads.__getitem__)
    message = f"the kernel needs {needed} registers and may have {limit}: {_missing(needed - limit)}"
    hint = f"{loads[peak]} are alive behind this line; use values earlier, or smaller register arrays"
    report.error(drafts[peak].statement.whole, message, hint=hint)


def _report_predicates(
    drafts: Sequence[Draft], found: Lives, general: int, needed: int, report: Report
) -> None:
    loads = [(live & ~general).bit_count() for live in found.live_out]
    peak = max(range(len(loads)), key=loads.__getitem__)
    message = f"the kernel needs {needed} predicates and has {PREDICATES}: {_missing(needed - PREDICATES)}"
    hint = f"{loads[peak]} are alive behind this line; keep one as a number with selp"
    report.error(drafts[peak].statement.whole, message, hint=hint)
