"""`orion tables`: the lake's tables, read without Spark; compaction."""

import base64
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from orion.app import App, load_settings
from orion.cli.output import JsonFlag, console, print_json, print_table, say
from orion.model import InvalidInputError, OrionError, format_bytes, format_count, format_duration

if TYPE_CHECKING:
    from orion.lake import TableFacts, Version

commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Tables of the lake: list, describe, history, rows, compaction.",
)

# Commits that `describe` shows; `history` shows more.
_LAST_COMMITS = 5
_CELL_WIDTH = 40


def complete_table(incomplete: str) -> list[str]:
    """Return the tables that begin so."""
    try:
        names = App(load_settings()).lake.names()
    except OrionError:
        return []
    return [name for name in names if name.startswith(incomplete)]


TableName = Annotated[str, typer.Argument(help="The table.", autocompletion=complete_table)]


@commands.command("list")
def list_tables(as_json: bool = JsonFlag) -> None:
    """List tables with rows, files, size and version.

    Example: `orion tables list`
    """
    lake = App(load_settings()).lake
    if not lake.is_local:
        raise InvalidInputError(
            f"The tables of the remote lake {lake.path} cannot be listed.",
            fix="Name one: orion tables describe TABLE",
        )
    tables = [lake.get(name) for name in lake.names()]
    if as_json:
        print_json([_facts_json(table) for table in tables])
        return
    rows = [
        (t.name, _count(t.rows), t.files, format_bytes(t.size_bytes), t.version) for t in tables
    ]
    empty = f"No tables in {lake.path} yet. Write one with: orion.to_table(df, 'name')"
    print_table(("TABLE", "ROWS>", "FILES>", "SIZE>", "VERSION>"), rows, empty=empty)


@commands.command("describe")
def describe_table(table: TableName, as_json: bool = JsonFlag) -> None:
    """Show a table's columns, partitions and last commits.

    Example: `orion tables describe orders_silver`
    """
    lake = App(load_settings()).lake
    facts, commits = lake.get(table), lake.history(table, limit=_LAST_COMMITS)
    if as_json:
        print_json(_facts_json(facts) | {"commits": [asdict(commit) for commit in commits]})
        return
    lines = (
        ("Table", facts.name),
        ("Path", facts.path),
        ("Rows", _count(facts.rows)),
        ("Files", f"{format_count(facts.files)}, {format_bytes(facts.size_bytes)}"),
        ("Version", str(facts.version)),
        ("Partitions", ", ".join(facts.partition_by) or "none"),
    )
    for name, value in lines:
        console.print(Text.assemble((f"{name:<11}", "bold"), value))
    console.print()
    print_table(("COLUMN", "TYPE"), facts.columns)
    console.print()
    _print_commits(commits)


@commands.command("history")
def show_history(
    table: TableName,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="How many, newest first.")
    ] = 20,
    as_json: bool = JsonFlag,
) -> None:
    """Show a table's commits, newest first; each version can be read by `show --version`.

    Example: `orion tables history orders_silver -n 5`
    """
    commits = App(load_settings()).lake.history(table, limit=count)
    if as_json:
        print_json([asdict(commit) for commit in commits])
    else:
        _print_commits(commits)


@commands.command("compact")
def compact_table(
    table: TableName,
    vacuum_hours: Annotated[
        int | None,
        typer.Option(
            "--vacuum-hours", min=1, help="Also delete files unused for so long (168: a week)."
        ),
    ] = None,
    as_json: bool = JsonFlag,
) -> None:
    """Join small files into large ones; the rows stay the same. Queries may go on writing.

    Old files stay, so that earlier versions can be read, until --vacuum-hours deletes them.

    Example: `orion tables compact orders_silver --vacuum-hours 168`
    """
    lake = App(load_settings()).lake
    before = lake.get(table)
    done = lake.compact(table, keep_hours=vacuum_hours)
    after = lake.get(table)
    deleted = done.get("filesVacuumed")
    if as_json:
        body = {"before": _facts_json(before), "after": _facts_json(after)}
        print_json({"table": table, **body, "files_deleted": deleted})
        return
    rows = [
        (label, _count(facts.rows), facts.files, format_bytes(facts.size_bytes), facts.version)
        for label, facts in (("before", before), ("after", after))
    ]
    print_table(("", "ROWS>", "FILES>", "SIZE>", "VERSION>"), rows)
    if deleted is not None:
        say(f"Deleted {format_count(deleted)} file(s) that no version of that age needs.")


@commands.command("show")
def show_rows(
    table: TableName,
    count: Annotated[int, typer.Option("--count", "-n", min=0, help="How many rows.")] = 10,
    version: Annotated[
        int | None, typer.Option("--version", min=0, help="As the table was at this version.")
    ] = None,
    as_json: bool = JsonFlag,
) -> None:
    """Show rows of a table, in no order; `_` columns, the record's facts, only with --json.

    Example: `orion tables show orders_silver -n 5 --version 3`
    """
    found = App(load_settings()).lake.read(table, limit=count, version=version)
    rows: list[dict[str, Any]] = found.to_pylist()
    if as_json:
        print_json([{name: _plain(value) for name, value in row.items()} for row in rows])
        return
    columns = [name for name in found.column_names if not name.startswith("_")]
    cells = [[_cell(row[name]) for name in columns] for row in rows]
    print_table(columns, cells, empty="The table has no rows.")


def _print_commits(commits: "Sequence[Version]") -> None:
    now_ms = time.time() * 1_000
    rows = [
        (
            commit.version,
            _time(commit.timestamp_ms),
            format_duration(max(0.0, now_ms - commit.timestamp_ms)),
            commit.operation,
            _count(commit.rows),
        )
        for commit in commits
    ]
    print_table(("VERSION>", "TIME", "AGE>", "OPERATION", "CHANGED ROWS>"), rows)


def _facts_json(facts: "TableFacts") -> dict[str, Any]:
    columns = [{"name": name, "type": kind} for name, kind in facts.columns]
    return asdict(facts) | {"columns": columns}


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= _CELL_WIDTH else text[: _CELL_WIDTH - 1] + "…"


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; bytes that are not text in base64."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


def _count(number: int | None) -> str:
    return "-" if number is None else format_count(number)


def _time(instant_ms: int) -> str:
    when = datetime.fromtimestamp(instant_ms / 1_000, UTC).astimezone()
    return when.strftime("%Y-%m-%d %H:%M:%S")
