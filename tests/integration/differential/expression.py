"""Random expressions: their text in SQL, and what they mean, said again in plain Python."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
_DEPTH = 2


@dataclass(frozen=True)
class Expression:
    """An expression and its value on a row, whose columns go by the names that the text uses."""

    sql: str
    value: Callable[[Row], Any]


@dataclass(frozen=True)
class Columns:
    """What an expression may read."""

    numbers: tuple[str, ...]
    texts: tuple[str, ...]


def column(name: str) -> Expression:
    return Expression(name, lambda row: row[name])


def random_number(rng: random.Random, columns: Columns, depth: int = _DEPTH) -> Expression:
    choice = rng.random() if depth else 0.0
    if choice < 0.55:
        return column(rng.choice(columns.numbers))
    if choice < 0.65:
        number = rng.randint(0, 9)
        return Expression(str(number), lambda _: number)
    if choice < 0.85:
        return _arithmetic(rng, columns, depth)
    if choice < 0.93 and columns.texts:
        text = random_text(rng, columns, depth - 1)
        return Expression(f"LEN({text.sql})", lambda row: _or_null(len, text.value(row)))
    one = random_number(rng, columns, depth - 1)
    return Expression(f"ABS({one.sql})", lambda row: _or_null(abs, one.value(row)))


def _arithmetic(rng: random.Random, columns: Columns, depth: int) -> Expression:
    one, other = (random_number(rng, columns, depth - 1) for _ in range(2))
    sign = rng.choice("+-*")

    def value(row: Row) -> Any:
        left, right = one.value(row), other.value(row)
        if left is None or right is None:
            return None
        return {"+": left + right, "-": left - right, "*": left * right}[sign]

    return Expression(f"({one.sql} {sign} {other.sql})", value)


def random_text(rng: random.Random, columns: Columns, depth: int = _DEPTH) -> Expression:
    choice = rng.random() if depth else 0.0
    if choice < 0.6:
        return column(rng.choice(columns.texts))
    if choice < 0.8:
        text = random_text(rng, columns, depth - 1)
        return Expression(f"UCASE({text.sql})", lambda row: _or_null(str.upper, text.value(row)))
    one, other = (random_text(rng, columns, depth - 1) for _ in range(2))

    def first(row: Row) -> Any:
        found = one.value(row)
        return other.value(row) if found is None else found

    return Expression(f"COALESCE({one.sql}, {other.sql})", first)


def random_condition(rng: random.Random, columns: Columns, depth: int = _DEPTH) -> Expression:
    """Return a condition; to compare with NULL gives FALSE, so there are two values alone."""
    choice = rng.random() if depth else 0.0
    if choice < 0.55:
        return _comparison(rng, columns)
    if choice < 0.7:
        name = rng.choice([*columns.numbers, *columns.texts])
        if rng.random() < 0.5:
            return Expression(f"({name} IS NULL)", lambda row: row[name] is None)
        return Expression(f"({name} IS NOT NULL)", lambda row: row[name] is not None)
    if choice < 0.8:
        part = random_condition(rng, columns, depth - 1)
        return Expression(f"(NOT {part.sql})", lambda row: not part.value(row))
    one, other = (random_condition(rng, columns, depth - 1) for _ in range(2))
    if rng.random() < 0.5:
        return Expression(
            f"({one.sql} AND {other.sql})", lambda row: one.value(row) and other.value(row)
        )
    return Expression(f"({one.sql} OR {other.sql})", lambda row: one.value(row) or other.value(row))


def _comparison(rng: random.Random, columns: Columns) -> Expression:
    if columns.texts and rng.random() < 0.3:
        text, word = random_text(rng, columns, 1), rng.choice("abcx")
        sign = rng.choice(["=", "<>", "<"])
        return Expression(
            f"({text.sql} {sign} '{word}')", lambda row: compare(sign, text.value(row), word)
        )
    number, limit = random_number(rng, columns, 1), rng.randint(-4, 9)
    sign = rng.choice(["=", "<>", "<", "<=", ">", ">="])
    return Expression(
        f"({number.sql} {sign} {limit})", lambda row: compare(sign, number.value(row), limit)
    )


def compare(sign: str, left: Any, right: Any) -> bool:
    if left is None or right is None:
        return False
    found = {
        "=": left == right,
        "<>": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }
    return bool(found[sign])


def _or_null(function: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else function(value)
