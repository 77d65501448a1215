"""What a codec writes it reads, for random columns and rows; damaged bytes are told, not raised."""

import io
import json
from typing import Any

import fastavro
import jsonschema
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.formats.strategies import specs, specs_and_rows

from orion.formats import (
    HEADER_BYTES,
    Format,
    FormatSpec,
    MemorySchemas,
    codec_of,
    columns_of,
    schema_of,
)
from orion.formats.json.codec import JsonCodec
from orion.model import Scalar

EXACT = (Format.JSON, Format.JSON_SR, Format.AVRO)
PROTOBUF = (Format.PROTOBUF, Format.PROTOBUF_NOSR)
ALL = (*EXACT, *PROTOBUF, Format.DELIMITED, Format.KAFKA)
_quick = settings(max_examples=25, deadline=None)


@pytest.mark.parametrize("format", EXACT)
@given(st.data())
@_quick
def test_rows_come_back(format: Format, data: st.DataObject) -> None:
    spec, rows = data.draw(specs_and_rows(format))
    codec = codec_of(spec, MemorySchemas())
    decoded = codec.decode(codec.encode(rows))
    assert decoded.reasons.null_count == len(rows)
    assert decoded.rows.to_pylist() == rows.to_pylist()


@pytest.mark.parametrize("format", PROTOBUF)
@given(st.data())
@_quick
def test_protobuf_keeps_all_but_nulls(format: Format, data: st.DataObject) -> None:
    spec, rows = data.draw(specs_and_rows(format, nulls=False))
    codec = codec_of(spec, MemorySchemas())
    decoded = codec.decode(codec.encode(rows))
    assert decoded.reasons.null_count == len(rows)
    assert _sorted_maps(decoded.rows.to_pylist()) == rows.to_pylist()


def _sorted_maps(value: Any) -> Any:
    """Return a value whose maps, which Protobuf keeps in no order, are sorted."""
    if isinstance(value, dict):
        return {name: _sorted_maps(each) for name, each in value.items()}
    if isinstance(value, list):
        inner = [_sorted_maps(each) for each in value]
        return (
            sorted(inner, key=lambda entry: entry[0])
            if inner and isinstance(inner[0], tuple)
            else inner
        )
    return tuple(map(_sorted_maps, value)) if isinstance(value, tuple) else value


@given(st.data())
@_quick
def test_protobuf_takes_nulls_for_defaults(data: st.DataObject) -> None:
    spec, rows = data.draw(specs_and_rows(Format.PROTOBUF))
    codec = codec_of(spec, MemorySchemas())
    once = codec.decode(codec.encode(rows))
    assert once.reasons.null_count == len(rows)
    again = codec.decode(codec.encode(once.rows))
    assert _sorted_maps(again.rows.to_pylist()) == _sorted_maps(once.rows.to_pylist())


@given(st.data())
@_quick
def test_delimited_keeps_all_but_empty_texts(data: st.DataObject) -> None:
    spec, rows = data.draw(specs_and_rows(Format.DELIMITED))
    codec = codec_of(spec)
    decoded = codec.decode(codec.encode(rows))
    for before, after, reason in zip(
        rows.to_pylist(), decoded.rows.to_pylist(), decoded.reasons.to_pylist(), strict=True
    ):
        nothing = before is not None and len(before) == 1 and None in before.values()
        # A line without a single value is no line.
        assert reason == ("the body is empty" if nothing else None)
        if before is not None and not nothing:
            assert after == {name: None if v in ("", b"") else v for name, v in before.items()}


@given(st.data())
@_quick
def test_kafka_keeps_all(data: st.DataObject) -> None:
    spec, rows = data.draw(specs_and_rows(Format.KAFKA))
    codec = codec_of(spec)
    decoded = codec.decode(codec.encode(rows))
    name = spec.columns[0].name
    expected = [row if row and row[name] is not None else None for row in rows.to_pylist()]
    assert decoded.rows.to_pylist() == expected


@given(st.data())
@_quick
def test_avro_is_what_fastavro_reads(data: st.DataObject) -> None:
    spec, rows = data.draw(specs_and_rows(Format.AVRO))
    schemas = MemorySchemas()
    tree = fastavro.parse_schema(json.loads(schema_of(spec).text))
    for body, row in zip(
        codec_of(spec, schemas).encode(rows).to_pylist(), rows.to_pylist(), strict=True
    ):
        if row is not None:
            found: Any = fastavro.schemaless_reader(io.BytesIO(body[HEADER_BYTES:]), tree, None)
            assert set(found) == set(row)
            for field in spec.columns:
                if isinstance(field.type, Scalar) and field.type is not Scalar.TIME:
                    assert found[field.name] == row[field.name]


@given(st.data())
@_quick
def test_json_schema_accepts_what_is_written(data: st.DataObject) -> None:
    spec, rows = data.draw(specs_and_rows(Format.JSON_SR))
    schema = json.loads(schema_of(spec).text)
    for body in codec_of(spec, MemorySchemas()).encode(rows).to_pylist():
        if body is not None:
            jsonschema.validate(json.loads(body[HEADER_BYTES:]), schema)


@pytest.mark.parametrize("format", [Format.AVRO, Format.JSON_SR, Format.PROTOBUF])
@given(st.data())
@_quick
def test_columns_come_back_from_their_schema(format: Format, data: st.DataObject) -> None:
    spec = data.draw(specs(format))
    if format is Format.PROTOBUF:
        # Decimals inside of maps have nowhere to keep their digits.
        spec = FormatSpec(format, tuple(f for f in spec.columns if "MAP" not in str(f.type)))
    if spec.columns:
        assert columns_of(schema_of(spec)) == spec.columns


@pytest.mark.parametrize("format", ALL)
@given(st.data())
@_quick
def test_damaged_bytes_never_raise(format: Format, data: st.DataObject) -> None:
    spec, rows = data.draw(specs_and_rows(format))
    codec = codec_of(spec, MemorySchemas())
    bodies = [body for body in codec.encode(rows).to_pylist() if body is not None]
    damaged = [_damage(data, body) for body in bodies] + data.draw(
        st.lists(st.binary(max_size=20), min_size=1, max_size=5)
    )
    decoded = codec.decode(pa.array([*damaged, None], pa.binary()))
    pairs = list(zip(decoded.rows.to_pylist(), decoded.reasons.to_pylist(), strict=True))
    assert pairs[-1] == (None, None)
    assert all(row is None for row, reason in pairs if reason is not None)


def _damage(data: st.DataObject, body: bytes) -> bytes:
    cut = data.draw(st.integers(0, len(body)))
    flip = data.draw(st.binary(max_size=3))
    return body[:cut] + flip + body[cut + len(flip) :]


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_the_clean_path_reads_what_the_tolerant_one_does(data: st.DataObject) -> None:
    spec, rows = data.draw(specs_and_rows(Format.JSON))
    bodies = codec_of(spec).encode(rows).to_pylist()
    others = [b"{}", b"null", b"[1]", b"{", b"\xff", b'{"A":1.50}', b'{"a":true,"A":"x"}']
    respelled = [body and body.lower() for body in bodies[:3]]
    values = pa.array([*bodies, *others, *respelled], pa.binary())
    fast, slow = JsonCodec(spec), JsonCodec(spec)
    many = pa.concat_arrays([values] * (400 // len(values) + 1))
    got, expected = fast.decode(many), slow.decode(values)
    assert got.rows[: len(values)].to_pylist() == expected.rows.to_pylist()
    assert got.reasons[: len(values)].to_pylist() == expected.reasons.to_pylist()
