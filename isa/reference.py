"""The reference pages of the instruction set, as plain text and as Markdown, made from the table.

`python -m tinygpu.isa.reference --write docs/isa.md` writes the whole of it.
"""

from __future__ import annotations

import difflib
import sys
import textwrap
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from . import table
from .special import SPECIAL
from .table import Entry, Opcode, OperandSpec

TITLES = {
    "integer": "Integers", "bits": "Bits and shifts", "wide": "64-bit integers", "single": "Floats, 32 bits",
    "double": "Floats, 64 bits", "half": "Floats, 16 bits", "compare": "Comparisons and predicates",
    "convert": "Conversions", "move": "Moves and selection", "memory": "Loads and stores",
    "atomic": "Atomics", "warp": "Between the lanes of a warp", "control": "Branches, barriers, fences",
}  # fmt: skip

INTRODUCTION = """\
One instruction is one issue slot. Registers have 32 bits; a 64-bit value is an aligned pair, so
global addresses are pairs and shared, local and parameter addresses single registers. `@p` or
`@!p` before an instruction guards it: lanes where the predicate fails skip it. In the tables
below, `{...}` stands for one of the words listed, and a word in brackets may be left out.
Integers are s and u types, b types are bits, pred is a predicate.
"""


def find(name: str) -> tuple[Entry, ...]:
    """The entries meant by `name`: an opcode, an entry's key, or a mnemonic's first words.

    `fma` finds every fma, `fma.f32` the entry of that opcode, `bar.warp` the one entry that
    begins so. Empty when nothing fits; `suggest` then helps.
    """
    wanted = name.strip().lower()
    spelled = table.opcode(wanted)
    if spelled is not None:
        return (spelled.entry,)
    begins = tuple(
        e for e in table.entries() if any(o == wanted or o.startswith(wanted + ".") for o in e.opcodes)
    )
    if begins:
        return begins
    keyed = table.entry(wanted)
    return (keyed,) if keyed is not None else ()


def suggest(name: str) -> list[str]:
    """Up to three mnemonics or opcodes that are spelled like `name`, the nearest first."""
    wanted = name.strip().lower()
    stems = dict.fromkeys(o.split(".")[0] for e in table.entries() for o in e.opcodes)
    if "." not in wanted:
        return difflib.get_close_matches(wanted, list(stems), n=3, cutoff=0.5)
    return difflib.get_close_matches(wanted, list(table.opcodes()), n=3, cutoff=0.5)


def variants(entry: Entry) -> dict[str, list[str]]:
    """The words of each part of an entry's pattern, in the table's order."""
    words: dict[str, list[str]] = {}
    for name in entry.opcodes:
        opcode = _opcode(name)
        for part, word in opcode.parts.items():
            if word not in words.setdefault(part, []):
                words[part].append(word)
    return words


def _opcode(name: str) -> Opcode:
    found = table.opcode(name)
    assert found is not None
    return found


def pattern(entry: Entry) -> str:
    """The entry's mnemonic for people: parts with one word are spelled, optional ones bracketed."""
    text = entry.pattern
    for part, words in variants(entry).items():
        if len(words) == 1:
            text = text.replace("{" + part + "}", words[0])
        elif "" in words:
            shown = words[1] if len(words) == 2 else ".{" + part + "}"
            text = text.replace("{" + part + "}", f"[{shown}]")
    return text


def _operand(spec: OperandSpec, type_: str) -> str:
    """One operand as it is written, with its type."""
    name = spec.name
    if spec.vector > 1:
        name = "{" + ", ".join(f"{spec.name}{i}" for i in range(spec.vector)) + "}"
    if spec.role == "address":
        return f"[{name}]:{type_}"
    if spec.role == "label":
        return f"{name}:label"
    return f"{name}:{type_}"


def syntax(entry: Entry) -> str:
    """The operand list of an entry; a type that varies is called by the part that gives it."""
    opcodes = [_opcode(name) for name in entry.opcodes]
    first = max(opcodes, key=lambda o: (len(o.operands), -sum(s.vector for s in o.operands)))
    text = ""
    for index, spec in enumerate(first.operands):
        written = _operand(spec, _type(opcodes, index))
        second_dest = spec.role == "dest" and index > 0
        separator = "|" if second_dest else ", " if text else ""
        text += f"[{separator}{written}]" if spec.optional else separator + written
    return text


def _type(opcodes: list[Opcode], index: int) -> str:
    """The type of an operand: one word, the part that gives it, or the few that it may be."""
    types = dict.fromkeys(o.operands[index].type for o in opcodes)
    if len(types) == 1:
        return next(iter(types))
    for part in opcodes[0].parts:
        if all(o.operands[index].type == o.parts[part] for o in opcodes):
            return "{" + part + "}"
    return "|".join(types)


def variant_rows(entry: Entry) -> list[tuple[str, str]]:
    """Part and words, for the parts that vary."""
    rows = []
    for part, words in variants(entry).items():
        if len(words) > 1 and not (len(words) == 2 and "" in words):
            shown = [w.lstrip(".") for w in words if w]
            rows.append((part, " ".join(shown) + (" (or none)" if "" in words else "")))
    return rows


def page(entry: Entry) -> str:
    """The reference page of an entry as plain text, for a terminal."""
    title = f"{pattern(entry)}  {syntax(entry)}".rstrip()
    lines = [title, "", *textwrap.wrap(entry.doc, 90)]
    rows = variant_rows(entry)
    if rows:
        lines.append("")
        width = max(len(part) for part, _ in rows)
        for part, words in rows:
            row = f"  {part:<{width}}  {words}"
            lines += textwrap.wrap(row, 90, drop_whitespace=False, subsequent_indent=" " * (width + 4))
    if entry.notes:
        lines += ["", *textwrap.wrap(entry.notes, 90)]
    lines += ["", f"  {entry.example}", "", f"timing class: {entry.timing}; {_count(entry)}"]
    return "\n".join(lines) + "\n"


def _count(entry: Entry) -> str:
    number = len(entry.opcodes)
    return "1 opcode" if number == 1 else f"{number} opcodes"


def index() -> str:
    """One line an entry, by family, as plain text."""
    lines = []
    for family, entries in families():
        lines += [TITLES[family], *(f"  {pattern(e):<34} {e.doc}" for e in entries), ""]
    return "\n".join(lines)


def facts(entry: Entry) -> dict[str, Any]:
    """What the page says as plain values, for JSON."""
    return {
        "name": entry.key, "pattern": pattern(entry), "operands": syntax(entry), "doc": entry.doc,
        "notes": entry.notes, "example": entry.example, "family": entry.family, "timing": entry.timing,
        "variants": variants(entry), "opcodes": list(entry.opcodes),
    }  # fmt: skip


def families() -> list[tuple[str, list[Entry]]]:
    """The entries by family, in the order of the table."""
    groups: dict[str, list[Entry]] = {}
    for entry in table.entries():
        groups.setdefault(entry.family, []).append(entry)
    return list(groups.items())


# --- Markdown --------------------------------------------------------------------------------


def markdown() -> str:
    """The whole reference as one Markdown page."""
    parts = [
        "# The instruction set\n",
        "<!-- Made from the table: python -m tinygpu.isa.reference --write docs/isa.md -->\n",
        INTRODUCTION,
        "## Contents\n\n" + "\n".join(_contents()) + "\n",
    ]
    for family, entries in families():
        module = import_module(f"{__package__}.instructions.{family}")
        parts.append(f"## {TITLES[family]}\n\n{(module.__doc__ or '').strip()}\n")
        parts += [_section(entry) for entry in entries]
    parts.append(_special_section())
    return "\n".join(parts)


def _contents() -> Iterable[str]:
    for family, entries in families():
        stems = dict.fromkeys(e.opcodes[0].split(".")[0] for e in entries)
        anchor = TITLES[family].lower().replace(",", "").replace(" ", "-")
        yield f"- [{TITLES[family]}](#{anchor}): " + ", ".join(f"`{stem}`" for stem in stems)
    yield "- [Special registers](#special-registers)"


def _section(entry: Entry) -> str:
    usage = f"{pattern(entry)} {syntax(entry)}".rstrip()
    lines = [f"### `{pattern(entry)}`", "", f"`{usage}`", "", entry.doc]
    rows = variant_rows(entry)
    if rows:
        lines.append("")
        lines += [f"- {part}: {words}" for part, words in rows]
    if entry.notes:
        lines += ["", entry.notes.strip()]
    lines += ["", f"    {entry.example}", "", f"Timing class {entry.timing}.", ""]
    return "\n".join(lines)


def _special_section() -> str:
    rows = [f"| `%{s.name}` | {s.type} | {s.doc} |" for s in SPECIAL.values()]
    head = ["## Special registers", "", "Read with `mov`, as in `mov.u32 i, %tid.x`.", ""]
    return "\n".join([*head, "| name | type | value |", "|---|---|---|", *rows]) + "\n"


def main(arguments: list[str]) -> int:
    """`--write FILE` writes the Markdown page, `--check FILE` says whether it is current."""
    if len(arguments) != 2 or arguments[0] not in ("--write", "--check"):
        sys.stderr.write("usage: python -m tinygpu.isa.reference --write|--check FILE\n")
        return 2
    target = Path(arguments[1])
    if arguments[0] == "--check":
        current = target.exists() and target.read_text(encoding="utf-8") == markdown()
        if not current:
            sys.stderr.write(f"{target} is not what the table says; write it anew with --write\n")
        return 0 if current else 1
    draft = target.with_name(target.name + ".tmp")
    draft.write_text(markdown(), encoding="utf-8")
    draft.replace(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
