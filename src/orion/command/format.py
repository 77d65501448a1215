"""The formats of sources in the words of `formats`: what they can carry, what schemas tell."""

from collections.abc import Sequence

from orion.formats import (
    FormatSpec,
    Nullable,
    SchemaSource,
    check,
    check_written,
    columns_of,
    format_named,
    schema_of,
)
from orion.model import Array, Field, Map, Struct, Type
from orion.sql import Column, Format, Source, StatementError

# What a body that is one bare value is called when no statement names it.
_ANONYMOUS_KEY, _ANONYMOUS_VALUE = "ROWKEY", "ROWVAL"


def key_spec(source: Source) -> FormatSpec:
    """Return how the key of a source is written."""
    return format_spec(source.key_format, _fields(source.key), topic=source.topic, is_key=True)


def value_spec(source: Source) -> FormatSpec:
    """Return how the value of a source is written."""
    return format_spec(source.value_format, _fields(source.value), topic=source.topic, is_key=False)


def _fields(columns: Sequence[Column]) -> tuple[Field, ...]:
    return tuple(column.field for column in columns)


def format_spec(
    format: Format, columns: Sequence[Field], *, topic: str, is_key: bool
) -> FormatSpec:
    """Return a format with its columns and the subject of its schema."""
    name = format_named(format.name)
    return FormatSpec(
        format=name,
        columns=tuple(columns),
        delimiter=format.delimiter or ",",
        wrap=format.wrap,
        full_name=format.schema_name or "",
        subject=_subject(topic, is_key=is_key) if name.has_schema else "",
        schema_id=format.schema_id,
        nullable=Nullable((format.nullable_representation or "").upper()),
        is_key=is_key,
    )


def _subject(topic: str, *, is_key: bool) -> str:
    return f"{topic}-{'key' if is_key else 'value'}"


class FormatRules:
    """What statements must know of formats, with schemas from a registry."""

    def __init__(self, schemas: SchemaSource | None) -> None:
        self._schemas = schemas

    def check(self, format: Format, columns: Sequence[Field], *, is_key: bool) -> None:
        """Raise unless the format is known and can carry the columns."""
        spec = format_spec(format, columns, topic="", is_key=is_key)
        if spec.full_name and not spec.format.has_schema:
            raise StatementError(f"Format {spec.format} has no schema that could be named.")
        check(spec)

    def check_written(self, format: Format, columns: Sequence[Field], *, is_key: bool) -> None:
        """Raise unless rows can follow the schema that the format names by its id."""
        if self._schemas is not None:
            check_written(format_spec(format, columns, topic="", is_key=is_key), self._schemas)

    def infer(self, format: Format, topic: str, *, is_key: bool) -> Sequence[Field] | None:
        """Return the columns of the registered schema; None: the format has no schemas."""
        name = format_named(format.name)
        if not name.has_schema or self._schemas is None:
            return None
        if format.schema_id is not None:
            schema = self._schemas.schema(format.schema_id)
        else:
            found = self._schemas.latest(_subject(topic, is_key=is_key))
            if found is None:
                return None
            schema = found.schema
        anonymous = _ANONYMOUS_KEY if is_key else _ANONYMOUS_VALUE
        named = format.schema_name or ""
        fields = columns_of(schema, self._schemas, anonymous=anonymous, full_name=named)
        if is_key and name.can_choose_wrapping and len(fields) == 1 and fields[0].name != anonymous:
            # A record of one field is no bare value: it is the whole key, as a struct.
            fields = (Field(anonymous, Struct(tuple(fields))),)
        if not is_key and format.wrap is False and fields and fields[0].name != anonymous:
            fields = (Field(anonymous, Struct(tuple(fields))),)
        if format.schema_id is not None:
            # Whoever names a schema by its id is taken at its word, letter by letter.
            return fields
        return [Field(field.name.upper(), _upper(field.type)) for field in fields]


def _upper(kind: Type) -> Type:
    """Return a type whose fields are named as statements name them: in upper case."""
    match kind:
        case Array(element):
            return Array(_upper(element))
        case Map(key, value):
            return Map(_upper(key), _upper(value))
        case Struct(fields):
            return Struct(tuple(Field(f.name.upper(), _upper(f.type)) for f in fields))
    return kind


def register_columns(spec: FormatSpec, schemas: SchemaSource, *, only_first: bool = False) -> None:
    """Register the schema of columns, where the format has one.

    Args:
        only_first: Leave a subject that has a schema as it is: the topic's writers chose that one.
    """
    if not spec.format.has_schema or not spec.columns or spec.schema_id is not None:
        return
    if only_first and schemas.latest(spec.subject) is not None:
        return
    schemas.register(spec.subject, schema_of(spec))
