"""A bare NULL in any place of a call: refused when it is planned, or computed by Spark."""

from collections.abc import Iterator

import pytest

from orion import pipeline
from orion.model import Decimal, Field, Scalar, Struct
from orion.process import sql_session
from orion.process.format import spark_columns, spark_type
from orion.process.sql.expression import compile_expression
from orion.sql import built_in_functions
from orion.sql.function import Function, Kind, Variant
from orion.sql.function import pattern as p
from tests.integration.planned import kind_of, planned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
FUNCTIONS = built_in_functions()
FIELDS = [
    *(Field(f"of_{kind.name}", kind) for kind in Scalar),
    Field("of_DECIMAL", Decimal(10, 2)),
    Field("of_STRUCT", Struct((Field("A", Scalar.INTEGER),))),
]
CALLS_A_JOB = 50


def argument(pattern: p.Pattern) -> str:
    """Return an argument that fits a pattern."""
    match pattern:
        case p.Exactly(kind) if isinstance(kind, Scalar):
            return f"`of_{kind.name}`"
        case p.AnyDecimal() | p.Exactly():
            return "`of_DECIMAL`"
        case p.AnyStruct():
            return "`of_STRUCT`"
        case p.ArrayOf(element):
            return f"ARRAY[{argument(element)}]"
        case p.MapOf(key, value):
            return f"MAP({argument(key)} := {argument(value)})"
        case p.StructOf(fields):
            parts = ", ".join(f"{name} := {argument(inner)}" for name, inner in fields)
            return f"STRUCT({parts})"
        case p.LambdaOf(parameters, result):
            names = [f"p{at}" for at in range(len(parameters))]
            body = "true" if result == p.Exactly(Scalar.BOOLEAN) else names[-1]
            return f"({', '.join(names)}) => {body}"
    return "`of_STRING`"


def calls(function: Function, variant: Variant) -> Iterator[str]:
    """Yield a call with a NULL in each place, and one with nothing else."""
    given = [argument(parameter.pattern) for parameter in variant.parameters]
    for at in range(len(given)):
        yield f"{function.name}({', '.join([*given[:at], 'NULL', *given[at + 1 :]])})"
    yield f"{function.name}({', '.join(['NULL'] * len(given))})"


def texts() -> Iterator[str]:
    """Yield all calls of all functions."""
    for function in FUNCTIONS:
        if function.kind is Kind.SCALAR:
            for variant in function.variants:
                yield from calls(function, variant)


def test_a_call_with_a_null_is_computed_where_it_is_planned(
    spark_app: pipeline.Pipeline,
) -> None:
    spark = sql_session(spark_app.runtime.spark)
    rows = spark.createDataFrame([(None,) * len(FIELDS)], spark_columns(FIELDS)).coalesce(1)
    found = [*planned(FIELDS, dict.fromkeys(texts()))]
    assert len(found) > 300
    for begin in range(0, len(found), CALLS_A_JOB):
        some = found[begin : begin + CALLS_A_JOB]
        columns = [
            compile_expression(expression).alias(f"{at} {text}")
            for at, (text, expression) in enumerate(some)
        ]
        answer = rows.select(*columns)
        shown = [column.dataType.simpleString() for column in answer.schema]
        assert shown == [spark_type(kind_of(expression)).simpleString() for _, expression in some]
        assert answer.toArrow().num_rows == 1
