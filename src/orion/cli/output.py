"""What commands print: tables for people, JSON for scripts, errors with their fix."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from orion.model import OrionError

JsonFlag = typer.Option(False, "--json", help="Print JSON for scripts instead of a table.")

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """Print a value as JSON: one document, indented on a terminal, compact in a pipe."""
    indent = 2 if sys.stdout.isatty() else None
    sys.stdout.write(json.dumps(value, indent=indent, ensure_ascii=False, default=str) + "\n")


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "Nothing to show."
) -> None:
    """Print rows under columns; a column whose name ends in `>` is right-aligned."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        right = column.endswith(">")
        table.add_column(
            column.removesuffix(">"), justify="right" if right else "left", overflow="fold"
        )
    count = 0
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
        count += 1
    console.print(table if count else Text(empty, style="dim"))


def _cell(value: object) -> Text:
    return value if isinstance(value, Text) else Text("-" if value is None else str(value))


def say(text: str) -> None:
    """Print a line about what was done."""
    console.print(Text(text))


def warn(text: str) -> None:
    """Print a warning beside the output."""
    errors.print(Text.assemble(("warning: ", "bold yellow"), text))


def fail(error: OrionError) -> None:
    """Print an error and its fix; as JSON where the command was asked for JSON."""
    if "--json" in sys.argv:
        body = {"error": type(error).__name__, "message": error.text, "fix": error.fix}
        sys.stderr.write(json.dumps(body, ensure_ascii=False) + "\n")
        return
    errors.print(Text.assemble(("error: ", "bold red"), error.text))
    if error.fix:
        errors.print(Text.assemble(("  fix: ", "bold"), error.fix))
