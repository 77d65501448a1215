"""Whatever comes in: a tree or an OrionError, soon; and every tree survives being written out."""

import contextlib
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from orion.model import OrionError
from orion.sql.parse import (
    format_expression,
    format_type,
    parse_expression,
    parse_statements,
    parse_type,
    tree,
)
from orion.sql.parse.word import KEYWORDS

WORDS = sorted(KEYWORDS)
SEEDS = [
    "SELECT a, b->c[1] AS d FROM s WINDOW TUMBLING (SIZE 1 DAY) WHERE a LIKE 'x' GROUP BY a;",
    "CREATE STREAM s (a INT KEY, b STRUCT<c ARRAY<INT>>) WITH (kafka_topic = 't', n = -1.5);",
    "INSERT INTO s (a, b) VALUES (1, MAP('k' := CASE WHEN TRUE THEN 1e3 END)); SHOW TABLES;",
    "SELECT REDUCE(m, 0, (s, k, v) => s + v) FROM a JOIN b WITHIN (1 DAY, 2 DAYS) ON a.x = b.x;",
]
names = st.builds(tree.Name, st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
texts = st.text(st.characters(exclude_categories=["Cs"]))
literals = st.one_of(
    st.just(tree.NullLiteral()),
    st.builds(tree.BooleanLiteral, st.booleans()),
    st.builds(tree.IntegerLiteral, st.integers(-(2**31), 2**31 - 1)),
    st.builds(tree.LongLiteral, st.integers(2**31, 2**63 - 1)),
    st.builds(tree.DecimalLiteral, st.sampled_from(["1.50", "-0.1", ".5", "7."])),
    st.builds(tree.DoubleLiteral, st.sampled_from(["1e3", "-2.5E-7"])),
    st.builds(tree.StringLiteral, texts),
)
types = st.recursive(
    st.one_of(
        st.builds(tree.SimpleType, names),
        st.builds(tree.DecimalType, st.integers(20, 38), st.integers(0, 20)),
    ),
    lambda inner: st.one_of(
        st.builds(tree.ArrayType, inner),
        st.builds(tree.MapType, inner, inner),
        st.builds(
            tree.StructType,
            st.lists(st.builds(tree.StructTypeField, names, inner), max_size=3).map(tuple),
        ),
    ),
    max_leaves=5,
)


def grown(inner: st.SearchStrategy[tree.Expression]) -> st.SearchStrategy[tree.Expression]:
    several = st.lists(inner, max_size=3).map(tuple)
    some = st.lists(inner, min_size=1, max_size=3).map(tuple)
    maybe = st.none() | inner
    arguments = st.lists(
        st.one_of(
            inner,
            st.builds(tree.IntervalUnit, st.sampled_from(tree.TimeUnit)),
            st.builds(tree.Lambda, st.lists(names, min_size=1, max_size=3).map(tuple), inner),
        ),
        max_size=3,
    ).map(tuple)
    branches = st.lists(st.builds(tree.When, inner, inner), min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(tree.TypedLiteral, names, texts),
        st.builds(tree.FieldRef, inner, names),
        st.builds(tree.Subscript, inner, inner),
        st.builds(tree.Call, names, arguments | st.just((tree.Star(),))),
        st.builds(tree.Arithmetic, st.sampled_from(tree.ArithmeticOperator), inner, inner),
        st.builds(tree.Sign, st.booleans(), inner),
        st.builds(tree.Concat, inner, inner),
        st.builds(tree.Comparison, st.sampled_from(tree.ComparisonOperator), inner, inner),
        st.builds(tree.IsDistinctFrom, inner, inner, st.booleans()),
        st.builds(tree.Logical, st.sampled_from(tree.LogicalOperator), inner, inner),
        st.builds(tree.Not, inner),
        st.builds(tree.Between, inner, inner, inner, st.booleans()),
        st.builds(tree.In, inner, some, st.booleans()),
        st.builds(tree.Like, inner, inner, st.none() | st.sampled_from("!\\'"), st.booleans()),
        st.builds(tree.IsNull, inner, st.booleans()),
        st.builds(tree.Case, maybe, branches, maybe),
        st.builds(tree.Cast, inner, types),
        st.builds(tree.ArrayLiteral, several),
        st.builds(tree.MapLiteral, st.lists(st.tuples(inner, inner), max_size=2).map(tuple)),
        st.builds(tree.StructLiteral, st.lists(st.tuples(names, inner), max_size=2).map(tuple)),
        st.builds(tree.AtTimeZone, inner, texts),
    )


expressions: st.SearchStrategy[tree.Expression] = st.recursive(
    literals | st.builds(tree.ColumnRef, st.none() | names, names), grown, max_leaves=12
)


def read(text: str) -> None:
    start = time.process_time()
    with contextlib.suppress(OrionError):
        parse_statements(text)
    assert time.process_time() - start < 0.5


@given(expressions)
@settings(max_examples=300, deadline=None)
def test_expressions_survive_being_written(expression: tree.Expression) -> None:
    assert parse_expression(format_expression(expression)) == expression


@given(types)
@settings(max_examples=100, deadline=None)
def test_types_survive_being_written(written: tree.WrittenType) -> None:
    assert parse_type(format_type(written)) == written


@given(st.text())
@settings(max_examples=200, deadline=None)
def test_any_text_is_answered(text: str) -> None:
    read(text)


@given(
    st.lists(
        st.sampled_from(WORDS)
        | st.sampled_from(["(", ")", "[", "]", ",", ";", "->", "=>", ":=", "*", "=", "<", ">", "."])
        | st.sampled_from(["a", "'x'", "`y`", "1", "2.5", "1e3", "-", "${v}", "--", "/*", "*/"]),
        max_size=60,
    )
)
@settings(max_examples=300, deadline=None)
def test_any_words_are_answered(words: list[str]) -> None:
    read(" ".join(words))


@given(st.sampled_from(SEEDS), st.integers(0, 90), st.integers(0, 12), st.text(max_size=6))
@settings(max_examples=300, deadline=None)
def test_damaged_statements_are_answered(seed: str, at: int, removed: int, put: str) -> None:
    read(seed[:at] + put + seed[at + removed :])
