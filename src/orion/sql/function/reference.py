"""The page of all functions, made from what the functions say of themselves.

Run as a program it prints the page, which `make reference` keeps as docs/sql-functions.md.
"""

import sys
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from orion.sql.function.built_in import built_in_functions
from orion.sql.function.function import Example, Function, Kind, Variant
from orion.sql.function.glossary import describe_parameter, parameters_of
from orion.sql.function.registry import Functions
from orion.sql.function.value.java_text import java_double

_HEAD = """\
# Functions of streaming SQL

{scalar} functions of a row, {aggregate} aggregates and {table} table functions. A letter stands for
any type, the same one wherever it stands in a signature; `...` marks a parameter that may be
repeated or left out. Where a function is given NULL it answers NULL unless its description says
otherwise. A call that fails (a text that is no date, say) gives NULL, and the row goes on.

INT widens to BIGINT, DECIMAL and DOUBLE by itself, in this order; nothing else is converted without
a CAST. A TIMESTAMP has milliseconds; texts are counted in characters, from 1. In the examples of
aggregates the arguments are the values of the column, row after row.

This page is made by a program from the functions themselves (`make reference`), and a test keeps it
up to date.
"""
_ORDER = (
    "MATHEMATICAL",
    "STRING",
    "REGULAR EXPRESSION",
    "CONVERSIONS",
    "DATE / TIME",
    "ARRAY",
    "MAP",
    "LAMBDA",
    "JSON",
    "URL",
    "CONDITIONAL",
    "OTHER",
    "AGGREGATE",
    "TABLE",
)


def write_reference(functions: Functions) -> str:
    """Return the page, in Markdown."""
    kinds = [function.kind for function in functions]
    head = _HEAD.format(
        scalar=kinds.count(Kind.SCALAR),
        aggregate=kinds.count(Kind.AGGREGATE),
        table=kinds.count(Kind.TABLE),
    )
    return "\n".join([head, *_contents(functions), *_sections(functions)]) + "\n"


def _of_category(functions: Functions, category: str) -> list[Function]:
    return [function for function in functions if function.category == category]


def _title(category: str) -> str:
    return category.capitalize() if category not in ("JSON", "URL") else category


def _contents(functions: Functions) -> Iterator[str]:
    yield "| group | functions |"
    yield "|---|---|"
    for category in _ORDER:
        found = _of_category(functions, category)
        names = " ".join(f"[{one.name}](#{one.name.lower()})" for one in found)
        yield f"| {_title(category)} | {names} |"
    yield ""


def _sections(functions: Functions) -> Iterator[str]:
    for category in _ORDER:
        yield f"## {_title(category)}\n"
        for function in _of_category(functions, category):
            yield from _section(function)


def _section(function: Function) -> Iterator[str]:
    yield f"### {function.name}\n"
    yield f"{function.description}\n"
    yield "```text"
    for variant in function.variants:
        yield _signature(function, variant)
    yield "```\n"
    for parameter in parameters_of(function):
        yield f"- `{parameter.name}`: {describe_parameter(parameter)}"
    yield ""
    if function.examples:
        yield "```sql"
        for example in function.examples:
            yield _shown(example)
        yield "```\n"


def _signature(function: Function, variant: Variant) -> str:
    parameters = ", ".join(
        f"{parameter}..." if at == variant.repeated else str(parameter)
        for at, parameter in enumerate(variant.parameters)
    )
    computed = (
        "ARRAY<STRUCT>" if function.kind is Kind.AGGREGATE and variant.repeated else "DECIMAL"
    )
    result = computed if callable(variant.returns) else str(variant.returns)
    return f"{function.name}({parameters}) -> {result}"


def _shown(example: Example) -> str:
    return f"{example.call} -- {_value(example.result)}"


def _value(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return java_double(value)
        case str():
            return "'" + value.replace("'", "''") + "'"
        case bytes():
            return f"X'{value.hex().upper()}'"
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return "{" + ", ".join(f"{_value(k)}: {_value(v)}" for k, v in value.items()) + "}"
        case Decimal():
            return str(value)
    return str(value)


if __name__ == "__main__":
    sys.stdout.write(write_reference(built_in_functions()))
