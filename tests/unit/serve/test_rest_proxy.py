"""What the REST proxy decides before it asks Kafka."""

import json
from typing import Any

import pytest

from orion.log import Record
from orion.serve.body import MediaTypeError
from orion.serve.rest_proxy.call import Call, text, whole
from orion.serve.rest_proxy.embedded import UnusableDocumentError, decode_plain, encode_plain
from orion.serve.rest_proxy.errors import (
    BadFieldError,
    ConsumerConfigError,
    FormatMismatchError,
)
from orion.serve.rest_proxy.media import format_of_body, require_format
from orion.serve.rest_proxy.v2.instance import Instance, InstanceSettings, parse_settings
from orion.serve.rest_proxy.v3.records import _Objects
from orion.serve.rest_proxy.v3.resource import resource


@pytest.mark.parametrize(
    ("media", "format"),
    [
        ("application/vnd.kafka.json.v2+json", "json"),
        ("application/vnd.kafka.avro.v2+json; charset=utf-8", "avro"),
        ("Application/vnd.kafka.protobuf+json", "protobuf"),
    ],
)
def test_the_media_type_tells_the_format(media: str, format: str) -> None:
    assert format_of_body(media) == format


@pytest.mark.parametrize("media", ["", "application/json", "application/vnd.kafka.xml.v2+json"])
def test_other_media_types_are_refused(media: str) -> None:
    with pytest.raises(MediaTypeError):
        format_of_body(media)


def test_records_are_given_in_the_format_of_the_instance() -> None:
    for accept in ("", "*/*", "application/json", "text/x, application/vnd.kafka.json.v2+json"):
        require_format(accept, "json")
    with pytest.raises(FormatMismatchError, match="reads format 'json'"):
        require_format("application/vnd.kafka.avro.v2+json", "json")


@pytest.mark.parametrize("value", [-1, 1.0, True, "x", "-1", None, "1" * 30, 2**63])
def test_numbers_are_whole(value: Any) -> None:
    with pytest.raises(BadFieldError, match="'n' must be a whole number"):
        whole(value, "n")


@pytest.mark.parametrize("value", ["", None, 1, "a\0", "\ud800"])
def test_texts_are_texts(value: Any) -> None:
    with pytest.raises(BadFieldError, match="'t' must be a text"):
        text(value, "t")


@pytest.mark.parametrize(
    ("document", "format", "body"),
    [({"a": 1}, "json", b'{"a":1}'), (None, "json", None), ("AAE=", "binary", b"\0\1")],
)
def test_plain_documents_come_back(document: Any, format: str, body: bytes | None) -> None:
    assert encode_plain(document, format) == body
    assert decode_plain(body, format) == document


@pytest.mark.parametrize("document", ["?", 1, "A"])
def test_what_is_not_base64_is_told(document: Any) -> None:
    with pytest.raises(UnusableDocumentError, match="base64"):
        encode_plain(document, "binary")


def test_settings_of_an_instance_are_read() -> None:
    given = {"format": "AVRO", "auto.offset.reset": "earliest", "auto.commit.enable": False}
    assert parse_settings(given) == InstanceSettings("avro", "earliest", auto_commit=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", "xml"),
        ("auto.offset.reset", "middle"),
        ("auto.commit.enable", "perhaps"),
        ("consumer.request.timeout.ms", "-5"),
        ("isolation.level", "none"),
    ],
)
def test_settings_that_cannot_be_are_told(name: str, value: str) -> None:
    with pytest.raises(ConsumerConfigError, match=name):
        parse_settings({name: value})


def test_what_was_read_ahead_is_forgotten_by_partition() -> None:
    member: Any = None
    instance = Instance("g", "i", member, InstanceSettings())
    instance.waiting.extend(Record(b"", topic="t", partition=n, offset=0) for n in (0, 1, 0))
    instance.handed = {("t", 0): 5, ("t", 1): 6}
    instance.forget(("t", 0))
    assert [record.partition for record in instance.waiting] == [1]
    assert instance.handed == {("t", 1): 6}
    instance.forget()
    assert not instance.waiting
    assert not instance.handed


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_objects_are_found_wherever_chunks_end(size: int) -> None:
    documents = [{"a": "é"}, {"b": [1, {"c": None}]}, {}]
    stream = "  ".join(json.dumps(d, ensure_ascii=False) for d in documents).encode()
    objects, found = _Objects(), []
    for at in range(0, len(stream), size):
        found += objects.feed(stream[at : at + size], is_last=False)
    found += objects.feed(b"", is_last=True)
    assert found == documents


@pytest.mark.parametrize("stream", [b"[", b'{"a": 1', b"x", b"\xff\xff\xff\xff\xff\xff"])
def test_a_stream_that_is_no_objects_is_told(stream: bytes) -> None:
    with pytest.raises(UnusableDocumentError):
        _Objects().feed(stream, is_last=True)


def test_resources_have_names_and_addresses() -> None:
    call = Call({}, base="http://h")
    found = resource(call, "KafkaPartition", ("c", "topics", "t/x", "partitions", 1), {"n": 1})
    assert found["metadata"] == {
        "self": "http://h/v3/clusters/c/topics/t%2Fx/partitions/1",
        "resource_name": "crn:///kafka=c/topic=t/x/partition=1",
    }
