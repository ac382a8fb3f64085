"""`tinygpu programs`: lists the programs that are shipped, by lesson, or shows one."""

from __future__ import annotations

from pathlib import Path

import click

from .. import library
from . import common


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@common.json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the programs (`tinygpu programs`), or show one (`tinygpu programs show matmul`)."""
    if ctx.invoked_subcommand is None:
        _list(as_json)


@command.command("list")
@common.json_option
def list_(as_json: bool) -> None:
    """List the programs that are shipped."""
    _list(as_json)


def lesson(path: Path) -> str:
    """The folder of a shipped program."""
    return path.parent.relative_to(library.folder()).as_posix()


def _list(as_json: bool) -> None:
    found = [(lesson(path), name, path) for name, path in library.shipped().items()]
    found.sort()
    if as_json:
        rows = [{"name": n, "lesson": l_, "title": library.title(p), "file": str(p)} for l_, n, p in found]
        common.print_json({"programs": rows})
        return
    width = max((len(name) for _, name, _ in found), default=0)
    shown = None
    for folder, name, path in found:
        if folder != shown:
            click.echo(("" if shown is None else "\n") + folder)
            shown = folder
        click.echo(f"  {name:<{width}}  {library.title(path)}".rstrip())


@command.command("show")
@click.argument("name")
@common.json_option
def show(name: str, as_json: bool) -> None:
    """Print the text of program NAME."""
    path = library.find(name)
    text = library.read(path)
    if as_json:
        common.print_json({"name": path.stem, "title": library.title(path), "file": str(path), "text": text})
    else:
        click.echo(text, nl=not text.endswith("\n"))
