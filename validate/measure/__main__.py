"""Measures the GPU present: `python -m tinygpu.validate.measure --record FILE` runs every experiment once."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tinygpu.isa.errors import InputError, TinygpuError
from tinygpu.validate.measure import campaign, code
from tinygpu.validate.measure.experiments import GROUPS
from tinygpu.validate.measure.record import write

CHOICES = (*GROUPS, "special")


def chosen(text: str) -> tuple[str, ...]:
    """Group names from a list with commas; none for an empty text; InputError for an unknown one."""
    groups = tuple(name for name in text.split(",") if name)
    for name in groups:
        if name not in CHOICES:
            raise InputError(f"unknown group {name!r}", hint="groups: " + ", ".join(CHOICES))
    return groups


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; exit code 0, 1 when something could not be measured, else that of the error."""
    parser = argparse.ArgumentParser(prog="python -m tinygpu.validate.measure", description=__doc__)
    parser.add_argument("--record", type=Path, required=True, help="file to write")
    parser.add_argument("--groups", default=",".join(CHOICES), help="which groups, with commas")
    parser.add_argument("--counters", action="store_true", help="read hardware counters too, through ncu")
    parser.add_argument("--code", type=Path, help="file for the machine code of the benchmarks")
    parser.add_argument("--single", action="store_true", help="all groups in this process")
    options = parser.parse_args(arguments)
    try:
        groups = chosen(options.groups)
        if options.single:
            result = campaign.record(
                groups, lambda line: print(line, file=sys.stderr, flush=True), options.record
            )
        else:
            result = campaign.each_alone(groups, options.record)
        if options.counters:
            campaign.profiled(result)
            write(result, options.record)
        if options.code:
            options.code.write_text(json.dumps(code.collect(), indent=0), encoding="utf-8")
    except TinygpuError as error:
        print(f"error: {error.message}\n{error.hint}".rstrip(), file=sys.stderr)
        return error.exit_code
    for name, why in result.get("failures", {}).items():
        print(f"failed: {name}: {why}", file=sys.stderr)
    return 1 if result.get("failures") else 0


if __name__ == "__main__":
    raise SystemExit(main())
