"""The balance sheet for people, and where to look next."""

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from orion.app import App
from orion.demo.books import Books
from orion.demo.project import APP_NAME, PIPELINE, SCRIPT
from orion.demo.show import Outcome
from orion.model import format_count


def print_sheet(console: Console, outcome: Outcome) -> None:
    """Print both halves of the books, then the verdict."""
    console.print(Text("\nNothing is lost: every record is in a table or set aside.", style="bold"))
    console.print(_intakes(outcome.books))
    console.print(Text("\nNothing is doubled: ledger, topic and table agree.", style="bold"))
    console.print(_results(outcome.books))
    console.print()
    for text in outcome.books.differences:
        console.print(Text.assemble(("difference: ", "bold red"), text))
    kill = f", after {outcome.strikes} kill of the engine" if outcome.strikes else ""
    if outcome.books.differences:
        count = len(outcome.books.differences)
        verdict = Text(f"The books do NOT balance: {count} difference(s){kill}.", "bold red")
    else:
        rows = sum(result.ledger for result in outcome.books.results)
        verdict = Text(
            f"The books balance: {format_count(rows)} rows compared one by one{kill},"
            f" {outcome.seconds:.0f} s in all.",
            "bold green",
        )
    console.print(verdict)


def print_tour(console: Console, app: App, folder: Path) -> None:
    """Print how to look around in a platform that was left running."""
    console.print(Text("\nThe platform is still running. Look around:", style="bold"))
    console.print(f"  export ORION_PROJECT={folder}", markup=False, soft_wrap=True)
    for command, meaning in (
        ("orion status", f"the processes; Kafka is at {app.settings.kafka.addresses}"),
        ("orion queries list", "the eight queries and their lag"),
        ("orion sql -e \"SELECT * FROM users WHERE user_id = 'u00007';\"", "a row of a table"),
        ("orion topics consume top_songs -b -n 5", "the figures as they changed"),
        (f"orion dlq show {APP_NAME}-bronze.plays -n 5", "what could not be read, and why"),
        ("orion tables show gold/top_songs", "rows of a table"),
        ("orion logs engine", "what the engine says"),
        ("orion down", "stop everything"),
    ):
        # A line each, unbroken: they are there to be copied.
        console.print(f"  {command}", markup=False, soft_wrap=True)
        console.print(f"      {meaning}", style="dim", markup=False, soft_wrap=True)
    for name, file in (("SQL", SCRIPT), ("lake's pipeline", PIPELINE)):
        console.print(f"The {name} is {folder / file}", soft_wrap=True)


def _intakes(books: Books) -> Table:
    table = _table("TOPIC", "PRODUCED", "IN TOPIC", "IN TABLE", "REPLACED", "DEAD LETTERS", "")
    for part in books.intakes:
        numbers = (part.produced, part.in_topic, part.in_table, part.replaced, part.dead_letters)
        table.add_row(
            part.topic, *(format_count(number) for number in numbers), _mark(part.differences)
        )
    return table


def _results(books: Books) -> Table:
    table = _table("RESULT", "LEDGER", "TOPIC", "TABLE", "")
    for part in books.results:
        numbers = (part.ledger, part.in_topic, part.in_table)
        table.add_row(
            part.name, *(format_count(number) for number in numbers), _mark(part.differences)
        )
    return table


def _table(first: str, *numbers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _mark(differences: tuple[str, ...]) -> Text:
    return Text("differs", "bold red") if differences else Text("ok", "green")
