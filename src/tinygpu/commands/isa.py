"""`tinygpu isa`: the reference pages of the instructions, made from the table."""

from __future__ import annotations

import click

from . import common


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", metavar="[NAME]...", nargs=-1)
@common.json_option
def command(names: tuple[str, ...], as_json: bool) -> None:
    """Print the page of an instruction, such as `fma` or `ld.global`; without NAME all, a line each."""
    from ..isa import reference, table
    from ..isa.errors import InputError

    entries = [] if names else list(table.entries())
    for name in names:
        found = reference.find(name)
        if not found:
            near = reference.suggest(name)
            hint = f"did you mean {' or '.join(near)}?" if near else "`tinygpu isa` lists all"
            raise InputError(f"there is no instruction {name}", hint=hint)
        entries += [entry for entry in found if entry not in entries]
    if as_json:
        common.print_json({"instructions": [reference.facts(entry) for entry in entries]})
    elif names:
        click.echo("\n".join(reference.page(entry) for entry in entries), nl=False)
    else:
        click.echo(reference.index().rstrip())
