"""Functions of users, of every form: what cases call that bring none of their own.

Variants under one name, repeated parameters, structs, lists, maps and decimals on both sides,
functions that answer NULL, and functions that fail.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypedDict

import orion


class Named(TypedDict):
    """A struct of one text."""

    A: str


class Pair(TypedDict):
    """A struct of two numbers."""

    A: int
    B: int


# Which variant was chosen, in words.


@orion.udf(name="test_udf", takes_nulls=True)
def number_and_text(number: int | None, text: str | None) -> str:
    """Tell which variant was called."""
    return "doStuffLongString"


@orion.udf(name="test_udf", takes_nulls=True)
def numbers_and_text(number: int | None, other: int | None, text: str | None) -> str:
    return "doStuffLongLongString"


@orion.udf(name="test_udf", takes_nulls=True)
def many_numbers(*numbers: int) -> str:
    return "doStuffLongVarargs"


@orion.udf(name="test_udf")
def text_of(given: Named) -> str:
    return given["A"]


@orion.udf(name="test_udf")
def named() -> Named:
    return {"A": "foo"}


@orion.udf(name="toStruct")
def wrapped(text: str) -> Named:
    """Return a struct that holds a text."""
    return {"A": text}


# Functions that have no answer for some of their arguments.


@orion.udf(name="bad_udf")
def gone_for_some(text: str) -> str | None:
    """Answer NULL, or fail, as the arguments ask for."""
    return None if text.endswith("1") else text


@orion.udf(name="bad_udf", parameters="number INT", returns="INT")
def never(number: int) -> int:
    raise ValueError(f"there is no answer for {number}")


@orion.udf(name="bad_udf", parameters="fails BOOLEAN", returns="INT")
def unless_told(fails: bool) -> int:
    if fails:
        raise ValueError("told to fail")
    return 0


@orion.udtf(name="throwing_udtf")
def rows_unless_told(fails: bool) -> list[bool]:
    """Give the argument as a row, or fail if it says so."""
    if fails:
        raise ValueError("told to fail")
    return [fails]


# A row for every argument, and the argument itself.

_KINDS = ("INT", "BIGINT", "DOUBLE", "BOOLEAN", "STRING", "DECIMAL", "STRUCT<A STRING>")


def _parameters(form: str) -> str:
    return ", ".join(f"p{at} {form.format(kind)}" for at, kind in enumerate(_KINDS))


def _shown(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return f"Struct{{{','.join(f'{name}={one}' for name, one in value.items())}}}"
    return str(value)


@orion.udtf(name="test_udtf", parameters=_parameters("{}"), returns="STRING")
def shown(*values: Any) -> Sequence[str]:
    """Give a row for every argument."""
    return [_shown(value) for value in values]


@orion.udtf(name="test_udtf", parameters=_parameters("ARRAY<{}>"), returns="STRING")
def first_shown(*lists: Sequence[Any]) -> Sequence[str]:
    return [_shown(values[0]) for values in lists]


@orion.udtf(name="test_udtf", parameters=_parameters("MAP<STRING, {}>"), returns="STRING")
def value_shown(*maps: dict[str, Any]) -> Sequence[str]:
    return [_shown(value) for values in maps for value in values.values()]


@orion.udtf(name="test_udtf", parameters="number INT", returns="INT")
def one_integer(number: int) -> Sequence[int]:
    return [number]


@orion.udtf(name="test_udtf")
def one_number(number: int) -> list[int]:
    return [number]


@orion.udtf(name="test_udtf")
def one_double(number: float) -> list[float]:
    return [number]


@orion.udtf(name="test_udtf")
def one_truth(truth: bool) -> list[bool]:
    return [truth]


@orion.udtf(name="test_udtf")
def one_text(text: str) -> list[str]:
    return [text]


@orion.udtf(name="test_udtf", returns="DECIMAL(30, 10)")
def one_decimal(number: Decimal) -> Sequence[Decimal]:
    return [number]


@orion.udtf(name="test_udtf")
def one_struct(given: Named) -> list[Named]:
    return [given]


# Aggregates.


class _Sum:
    def initial(self) -> int:
        return 0

    def add(self, state: int, number: int | None) -> int:
        return state + (number or 0)

    def result(self, state: int) -> int:
        return state

    def merge(self, one: int, other: int) -> int:
        return one + other

    def undo(self, state: int, number: int | None) -> int:
        return state - (number or 0)


@orion.udaf(name="test_udaf", parameters="number BIGINT", returns="BIGINT")
class SumOfNumbers(_Sum):
    """Add up."""


@orion.udaf(name="test_udaf", parameters="number INT", returns="BIGINT")
class SumOfIntegers(_Sum):
    """Add up."""


@orion.udaf(
    name="test_udaf", parameters="pair STRUCT<A INT, B INT>", returns="STRUCT<A INT, B INT>"
)
class SumOfPairs:
    """Add up field by field."""

    def initial(self) -> Pair:
        return {"A": 0, "B": 0}

    def add(self, state: Pair, pair: Pair | None) -> Pair:
        return state if pair is None else self.merge(state, pair)

    def result(self, state: Pair) -> Pair:
        return state

    def merge(self, one: Pair, other: Pair) -> Pair:
        return {"A": one["A"] + other["A"], "B": one["B"] + other["B"]}


@orion.udaf(name="obj_col_arg", parameters="number INT, more ANY...", returns="ARRAY<INT>")
class NumbersOfFullRows:
    """Collect the first argument of rows that have all of theirs."""

    def initial(self) -> list[int]:
        return []

    def add(self, state: list[int], number: int | None, *more: Any) -> list[int]:
        return state if None in (number, *more) or number is None else [*state, number]

    def result(self, state: list[int]) -> list[int]:
        return state

    def merge(self, one: list[int], other: list[int]) -> list[int]:
        return one + other
