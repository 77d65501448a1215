"""Queries as people see them: two lines a query in a list, everything about one in a page."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from orion.cli.output import console, print_table
from orion.model import QueryStatus, State, format_bytes, format_count, format_duration

if TYPE_CHECKING:
    from orion.log import DeadLetterSummary, Group

_COLOURS = {
    State.RUNNING: "green",
    State.STARTING: "cyan",
    State.RESTARTING: "yellow",
    State.STOPPED: "dim",
    State.FAILED: "bold red",
    State.LOST: "bold red",
}
_COLUMNS = ("STATE", "LAG", "BEHIND", "RATE", "RESTARTS")
_WIDTHS = (10, 9, 8, 9, 8)
_GAP = 2


def query_json(status: QueryStatus, group: "Group | None") -> dict[str, Any]:
    """Return a query with its lag, for scripts."""
    lag = {
        "lag_records": group.lag_records if group else None,
        "lag_seconds": group.lag_seconds if group else None,
    }
    return status.to_dict() | lag


def print_queries(found: Sequence[tuple[QueryStatus, "Group | None"]]) -> None:
    """Print two lines a query: how it is, then what it does."""
    space = console.width - sum(_WIDTHS) - _GAP * len(_WIDTHS)
    width = max(12, min(space, max(len(status.name) for status, _ in found)))
    console.print(_line(Text("QUERY", "bold"), width, [Text(c, "bold") for c in _COLUMNS]))
    for status, group in found:
        cells = [
            state_text(status.state),
            Text(lag_text(group)),
            Text(behind_text(group)),
            Text(rate_text(status)),
            Text(str(status.restarts)),
        ]
        name = Text(status.name)
        if len(status.name) > width:
            console.print(name)
            name = Text("")
        console.print(_line(name, width, cells))
        console.print(Text(f"  {path_text(status)}, {status.mode}, app {status.app}", "dim"))
        if status.error and status.state is not State.RUNNING:
            console.print(Text(f"  {status.error}", "red"))


def print_query(
    status: QueryStatus, group: "Group | None", letters: "DeadLetterSummary | None"
) -> None:
    """Print all that is known of one query."""
    now_ms = time.time() * 1_000
    facts: list[tuple[str, Text]] = [
        ("Query", Text(status.name)),
        ("App", Text(f"{status.app} (pid {status.pid})")),
        ("State", _state_since(status, now_ms)),
        ("Reads", Text(", ".join(status.sources) or "-")),
        ("Writes", Text(status.sink or "-")),
        ("Mode", Text(str(status.mode))),
        ("Guarantee", Text(status.guarantee or "none stated: Orion does not write its output")),
        ("Checkpoint", Text(status.checkpoint or "-")),
        ("Progress", Text(f"batch {status.batch}, {rate_text(status)}")),
        ("State kept", Text(_kept_text(status))),
        ("Late", Text(_late_text(status))),
        ("Restarts", Text(str(status.restarts))),
        ("Dead letters", Text(_letters_text(letters))),
        ("Last word", Text(f"{format_duration(max(0.0, now_ms - status.updated_ms))} ago")),
    ]
    if status.error:
        facts.insert(3, ("Error", Text(status.error, "red")))
    page = Table.grid(padding=(0, 1))
    for name, value in facts:
        page.add_row(Text(name, "bold"), value)
    console.print(page)
    if group is not None:
        console.print()
        print_offsets(group)


def print_offsets(group: "Group") -> None:
    """Print how far the query's consumer group is in each partition."""
    rows = [
        (
            p.topic,
            p.partition,
            p.committed,
            p.end_offset,
            "-" if p.lag_records is None else format_count(p.lag_records),
            _seconds(p.lag_seconds),
        )
        for p in group.partitions
    ]
    print_table(("TOPIC", "PART>", "COMMITTED>", "END>", "LAG>", "BEHIND>"), rows)


def state_text(state: State) -> Text:
    """Return a state in its colour."""
    return Text(str(state), _COLOURS[state])


def path_text(status: QueryStatus) -> str:
    """Return what a query reads and writes."""
    return f"{', '.join(status.sources) or '?'} -> {status.sink or '?'}"


def lag_text(group: "Group | None") -> str:
    """Return the lag in records."""
    if group is None or group.lag_records is None:
        return "-"
    return format_count(group.lag_records)


def behind_text(group: "Group | None") -> str:
    """Return the lag in seconds."""
    return _seconds(group.lag_seconds if group else None)


def rate_text(status: QueryStatus) -> str:
    """Return the records a second of the last batch."""
    return f"{format_count(status.records_per_second)}/s"


def _line(name: Text, width: int, cells: Sequence[Text]) -> Text:
    """Join cells of fixed widths; the state is the only one that is left-aligned."""
    line = name.copy()
    line.append(" " * (width - len(name)))
    for position, (cell, cell_width) in enumerate(zip(cells, _WIDTHS, strict=True)):
        padding = " " * (cell_width - len(cell))
        line.append(" " * _GAP)
        line.append_text(Text.assemble(*((cell, padding) if position == 0 else (padding, cell))))
    line.rstrip()
    return line


def _state_since(status: QueryStatus, now_ms: float) -> Text:
    since_ms = status.started_ms if status.state is State.RUNNING else status.updated_ms
    if not since_ms:
        return state_text(status.state)
    return Text.assemble(
        state_text(status.state), f" for {format_duration(max(0.0, now_ms - since_ms))}"
    )


def _kept_text(status: QueryStatus) -> str:
    if not status.state_bytes:
        return "-"
    return f"{format_count(status.state_entries)} entries, {format_bytes(status.state_bytes)}"


def _late_text(status: QueryStatus) -> str:
    if status.watermark_ms is None:
        return "-"
    reached = datetime.fromtimestamp(status.watermark_ms / 1000, UTC).isoformat(" ", "seconds")
    where = f" into topic {status.late_topic}" if status.late_topic else ""
    return f"{format_count(status.late_records)} dropped{where}, windows have come to {reached}"


def _letters_text(letters: "DeadLetterSummary | None") -> str:
    if letters is None or not letters.total:
        return "none"
    return f"{format_count(letters.total)}, {format_count(letters.waiting)} not redriven"


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return format_duration(seconds * 1_000) if seconds else "0s"
