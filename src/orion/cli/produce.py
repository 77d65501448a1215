"""`orion topics produce`: records from options, lines of text or lines of JSON."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orion.app import App, load_settings
from orion.cli.completion import complete_topic
from orion.cli.options import with_options
from orion.cli.output import JsonFlag, errors, print_json, say, warn
from orion.model import InvalidInputError, OrionError, format_count, parse_instant_ms

if TYPE_CHECKING:
    from orion.log import Failure, ProduceError, Record

_SHOWN_FAILURES = 5


@dataclass(frozen=True)
class ProduceOptions:
    """What to write, and what every record gets."""

    value: Annotated[
        str | None, typer.Option("--value", "-v", help="One record's value, instead of lines.")
    ] = None
    key: Annotated[str | None, typer.Option("--key", "-k", help="The key of every record.")] = None
    tombstone: Annotated[
        bool, typer.Option("--tombstone", help="A null value: deletes --key from a table.")
    ] = False
    key_separator: Annotated[
        str | None, typer.Option("--key-separator", "-K", help="What stands between key and value.")
    ] = None
    json_lines: Annotated[
        bool, typer.Option("--json-lines", help="Lines are what `consume --json` prints.")
    ] = False
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", help="name=value; repeatable.")
    ] = None
    timestamp: Annotated[
        str | None, typer.Option("--timestamp", help="Milliseconds, 10m (ago) or a date.")
    ] = None
    partition: Annotated[
        int | None, typer.Option("--partition", "-p", min=0, help="Default: by the key.")
    ] = None
    failed: Annotated[
        Path | None, typer.Option("--failed", help="File for JSON lines of what was not written.")
    ] = None
    internal: Annotated[
        bool, typer.Option("--internal", help="Allow an internal topic (`_…`).")
    ] = False


class LineWithoutKeyError(InvalidInputError):
    """Raised when a line lacks the separator of key and value."""

    def __init__(self, line: int, separator: str) -> None:
        self.line, self.separator = line, separator
        super().__init__(
            f"Line {line} has no key separator '{separator}'.",
            fix=f"Write it as key{separator}value, or choose another --key-separator.",
        )


@with_options
def produce_records(
    topic: Annotated[str, typer.Argument(help="The topic.", autocompletion=complete_topic)],
    options: ProduceOptions,
    as_json: bool = JsonFlag,
) -> None:
    """Write records: one by --value, or one a line of the input.

    Ends when every record is acknowledged; what could not be written is reported.

    Example: `orion topics produce orders --key a --value '{"id": 1}'`

    Example: `cat orders.txt | orion topics produce orders --key-separator :`
    """
    from orion.log import ProduceError, ProtectedTopicError, is_internal, produce

    _check(options)
    if is_internal(topic) and not options.internal:
        raise ProtectedTopicError(topic)
    records = _stamped(_records(options), options)
    connection = App(load_settings()).connection
    written = 0
    try:
        with _counter() as show, _failure_file(options.failed) as keep:

            def progress(delivered: int) -> None:
                nonlocal written
                written = delivered
                show(delivered)

            written = produce(connection, topic, records, progress=progress, on_failure=keep)
    except ProduceError as error:
        _report(error)
        raise
    except (OrionError, KeyboardInterrupt):
        if written:
            warn(f"{format_count(written)} record(s) before it were written.")
        raise
    if as_json:
        print_json({"topic": topic, "delivered": written, "failed": 0})
    else:
        noun = "record" if written == 1 else "records"
        say(f"Wrote {format_count(written)} {noun} to topic '{topic}'.")


def _check(options: ProduceOptions) -> None:
    """Refuse options that contradict each other."""
    chosen = {
        "--value": options.value is not None,
        "--tombstone": options.tombstone,
        "--json-lines": options.json_lines,
        "--key-separator": options.key_separator is not None,
    }
    given = [name for name, is_given in chosen.items() if is_given]
    if len(given) > 1:
        raise InvalidInputError(
            f"{' and '.join(given)} exclude each other.", fix="Keep one of them."
        )
    if options.tombstone and options.key is None:
        raise InvalidInputError("A tombstone needs a key.", fix="Add --key with the key to delete.")
    if options.key is not None and given and given[0] in ("--json-lines", "--key-separator"):
        raise InvalidInputError(
            f"--key and {given[0]} exclude each other.", fix="Keep one of them."
        )
    if options.key_separator == "":
        raise InvalidInputError("--key-separator is empty.", fix="Give at least one character.")


def _records(options: ProduceOptions) -> Iterator["Record"]:
    from orion.log import Record, decode_line

    key = _bytes(options.key)
    if options.value is not None or options.tombstone:
        yield Record(_bytes(options.value), key)
        return
    for number, line in enumerate(_lines(), start=1):
        if options.json_lines:
            if line.strip():
                # Where it was read says nothing about where it goes.
                yield replace(decode_line(line, line=number), partition=None, offset=None)
        elif options.key_separator is not None:
            separator = _bytes(options.key_separator) or b""
            found, middle, value = line.partition(separator)
            if not middle:
                raise LineWithoutKeyError(number, options.key_separator)
            yield Record(value, found)
        else:
            yield Record(line, key)


def _lines() -> Iterator[bytes]:
    if sys.stdin.isatty():
        errors.print("Type one record a line; end with Ctrl-D.", style="dim")
    for line in sys.stdin.buffer:
        yield line.removesuffix(b"\n")


def _stamped(records: Iterable["Record"], options: ProduceOptions) -> Iterator["Record"]:
    """Add what the options give to every record."""
    headers = tuple(_header(text) for text in options.header or ())
    timestamp_ms = None if options.timestamp is None else _instant_ms(options.timestamp)
    if not headers and timestamp_ms is None and options.partition is None:
        return iter(records)

    def stamp() -> Iterator["Record"]:
        for record in records:
            yield replace(
                record,
                headers=record.headers + headers,
                timestamp_ms=record.timestamp_ms if timestamp_ms is None else timestamp_ms,
                partition=options.partition,
            )

    return stamp()


def _header(text: str) -> tuple[str, bytes | None]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise InvalidInputError(
            f"Header '{text}' is not understood.", fix="Write it as name=value."
        )
    return name, _bytes(value)


def _instant_ms(text: str) -> int:
    return int(text) if text.isdigit() else parse_instant_ms(text, now_ms=int(time.time() * 1_000))


def _bytes(text: str | None) -> bytes | None:
    # An argument that was not UTF-8 arrives with escapes that give its bytes back.
    return None if text is None else text.encode("utf-8", "surrogateescape")


@contextmanager
def _counter() -> Iterator[Callable[[int], None]]:
    """Show a running count where a person watches a long input."""
    if not errors.is_terminal or sys.stdin.isatty():
        yield lambda _delivered: None
        return
    with errors.status("Writing …") as status:
        yield lambda delivered: status.update(f"Writing … {format_count(delivered)} records")


@contextmanager
def _failure_file(path: Path | None) -> Iterator[Callable[["Failure"], object]]:
    """Write each failed record to a file that `--json-lines` reads."""
    from orion.log import encode_line

    if path is None:
        yield lambda _failure: None
        return
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(
            f"File '{path}' cannot be written: {error.strerror}.", fix="Choose another --failed."
        ) from error
    with file:
        yield lambda failure: file.write(encode_line(failure.record) + "\n")


def _report(error: "ProduceError") -> None:
    from orion.log import encode_line

    for failure in error.failures[:_SHOWN_FAILURES]:
        line = encode_line(failure.record)
        shown = line if len(line) <= 120 else f"{line[:119]}…"
        warn(f"not written: {shown} ({failure.reason})")
