"""`kafka-avro-console-producer` and its siblings: records as JSON lines by registered schemas."""

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from orion.app import App, load_settings
from orion.cli.address import known_addresses
from orion.cli.output import fail
from orion.log import (
    Connection,
    Record,
    Selection,
    Start,
    TopicExistsError,
    Topics,
    consume,
    produce,
)
from orion.model import InvalidInputError, NotFoundError, OrionError, nearest
from orion.registry import Kind, RegistryClient, Schema, TextCodec

_TOOLS = {
    "kafka-avro-console": Kind.AVRO,
    "kafka-json-schema-console": Kind.JSON,
    "kafka-protobuf-console": Kind.PROTOBUF,
}
_PROPERTIES = (
    *("schema.registry.url", "value.schema", "value.schema.id", "value.schema.file"),
    *("key.schema", "key.schema.id", "key.schema.file", "parse.key", "key.separator"),
    *("auto.register", "use.latest.version", "null.marker", "value.subject", "key.subject"),
    *("key.serializer", "value.serializer", "key.deserializer", "value.deserializer"),
    *("print.key", "print.value", "print.timestamp", "print.partition", "print.offset"),
    *("print.headers", "print.schema.ids", "line.separator", "schema.id.separator"),
)


class MissingSchemaError(InvalidInputError):
    """Raised when a producer does not know the schema of what it reads."""

    def __init__(self, part: str) -> None:
        self.part = part
        super().__init__(
            f"There is no schema for the {part}s.",
            fix=f"Add --property {part}.schema='…', {part}.schema.file=… or {part}.schema.id=…",
        )


@dataclass(frozen=True)
class Console:
    """What one call of a tool works with."""

    kind: Kind
    topic: str
    connection: Connection
    client: RegistryClient
    properties: dict[str, str]

    def flag(self, name: str) -> bool:
        """Return whether a property is true."""
        return self.properties.get(name, "false").lower() == "true"

    def is_text(self, part: str, way: str) -> bool:
        """Return whether keys or values are plain text instead of records of a schema."""
        return self.properties.get(f"{part}.{way}", "").endswith(f"String{way.capitalize()}")


def main() -> None:
    """Become the tool that argv[0] names."""
    name = Path(sys.argv[0]).name.removesuffix(".sh")
    try:
        code = run(name, sys.argv[1:])
    except OrionError as error:
        fail(error)
        code = error.exit_code
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        sys.stderr.close()
        code = 141
    sys.exit(code)


def run(name: str, arguments: Sequence[str]) -> int:
    """Run a tool and return its exit code."""
    family, _, act = name.rpartition("-")
    parser = _parser(name, act)
    options = parser.parse_args(arguments)
    properties = _properties([*options.property, *options.more])
    settings = load_settings()
    url = properties.get("schema.registry.url", "").split(",")[0] or settings.registry_url
    given = options.bootstrap_server or options.broker_list
    console = Console(
        kind=_TOOLS[family],
        topic=options.topic,
        connection=_connection(App(settings), given),
        client=RegistryClient(url),
        properties=properties,
    )
    return _produce(console) if act == "producer" else _consume(console, options)


def _parser(name: str, act: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(name, description=f"A console {act} with schemas.")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--bootstrap-server", default="", help="Kafka; default: the project's.")
    parser.add_argument("--broker-list", default="", help=argparse.SUPPRESS)
    parser.add_argument("--property", action="append", default=[], metavar="NAME=VALUE")
    more = "--reader-property" if act == "producer" else "--formatter-property"
    parser.add_argument(more, action="append", default=[], dest="more", metavar="NAME=VALUE")
    if act == "producer":
        return parser
    parser.add_argument("--from-beginning", action="store_true")
    parser.add_argument("--max-messages", type=int)
    parser.add_argument("--timeout-ms", type=int, help="End after this long without a record.")
    parser.add_argument("--partition", type=int)
    parser.add_argument("--offset", default="", help="A number, earliest or latest.")
    parser.add_argument("--group", default="", help="Taken, but nothing is committed.")
    parser.add_argument("--skip-message-on-error", action="store_true")
    parser.add_argument("--isolation-level", default="read_uncommitted")
    return parser


def _properties(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidInputError(
                f"Property '{text}' is not understood.", fix="Write name=value."
            )
        if name not in _PROPERTIES:
            hint = nearest(name, _PROPERTIES) or f"Known are: {', '.join(_PROPERTIES)}"
            raise InvalidInputError(f"Property '{name}' is not known.", fix=hint)
        found[name] = value
    return found


def _connection(app: App, given: str) -> Connection:
    """Return the way to the brokers given; a host that only a sheet knows means the local one."""
    if not given:
        return app.connection
    return Connection(known_addresses(app, given), app.settings.kafka.options)


def _produce(console: Console) -> int:
    codec = TextCodec(console.client)
    value_id = _schema_id(console, "value")
    has_keys = console.flag("parse.key")
    key_id = _schema_id(console, "key") if has_keys else None
    separator = console.properties.get("key.separator", "\t")
    marker = console.properties.get("null.marker")

    def encode(text: str, identity: int | None) -> bytes | None:
        if marker is not None and text == marker:
            return None
        return text.encode() if identity is None else codec.encode(text, identity)

    def records() -> Iterator[Record]:
        for line in sys.stdin:
            text, key = line.rstrip("\n"), None
            if not text.strip():
                continue
            if has_keys:
                first, middle, text = text.partition(separator)
                if not middle:
                    raise InvalidInputError(f"No key separator found in the line: {line.strip()}")
                key = encode(first, key_id)
            yield Record(encode(text, value_id), key)

    topics = Topics(console.connection)
    if not topics.exists(console.topic):
        # Another producer may be faster.
        with contextlib.suppress(TopicExistsError):
            topics.create(console.topic)
    produce(console.connection, console.topic, records())
    return 0


def _schema_id(console: Console, part: str) -> int | None:
    """Return the id that records are written with; None: they are plain text."""
    if console.is_text(part, "serializer"):
        return None
    given = console.properties.get(f"{part}.schema.id")
    if given:
        if not given.isdigit():
            raise InvalidInputError(f"{part}.schema.id is '{given}', expected a number.")
        return int(given)
    subject = console.properties.get(f"{part}.subject") or f"{console.topic}-{part}"
    if console.flag("use.latest.version"):
        return console.client.version(subject).id
    text = console.properties.get(f"{part}.schema")
    file = console.properties.get(f"{part}.schema.file")
    if file:
        text = _read(Path(file))
    if not text:
        raise MissingSchemaError(part)
    schema = Schema(text, console.kind)
    if console.properties.get("auto.register", "true").lower() == "false":
        return console.client.find(subject, schema).id
    return console.client.register(subject, schema)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NotFoundError(f"File '{file}' cannot be read: {error}.") from error


def _consume(console: Console, options: argparse.Namespace) -> int:
    codec = TextCodec(console.client)
    if options.group:
        sys.stderr.write(f"note: nothing is committed for group '{options.group}'\n")
    selection = Selection(
        console.topic,
        start=_start(options),
        partitions=() if options.partition is None else (options.partition,),
        follow=True,
        limit=options.max_messages,
        committed=options.isolation_level == "read_committed",
        idle_s=None if options.timeout_ms is None else options.timeout_ms / 1_000,
    )
    count = 0
    try:
        for record in consume(console.connection, selection):
            count += 1
            try:
                line = _line(console, codec, record)
            except OrionError as error:
                if not options.skip_message_on_error:
                    raise
                sys.stderr.write(f"warning: offset {record.offset} left out: {error}\n")
                continue
            sys.stdout.write(line)
            sys.stdout.flush()
    finally:
        sys.stderr.write(f"Processed a total of {count} messages\n")
    return 0


def _start(options: argparse.Namespace) -> Start:
    if options.offset.isdigit():
        return Start.offset(int(options.offset))
    if options.from_beginning or options.offset == "earliest":
        return Start.beginning()
    return Start.end()


def _line(console: Console, codec: TextCodec, record: Record) -> str:
    shown = []
    for name, text in (
        ("print.timestamp", f"CreateTime:{record.timestamp_ms}"),
        ("print.partition", f"Partition:{record.partition}"),
        ("print.offset", f"Offset:{record.offset}"),
    ):
        if console.flag(name):
            shown.append(text)
    if console.flag("print.headers"):
        pairs = [
            f"{name}:{(value or b'').decode(errors='replace')}" for name, value in record.headers
        ]
        shown.append(",".join(pairs) or "NO_HEADERS")
    if console.flag("print.key"):
        shown.append(_text(console, codec, record.key, "key"))
    if console.properties.get("print.value", "true").lower() != "false":
        shown.append(_text(console, codec, record.value, "value"))
    separator = console.properties.get("key.separator", "\t")
    return separator.join(shown) + console.properties.get("line.separator", "\n")


def _text(console: Console, codec: TextCodec, body: bytes | None, part: str) -> str:
    if body is None:
        return console.properties.get("null.marker", "null")
    if console.is_text(part, "deserializer"):
        return body.decode(errors="replace")
    text, identity = codec.decode(body)
    if console.flag("print.schema.ids"):
        return text + console.properties.get("schema.id.separator", "\t") + str(identity)
    return text


if __name__ == "__main__":
    main()
