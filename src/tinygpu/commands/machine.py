"""`tinygpu machine`: lists the machines, or shows one with value, unit, origin and meaning of each key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from . import common

if TYPE_CHECKING:
    from ..sim.machinefile import Machine

# The unit is the end of a key's name.
UNITS = (
    ("gigabytes_per_second", "GB/s"), ("bytes_per_cycle", "B/cycle"), ("_quarters", "1/4 cycle"),
    ("_cycles", "cycles"), ("bytes", "B"), ("_mhz", "MHz"), ("_ns", "ns"), ("_us", "µs"),
    ("reads_per_cycle", "1/cycle"),
)  # fmt: skip


def unit(key: str) -> str:
    """The unit of a key's value, empty for a count or a word."""
    return next((word for end, word in UNITS if key.endswith(end)), "")


def rows(machine: Machine, under: str = "") -> list[dict[str, Any]]:
    """key, value, unit, origin, source, meaning of every value, or of those under a section or key."""
    from ..sim import machinefile

    found = []
    for key in machinefile.known_keys():
        if under and key != under and not key.startswith(under + "."):
            continue
        origin = machine.origins[key]
        value = machinefile.value_of(machine.spec, key)
        found.append(
            {
                "key": key,
                "value": list(value) if isinstance(value, tuple) else value,
                "unit": unit(key),
                "origin": origin.word,
                "source": origin.source,
                "meaning": machinefile.describe(key),
            }
        )
    return found


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@common.json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the machines (`tinygpu machine`), or show one (`tinygpu machine show h200`)."""
    if ctx.invoked_subcommand is None:
        _list(as_json)


@command.command("list")
@common.json_option
def list_(as_json: bool) -> None:
    """List the machines that are shipped."""
    _list(as_json)


def _list(as_json: bool) -> None:
    from ..sim import machinefile

    loaded = [machinefile.load(name) for name in machinefile.names()]
    if as_json:
        found = [
            {"name": m.spec.name, "title": m.spec.title, "sms": m.spec.device.sms, "file": str(m.path)}
            for m in loaded
        ]
        common.print_json({"machines": found})
    else:
        common.print_table((m.spec.name, m.spec.title) for m in loaded)


@command.command("show")
@click.argument("name")
@click.argument("key", required=False, default="")
@click.option("--set", "set_", metavar="KEY=VALUE", multiple=True, help="Another value, such as l1.ways=8.")
@common.json_option
def show(name: str, key: str, set_: tuple[str, ...], as_json: bool) -> None:
    """Show machine NAME (or a file), all of it or what is under KEY, such as `l1` or `timing.fp32`."""
    from ..isa.errors import InputError
    from ..isa.parse_report import did_you_mean
    from ..sim import machinefile

    machine = machinefile.load(name, list(set_))
    found = rows(machine, key)
    if not found:
        known = machinefile.known_keys()
        parts = {k.rpartition(".")[0] for k in known} | {k.partition(".")[0] for k in known} | set(known)
        raise InputError(f"a machine has no {key}", hint=did_you_mean(key, sorted(parts)))
    if as_json:
        common.print_json({"name": machine.spec.name, "title": machine.spec.title, "values": found})
        return
    if not key:
        click.echo(f"{machine.spec.name}: {machine.spec.title}\n")
    common.print_table([("key", "value", "unit", "origin", "meaning"), *map(_cells, found)])


def _cells(row: dict[str, Any]) -> tuple[str, str, str, str, str]:
    value = row["value"]
    if isinstance(value, list):
        text = " ".join(map(str, value))
    elif isinstance(value, bool):
        text = str(value).lower()
    else:
        text = str(value)
    source = f" [{row['source']}]" if row["source"] else ""
    return row["key"], text, row["unit"], row["origin"], row["meaning"] + source
