"""Random expressions over columns of all types: what Spark computes is what they mean."""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal as Number
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from orion import pipeline
from orion.formats import arrow_type, plain_values, to_arrow
from orion.model import Array, Decimal, Field, Map, Scalar, Struct, Type
from orion.process import sql_session
from orion.process.format import spark_columns, spark_type
from orion.process.sql.expression import compile_expression
from orion.sql import Computation, computation_or_null, typed
from tests.integration.planned import kind_of, planned

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
EXPRESSIONS, AT_ONCE, ROWS = 600, 50, 24
SMALL, LARGE = Decimal(5, 2), Decimal(20, 4)
PAIR = Struct((Field("A", Scalar.INTEGER), Field("B", Scalar.STRING)))
OTHER_PAIR = Struct((Field("B", Scalar.STRING), Field("A", Scalar.BIGINT)))
POOLS: Mapping[Type, Sequence[Any]] = {
    Scalar.BOOLEAN: [True, False],
    Scalar.INTEGER: [0, 1, -1, 3, -7, 2**31 - 1, -(2**31)],
    Scalar.BIGINT: [0, 1, -2, 5, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)],
    Scalar.DOUBLE: [0.0, 1.0, -1.5, 2.5, 1e10, 1e-5, 1e300, math.nan, math.inf, -math.inf],
    Scalar.STRING: [
        *("", "abc", "ABC", "a%c", "a_c", "1", "-2", " 3 ", "2.5", "1e3", "true", "no", "x\ny"),
        *("2024-02-29", "10:30:00", "2024-02-29T10:30:00", "99999999999", "NaN", "é😀"),
    ],
    Scalar.BYTES: [b"", b"abc", b"\x00\xff"],
    Scalar.DATE: [0, -1, 19782, 2932896],
    Scalar.TIME: [0, 37_800_000, 86_399_999],
    Scalar.TIMESTAMP: [0, -1, 1_709_202_600_000, 253_402_300_799_999],
    SMALL: [Number(text) for text in ("0.00", "1.25", "-1.25", "999.99", "-999.99")],
    LARGE: [Number(text) for text in ("0.0000", "2.5000", "-0.0001", "1234567890123456.7890")],
    Array(Scalar.INTEGER): [[], [1], [3, None, -1], [2**31 - 1, 0]],
    Array(Scalar.STRING): [[], ["a"], ["1", None, "abc"]],
    Map(Scalar.STRING, Scalar.INTEGER): [{}, {"a": 1}, {"abc": 2, "1": None}],
    PAIR: [{"A": 1, "B": "x"}, {"A": None, "B": "1"}, {"A": -7, "B": None}],
}
KINDS = [*POOLS]
# Each type has two columns, so that an expression may meet two values of one.
FIELDS = [Field(f"C{at}_{side}", kind) for at, kind in enumerate(KINDS) for side in "XY"]
TARGETS = [
    *KINDS,
    Array(Scalar.BIGINT),
    Array(SMALL),
    Map(Scalar.STRING, Scalar.DOUBLE),
    OTHER_PAIR,
]
NUMBERS: list[Type] = [Scalar.INTEGER, Scalar.BIGINT, Scalar.DOUBLE, SMALL, LARGE]
LITERALS: Mapping[Type, Sequence[str]] = {
    Scalar.BOOLEAN: ["true", "false"],
    Scalar.INTEGER: ["0", "1", "-3", "2147483647"],
    Scalar.BIGINT: ["9223372036854775807"],
    Scalar.DOUBLE: ["0e0", "1.5e0", "-2e10"],
    Scalar.STRING: ["'abc'", "''", "'1'", "'2024-02-29'", "'10:30:00'"],
    SMALL: ["1.25", "0.00"],
}


class Grammar:
    """Writes expressions of a wanted type; not all of them are accepted."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        # Of the lambdas around the place, the names of their parameters and their types.
        self._parameters: list[tuple[str, Type]] = []

    def of(self, kind: Type, depth: int) -> str:
        """Return an expression."""
        ways: list[Callable[[Type, int], str]] = [self._leaf]
        if depth > 0:
            ways = [self._cast, self._case, self._element, self._by_function]
            ways += [self._leaf] if kind not in (Scalar.BOOLEAN, *NUMBERS) else []
            ways += [self._condition] * 6 if kind is Scalar.BOOLEAN else []
            ways += [self._arithmetic] * 3 if kind in NUMBERS else []
            ways += [self._made] * 2 if not isinstance(kind, Scalar | Decimal) else []
            ways += [self._filtered, self._transformed] if isinstance(kind, Array | Map) else []
            ways += [self._reduced] if kind is Scalar.DOUBLE else []
        return self._chance.choice(ways)(kind, depth - 1)

    def _leaf(self, kind: Type, _: int) -> str:
        own = [name for name, of_kind in self._parameters if of_kind == kind]
        if own and self._chance.random() < 0.7:
            return self._chance.choice(own)
        literals = LITERALS.get(kind, ())
        if literals and self._chance.random() < 0.25:
            return self._chance.choice(literals)
        return f"C{KINDS.index(kind)}_{self._chance.choice('XY')}"

    def _any(self, depth: int) -> str:
        return self.of(self._chance.choice(KINDS), depth)

    def _cast(self, kind: Type, depth: int) -> str:
        return f"CAST({self._any(depth)} AS {kind})"

    def _case(self, kind: Type, depth: int) -> str:
        condition, found = self.of(Scalar.BOOLEAN, depth), self.of(kind, depth)
        default = f" ELSE {self.of(kind, depth)}" if self._chance.random() < 0.7 else ""
        return f"CASE WHEN {condition} THEN {found}{default} END"

    def _element(self, kind: Type, depth: int) -> str:
        if kind is Scalar.INTEGER and self._chance.random() < 0.5:
            of_map = self.of(Map(Scalar.STRING, Scalar.INTEGER), 0)
            return self._chance.choice([f"{of_map}['abc']", f"{self.of(PAIR, 0)}->A"])
        if Array(kind) in POOLS:
            return f"{self.of(Array(kind), 0)}[{self.of(Scalar.INTEGER, depth)}]"
        return self._leaf(kind, depth)

    def _by_function(self, kind: Type, depth: int) -> str:
        name = self._chance.choice(["COALESCE", "IFNULL", "NULLIF"])
        return f"{name}({self.of(kind, depth)}, {self.of(kind, 0)})"

    def _arithmetic(self, kind: Type, depth: int) -> str:
        other = self._chance.choice(NUMBERS)
        sign = self._chance.choice("+-*/%")
        found = f"({self.of(kind, depth)} {sign} {self.of(other, depth)})"
        return f"(-{found})" if self._chance.random() < 0.2 else found

    def _made(self, kind: Type, depth: int) -> str:
        match kind:
            case Array(element):
                return f"ARRAY[{self.of(element, depth)}, {self.of(element, 0)}]"
            case Map(key, value):
                return f"MAP({self.of(key, depth)} := {self.of(value, depth)})"
            case Struct(fields):
                parts = (f"{field.name} := {self.of(field.type, depth)}" for field in fields)
                return f"STRUCT({', '.join(parts)})"
        raise AssertionError(kind)

    def _lambda(self, types: Sequence[Type], body: Type, depth: int) -> str:
        names = [f"p{len(self._parameters) + at}" for at in range(len(types))]
        self._parameters += zip(names, types, strict=True)
        written = self.of(body, depth)
        del self._parameters[-len(names) :]
        return f"({', '.join(names)}) => {written}"

    def _filtered(self, kind: Type, depth: int) -> str:
        types = [kind.element] if isinstance(kind, Array) else []
        types = [kind.key, kind.value] if isinstance(kind, Map) else types
        return f"FILTER({self.of(kind, 0)}, {self._lambda(types, Scalar.BOOLEAN, depth)})"

    def _transformed(self, kind: Type, depth: int) -> str:
        if isinstance(kind, Map):
            both = [kind.key, kind.value]
            changes = [self._lambda(both, part, depth) for part in both]
            return f"TRANSFORM({self.of(kind, 0)}, {', '.join(changes)})"
        assert isinstance(kind, Array)
        source = self._chance.choice([Scalar.INTEGER, Scalar.STRING])
        change = self._lambda([source], kind.element, depth)
        return f"TRANSFORM({self.of(Array(source), 0)}, {change})"

    def _reduced(self, kind: Type, depth: int) -> str:
        step = self._lambda([kind, Scalar.INTEGER], kind, depth)
        return f"REDUCE({self.of(Array(Scalar.INTEGER), 0)}, {self.of(kind, 0)}, {step})"

    def _condition(self, _: Type, depth: int) -> str:
        kind = self._chance.choice(KINDS)
        near = self._chance.choice(NUMBERS) if kind in NUMBERS else kind
        one, other = self.of(kind, depth), self.of(near, depth)
        truth = self.of(Scalar.BOOLEAN, depth)
        comparison = self._chance.choice(["=", "<>", "<", "<=", ">", ">="])
        text, pattern = self.of(Scalar.STRING, depth), self._chance.choice(["a%", "_b%", "%", "1"])
        return self._chance.choice(
            [
                f"({one} {comparison} {other})",
                f"({one} {comparison} {other})",
                f"({one} IS DISTINCT FROM {other})",
                f"({one} IS NOT NULL)",
                f"({one} BETWEEN {other} AND {self.of(kind, 0)})",
                f"({one} IN ({other}, {self.of(kind, 0)}))",
                f"({text} LIKE '{pattern}')",
                f"({truth} AND {self.of(Scalar.BOOLEAN, 0)})",
                f"({truth} OR {self.of(Scalar.BOOLEAN, 0)})",
                f"(NOT {truth})",
            ]
        )


@pytest.fixture(scope="module")
def given(spark_app: pipeline.Pipeline) -> tuple[DataFrame, list[dict[str, Any]]]:
    """Return rows for Spark, and the same rows as Python takes them."""
    spark: SparkSession = sql_session(spark_app.runtime.spark)
    chance = random.Random(11)
    rows = [
        {f.name: None if chance.random() < 0.15 else chance.choice(POOLS[f.type]) for f in FIELDS}
        for _ in range(ROWS)
    ]
    columns = [
        pa.array([to_arrow(row[f.name], f.type) for row in rows], arrow_type(f.type))
        for f in FIELDS
    ]
    table = pa.table(columns, names=[field.name for field in FIELDS])
    frame = spark.createDataFrame(table, schema=spark_columns(FIELDS)).coalesce(1)
    return frame, rows


def same(one: Any, other: Any) -> bool:
    match one, other:
        case float(), float():
            return one == other or (one != one and other != other) or math.isclose(one, other)
        case list(), list():
            return len(one) == len(other) and all(map(same, one, other))
        case dict(), dict():
            return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    return type(one) is type(other) and bool(one == other)


def differences(
    found: Sequence[tuple[str, typed.Typed]], frame: DataFrame, rows: Sequence[dict[str, Any]]
) -> Iterator[str]:
    """Yield what Spark computes otherwise than Python."""
    for begin in range(0, len(found), AT_ONCE):
        some = found[begin : begin + AT_ONCE]
        kinds = [spark_type(kind_of(expression)) for _, expression in some]
        columns = [compile_expression(expression) for _, expression in some]
        types = [column.dataType.simpleString() for column in frame.select(*columns).schema]
        assert types == [kind.simpleString() for kind in kinds]
        # Arrow refuses a struct that is null where Spark knows that its fields are not.
        columns = [column.cast(kind) for column, kind in zip(columns, kinds, strict=True)]
        columns = [column.alias(f"v{at}") for at, column in enumerate(columns)]
        answer = frame.select(*columns).toArrow()
        for (text, expression), column in zip(some, answer.columns, strict=True):
            meaning: Computation = computation_or_null(expression)
            for row, value in zip(rows, plain_values(column, kind_of(expression)), strict=True):
                meant = meaning(row)
                if not same(value, meant):
                    used = {n: row[n] for n in typed.inputs_of(expression)}
                    yield f"{text} on {used}: computed {value!r}, meant {meant!r}"


def test_casts_mean_the_same_between_all_types(
    given: tuple[DataFrame, list[dict[str, Any]]],
) -> None:
    texts = [f"CAST({f.name} AS {target})" for f in FIELDS[::2] for target in TARGETS]
    found = [*planned(FIELDS, texts)]
    assert len(found) > 60
    other = [*differences(found, *given)]
    assert not other, "\n".join(other)


def test_random_expressions_mean_the_same(given: tuple[DataFrame, list[dict[str, Any]]]) -> None:
    chance = random.Random(5)
    grammar = Grammar(chance)
    texts = [grammar.of(chance.choice(KINDS), depth=3) for _ in range(EXPRESSIONS)]
    found = [*planned(FIELDS, texts)]
    assert len(found) > EXPRESSIONS // 3
    other = [*differences(found, *given)]
    assert not other, "\n".join(other)
