"""`tinygpu asm`: assembles a program and lists its instructions with registers and source lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import common

if TYPE_CHECKING:
    from ..isa.program import Program


def load(name: str, settings: tuple[str, ...]) -> Program:
    """The assembled program, with other values for its constants."""
    from .. import api
    from ..isa.launch import reassemble, split_overrides

    program = api.load_program(Path(name))
    values = dict(common.split_setting(text, "--set") for text in settings)
    lets, _ = split_overrides(program, values)
    return reassemble(program, lets)


def facts(program: Program) -> dict[str, Any]:
    """What an assembled program is, as plain values."""
    from ..isa.printer import instruction_text

    rows = []
    for number, instruction in enumerate(program.instructions):
        line = instruction.source_line
        rows.append(
            {
                "pc": number,
                "text": instruction_text(instruction),
                "opcode": instruction.opcode.name,
                "file": line.file if line else None,
                "line": line.line if line else None,
                "target": instruction.target if instruction.target >= 0 else None,
                "reconverge": instruction.reconverge if instruction.reconverge >= 0 else None,
            }
        )
    return {
        "program": program.name,
        "file": program.file,
        "registers": program.registers,
        "predicates": program.predicates,
        "shared_bytes": program.shared_bytes,
        "local_bytes": program.local_bytes,
        "parameters": [
            {"name": p.name, "type": p.type, "offset": p.offset, "bytes": p.bytes} for p in program.parameters
        ],
        "instructions": rows,
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("program")
@click.option("--set", "set_", metavar="NAME=VALUE", multiple=True, help="A constant of the program.")
@common.json_option
def command(program: str, set_: tuple[str, ...], as_json: bool) -> None:
    """Assemble PROGRAM and list its instructions.

    Each row has the instruction's number, the instruction with its physical registers, and the
    source line that it comes from.
    """
    from ..isa.printer import listing

    assembled = load(program, set_)
    if as_json:
        common.print_json(facts(assembled))
    else:
        click.echo(listing(assembled), nl=False)
