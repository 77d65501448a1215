"""Texts of schemas: what is refused and why, and the one form that is kept."""

import base64
import contextlib
import json

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from hypothesis import given, settings
from hypothesis import strategies as st

from orion.model import OrionError
from orion.registry import InvalidSchemaError, Kind, find_conflicts, parse

AVRO_FAULTS = [
    ("{", "not JSON"),
    ("3", "a type is a name"),
    ('"nothing"', "'nothing' is not defined"),
    ('{"name": "x"}', "no 'type'"),
    ('{"type": "record", "name": "R"}', "'fields' is missing"),
    ('{"type": "record", "fields": []}', "no name"),
    ('{"type": "record", "name": "1R", "fields": []}', "not a valid name"),
    ('{"type": "record", "name": "int", "fields": []}', "name of a primitive"),
    ('{"type": "record", "name": "R", "fields": [{"type": "int"}]}', "field has no name"),
    ('{"type": "record", "name": "R", "fields": [{"name": "a-b", "type": "int"}]}', "field name"),
    (
        '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"},'
        ' {"name": "a", "type": "int"}]}',
        "defined twice",
    ),
    (
        '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "default": "x"}]}',
        "the default \"x\" of field 'a'",
    ),
    ('{"type": "enum", "name": "E", "symbols": ["A", "A"]}', "symbol twice"),
    ('{"type": "enum", "name": "E", "symbols": ["A-B"]}', "list of names"),
    ('{"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}', "not a symbol"),
    ('{"type": "fixed", "name": "F", "size": "4"}', "not a number"),
    ('{"type": "fixed", "name": "F", "size": -1}', "not a number"),
    ('{"type": "array"}', "'items' is missing"),
    ('{"type": "map"}', "'values' is missing"),
    ('["int", "int"]', "'int' twice"),
    ('["null", ["int"]]', "union directly"),
    ("[" * 1_000 + "]" * 1_000, ""),
]


@pytest.mark.parametrize(("text", "words"), AVRO_FAULTS)
def test_avro_faults_are_named(text: str, words: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        parse(Kind.AVRO, text)
    assert words in str(caught.value)


def test_avro_faults_have_a_place() -> None:
    text = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": {"type": "array"}}]}'
    with pytest.raises(InvalidSchemaError, match="at /fields/0/type"):
        parse(Kind.AVRO, text)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("int", '"int"'),
        (' { "type" : "int" } ', '"int"'),
        (
            '{"fields": [{"type": "int", "name": "a"}], "name": "x.R", "type": "record"}',
            '{"type":"record","name":"R","namespace":"x","fields":[{"name":"a","type":"int"}]}',
        ),
        (
            '{"type": "record", "namespace": "x", "name": "R", "doc": "d", "fields": ['
            '{"name": "a", "type": {"type": "enum", "name": "E", "symbols": ["A"]},'
            ' "default": "A"},'
            '{"name": "b", "type": "x.E"}]}',
            '{"type":"record","name":"R","namespace":"x","doc":"d","fields":[{"name":"a",'
            '"type":{"type":"enum","name":"E","symbols":["A"]},"default":"A"},'
            '{"name":"b","type":"E"}]}',
        ),
    ],
)
def test_avro_has_one_form(given: str, kept: str) -> None:
    assert parse(Kind.AVRO, given).text == kept


def test_normalized_avro_sorts_what_says_nothing() -> None:
    one = '{"type": "record", "name": "R", "namespace": "x", "b": 1, "a": 2, "fields": []}'
    other = '{"type": "record", "name": "x.R", "a": 2, "b": 1, "fields": []}'
    assert parse(Kind.AVRO, one).identity != parse(Kind.AVRO, other).identity
    texts = {parse(Kind.AVRO, text, normalize=True).identity for text in (one, other)}
    assert texts == {'{"type":"record","name":"x.R","fields":[],"a":2,"b":1}'}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "an object, true or false"),
        ('{"type": "strin"}', "is not valid"),
        ('{"minLength": "x"}', "at /minLength"),
        ('{"$ref": "other.json"}', "'other.json' is neither in it"),
        ('{"$ref": "#/definitions/nowhere"}', "neither in it"),
        ('{"$ref": "#"}', "leads to itself"),
    ],
)
def test_json_faults_are_named(text: str, words: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        parse(Kind.JSON, text)
    assert words in str(caught.value)


def test_nothing_is_fetched_for_a_reference() -> None:
    with pytest.raises(InvalidSchemaError, match="neither in it"):
        parse(Kind.JSON, '{"$ref": "http://127.0.0.1:9/schema.json"}')


def test_normalized_json_has_its_names_in_order() -> None:
    texts = ('{"type": "object", "title": "t"}', '{"title": "t", "type": "object"}')
    assert len({parse(Kind.JSON, text).identity for text in texts}) == 2
    assert len({parse(Kind.JSON, text, normalize=True).identity for text in texts}) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("message", "line 1"),
        ('syntax = "proto3"; message M { strin a = 1; }', '"strin" is not defined'),
        ('syntax = "proto3"; import "other.proto";', "other.proto"),
        ('syntax = "proto3"; message M { int32 a = 1; int32 b = 1; }', "already been used"),
        ('syntax = "proto3";\nmessage M {\n  int32 a = ;\n}', "line 3, column 13"),
    ],
)
def test_protobuf_faults_are_named(text: str, words: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        parse(Kind.PROTOBUF, text)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", ["../evil.proto", "/etc/evil.proto", "", "a\0b"])
def test_imports_stay_in_their_folder(name: str) -> None:
    text = 'syntax = "proto3"; message M {}'
    with pytest.raises(InvalidSchemaError, match="cannot be the name"):
        parse(Kind.PROTOBUF, text, ((name, text),))


PROTO = """
syntax = "proto3";
package shop;

// A comment.
import "google/protobuf/timestamp.proto";
option java_package = "shop.java";

message Order {
  reserved 9, 20 to 30;
  reserved "old";
  int32 id = 1 [deprecated = true];
  repeated string tags = 2;
  map<string, Line> lines = 3;
  oneof paid {
    string card = 4;
    bytes cash = 5;
  }
  optional int64 note_id = 6 [json_name = "noteId2"];
  google.protobuf.Timestamp at = 7;
  State state = 8;
  message Line { double price = 1; Order parent = 2; }
  enum State { NEW = 0; SENT = 5; }
}
service Shop { rpc Buy (Order) returns (stream Order); }
"""


def test_a_descriptor_says_the_same_as_its_text() -> None:
    parsed = parse(Kind.PROTOBUF, PROTO)
    file = FileDescriptorProto()
    file.CopyFrom(parsed.tree.file)
    file.name = "shop.proto"
    sent = base64.b64encode(file.SerializeToString()).decode()
    assert parse(Kind.PROTOBUF, sent).identity == parsed.identity


def test_proto2_survives_the_way_through_a_descriptor() -> None:
    text = """
    syntax = "proto2";
    message M {
      required int32 a = 1 [default = 7];
      optional string b = 2 [default = "say \\"x\\""];
      repeated int64 c = 3 [packed = true];
      extensions 100 to max;
    }
    extend M { optional int32 more = 100; }
    """
    parsed = parse(Kind.PROTOBUF, text)
    sent = base64.b64encode(parsed.tree.file.SerializeToString()).decode()
    assert parse(Kind.PROTOBUF, sent).identity == parsed.identity


# The first schema of a kind imports its parser, which takes longer than an example may.
@settings(deadline=None)
@given(st.text(max_size=60), st.sampled_from(list(Kind)))
def test_any_text_is_a_schema_or_an_error(text: str, kind: Kind) -> None:
    with contextlib.suppress(OrionError):
        assert parse(kind, text).kind is kind


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(
        ["record", "int", "type", "array", "enum", "R", "string", "object", "#", "#/items"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "name",
                    "fields",
                    "items",
                    "values",
                    "symbols",
                    "size",
                    "default",
                    "$ref",
                    "properties",
                    "oneOf",
                    "anyOf",
                    "not",
                    "enum",
                    "required",
                    "namespace",
                    "aliases",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(_JSON, _JSON, st.sampled_from([Kind.AVRO, Kind.JSON]))
def test_any_json_is_a_schema_or_an_error(one: object, other: object, kind: Kind) -> None:
    with contextlib.suppress(OrionError):
        schemas = [parse(kind, json.dumps(body)) for body in (one, other)]
        assert find_conflicts(schemas[0], schemas[1]) is not None
