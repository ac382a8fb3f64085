"""Hints about instructions: the nearest spelling, the forms that exist, how one is written."""

from __future__ import annotations

import difflib

from . import table
from .parse_report import did_you_mean
from .table import Opcode, OperandSpec

_SHOWN = 8


def usage(opcode: Opcode) -> str:
    """How an opcode is written, such as `fma.f32 d, a, b, c`."""
    extra = list(opcode.dests[1:])
    parts: list[str] = []
    for spec in opcode.operands:
        if spec in extra:
            parts[0] += f"[|{spec.name}]" if spec.optional else f"|{spec.name}"
        elif spec.optional:
            parts.append(f"[{spec.name}]")
        else:
            parts.append(_shape(spec))
    return f"{opcode.name} {', '.join(parts)}".strip()


def _shape(spec: OperandSpec) -> str:
    if spec.role == "address":
        return f"[{spec.name}]"
    if spec.vector > 1:
        return "{" + ", ".join(f"{spec.name}{i}" for i in range(spec.vector)) + "}"
    return spec.name


def unknown_mnemonic(name: str, macros: list[str]) -> tuple[str, str]:
    """The message and the hint for a mnemonic that does not exist."""
    known = table.opcodes()
    stem = name.split(".")[0]
    family = [o for o in known if o.split(".")[0] == stem]
    if not family:
        return f"unknown instruction {name}", did_you_mean(name, [*known, *macros, "mov.u32"])
    best = did_you_mean(name, family)
    # The longest beginning that exists tells which word is wrong.
    words = name.split(".")
    while len(words) > 1 and not any(o.startswith(".".join(words) + ".") for o in family):
        words.pop()
    start = ".".join(words)
    near = [o for o in family if o.startswith(start + ".")] or family
    likely = difflib.get_close_matches(name, near, n=_SHOWN, cutoff=0.0)
    shown = ", ".join(o for o in near if o in likely) + (", ..." if len(near) > _SHOWN else "")
    wrong = name[len(start) :]
    message = f"{start} has no form {wrong}" if wrong else f"{name} is not complete"
    return message, f"{best} It exists as {shown}".strip() if best else f"it exists as {shown}"
