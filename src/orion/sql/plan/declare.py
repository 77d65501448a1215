"""CREATE STREAM and CREATE TABLE over a topic: columns, marks, formats, schema inference."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from orion.model import Field, Scalar, Type
from orion.sql.function.moment import PatternError, check_pattern
from orion.sql.parse import resolve_type, tree
from orion.sql.parse.tree import ColumnMark, SourceKind
from orion.sql.plan.errors import StatementError
from orion.sql.plan.naming import repeated
from orion.sql.plan.property import SCHEMA_FORMATS, Properties, read_declare
from orion.sql.plan.source import (
    HEADERS_TYPE,
    RESERVED,
    Column,
    EventTime,
    Format,
    Role,
    Source,
)

_TIME_TYPES = (Scalar.BIGINT, Scalar.TIMESTAMP)


class Formats(Protocol):
    """What must be known of formats; answered by who can read schemas."""

    def check(self, format: Format, columns: Sequence[Field], *, is_key: bool) -> None:
        """Raise unless the format is known and can carry the columns."""

    def check_written(self, format: Format, columns: Sequence[Field], *, is_key: bool) -> None:
        """Raise unless rows can follow the schema that the format names by its id."""

    def infer(self, format: Format, topic: str, *, is_key: bool) -> Sequence[Field] | None:
        """Return the columns that the registered schema has; None: the format has no schemas."""


def declare_source(
    statement: tree.CreateSource,
    *,
    types: Mapping[str, Type],
    formats: Formats,
    default_key: str = "KAFKA",
    default_value: str | None = None,
) -> Source:
    """Return the stream or table that a statement declares."""
    properties = read_declare(statement.properties, statement)
    topic = properties.get("KAFKA_TOPIC") or statement.name.text
    key_format = properties.key_format(Format(default_key.upper()))
    value_format = properties.value_format(
        None if default_value is None else Format(default_value.upper())
    )
    if value_format is None:
        raise StatementError(
            "The format of the value is missing.",
            node=statement,
            fix="Add VALUE_FORMAT='JSON' (or another format) to the WITH clause.",
        )
    assert key_format is not None
    columns = _declared(statement, types)
    columns = _inferred(columns, statement, topic, (key_format, value_format), formats)
    columns = _key_first(columns)
    needs_schema = value_format.name in SCHEMA_FORMATS
    _check_columns(columns, statement, properties, needs_schema=needs_schema)
    source = Source(
        name=statement.name.text,
        kind=statement.kind,
        columns=columns,
        topic=topic,
        key_format=key_format,
        value_format=value_format,
        windowed=properties.windowed(),
        event_time=properties.event_time(),
        is_source=statement.is_source,
        partitions=properties.get("PARTITIONS"),
        replicas=properties.get("REPLICAS"),
        topic_configs=properties.topic_configs(),
        statement=statement.text,
    )
    check_source(source, formats, node=statement)
    return source


def check_source(source: Source, formats: Formats, *, node: tree.Node | None = None) -> None:
    """Raise unless the formats can carry the columns and the event time can be read."""
    if source.key:
        formats.check(source.key_format, [c.field for c in source.key], is_key=True)
    formats.check(source.value_format, [c.field for c in source.value], is_key=False)
    check_event_time(source.event_time, source.columns, node)


def check_written(source: Source, formats: Formats) -> None:
    """Raise unless a query can write rows of the source by the schemas that it names."""
    if source.key:
        formats.check_written(source.key_format, [c.field for c in source.key], is_key=True)
    formats.check_written(source.value_format, [c.field for c in source.value], is_key=False)


def check_event_time(
    event_time: EventTime | None, columns: Sequence[Column], node: tree.Node | None
) -> None:
    """Raise unless the record's time can be read from its column."""
    if event_time is None:
        return
    if event_time.pattern is not None:
        try:
            check_pattern(event_time.pattern)
        except PatternError as error:
            raise StatementError(
                f"TIMESTAMP_FORMAT '{event_time.pattern}' cannot be read: {error}", node=node
            ) from error
    found = next((column for column in columns if column.name == event_time.column), None)
    if found is None:
        raise StatementError(
            f"The TIMESTAMP column '{event_time.column}' does not exist.",
            node=node,
            fix=f"There are: {', '.join(column.name for column in columns)}.",
        )
    if found.type is Scalar.STRING and event_time.pattern:
        return
    if found.type in _TIME_TYPES and not event_time.pattern:
        return
    raise StatementError(
        f"Column '{found.name}' of type {found.type} cannot be the TIMESTAMP as given.",
        node=node,
        fix="Use a BIGINT or TIMESTAMP, or a STRING together with TIMESTAMP_FORMAT.",
    )


def _declared(statement: tree.CreateSource, types: Mapping[str, Type]) -> tuple[Column, ...]:
    return tuple(_column(element, statement.kind, types) for element in statement.elements)


def _column(element: tree.TableElement, kind: SourceKind, types: Mapping[str, Type]) -> Column:
    found = resolve_type(element.type, types)
    match element.mark:
        case ColumnMark.KEY | ColumnMark.PRIMARY_KEY:
            is_table = kind is SourceKind.TABLE
            if is_table != (element.mark is ColumnMark.PRIMARY_KEY):
                mark = "PRIMARY KEY" if is_table else "KEY"
                raise StatementError(
                    f"A {kind.value.lower()}'s key column is marked {mark}.",
                    node=element,
                    fix=f"Write {element.name.text} {found} {mark}.",
                )
            return Column(element.name.text, found, Role.KEY)
        case ColumnMark.HEADERS:
            return _header(element, found, HEADERS_TYPE)
        case ColumnMark.HEADER:
            return _header(element, found, Scalar.BYTES)
    return Column(element.name.text, found)


def _header(element: tree.TableElement, found: Type, wanted: Type) -> Column:
    if found != wanted:
        raise StatementError(
            f"Column '{element.name.text}' shows headers and must have type {wanted}.",
            node=element,
        )
    return Column(element.name.text, found, Role.HEADERS, element.header)


def _inferred(
    columns: tuple[Column, ...],
    statement: tree.CreateSource,
    topic: str,
    formats_named: tuple[Format, Format],
    formats: Formats,
) -> tuple[Column, ...]:
    """Return the columns with those that the registry knows where none were declared."""
    found = list(columns)
    for format, role in zip(formats_named, (Role.KEY, Role.VALUE), strict=True):
        declared = [column for column in columns if column.role is role]
        if declared and format.schema_id is not None:
            raise StatementError(
                f"The {role.value.lower()} columns come from the schema id: declare none.",
                node=statement,
            )
        if declared:
            continue
        fields = formats.infer(format, topic, is_key=role is Role.KEY)
        found += [Column(field.name, field.type, role) for field in fields or ()]
    return tuple(found)


def _key_first(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns in their order, inferred keys before values."""
    if columns and columns[0].role is Role.KEY:
        return columns
    return tuple(sorted(columns, key=lambda column: column.role is not Role.KEY))


def _check_columns(
    columns: tuple[Column, ...],
    statement: tree.CreateSource,
    properties: Properties,
    *,
    needs_schema: bool,
) -> None:
    if not columns:
        raise StatementError(
            "No column is declared, and the formats have no schemas that would tell.",
            node=statement,
            fix="Declare them behind the name: (id INT KEY, amount DOUBLE).",
        )
    check_unreserved_columns(columns, statement)
    twice = repeated([column.name for column in columns])
    if twice is not None:
        raise StatementError(f"Column '{twice}' is there twice.", node=statement)
    roles = [column.role for column in columns]
    _check_keys(statement, properties, roles)
    if Role.VALUE not in roles and needs_schema:
        raise StatementError(
            "No value column is declared, and the schema registry knows none.", node=statement
        )
    headers = [column.header for column in columns if column.role is Role.HEADERS]
    if len(set(headers)) != len(headers) or (None in headers and len(headers) > 1):
        raise StatementError(
            "Headers are shown by one HEADERS column or by their keys, each once.", node=statement
        )


def check_unreserved_columns(columns: Sequence[Column], node: tree.Node) -> None:
    """Raise if a column has a name that every record has one of already."""
    for column in columns:
        if column.name in RESERVED:
            raise StatementError(
                f"'{column.name}' is a column that every record has: its name is reserved.",
                node=node,
            )


def _check_keys(
    statement: tree.CreateSource, properties: Properties, roles: Sequence[Role]
) -> None:
    if Role.KEY in roles:
        return
    if statement.kind is SourceKind.TABLE:
        raise StatementError(
            "A table needs a PRIMARY KEY.",
            node=statement,
            fix="Mark the column that is the record's key: id BIGINT PRIMARY KEY.",
        )
    if "WINDOW_TYPE" in properties:
        raise StatementError(
            "Windows are a part of the key, so a windowed source needs a KEY column.",
            node=statement,
        )
    if str(properties.get("KEY_FORMAT", "NONE")).upper() not in ("NONE", "KAFKA"):
        raise StatementError("A key format is named, but there is no key column.", node=statement)
