"""The `orion` command: every noun in one tree, and one place where errors become words."""

import atexit
import importlib
import os
import sys
from typing import NoReturn

import typer

from orion import __version__
from orion.cli.output import fail
from orion.model import OrionError

# Modules a noun, in the order of the help; each holds a Typer named `commands`.
TOP_LEVEL = ("platform", "run", "sql", "test", "demo")
NOUNS = (
    "topics",
    "schemas",
    "groups",
    "queries",
    "dlq",
    "tables",
    "broker",
    "jars",
    "config",
    "doctor",
)

app = typer.Typer(
    name="orion",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    epilog="Start with: orion up --detach, then orion status. Every --help has an example.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"orion {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Orion: a real Kafka log, Spark pipelines and lake tables, here or on your clusters."""


for _noun in (*TOP_LEVEL, *NOUNS):
    _module = importlib.import_module(f"orion.cli.{_noun}")
    if _noun in TOP_LEVEL:
        app.add_typer(_module.commands)
    else:
        app.add_typer(_module.commands, name=_noun)


def main() -> None:
    """Run a command, and end the process with its exit code."""
    try:
        _run()
    except SystemExit as end:
        if {"py4j", "duckdb"} & sys.modules.keys() and not isinstance(end.code, str):
            leave(end.code or 0)
        raise


def _run() -> None:
    """Run a command; an error a user can cause becomes a sentence and an exit code."""
    try:
        app()
    except OrionError as error:
        fail(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


def leave(code: int) -> NoReturn:
    """End without taking the interpreter apart.

    Threads that wait for Spark's calls keep alive what they last called, and DuckDB prints pages
    on what is still alive when it is taken apart.
    """
    atexit._run_exitfuncs()  # noqa: SLF001
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
