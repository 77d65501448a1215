"""Random columns and rows for the property tests of formats."""

import decimal
import functools
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from orion.formats import Format, FormatSpec, row_type
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type

_START = datetime(1970, 1, 1, tzinfo=UTC)
_text = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
_names = st.from_regex(r"[A-Z][A-Z0-9]{0,6}", fullmatch=True)

VALUES: dict[Scalar, st.SearchStrategy[Any]] = {
    Scalar.BOOLEAN: st.booleans(),
    Scalar.INTEGER: st.integers(-(2**31), 2**31 - 1),
    Scalar.BIGINT: st.integers(-(2**63), 2**63 - 1),
    Scalar.DOUBLE: st.floats(allow_nan=False, allow_infinity=False),
    Scalar.STRING: _text,
    Scalar.BYTES: st.binary(max_size=12),
    Scalar.TIME: st.integers(0, 86_399_999),
    Scalar.DATE: st.dates(date(1900, 1, 1), date(2200, 1, 1)),
    # Formats write milliseconds.
    Scalar.TIMESTAMP: st.integers(-(10**12), 4 * 10**12).map(
        lambda ms: _START + timedelta(milliseconds=ms)
    ),
}
_decimals = st.integers(1, 30).flatmap(lambda p: st.integers(0, p).map(lambda s: Decimal(p, s)))
_scalars = st.sampled_from(list(Scalar))
KAFKA_TYPES = (Scalar.INTEGER, Scalar.BIGINT, Scalar.DOUBLE, Scalar.STRING, Scalar.BYTES)


@functools.cache
def types(format: Format) -> st.SearchStrategy[Type]:
    plain = _scalars | _decimals
    match format:
        case Format.KAFKA:
            return st.sampled_from(KAFKA_TYPES)
        case Format.DELIMITED:
            return plain
        case Format.PROTOBUF | Format.PROTOBUF_NOSR:
            return _protobuf_types(plain)
        case _:
            return st.recursive(plain, _inner, max_leaves=4)


def _inner(kinds: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    maps = kinds.map(lambda value: Map(Scalar.STRING, value))
    return kinds.map(Array) | maps | _structs(kinds)


def _protobuf_types(plain: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    """Lists and maps hold neither lists nor maps."""
    single = plain | _structs(plain)
    maps = single.map(lambda value: Map(Scalar.STRING, value))
    return single | single.map(Array) | maps | _structs(plain | plain.map(Array) | maps)


def _structs(kinds: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    fields = st.lists(st.builds(Field, _names, kinds), min_size=1, max_size=3, unique_by=_upper)
    return fields.map(lambda found: Struct(tuple(found)))


def _upper(field: Field) -> str:
    return field.name.upper()


@functools.cache
def specs(format: Format) -> st.SearchStrategy[FormatSpec]:
    most = 1 if format is Format.KAFKA else 4
    columns = st.lists(
        st.builds(Field, _names, types(format)), min_size=1, max_size=most, unique_by=_upper
    )
    return columns.map(lambda found: FormatSpec(format, tuple(found), subject="s-value"))


@functools.cache
def values(kind: Type, *, nulls: bool = True) -> st.SearchStrategy[Any]:
    found = _values(kind, nulls=nulls)
    return st.none() | found if nulls else found


def _values(kind: Type, *, nulls: bool) -> st.SearchStrategy[Any]:
    match kind:
        case Scalar():
            return VALUES[kind]
        case Decimal(precision, scale):
            limit = 10**precision - 1
            return st.integers(-limit, limit).map(
                lambda n: decimal.Decimal(n).scaleb(-scale, decimal.Context(prec=60))
            )
        case Array(element):
            return st.lists(values(element, nulls=nulls), max_size=3)
        case Map(_, value):
            return st.dictionaries(_text, values(value, nulls=nulls), max_size=3).map(
                lambda found: sorted(found.items(), key=lambda entry: entry[0])
            )
        case Struct(fields):
            return st.fixed_dictionaries({f.name: values(f.type, nulls=nulls) for f in fields})


def rows(spec: FormatSpec, *, nulls: bool = True, size: int = 6) -> st.SearchStrategy[pa.Array]:
    row = st.fixed_dictionaries({f.name: values(f.type, nulls=nulls) for f in spec.columns})
    each = st.none() | row if nulls else row
    return st.lists(each, max_size=size).map(lambda found: pa.array(found, row_type(spec.columns)))


@st.composite
def specs_and_rows(
    draw: st.DrawFn, format: Format, *, nulls: bool = True
) -> tuple[FormatSpec, pa.Array]:
    spec = draw(specs(format))
    return spec, draw(rows(spec, nulls=nulls))
