"""What is called readable is read: fastavro reads the data of any pair that has no conflict."""

import io
import json
from typing import Any

import fastavro
from fastavro.utils import generate_one
from hypothesis import given, settings
from hypothesis import strategies as st

from orion.registry import Kind, find_conflicts, parse

PRIMITIVES = st.sampled_from(["null", "boolean", "int", "long", "float", "double", "string"])
DEFAULTS: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "int": 1,
    "long": 2,
    "float": 1.5,
    "double": 2.5,
    "string": "x",
}
SYMBOLS = st.lists(st.sampled_from("ABCD"), min_size=1, max_size=4, unique=True)


def _enum(symbols: list[str], has_default: bool) -> dict[str, Any]:
    more = {"default": symbols[0]} if has_default else {}
    return {"type": "enum", "name": "E", "symbols": symbols, **more}


def _union(branches: list[Any]) -> list[Any]:
    distinct = {json.dumps(b) if isinstance(b, str) else b["type"]: b for b in branches}
    return list(distinct.values())


SIMPLE = PRIMITIVES | st.builds(_enum, SYMBOLS, st.booleans())
TYPES = (
    SIMPLE
    | st.builds(lambda t: {"type": "array", "items": t}, PRIMITIVES)
    | st.builds(lambda t: {"type": "map", "values": t}, PRIMITIVES)
    | st.builds(_union, st.lists(PRIMITIVES, min_size=1, max_size=4))
)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    fields, has_enum = [], False
    for name in draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True)):
        kind = draw(TYPES)
        if "enum" in json.dumps(kind):
            if has_enum:
                continue
            has_enum = True
        field: dict[str, Any] = {"name": name, "type": kind}
        if isinstance(kind, str) and draw(st.booleans()):
            field["default"] = DEFAULTS[kind]
        fields.append(field)
    return {"type": "record", "name": "R", "fields": fields}


WIDER = {"int": ["long", "float", "double"], "long": ["float", "double"], "float": ["double"]}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give a writer's schema and one that a reader may have made of it."""
    writer = draw(records())
    fields = []
    for field in writer["fields"]:
        act = draw(st.sampled_from(["keep", "keep", "drop", "widen", "rename", "null", "change"]))
        kind, changed = field["type"], dict(field)
        if act == "drop":
            continue
        if act == "widen" and isinstance(kind, str) and kind in WIDER:
            changed = {"name": field["name"], "type": draw(st.sampled_from(WIDER[kind]))}
        elif act == "rename":
            changed |= {"name": f"{field['name']}2", "aliases": [field["name"]]}
        elif act == "null" and isinstance(kind, str) and kind != "null":
            changed = {"name": field["name"], "type": ["null", kind]}
        elif act == "change":
            changed = {"name": field["name"], "type": draw(PRIMITIVES)}
        fields.append(changed)
    fields += [{"name": "new", "type": "int", "default": 1}] * draw(st.integers(0, 1))
    return writer, {**writer, "fields": fields}


@settings(max_examples=500, deadline=None)
@given(pairs())
def test_readable_data_is_read(pair: tuple[dict[str, Any], dict[str, Any]]) -> None:
    writer, reader = pair
    one, other = (parse(Kind.AVRO, json.dumps(schema)) for schema in (reader, writer))
    if find_conflicts(one, other):
        return
    written = fastavro.parse_schema(writer)
    body = io.BytesIO()
    fastavro.schemaless_writer(body, written, generate_one(written))
    body.seek(0)
    fastavro.schemaless_reader(body, written, fastavro.parse_schema(reader))


@settings(max_examples=200, deadline=None)
@given(records())
def test_a_schema_and_its_stored_text_mean_the_same(schema: dict[str, Any]) -> None:
    kept = json.loads(parse(Kind.AVRO, json.dumps(schema)).text)
    form = fastavro.schema.to_parsing_canonical_form
    assert form(kept) == form(schema)
