"""JSON texts to values and back, with numbers exactly as written."""

import base64
import json
import re
from decimal import Decimal
from typing import Any

from orion.model import Array, Map, Scalar, Struct, Type
from orion.sql.function.errors import FunctionFailure
from orion.sql.function.moment import format_iso_date, format_iso_time, format_iso_timestamp
from orion.sql.function.value.java_text import java_double, java_text


class Missing:
    """What a text of nothing but white space holds."""


MISSING = Missing()
_MOST_DIGITS = 1000
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r"}
_ESCAPES["\t"] = "\\t"
_TO_ESCAPE = re.compile(r'["\\\x00-\x1f]')


def _refuse(constant: str) -> None:
    raise FunctionFailure(f"{constant} is no JSON.")


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse)


def read_json(text: str) -> Any:
    """Return the value of a JSON text; what follows it is not looked at."""
    start = len(text) - len(text.lstrip(" \t\r\n"))
    if start == len(text):
        return MISSING
    try:
        found = _DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError) as error:
        raise FunctionFailure("The text is no JSON.") from error
    # Only an escape can bring in half of a surrogate pair, which no text may hold.
    return _whole(found) if "\\ud" in text.lower() else found


def _whole(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case list():
            return [_whole(item) for item in value]
        case dict():
            return {_whole(key): _whole(item) for key, item in value.items()}
    return value


def write_json(value: Any) -> str:
    """Return a value as compact JSON."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{_TO_ESCAPE.sub(_escape, value)}"'
        case int():
            return str(value)
        case float():
            written = java_double(value)
            return f'"{written}"' if written[-1].isalpha() and "E" not in written else written
        case Decimal():
            # A text of a few letters must not become one of a billion digits.
            plain = abs(value.adjusted()) <= _MOST_DIGITS
            return format(value, "f") if plain else str(value)
        case list():
            return f"[{','.join(write_json(item) for item in value)}]"
        case dict():
            inner = ",".join(f"{write_json(key)}:{write_json(item)}" for key, item in value.items())
            return f"{{{inner}}}"
    raise FunctionFailure(f"{type(value).__name__} has no JSON.")


def _escape(found: re.Match[str]) -> str:
    letter = found.group()
    return _ESCAPES.get(letter) or f"\\u{ord(letter):04X}"


def read_path(path: str) -> list[str]:
    """Return the steps of a path such as `$.items[0]["name"]`."""
    if not path.startswith("$"):
        raise FunctionFailure(f"Path '{path}' does not begin with $.")
    steps, position = [], 1
    while position < len(path):
        found = _STEP.match(path, position)
        if found is None:
            raise FunctionFailure(f"Path '{path}' cannot be read from position {position + 1} on.")
        name, index, quoted = found.groups()
        steps.append(name or index or re.sub(r"\\(.)", r"\1", quoted))
        position = found.end()
    return steps


def follow(value: Any, steps: list[str]) -> Any:
    """Return what stands at the end of a path, MISSING if nothing does."""
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def as_json_value(value: Any, kind: Type | None) -> Any:
    """Return a value of a type as JSON has it: moments as texts, bytes in base64, keys sorted."""
    match kind:
        case _ if value is None:
            return None
        case Array(element):
            return [as_json_value(item, element) for item in value]
        case Map(_, inner):
            pairs = sorted((java_text(key), item) for key, item in value.items())
            return {key: as_json_value(item, inner) for key, item in pairs}
        case Struct(fields):
            pairs = sorted((field.name, field.type) for field in fields)
            return {name: as_json_value(value.get(name), inner) for name, inner in pairs}
    return _scalar(value, kind)


def _scalar(value: Any, kind: Type | None) -> Any:
    match kind:
        case Scalar.DATE:
            return format_iso_date(value)
        case Scalar.TIME:
            # Times are written to the second.
            return format_iso_time(value // 1000 * 1000)
        case Scalar.TIMESTAMP:
            return format_iso_timestamp(value)
        case Scalar.BYTES:
            return base64.b64encode(value).decode()
    return value
