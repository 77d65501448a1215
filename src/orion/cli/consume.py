"""`orion topics consume`: records as lines of text or of JSON."""

import os
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from orion.app import App, load_settings
from orion.cli.completion import complete_topic
from orion.cli.options import with_options
from orion.cli.output import errors
from orion.model import InvalidInputError, format_count, parse_instant_ms

if TYPE_CHECKING:
    from orion.log import Record, Selection, Start

# What a shell reports of a program that SIGPIPE ended.
_PIPE_CLOSED = 141


@dataclass(frozen=True)
class ReadOptions:
    """Where to begin and when to stop."""

    from_beginning: Annotated[
        bool,
        typer.Option("--from-beginning", "-b", help="Begin with the oldest; default unless -f."),
    ] = False
    since: Annotated[
        str | None, typer.Option("--from", help="Begin 10m ago, or at 2026-01-31T18:00.")
    ] = None
    offset: Annotated[
        int | None, typer.Option("--offset", "-o", min=0, help="Begin at an offset.")
    ] = None
    partition: Annotated[
        list[int] | None, typer.Option("--partition", "-p", min=0, help="Only these; repeatable.")
    ] = None
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for new records; end with Ctrl-C.")
    ] = False
    limit: Annotated[
        int | None, typer.Option("--max", "-n", min=0, help="Stop after this many.")
    ] = None
    uncommitted: Annotated[
        bool,
        typer.Option("--uncommitted", help="Show records of open or aborted transactions too."),
    ] = False


@dataclass(frozen=True)
class PrintOptions:
    """What a line shows."""

    key_separator: Annotated[
        str | None, typer.Option("--key-separator", "-K", help="Print the key and this before it.")
    ] = None
    print_key: Annotated[bool, typer.Option("--print-key", help="Print the key and a tab.")] = False
    print_headers: Annotated[bool, typer.Option("--print-headers", help="Print headers.")] = False
    print_timestamp: Annotated[bool, typer.Option("--print-timestamp", help="Print the time.")] = (
        False
    )
    print_offset: Annotated[
        bool, typer.Option("--print-offset", help="Print partition and offset.")
    ] = False
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line, exact to the byte.")
    ] = False


@with_options
def consume_records(
    topic: Annotated[str, typer.Argument(help="The topic.", autocompletion=complete_topic)],
    reading: ReadOptions,
    printing: PrintOptions,
) -> None:
    """Print records: all up to the current end, or new ones as they come (`--follow`).

    Nothing is committed: no group moves. Records of open or aborted transactions are left out.

    Example: `orion topics consume orders --from 10m --max 5 --json`

    Example: `orion topics consume orders --follow --key-separator :`
    """
    from orion.log import consume

    selection = _selection(topic, reading)
    records = consume(App(load_settings()).connection, selection)
    out, count = sys.stdout.buffer, 0
    try:
        for record in records:
            count += 1
            out.write(_line(record, printing) + b"\n")
            if reading.follow:
                out.flush()
        out.flush()
    except BrokenPipeError:
        # The reader has gone: what is still buffered has nowhere to go at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_PIPE_CLOSED)
    except KeyboardInterrupt:
        out.flush()
        if not reading.follow:
            raise
    if errors.is_terminal and not printing.as_json:
        noun = "record" if count == 1 else "records"
        errors.print(f"{format_count(count)} {noun}", style="dim")


def _selection(topic: str, reading: ReadOptions) -> "Selection":
    from orion.log import Selection

    if reading.offset is not None and len(reading.partition or ()) != 1:
        raise InvalidInputError(
            "--offset needs the partition it is in.", fix="Add --partition with one number."
        )
    return Selection(
        topic,
        start=_start(reading),
        partitions=tuple(dict.fromkeys(reading.partition or ())),
        follow=reading.follow,
        limit=reading.limit,
        committed=not reading.uncommitted,
    )


def _start(reading: ReadOptions) -> "Start":
    from orion.log import Start

    chosen = {
        "--from-beginning": reading.from_beginning,
        "--from": reading.since is not None,
        "--offset": reading.offset is not None,
    }
    given = [name for name, is_given in chosen.items() if is_given]
    if len(given) > 1:
        raise InvalidInputError(
            f"{' and '.join(given)} exclude each other.", fix="Keep one of them."
        )
    if reading.offset is not None:
        return Start.offset(reading.offset)
    if reading.since is not None:
        return Start.instant(parse_instant_ms(reading.since, now_ms=int(time.time() * 1_000)))
    if reading.follow and not reading.from_beginning:
        return Start.end()
    return Start.beginning()


def _line(record: "Record", printing: PrintOptions) -> bytes:
    from orion.log import encode_line

    if printing.as_json:
        return encode_line(record).encode()
    parts = []
    if printing.print_timestamp:
        parts.append(_time(record.timestamp_ms).encode())
    if printing.print_offset:
        parts.append(f"{record.partition}:{record.offset}".encode())
    if printing.print_headers:
        parts.append(b",".join(n.encode() + b"=" + _shown(v) for n, v in record.headers))
    if printing.key_separator is not None:
        separator = printing.key_separator.encode("utf-8", "surrogateescape")
        parts.append(_shown(record.key) + separator + _shown(record.value))
    else:
        parts += [_shown(record.key)] if printing.print_key else []
        parts.append(_shown(record.value))
    return b"\t".join(parts)


def _time(timestamp_ms: int | None) -> str:
    if timestamp_ms is None:
        return "-"
    when = datetime.fromtimestamp(timestamp_ms / 1_000, UTC).astimezone()
    return when.isoformat(timespec="milliseconds")


def _shown(value: bytes | None) -> bytes:
    """Return bytes as they are; on a terminal without what could steer it."""
    if value is None:
        return b"null"
    if not sys.stdout.isatty():
        return value
    text = value.decode("utf-8", "backslashreplace")
    safe = (c if c.isprintable() or c in "\t\n" else repr(c)[1:-1] for c in text)
    return "".join(safe).encode()
