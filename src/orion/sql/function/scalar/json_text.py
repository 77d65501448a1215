"""Functions of texts that hold JSON."""

from decimal import Decimal
from typing import Any

from orion.model import Type
from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, variant
from orion.sql.function.value.json_value import (
    MISSING,
    as_json_value,
    follow,
    read_json,
    read_path,
    write_json,
)

_CATEGORY = "JSON"


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else write_json(value)


def _extract(text: str, path: str) -> str | None:
    found = follow(read_json(text), read_path(path))
    return None if found is MISSING else _text_of(found)


def _is_json(text: str | None) -> bool:
    if text is None:
        return False
    try:
        return read_json(text) is not MISSING
    except FunctionFailure:
        return False


def _array_contains(text: str | None, value: Any) -> bool:
    try:
        array = read_json(text or "")
    except FunctionFailure:
        return False
    return isinstance(array, list) and any(_same(item, value) for item in array)


def _same(item: Any, value: Any) -> bool:
    """Compare an element with a value: whole numbers with whole ones, doubles with doubles."""
    if isinstance(item, Decimal):
        return isinstance(value, float) and float(item) == value
    return type(item) is type(value) and not isinstance(item, list | dict) and item == value


def _array_length(text: str) -> int | None:
    value = read_json(text)
    return len(value) if isinstance(value, list) else None


def _concat(*texts: str) -> str | None:
    values = [read_json(text) for text in texts]
    if any(value is MISSING for value in values):
        return None
    if all(isinstance(value, dict) for value in values):
        merged: dict[str, Any] = {}
        for value in values:
            merged.update(value)
        return write_json(merged)
    if len(values) == 1:
        return write_json(values[0])
    parts = (value if isinstance(value, list) else [value] for value in values)
    return write_json([item for part in parts for item in part])


def _items(text: str) -> list[str] | None:
    value = read_json(text)
    if not isinstance(value, list):
        raise FunctionFailure("The JSON is no array.")
    if not all(isinstance(item, dict) for item in value):
        return None
    return [write_json(item) for item in value]


def _keys(text: str) -> list[str] | None:
    value = read_json(text)
    return list(value) if isinstance(value, dict) else None


def _records(text: str) -> dict[str, str] | None:
    value = read_json(text)
    if not isinstance(value, dict):
        return None
    return {key: _text_of(item) for key, item in value.items()}


def _to_json(value: Any, *, types: tuple[Type | None, ...]) -> str:
    return write_json(as_json_value(value, types[0]))


FUNCTIONS = (
    Function(
        "EXTRACTJSONFIELD",
        _CATEGORY,
        "What stands at a path such as $.items[0].name, as a text; NULL if nothing does.",
        (variant("json STRING, path STRING", "STRING", _extract),),
        (Example("EXTRACTJSONFIELD('{\"a\": [1, 2.50]}', '$.a[1]')", "2.50"),),
    ),
    Function(
        "IS_JSON_STRING",
        _CATEGORY,
        "Whether a text is JSON.",
        (variant("json STRING", "BOOLEAN", _is_json, takes_nulls=True),),
        (Example("IS_JSON_STRING('[1, 2]')", True), Example("IS_JSON_STRING('[1,')", False)),
    ),
    Function(
        "JSON_ARRAY_CONTAINS",
        _CATEGORY,
        "Whether a JSON array has an element of the value and of its kind.",
        (variant("json STRING, value ANY", "BOOLEAN", _array_contains, takes_nulls=True),),
        (Example("JSON_ARRAY_CONTAINS('[1, \"a\"]', 'a')", True),),
    ),
    Function(
        "JSON_ARRAY_LENGTH",
        _CATEGORY,
        "The number of elements of a JSON array; NULL if the JSON is none.",
        (variant("json STRING", "INT", _array_length),),
        (Example("JSON_ARRAY_LENGTH('[1, [2, 3]]')", 2),),
    ),
    Function(
        "JSON_CONCAT",
        _CATEGORY,
        "Objects joined into one object, where later keys win; anything else into one array.",
        (variant("json STRING, more STRING...", "STRING", _concat),),
        (
            Example("JSON_CONCAT('{\"a\": 1}', '{\"b\": 2}')", '{"a":1,"b":2}'),
            Example("JSON_CONCAT('[1]', '2')", "[1,2]"),
        ),
    ),
    Function(
        "JSON_ITEMS",
        _CATEGORY,
        "The objects of a JSON array, each as a text.",
        (variant("json STRING", "ARRAY<STRING>", _items),),
        (Example("JSON_ITEMS('[{\"a\": 1}]')", ['{"a":1}']),),
    ),
    Function(
        "JSON_KEYS",
        _CATEGORY,
        "The keys of a JSON object; NULL if the JSON is none.",
        (variant("json STRING", "ARRAY<STRING>", _keys),),
        (Example('JSON_KEYS(\'{"a": 1, "b": 2}\')', ["a", "b"]),),
    ),
    Function(
        "JSON_RECORDS",
        _CATEGORY,
        "The keys of a JSON object with their values as texts.",
        (variant("json STRING", "MAP<STRING, STRING>", _records),),
        (Example('JSON_RECORDS(\'{"a": "x", "b": [1]}\')', {"a": "x", "b": "[1]"}),),
    ),
    Function(
        "TO_JSON_STRING",
        _CATEGORY,
        "Any value as JSON.",
        (variant("value ANY", "STRING", _to_json, takes_nulls=True, typed=True),),
        (Example("TO_JSON_STRING(STRUCT(`b` := 1, `a` := 'x'))", '{"a":"x","b":1}'),),
    ),
)
