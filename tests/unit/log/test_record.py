"""A record as a line of JSON gives the same bytes back, and bad lines say what is wrong."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orion.log.record import Record, RecordLineError, decode_line, encode_line

data = st.none() | st.binary(max_size=40) | st.text(max_size=40).map(str.encode)
names = st.text(max_size=10)
longs = st.integers(min_value=0, max_value=(1 << 63) - 1)
records = st.builds(
    Record,
    value=data,
    key=data,
    headers=st.lists(st.tuples(names, data), max_size=4).map(tuple),
    timestamp_ms=st.none() | longs,
    topic=st.sampled_from(["", "orders"]),
    partition=st.none() | st.integers(0, 1000),
    offset=st.none() | longs,
)


@given(records)
def test_a_record_survives_its_line(record: Record) -> None:
    line = encode_line(record)
    assert "\n" not in line
    assert decode_line(line) == record
    assert decode_line(line.encode()) == record


@given(st.binary())
def test_any_bytes_give_a_record_or_a_clear_error(line: bytes) -> None:
    with suppress(RecordLineError):
        decode_line(line)


def test_text_stands_as_text_and_other_bytes_in_base64() -> None:
    record = Record(b"\xff", key=b"k", headers=(("h", None), ("h", b"\x80")))
    assert json.loads(encode_line(record)) == {
        "key": "k",
        "value_base64": "/w==",
        "headers": [{"name": "h", "value": None}, {"name": "h", "value_base64": "gA=="}],
    }


def test_a_tombstone_differs_from_an_empty_value() -> None:
    assert decode_line('{"value": null}').value is None
    assert decode_line('{"value": ""}').value == b""


def test_json_inside_a_line_becomes_compact_json() -> None:
    assert decode_line('{"value": {"a": [1, "é"]}}').value == '{"a":[1,"é"]}'.encode()
    assert decode_line('{"value": 1.5}').value == b"1.5"


def test_headers_may_be_an_object() -> None:
    line = '{"value": "", "headers": {"a": "1", "a_base64": "2"}}'
    assert decode_line(line).headers == (("a", b"1"), ("a_base64", b"2"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "not JSON"),
        ("[1]", "not a list"),
        ('{"key": "a"}', "neither 'value' nor 'value_base64'"),
        ('{"valeu": "a"}', "field 'valeu' is not known"),
        ('{"value": "a", "value_base64": "YQ=="}', "both"),
        ('{"value_base64": "*"}', "not base64"),
        ('{"value_base64": 3}', "not base64"),
        ('{"value": "\\ud800"}', "surrogate"),
        ('{"value": NaN}', "not JSON"),
        ('{"value": "", "headers": 3}', "not a list"),
        ('{"value": "", "headers": [{"value": "x"}]}', "no 'name'"),
        ('{"value": "", "headers": [{"name": "x", "v": ""}]}', "field 'v'"),
        ('{"value": "", "timestamp_ms": "now"}', "a text, not a 64-bit whole number"),
        ('{"value": "", "partition": true}', "a truth value"),
        ('{"value": "", "topic": 1}', "'topic' is a number"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_line_says_what_is_wrong(line: str, reason: str) -> None:
    with pytest.raises(RecordLineError, match="Line 3 is not a record") as caught:
        decode_line(line, line=3)
    assert reason in caught.value.text


def test_a_misspelt_field_gets_a_suggestion() -> None:
    with pytest.raises(RecordLineError, match="Did you mean 'headers'"):
        decode_line('{"value": "", "header": []}')
