"""The command line `tinygpu`: its commands by name, loaded when used, and one place for errors."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

# Name, and the line that `--help` shows for it: known without importing the command.
COMMANDS = {
    "run": "Run a program on a machine, check its result, say where the time went.",
    "asm": "Assemble a program and list its instructions.",
    "dis": "Print a program with physical registers, as text that assembles again.",
    "isa": "Print the reference page of an instruction, or all in one line each.",
    "machine": "List the machines, or show one with unit and origin of every value.",
    "programs": "List the programs that are shipped, or show one.",
    "doctor": "Look for what could keep tinygpu from working here.",
}


class LazyCommands(click.Group):
    """A group that imports a command when it is needed, and helps with names that are nearly right."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order in which they are of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f".commands.{cmd_name}", __package__).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest name when there is no such command."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            raise click.UsageError(f"there is no command {args[0]!r}; {_nearest_command(args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Names and lines, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _nearest_command(name: str) -> str:
    close = difflib.get_close_matches(name, COMMANDS, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    if name.endswith(".s"):
        return f"did you mean `tinygpu run {name}`?"
    return f"there are {', '.join(COMMANDS)}"


def _version(ctx: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"tinygpu {version('tinygpu-sim')}")
        ctx.exit()


@click.group(cls=LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
              help="Print the version.")  # fmt: skip
def group() -> None:
    """Simulate a small GPU, cycle by cycle.

    `tinygpu run matmul` runs a program that is shipped; `tinygpu COMMAND --help` says more.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 fine, 1 wrong result, 2 bad input, 3 limit, 4 missing, 130 Ctrl-C."""
    sys.exit(invoke(arguments))


def invoke(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code. Words about errors go to stderr, never a traceback."""
    try:
        code = group.main(args=arguments, prog_name="tinygpu", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (BrokenPipeError, SystemExit):
        # The reader of our output has gone, which click answers with SystemExit.
        _silence_stdout()
        return 0
    except click.exceptions.Exit as finished:
        return finished.exit_code
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        # Its message is the help, which is no error's words.
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        return _usage(error)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("tinygpu"):
            raise
        complain(f"the package {error.name} is missing", "`tinygpu doctor` says what else is")
        return 4
    except OSError as error:
        return _operating_system(error)
    except UnicodeDecodeError as error:
        complain(f"a file is not a text in UTF-8: byte {error.start}: {error.reason}")
        return 2
    except MemoryError as error:
        complain(f"not enough memory on this computer: {str(error).lower() or 'the run is too large'}")
        return 3
    except Exception as error:
        # The tree of errors is imported only now that there is one, so that --help stays quick.
        from .isa.errors import TinygpuError

        if not isinstance(error, TinygpuError):
            raise
        complain(error.message, error.hint)
        return error.exit_code


def _silence_stdout() -> None:
    """Nothing may be written at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: click.ClickException) -> int:
    """A mistake in the command's words: what, and where to read on."""
    path = "tinygpu"
    context: Any = getattr(error, "ctx", None)
    if context is not None:
        path = context.command_path
    message = error.format_message().rstrip(".")
    complain(message[:1].lower() + message[1:] if message[1:2].islower() else message)
    click.echo(f"    `{path} --help` says how to use it", err=True)
    return 2


def _operating_system(error: OSError) -> int:
    """A file that cannot be read or written."""
    name = f"{error.filename}: " if error.filename else ""
    complain(f"{name}{(error.strerror or str(error)).lower()}")
    return 2


def complain(message: str, hint: str = "") -> None:
    """An error in words, on stderr; one that already says where it is stands as it is."""
    located = ": error: " in message.split("\n")[0]
    click.echo(message if located else f"error: {message}", err=True)
    if hint:
        click.echo("    hint: " + hint.replace("\n", "\n    "), err=True)
