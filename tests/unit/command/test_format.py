"""Columns that the registry knows, under the names that statements use."""

import json

import pytest

from orion.command import FormatRules
from orion.command.record import RecordingFormats
from orion.formats import MemorySchemas, Schema, SchemaColumnsError, SchemaKind
from orion.model import Field, Scalar, Struct
from orion.sql import (
    Catalogue,
    Format,
    Formats,
    Planner,
    Started,
    built_in_functions,
    parse_statements,
)

AVRO = {
    "type": "record",
    "name": "Play",
    "fields": [
        {"name": "song_id", "type": "string"},
        {
            "name": "By",
            "type": {
                "type": "record",
                "name": "By",
                "fields": [{"name": "userId", "type": "long"}],
            },
        },
    ],
}


def test_names_are_in_upper_case_unless_the_schema_is_named_by_its_id() -> None:
    schemas = MemorySchemas()
    schema_id = schemas.register("plays-value", Schema(SchemaKind.AVRO, json.dumps(AVRO)))
    rules = FormatRules(schemas)
    assert rules.infer(Format("AVRO"), "plays", is_key=False) == [
        Field("SONG_ID", Scalar.STRING),
        Field("BY", Struct((Field("USERID", Scalar.BIGINT),))),
    ]
    by_id = rules.infer(Format("AVRO", schema_id=schema_id), "plays", is_key=False)
    assert [*(by_id or ())] == [
        Field("song_id", Scalar.STRING),
        Field("By", Struct((Field("userId", Scalar.BIGINT),))),
    ]


def started(query: str, formats: Formats) -> Started:
    """Plan a query that writes by schema 1, from a stream with a song and its listener."""
    planner = Planner(built_in_functions(), formats, {})
    source = (
        "CREATE STREAM plays (k STRING KEY, song STRING, listener BIGINT)"
        " WITH (KAFKA_TOPIC='plays', VALUE_FORMAT='JSON');"
    )
    sink = "CREATE STREAM heard WITH (VALUE_FORMAT='AVRO', VALUE_SCHEMA_ID=1)"
    known = Catalogue()
    statements = parse_statements(f"{source} {sink} AS SELECT {query} FROM plays;")
    for number, statement in enumerate(statements):
        change = planner.plan(statement, known, number=number)
        known = change.apply(known)
    assert isinstance(change, Started)
    return change


LISTENER = "STRUCT(`userId` := listener) AS `By`"


def rules() -> FormatRules:
    schemas = MemorySchemas()
    assert schemas.register("heard-value", Schema(SchemaKind.AVRO, json.dumps(AVRO))) == 1
    return FormatRules(schemas)


def test_a_query_may_write_by_a_named_schema() -> None:
    assert started(f"k, song AS `song_id`, {LISTENER}", rules()).sink.name == "HEARD"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"k, song AS `song_id`, {LISTENER}, 1 AS more", "'MORE' .* has no such field"),
        ("k, song AS `song_id`", "'By' .* the schema needs it"),
        (f"k, listener AS `song_id`, {LISTENER}", "'song_id' .* BIGINT is no string"),
        ("k, song AS `song_id`, listener AS `By`", "'By' .* BIGINT is no record"),
    ],
)
def test_columns_that_a_named_schema_cannot_hold_are_refused(query: str, reason: str) -> None:
    with pytest.raises(SchemaColumnsError, match=reason):
        started(query, rules())


def test_a_statement_that_was_accepted_is_not_checked_again() -> None:
    replayed = RecordingFormats(rules(), told={})
    assert started("k, song AS other", replayed).sink.name == "HEARD"
