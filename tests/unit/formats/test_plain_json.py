"""JSON decoding against Python's own json module as the oracle."""

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orion.formats.plain_json import JsonDecoder, UnsupportedTypeError

SCHEMA = pa.schema(
    [
        ("whole", pa.int64()),
        ("small", pa.int32()),
        ("text", pa.string()),
        ("real", pa.float64()),
        ("flag", pa.bool_()),
        ("list", pa.list_(pa.int32())),
        ("inner", pa.struct([("x", pa.int64()), ("y", pa.string())])),
        ("map", pa.map_(pa.string(), pa.int64())),
    ]
)
DECODER = JsonDecoder(SCHEMA)

_text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
_int32 = st.integers(-(2**31), 2**31 - 1)
_int64 = st.integers(-(2**63), 2**63 - 1)
_maybe = st.none()
_rows = st.fixed_dictionaries(
    {},
    optional={
        "whole": _int64 | _maybe,
        "small": _int32 | _maybe,
        "text": _text | _maybe,
        "real": st.floats(allow_nan=False, allow_infinity=False) | _maybe,
        "flag": st.booleans() | _maybe,
        "list": st.lists(_int32 | _maybe, max_size=4) | _maybe,
        "inner": st.fixed_dictionaries({}, optional={"x": _int32, "y": _text}) | _maybe,
        "map": st.dictionaries(_text, _int32, max_size=3) | _maybe,
        "unknown": _text,
    },
)


def decode(*values: bytes | None) -> tuple[list[dict[str, Any]], list[str | None]]:
    columns, reasons = DECODER.decode(pa.array(values, pa.binary()))
    return pa.table(columns, names=SCHEMA.names).to_pylist(), reasons.to_pylist()


def expected(row: dict[str, Any]) -> dict[str, Any]:
    found = {name: row.get(name) for name in SCHEMA.names}
    if found["inner"] is not None:
        found["inner"] = {"x": None, "y": None} | found["inner"]
    if found["map"] is not None:
        found["map"] = list(found["map"].items())
    return found


@given(st.lists(_rows, min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_good_rows_are_what_python_reads(rows: list[dict[str, Any]]) -> None:
    got, reasons = decode(*(json.dumps(row).encode() for row in rows))
    assert reasons == [None] * len(rows)
    assert got == [expected(row) for row in rows]


@given(st.lists(st.binary(max_size=30) | st.none(), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_read_or_refused_with_a_reason(values: list[bytes | None]) -> None:
    good = json.dumps({"whole": 1, "small": 2, "text": "t"}).encode()
    got, reasons = decode(*values, good)
    assert reasons[-1] is None
    assert got[-1]["whole"] == 1
    for value, reason in zip(values, reasons, strict=False):
        assert (reason is None) == _is_object(value)


def _is_object(value: bytes | None) -> bool:
    try:
        found = json.loads((value or b"").decode())
    except ValueError:
        return False
    return isinstance(found, dict) and not set(found) & set(SCHEMA.names)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "the value is null (a tombstone)"),
        (b"", "the value is empty"),
        (b"\xff\xfe", "the value is not valid UTF-8"),
        (b'{"whole": 1', "the value is not valid JSON"),
        (b'{"whole": 1}{"whole": 2}', "the value is not valid JSON"),
        (b"[1]", "the value is JSON but not an object"),
        (b"null", "the value is JSON but not an object"),
        (b'{"whole": "x"}', "field 'whole' is not BIGINT: \"x\""),
        (b'{"whole": 1.5}', "field 'whole' is not BIGINT: 1.5"),
        (b'{"whole": 9223372036854775808}', "field 'whole' is not BIGINT: 9223372036854775808"),
        (b'{"small": 2147483648}', "field 'small' is not INTEGER: 2147483648"),
        (b'{"flag": "perhaps"}', "field 'flag' is not BOOLEAN: \"perhaps\""),
        (b'{"list": [1, "x"]}', "field 'list' holds an element of the wrong type"),
        (b'{"inner": 3}', "field 'inner' is not STRUCT: 3"),
        (b'{"inner": {"x": "no"}}', "field 'inner' holds an element of the wrong type"),
        (b'{"map": {"a": "b"}}', "field 'map' holds an element of the wrong type"),
    ],
)
def test_bad_values_have_their_reason(value: bytes | None, reason: str) -> None:
    full = json.dumps(dict.fromkeys(SCHEMA.names)).encode()
    _, reasons = decode(full, value)
    assert reasons == [None, reason]


def test_a_bad_element_is_seen_where_nothing_else_is_missing() -> None:
    row = {"whole": 1, "small": 1, "text": "", "real": 1.0, "flag": True}
    row |= {"list": [1, "x"], "inner": {"x": 1, "y": ""}, "map": {"a": 1}}
    _, reasons = decode(json.dumps(row).encode())
    assert reasons == ["field 'list' holds an element of the wrong type"]


def test_numbers_spelled_as_text_are_numbers() -> None:
    got, reasons = decode(b'{"whole": "9007199254740993", "small": "-7"}')
    assert reasons == [None]
    assert (got[0]["whole"], got[0]["small"]) == (9007199254740993, -7)


def test_an_empty_batch_is_fine() -> None:
    assert decode() == ([], [])


def test_a_type_without_a_json_form_is_refused() -> None:
    with pytest.raises(UnsupportedTypeError, match="Column 'a' has type binary"):
        JsonDecoder(pa.schema([("a", pa.binary())]))
