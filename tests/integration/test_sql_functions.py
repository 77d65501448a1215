"""The native form of a function and its meaning agree: on nulls, edges and ordinary values."""

import itertools
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context
from decimal import Decimal as Number
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from orion import pipeline
from orion.formats import arrow_type, from_arrow, to_arrow
from orion.model import Array, Decimal, Field, Map, Scalar, Type
from orion.process import sql_session
from orion.process.format import spark_columns
from orion.process.function import native, native_names, null_is_failure
from orion.process.sql.expression import compile_expression
from orion.process.sql.rows import in_batches
from orion.sql import plan, tree, typed
from orion.sql.function import (
    Functions,
    Kind,
    LambdaArgument,
    Resolved,
    Variant,
    built_in_functions,
)
from orion.sql.function import pattern as p
from orion.user_function import load_functions

WIDE = Context(prec=80)
FUNCTIONS: Functions = built_in_functions()
ROWS = 48
CASES_A_JOB = 50
# Nothing to compare: another value in every row.
CHANGING = {"RANDOM", "UUID", "UNIX_DATE", "UNIX_TIMESTAMP"}

POOL: dict[Any, list[Any]] = {
    Scalar.BOOLEAN: [None, True, False],
    Scalar.INTEGER: [None, 0, 1, -1, 2, 3, 5, -7, 100, 2**31 - 1, -(2**31)],
    Scalar.BIGINT: [None, 0, 1, -1, 2, -7, 1000, 2**53 + 1, 2**63 - 1, -(2**63)],
    Scalar.DOUBLE: [
        *(None, 0.0, 1.0, -1.0, 0.5, 1.5, -1.5, 2.5, -2.5, 0.1, 1.005, -1.005, 1.25, -1.25),
        *(0.49999999999999994, 123456.789, 1e20, -1e20, math.nan, math.inf, -math.inf),
    ],
    Scalar.STRING: [
        *(None, "", " ", "abc", "ABC", "Ab-12 dé", "a,b,,c", ",", "ß", "x😀y", "\ta b\n"),
        *("%41+b", "%zz", "[1, [2], 3]", "{}", "b", "UTC"),
    ],
    Scalar.BYTES: [None, b"", b"abc", b"\x00\x01\x02\x03", b"\xff" * 4, b"\xff" * 8, bytes(16)],
    Scalar.DATE: [None, 0, -1, 19782, 2932896],
    Scalar.TIME: [None, 0, 86_399_999, 37_800_123],
    Scalar.TIMESTAMP: [None, 0, -1, 1_709_202_605_123, -62_135_596_800_000],
}
DECIMAL = Decimal(6, 2)
WHOLE, TINY, HALF = Decimal(38, 0), Decimal(38, 38), Decimal(38, 19)
POOL[DECIMAL] = [None, *map(Number, ("0.00", "1.25", "-1.25", "2.50", "-2.50", "7.99", "-0.01"))]
for wide in (WHOLE, TINY, HALF):
    POOL[wide] = [
        None,
        *(
            Number(sign * digits).scaleb(-wide.scale, WIDE)
            for digits in (0, 1, 45 * 10**36, 10**38 - 1, 12345678901234567890123456789012345678)
            for sign in (1, -1)
        ),
    ]
# What letters and loose patterns stand for, one kind after the other.
LETTERS: list[Mapping[str, Type]] = [
    dict.fromkeys("TSUVW", Scalar.INTEGER) | {"K": Scalar.STRING, "L": Scalar.STRING},
    dict.fromkeys("TSUVWKL", Scalar.STRING) | {"DECIMAL": WHOLE},
    dict.fromkeys("TSUVW", Scalar.DOUBLE)
    | {"K": Scalar.STRING, "L": Scalar.STRING, "DECIMAL": TINY},
    dict.fromkeys("TSUVW", HALF) | {"K": Scalar.STRING, "L": Scalar.STRING, "DECIMAL": HALF},
]
CONSTANTS: dict[str, list[dict[int, Any]]] = {
    "ROUND": [{1: 0}, {1: 1}, {1: 2}, {1: 5}],
    "TRUNC": [{1: 0}, {1: 1}, {1: 3}],
    "DATETOSTRING": [{1: "dd-MMM-yyyy"}, {1: "EEEE, d MMMM yyyy 'o''clock'"}],
    "FORMAT_DATE": [{1: "yyyy-MM-dd"}],
    "FORMAT_TIME": [{1: "HH:mm:ss.SSS"}, {1: "h:m a"}],
    "FORMAT_TIMESTAMP": [
        {1: "yyyy-MM-dd'T'HH:mm:ss.SSS"},
        {1: "yyyy-MM-dd HH:mm", 2: "Europe/Paris"},
        {1: "HH:mm", 2: "-03:30"},
    ],
    "TIMESTAMPTOSTRING": [{1: "EEE hh a"}, {1: "HH:mm", 2: "America/Los_Angeles"}],
    "TO_BYTES": [{1: "utf8"}],
    "FROM_BYTES": [{1: "hex"}, {1: "base64"}],
    "REGEXP_EXTRACT": [{0: "[a-c]+"}, {0: "(?<first>.)b"}],
    "REGEXP_EXTRACT_ALL": [{0: "."}],
    "REGEXP_REPLACE": [{1: "[a-c]+", 2: "-"}],
    "REGEXP_SPLIT_TO_ARRAY": [{1: "[, ]"}],
    **{
        f"{kind}{verb}": [{0: "DAYS"}, {0: "hour"}, {0: "MILLISECONDS"}, {0: "nothing"}]
        for kind in ("DATE", "TIME", "TIMESTAMP")
        for verb in ("ADD", "SUB")
    },
}
Both = tuple[Callable[..., Any], Callable[..., Column]]
LAMBDAS: dict[str, Both] = {
    "change": (lambda x: x, lambda x: x),
    "key": (lambda k, v: k + "!", lambda k, v: F.concat(k, F.lit("!"))),
    "value": (lambda k, v: v, lambda k, v: v),
    "step": (lambda s, *rest: rest[-1], lambda s, *rest: rest[-1]),
}


SHOUT = """
import orion


@orion.udf
def shout(text: str) -> str:
    return text[0].upper() + text[1:] + "!" if text != "seven" else 7
"""


@dataclass(frozen=True)
class Case:
    """A call with the rows it is made on."""

    name: str
    resolved: Resolved
    types: tuple[Type | None, ...]
    rows: tuple[tuple[Any, ...], ...]
    constants: Mapping[int, Any] = field(default_factory=dict)
    lambdas: Mapping[int, Both] = field(default_factory=dict)

    def apply(self, row: tuple[Any, ...]) -> Any:
        arguments = [self.lambdas[at][0] if at in self.lambdas else v for at, v in enumerate(row)]
        return self.resolved.apply(*arguments)

    def meaning(self, row: tuple[Any, ...]) -> Any:
        return None if self.fails(row) else self.apply(row)

    def fails(self, row: tuple[Any, ...]) -> bool:
        try:
            self.apply(row)
        except Exception:  # noqa: BLE001 - a call that fails is null
            return True
        return False


def instances(variant: Variant) -> Iterator[list[p.Pattern]]:
    patterns = [parameter.pattern for parameter in variant.parameters]
    if variant.repeated is None:
        yield patterns
    else:
        before, after = patterns[: variant.repeated], patterns[variant.repeated + 1 :]
        for count in (0, 2):
            yield [*before, *[patterns[variant.repeated]] * count, *after]


def type_of(pattern: p.Pattern, letters: Mapping[str, Type]) -> Type:
    match pattern:
        case p.Exactly(kind):
            return kind
        case p.AnyDecimal():
            return letters.get("DECIMAL", DECIMAL)
        case p.Letter(name):
            return letters[name]
        case p.ArrayOf(element):
            return Array(type_of(element, letters))
        case p.MapOf(key, value):
            return Map(type_of(key, letters), type_of(value, letters))
    return Scalar.STRING


def pool(kind: Type) -> list[Any]:
    match kind:
        case Array(element):
            some = [value for value in pool(element) if value is not None]
            return [None, [], some[:2], [some[1], None, some[1], some[0]], some[::-1][:3]]
        case Map(key, value):
            keys = [one for one in pool(key) if one is not None][:4]
            values = [one for one in pool(value) if one is not None]
            return [None, {}, dict(zip(keys, values, strict=False)), {keys[2]: values[1]}]
    return POOL[kind]


def cases(*, native_ones: bool) -> Iterator[Case]:
    chance = random.Random(7)
    for function in FUNCTIONS:
        if (function.name in native_names()) is not native_ones or function.name in CHANGING:
            continue
        if function.kind is Kind.AGGREGATE:
            continue
        for variant in function.variants:
            for patterns in instances(variant):
                yield from variant_cases(function.name, variant, patterns, chance)


def variant_cases(
    name: str, variant: Variant, patterns: list[p.Pattern], chance: random.Random
) -> Iterator[Case]:
    loose = any(
        len(str(part)) == 1 or "<" in str(part) or str(part) == "DECIMAL" for part in patterns
    )
    for letters in LETTERS if loose else LETTERS[:1]:
        lambdas: dict[int, Both] = {
            at: FILTER[len(part.parameters)] if name == "FILTER" else LAMBDAS[parameter.name]
            for at, (part, parameter) in enumerate(zip(patterns, variant.parameters, strict=False))
            if isinstance(part, p.LambdaOf)
        }
        types = [
            None if at in lambdas else type_of(part, letters) for at, part in enumerate(patterns)
        ]
        given = [
            LambdaArgument(len(part.parameters), inferred(part, letters))
            if isinstance(part, p.LambdaOf)
            else kind
            for part, kind in zip(patterns, types, strict=True)
        ]
        resolved = FUNCTIONS.resolve(name, given)
        for constants in CONSTANTS.get(name, [{}]):
            fitting = {at: value for at, value in constants.items() if at < len(types)}
            if len(fitting) == len(constants) and len(fitting) >= needed(name, len(types)):
                rows = tuple(sampled(types, fitting, chance))
                yield Case(name, resolved, tuple(types), rows, fitting, lambdas)


def needed(name: str, count: int) -> int:
    zoned = name in ("FORMAT_TIMESTAMP", "TIMESTAMPTOSTRING") and count == 3
    return 2 if zoned else 0


def inferred(part: p.LambdaOf, letters: Mapping[str, Type]) -> Callable[[Sequence[Type]], Type]:
    return lambda _: type_of(part.result, letters)


FILTER: dict[int, Both] = {
    1: (
        lambda x: x is not None,
        lambda x: x.isNotNull(),
    ),
    2: (
        lambda k, v: None if v is None else k > "a",
        lambda k, v: F.when(v.isNotNull(), k > "a"),
    ),
}


def sampled(
    types: Sequence[Type | None], constants: Mapping[int, Any], chance: random.Random
) -> list[tuple[Any, ...]]:
    pools = [
        [constants[at]] if at in constants else [None] if kind is None else pool(kind)
        for at, kind in enumerate(types)
    ]
    total = math.prod(map(len, pools))
    if total <= ROWS:
        return list(itertools.product(*pools))
    return [tuple(chance.choice(values) for values in pools) for _ in range(ROWS)]


def same(one: Any, other: Any) -> bool:
    match one, other:
        case float(), float():
            if math.isnan(one) or math.isnan(other):
                return math.isnan(one) and math.isnan(other)
            return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-300)
        case list(), list():
            return len(one) == len(other) and all(map(same, one, other))
        case dict(), dict():
            return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    return bool(one == other)


def plain(column: pa.ChunkedArray, kind: Type) -> list[Any]:
    """Return a column's values; moments by their numbers, for Python's own end at year 9999."""
    if kind is Scalar.DATE:
        return list(column.cast(pa.int32()).to_pylist())
    if kind is Scalar.TIMESTAMP:
        micros = column.cast(pa.int64()).to_pylist()
        return [None if value is None else value // 1000 for value in micros]
    return [from_arrow(value, kind) for value in column.to_pylist()]


def run(
    spark: SparkSession, some: Sequence[Case], column_of: Callable[[Case, list[Any]], Column | None]
) -> Iterator[tuple[Case, list[Any]]]:
    """Compute some cases in one Spark job; those without a column are left out."""
    fields: list[Field] = []
    arrays: list[pa.Array] = []
    outputs: dict[int, Column] = {}
    for number, case in enumerate(some):
        arguments: list[Any] = []
        for at, kind in enumerate(case.types):
            if kind is None:
                arguments.append(case.lambdas[at][1])
            elif at in case.constants:
                arguments.append(F.lit(case.constants[at]))
            else:
                name = f"i{number}_{at}"
                values = [to_arrow(row[at], kind) for row in case.rows]
                fields.append(Field(name, kind))
                padding = [None] * (ROWS - len(values))
                arrays.append(pa.array([*values, *padding], arrow_type(kind)))
                arguments.append(F.col(name))
        column = column_of(case, arguments)
        if column is not None:
            outputs[number] = column.alias(f"o{number}")
    table = pa.table(arrays, names=[field.name for field in fields])
    frame = spark.createDataFrame(table, schema=spark_columns(fields)).coalesce(1)
    answer = frame.select(*outputs.values()).toArrow()
    for number in outputs:
        yield some[number], plain(answer.column(f"o{number}"), some[number].resolved.returns)


def test_a_null_of_these_functions_is_a_failure() -> None:
    failing, silent = set(), set()
    for case in cases(native_ones=True):
        for row in case.rows:
            if not any(value is None and at not in case.lambdas for at, value in enumerate(row)):
                if case.fails(row):
                    failing.add(case.name)
                elif case.apply(row) is None:
                    silent.add(case.name)
    assert {name for name in native_names() if null_is_failure(name)} == failing - silent


@pytest.fixture(scope="module")
def computed(spark_app: pipeline.Pipeline) -> list[tuple[Case, list[Any]]]:
    """Compute every case, a few jobs in all: one huge job takes longer to compile."""
    spark = sql_session(spark_app.runtime.spark)
    found = list(cases(native_ones=True))
    parts = [found[at : at + CASES_A_JOB] for at in range(0, len(found), CASES_A_JOB)]
    return [answer for part in parts for answer in run(spark, part, native_column)]


def native_column(case: Case, arguments: list[Any]) -> Column | None:
    return native(case.resolved, arguments, case.types, case.constants)


def batch_column(case: Case, arguments: list[Any]) -> Column | None:
    """Return the column that Python computes; a lambda's body would be SQL, which is not here."""
    if case.lambdas:
        return None
    names = [re.sub(r"Column<'`?|`?'>", "", str(argument)) for argument in arguments]
    inputs = [
        typed.Constant(kind, case.constants[at])
        if at in case.constants
        else typed.Input(kind or Scalar.STRING, names[at])
        for at, kind in enumerate(case.types)
    ]
    return in_batches(typed.Applied(case.resolved.returns, case.resolved, tuple(inputs)))


def differences(computed: list[tuple[Case, list[Any]]]) -> list[str]:
    found = []
    for case, values in computed:
        for row, value in zip(case.rows, values, strict=False):
            meant = case.meaning(row)
            if not same(value, meant):
                found.append(f"{case.name}{row}: computed {value!r}, meant {meant!r}")
    return found


def test_native_forms_agree_with_the_meanings(computed: list[tuple[Case, list[Any]]]) -> None:
    assert "\n".join(differences(computed)) == ""


def test_the_others_run_over_batches(spark_app: pipeline.Pipeline) -> None:
    spark = sql_session(spark_app.runtime.spark)
    found = [
        case for case in cases(native_ones=False) if case.resolved.function.kind is Kind.SCALAR
    ]
    answered = list(run(spark, found, batch_column))
    assert len({case.name for case, _ in answered}) > 20
    assert differences(answered) == []


def test_a_function_of_a_user_runs_over_batches(
    spark_app: pipeline.Pipeline, tmp_path: Path
) -> None:
    (tmp_path / "functions.py").write_text(SHOUT)
    resolved = load_functions(tmp_path).resolve("shout", [Scalar.STRING])
    case = Case("SHOUT", resolved, (Scalar.STRING,), (("hey",), (None,), ("",), ("seven",)))
    spark = sql_session(spark_app.runtime.spark)
    ((_, values),) = run(spark, [case], batch_column)
    # An empty text has no first letter, and 7 is no text: only their rows are null.
    assert values[:4] == ["Hey!", None, None, None]


def test_arithmetic_of_decimals_is_exact_in_both(spark_app: pipeline.Pipeline) -> None:
    spark = sql_session(spark_app.runtime.spark)
    found = []
    for left, right in itertools.product((DECIMAL, WHOLE, TINY, HALF), repeat=2):
        one, other = typed.Input(left, "one"), typed.Input(right, "other")
        nodes: list[typed.Typed] = [typed.Negative(left, one)]
        for sign in tree.ArithmeticOperator:
            kind = plan.coercion.result_of(sign, left, right)
            nodes.append(typed.Arithmetic(kind, sign, one, other))
        rows = list(itertools.product(pool(left), pool(right)))
        columns = [
            pa.array([to_arrow(value, kind) for value in values], arrow_type(kind))
            for values, kind in zip(zip(*rows, strict=True), (left, right), strict=True)
        ]
        table = pa.table(columns, names=["one", "other"])
        fields = [Field("one", left), Field("other", right)]
        frame = spark.createDataFrame(table, schema=spark_columns(fields)).coalesce(1)
        answer = frame.select(*map(compile_expression, nodes)).toArrow()
        for node, column in zip(nodes, answer.columns, strict=True):
            meaning = plan.computation_or_null(node)
            for row, value in zip(rows, column.to_pylist(), strict=True):
                meant = meaning({"one": row[0], "other": row[1]})
                if value != meant:
                    found.append(f"{node} on {row}: computed {value}, meant {meant}")
    assert "\n".join(found) == ""


def test_most_functions_have_a_native_form(computed: list[tuple[Case, list[Any]]]) -> None:
    compared = {case.name for case, _ in computed}
    assert compared == native_names() - CHANGING
    assert len(compared) > 85
