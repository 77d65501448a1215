"""Functions asked at random: they answer, or fail as functions do; some never fail."""

from decimal import Decimal as Number
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orion.model import Array, Decimal, Map, Scalar, Type
from orion.sql.function import Function, Kind, Variant, built_in_functions
from orion.sql.function import pattern as p

FUNCTIONS = built_in_functions()
TEXTS = st.text(max_size=12) | st.sampled_from(
    ["yyyy-MM-dd", "HH:mm", "UTC", "Europe/Paris", "utf8", "hex", "DAYS", "{}", "[1,2]", "a=b", "("]
)
VALUES: dict[Scalar, st.SearchStrategy[Any]] = {
    Scalar.BOOLEAN: st.booleans(),
    Scalar.INTEGER: st.integers(-5, 20) | st.sampled_from([2**31 - 1, -(2**31)]),
    Scalar.BIGINT: st.integers(-5, 20) | st.sampled_from([2**63 - 1, -(2**63)]),
    Scalar.DOUBLE: st.floats(),
    Scalar.STRING: TEXTS,
    Scalar.BYTES: st.binary(max_size=17),
    Scalar.DATE: st.integers(-800_000, 3_000_000),
    Scalar.TIME: st.integers(0, 86_399_999),
    Scalar.TIMESTAMP: st.integers(-62_135_596_800_000, 253_402_300_799_999),
}


def values(kind: Type) -> st.SearchStrategy[Any]:
    match kind:
        case Scalar():
            return st.none() | VALUES[kind]
        case Decimal(_, scale):
            return st.none() | st.integers(-99_999, 99_999).map(lambda n: Number(n).scaleb(-scale))
        case Array(element):
            return st.none() | st.lists(values(element), max_size=4)
        case Map(_, value):
            return st.none() | st.dictionaries(VALUES[Scalar.STRING], values(value), max_size=4)
    raise NotImplementedError(kind)


def type_of(pattern: p.Pattern) -> Type:
    match pattern:
        case p.Exactly(kind):
            return kind
        case p.AnyDecimal():
            return Decimal(5, 2)
        case p.ArrayOf(element):
            return Array(type_of(element))
        case p.MapOf(_, value):
            return Map(Scalar.STRING, type_of(value))
    return Scalar.DOUBLE


def is_plain(variant: Variant) -> bool:
    return not any(isinstance(part.pattern, p.LambdaOf) for part in variant.parameters)


SCALARS = [function for function in FUNCTIONS if function.kind is Kind.SCALAR]


@pytest.mark.parametrize("function", SCALARS, ids=lambda function: function.name)
@settings(max_examples=25, deadline=None)
@given(asked=st.data())
def test_functions_answer_or_fail_as_functions_do(function: Function, asked: st.DataObject) -> None:
    plain = [variant for variant in function.variants if is_plain(variant)]
    if not plain:
        return
    variant = asked.draw(st.sampled_from(plain))
    types = [type_of(part.pattern) for part in variant.parameters]
    resolved = FUNCTIONS.resolve(function.name, types)
    arguments = [asked.draw(values(kind)) for kind in types]
    try:
        found = resolved.apply(*arguments)
    except Exception:  # noqa: BLE001 - whatever a meaning raises, its column is null
        assert resolved.can_fail
        return
    # What cannot be encoded would stop the batch that carries it.
    if isinstance(found, str):
        assert found.encode() is not None
    if resolved.returns is Scalar.DOUBLE and found is not None:
        assert isinstance(found, float)
    if resolved.returns is Scalar.INTEGER and found is not None:
        assert -(2**31) <= found < 2**31
    if resolved.returns is Scalar.BIGINT and found is not None:
        assert -(2**63) <= found < 2**63
