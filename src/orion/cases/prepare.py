"""Topics that are there before a case begins: their schemas, and how its records are written."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from orion.cases.case import Json
from orion.command import key_spec, value_spec
from orion.formats import (
    FormatSpec,
    MemorySchemas,
    Schema,
    SchemaKind,
    SchemaReference,
    SchemaSource,
    columns_of,
)
from orion.model import Field, Struct
from orion.sql import Source

_KINDS = {"AVRO": SchemaKind.AVRO, "JSON_SR": SchemaKind.JSON, "PROTOBUF": SchemaKind.PROTOBUF}
_PARTS = ("key", "value")


def prepare_topics(topics: Sequence[Json], schemas: MemorySchemas) -> None:
    """Register the schemas that a case's topics come with."""
    for subject, schema, number in case_schemas(topics):
        if number is None:
            schemas.register(subject, schema)
        else:
            schemas.by_id[number] = schema
            schemas.by_subject.setdefault(subject, []).append(number)


def case_schemas(topics: Sequence[Json]) -> Iterator[tuple[str, Schema, int | None]]:
    """Yield the schemas that a case's topics come with: subject, schema, the id it must have.

    What a schema refers to comes before it.
    """
    for topic in topics:
        for part in _PARTS:
            for each in topic.get(f"{part}SchemaReferences") or ():
                yield _subject(each), _read(each["schema"], each.get("format")), None
            schema = _schema(topic, part)
            if schema is not None:
                wanted = topic.get(f"{part}SchemaId")
                number = None if wanted is None else int(wanted)
                yield f"{topic['name']}-{part}", schema, number


def _schema(topic: Json, part: str) -> Schema | None:
    text: Any = topic.get(f"{part}Schema")
    if text is None:
        return None
    references = tuple(
        SchemaReference(str(each["name"]), _subject(each), 1)
        for each in topic.get(f"{part}SchemaReferences") or ()
    )
    return replace(_read(text, topic.get(f"{part}Format")), references=references)


def _subject(reference: Json) -> str:
    return str(reference.get("subject", reference["name"]))


def _read(text: Any, format: object) -> Schema:
    kind = _KINDS.get(str(format or "").upper()) or _guess(text)
    return Schema(kind, text if isinstance(text, str) else json.dumps(text))


def _guess(text: Any) -> SchemaKind:
    """Return the language of a schema whose format is not told."""
    if isinstance(text, str) and "syntax" in text:
        return SchemaKind.PROTOBUF
    is_json = isinstance(text, dict) and ("properties" in text or "$schema" in text)
    return SchemaKind.JSON if is_json else SchemaKind.AVRO


def writer_spec(
    source: Source, topics: Sequence[Json], schemas: SchemaSource, *, is_key: bool
) -> FormatSpec:
    """Return how a topic's records are written: by its own schema, or by the source's columns."""
    spec = key_spec(source) if is_key else value_spec(source)
    if not spec.format.has_schema:
        return spec
    named = any(str(topic["name"]).upper() == source.topic.upper() for topic in topics)
    found = schemas.latest(spec.subject) if named else None
    if found is None:
        return spec
    anonymous = spec.columns[0].name if len(spec.columns) == 1 else "ROWVAL"
    columns = columns_of(found.schema, schemas, anonymous=anonymous, full_name=spec.full_name)
    if not spec.is_wrapped and columns[0].name != anonymous:
        columns = (Field(anonymous, Struct(tuple(columns))),)
    return replace(spec, columns=columns, schema_id=found.id)
