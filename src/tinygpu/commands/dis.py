"""`tinygpu dis`: prints a program as text with physical registers, which assembles to the same program."""

from __future__ import annotations

import click

from . import common
from .asm import facts, load


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("program")
@click.option("--set", "set_", metavar="NAME=VALUE", multiple=True, help="A constant of the program.")
@common.json_option
def command(program: str, set_: tuple[str, ...], as_json: bool) -> None:
    """Print PROGRAM with physical registers, macros and repetitions written out."""
    from ..isa.printer import disassemble

    assembled = load(program, set_)
    text = disassemble(assembled)
    if as_json:
        common.print_json({**facts(assembled), "text": text})
    else:
        click.echo(text, nl=False)
