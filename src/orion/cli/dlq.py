"""`orion dlq`: records that queries could not read, and sending them back."""

import json
import time
from collections import Counter, deque
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from orion.app import App, load_settings
from orion.cli.confirm import confirm
from orion.cli.output import JsonFlag, console, print_json, print_table, say
from orion.model import (
    NotFoundError,
    OrionError,
    format_bytes,
    format_count,
    format_duration,
    nearest,
)

if TYPE_CHECKING:
    from orion.log import DeadLetter, DeadLetterSummary

commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Dead letters: records a query could not read; show them, send them back.",
)

# Enough of a value to recognise it, three lines of a narrow terminal.
_PREVIEW_BYTES = 160
# Rows that could not be written never lay in a topic.
_NOWHERE = "nowhere (rows)"


class NoDeadLettersError(NotFoundError):
    """Raised when a query has no dead-letter topic."""

    def __init__(self, query: str, known: list[str]) -> None:
        self.query = query
        every = "See which queries have dead letters with: orion dlq list"
        super().__init__(
            f"Query '{query}' has no dead letters.", fix=f"{nearest(query, known)} {every}".strip()
        )


def complete_dead_query(incomplete: str) -> list[str]:
    """Return the queries with a dead-letter topic that begin so; silent without a broker."""
    try:
        app = App(load_settings())
        app.connection.require(timeout_s=0.8)
        names = app.dead_letters.queries()
    except OrionError:
        return []
    return [name for name in names if name.startswith(incomplete)]


QueryName = Annotated[str, typer.Argument(help="The query.", autocompletion=complete_dead_query)]


@commands.command("list")
def list_dead_letters(as_json: bool = JsonFlag) -> None:
    """List queries with dead letters; WAITING were not sent back yet.

    OLDEST and NEWEST are the ages of the original records.

    Example: `orion dlq list`
    """
    letters = App(load_settings()).dead_letters
    every = [letters.summarize(query) for query in letters.queries()]
    found = [summary for summary in every if summary.total]
    if as_json:
        print_json([_summary_json(summary) for summary in found])
        return
    rows = [
        (
            summary.query,
            format_count(summary.total),
            format_count(summary.waiting),
            _age(summary.oldest_ms),
            _age(summary.newest_ms),
            next(iter(summary.reasons)),
        )
        for summary in found
    ]
    columns = ("QUERY", "LETTERS>", "WAITING>", "OLDEST>", "NEWEST>", "MOST COMMON REASON")
    print_table(columns, rows, empty="No dead letters: every record could be read.")


@commands.command("show")
def show_dead_letters(
    query: QueryName,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, help="How many, the newest ones.")
    ] = 10,
    waiting: bool = typer.Option(False, "--waiting", help="Only those not sent back yet."),
    as_json: bool = JsonFlag,
) -> None:
    r"""Show dead letters: where each record lay, why it could not be read, and its bytes.

    Bytes that are not UTF-8 are shown in hexadecimal, control characters as \n or \x00. With
    --json the whole record is printed, in base64 where it is not text.

    Example: `orion dlq show shop-big_orders -n 3`
    """
    letters = App(load_settings()).dead_letters
    _require(letters.queries(), query)
    wanted = (letter for letter in letters.read(query) if not (waiting and letter.redriven))
    found = deque(wanted, maxlen=count)
    if as_json:
        print_json([_letter_json(letter) for letter in found])
        return
    if not found:
        say("No dead letters." if not waiting else "No dead letter is waiting.")
    for letter in found:
        _print_letter(letter)


@commands.command("redrive")
def redrive_dead_letters(
    query: QueryName,
    limit: Annotated[
        int | None, typer.Option("--max", min=1, help="At most so many, the oldest first.")
    ] = None,
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = JsonFlag,
) -> None:
    """Write dead letters back to the topic and partition they came from; asks first.

    Each record goes back once, as it was to the byte: key, value, headers, time. Do it after the
    reason is gone: a record that still cannot be read becomes a dead letter again. Every reader
    of the topic sees the record a second time.

    Example: `orion dlq redrive shop-big_orders --max 100 --yes`
    """
    letters = App(load_settings()).dead_letters
    _require(letters.queries(), query)
    waiting = (letter for letter in letters.read(query) if not letter.redriven)
    plan = Counter((_target(letter), letter.reason) for letter in islice(waiting, limit))
    if not plan:
        _tell(query, 0, as_json)
        return
    if not as_json:
        rows = [(format_count(n), topic, reason) for (topic, reason), n in plan.most_common()]
        print_table(("RECORDS>", "BACK TO", "REASON"), rows)
    records = sum(n for (target, _), n in plan.items() if target != _NOWHERE)
    confirm(f"Write {format_count(records)} record(s) back?", yes=yes)
    # What has come since the plan was shown was not agreed to.
    _tell(query, letters.redrive(query, limit=plan.total()), as_json)


def _target(letter: "DeadLetter") -> str:
    return _NOWHERE if letter.is_row else letter.record.topic


def preview(value: bytes | None) -> str:
    r"""Return bytes on one line: text with escapes, or hexadecimal where they are not UTF-8.

    >>> preview(b"a\nb"), preview(b"\xff\x00"), preview(None), preview(b"")
    ('a\\nb', 'hex ff00', 'null', 'empty')
    """
    if not value:
        return "null" if value is None else "empty"
    try:
        text = value.decode()
    except UnicodeDecodeError:
        shown = value[: _PREVIEW_BYTES // 2]
        return f"hex {shown.hex()}{_more(len(value), len(shown))}"
    shown_text = text[:_PREVIEW_BYTES]
    escaped = "".join(c if c.isprintable() else repr(c)[1:-1] for c in shown_text)
    return escaped + _more(len(value), len(shown_text.encode()))


def _more(size: int, shown: int) -> str:
    return f" … ({format_bytes(size)})" if size > shown else ""


def _require(known: list[str], query: str) -> None:
    if query not in known:
        raise NoDeadLettersError(query, known)


def _tell(query: str, count: int, as_json: bool) -> None:
    if as_json:
        print_json({"query": query, "redriven": count})
    elif count:
        say(f"Wrote {format_count(count)} record(s) back, each once.")
    else:
        say(f"No dead letter of query '{query}' is waiting; nothing was written.")


def _print_letter(letter: "DeadLetter") -> None:
    topic, partition, offset = letter.place
    record = letter.record
    state = ("sent back", "green") if letter.redriven else ("waiting", "yellow")
    head = (f"{topic}[{partition}] offset {offset}", "bold")
    if letter.is_row:
        head, state = (f"a row for {topic}", "bold"), ("cannot be sent back", "yellow")
    console.print(Text.assemble(head, f"  {_time(record.timestamp_ms)}  ", state))
    headers = ", ".join(f"{name}={preview(value)}" for name, value in record.headers)
    facts = (("reason", letter.reason), ("key", preview(record.key)), ("headers", headers))
    for name, text in (*facts, ("value", preview(record.value))):
        if text:
            console.print(Text.assemble((f"  {name:<8}", "dim"), text))


def _summary_json(summary: "DeadLetterSummary") -> dict[str, Any]:
    return {
        "query": summary.query,
        "total": summary.total,
        "waiting": summary.waiting,
        "oldest_ms": summary.oldest_ms,
        "newest_ms": summary.newest_ms,
        "reasons": dict(summary.reasons),
    }


def _letter_json(letter: "DeadLetter") -> dict[str, Any]:
    from orion.log import encode_line

    body: dict[str, Any] = json.loads(encode_line(letter.record))
    facts = {"query": letter.query, "reason": letter.reason, "redriven": letter.redriven}
    return body | facts


def _time(instant_ms: int | None) -> str:
    if not instant_ms:
        return "-"
    when = datetime.fromtimestamp(instant_ms / 1_000, UTC).astimezone()
    return when.strftime("%Y-%m-%d %H:%M:%S")


def _age(instant_ms: int | None) -> str:
    return format_duration(max(0.0, time.time() * 1_000 - instant_ms)) if instant_ms else "-"
