"""What the arguments of the built-in functions are, by their names; one name, one meaning."""

from orion.sql.function.function import Function, Parameter

_MEANINGS = {
    "amount": "How many of the unit; negative goes the other way.",
    "array": "The array.",
    "base": "The base.",
    "bytes": "The bytes.",
    "change": "What becomes of each element.",
    "code": "A code point, as a number or as four hexadecimal digits after \\u.",
    "column": "A column to keep beside the value.",
    "count": "How many characters.",
    "days": "Days since 1970-01-01.",
    "delimiter": "What stands between the parts.",
    "digit": "The mask of digits; NULL leaves them.",
    "direction": "ASC or DESC.",
    "encoding": "hex, utf8, ascii or base64.",
    "entry": "What stands between entries.",
    "exponent": "The exponent.",
    "first": "The first of them.",
    "group": "The number of a group in parentheses; 0 is the whole match.",
    "ignoreNulls": "Whether NULLs are passed over; TRUE if not given.",
    "json": "A text that holds JSON.",
    "keep": "Says TRUE of what stays.",
    "key": "The key; of a map, what becomes of each key.",
    "keys": "The keys.",
    "last": "The last of them.",
    "lat1": "The first point's latitude, in degrees.",
    "lat2": "The second point's latitude, in degrees.",
    "left": "The first one.",
    "length": "How many characters, or bytes.",
    "lon1": "The first point's longitude, in degrees.",
    "lon2": "The second point's longitude, in degrees.",
    "lower": "The mask of lower case letters; NULL leaves them.",
    "map": "The map.",
    "more": "Any number of others.",
    "ms": "Milliseconds since the start of 1970 in UTC.",
    "n": "How many, or which one, counted from 1.",
    "name": "The name of the parameter.",
    "new": "What comes in its place.",
    "occurrence": "Which occurrence, counted from 1.",
    "order": "BIG_ENDIAN or LITTLE_ENDIAN; BIG_ENDIAN if not given.",
    "other": "The other value; of a mask, that of all other characters.",
    "others": "Any number of others.",
    "otherwise": "What comes instead of NULL.",
    "padding": "What is repeated to fill up.",
    "pair": "What stands between a key and its value.",
    "part": "What is looked for.",
    "path": "Where to look, from $ on.",
    "pattern": "The pattern.",
    "places": "Digits after the point; negative counts before it.",
    "position": "Where to begin, counted from 1; negative counts from the end.",
    "right": "The second one.",
    "second": "The second of them.",
    "separator": "What stands between the parts.",
    "sorted": "Whether the entries come in the order of their keys.",
    "source": "What it is in.",
    "state": "The state to begin with.",
    "step": "From one to the next: a number, or what makes the next state.",
    "target": "What it shall be in.",
    "text": "The text.",
    "texts": "Any number of texts.",
    "unit": "The unit.",
    "upper": "The mask of upper case letters; NULL leaves them.",
    "url": "The URL.",
    "value": "The value.",
    "values": "The values.",
    "x": "The x of a point.",
    "y": "The y of a point.",
    "zone": "A time zone, such as Europe/Paris or +02:00; UTC if not given.",
}


def describe_parameter(parameter: Parameter) -> str:
    """Return what an argument is: its own words, or what its name means."""
    return parameter.description or _MEANINGS.get(parameter.name, "")


def parameters_of(function: Function) -> list[Parameter]:
    """Return every parameter of a function's variants, each name once."""
    found = {
        parameter.name: parameter
        for variant in reversed(function.variants)
        for parameter in reversed(variant.parameters)
    }
    return list(found.values())[::-1]
