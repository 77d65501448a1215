"""Columns that the registry knows, under the names that statements use."""

import json

from orion.command import FormatRules
from orion.formats import MemorySchemas, Schema, SchemaKind
from orion.model import Field, Scalar, Struct
from orion.sql import Format

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
