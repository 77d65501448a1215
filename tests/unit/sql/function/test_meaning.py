"""Meanings at their edges: nulls, ends, empty things, and calls that fail."""

import math
from decimal import Decimal as Number
from typing import Any

import pytest

from orion.model import Array, Decimal, Map, Scalar, Type
from orion.sql.function import FunctionFailure, LambdaArgument, built_in_functions

FUNCTIONS = built_in_functions()
KINDS: dict[type, Type] = {
    bool: Scalar.BOOLEAN,
    int: Scalar.INTEGER,
    float: Scalar.DOUBLE,
    str: Scalar.STRING,
    bytes: Scalar.BYTES,
    Number: Decimal(20, 4),
}


def kind_of(value: Any) -> Type | None:
    if isinstance(value, list):
        return Array(next((kind for one in value if (kind := kind_of(one))), Scalar.INTEGER))
    if isinstance(value, dict):
        inner = next((kind for one in value.values() if (kind := kind_of(one))), Scalar.INTEGER)
        return Map(Scalar.STRING, inner)
    return None if value is None else KINDS[type(value)]


def call(name: str, *arguments: Any, types: list[Type | None] | None = None) -> Any:
    given = types or [kind_of(argument) for argument in arguments]
    return FUNCTIONS.resolve(name, given).apply(*arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("ABS", (-(2**31),), -(2**31)),
        ("ROUND", (0.49999999999999994,), 0),
        ("ROUND", (-0.5,), 0),
        ("ROUND", (1e30,), 2**63 - 1),
        ("ROUND", (-1.7, -1), 0.0),
        ("TRUNC", (Number("-1.7999"), 2), Number("-1.7900")),
        ("SIGN", (math.nan,), 0),
        ("LN", (0.0,), -math.inf),
        ("POWER", (-8.0, 1 / 3), math.nan),
        ("POWER", (1.0, math.inf), math.nan),
        ("POWER", (-0.0, -1.0), -math.inf),
        ("EXP", (1000.0,), math.inf),
        ("GREATEST", (1.0, math.nan), math.nan),
        ("SUBSTRING", ("stream", 0, 2), "st"),
        ("SUBSTRING", ("stream", -10, 3), "str"),
        ("SUBSTRING", ("stream", 7), ""),
        ("SUBSTRING", (b"abc", 2), b"bc"),
        ("INSTR", ("corporate floor", "or", -3, 2), 2),
        ("INSTR", ("abcabc", "bc", -1), 5),
        ("INSTR", ("abc", "", 1), 1),
        ("INSTR", ("", "", 1), 0),
        ("INSTR", ("abc", "", 2, 3), 2),
        ("LPAD", ("a", -1, "x"), None),
        ("LPAD", ("a", 3, ""), None),
        ("SPLIT", ("", ""), [""]),
        ("SPLIT", (b"a.b", b"."), [b"a", b"b"]),
        ("SPLIT_TO_MAP", ("a=1;;b;c=2=3", ";", "="), {"a": "1", "c": "2"}),
        ("SPLIT_TO_MAP", ("a=1", "=", "="), None),
        ("INITCAP", ("  the  cat\tsat",), "The  Cat\tSat"),
        ("TRIM", ("\x00 a\u00a0 ",), "a\u00a0"),
        ("CHR", (99000,), chr(99000)),
        ("CHR", ("\\ud820\\udeb8",), chr(99000)),
        ("CHR", ("\\u004bey",), "Key"),
        ("CHR", (-1,), None),
        ("GEO_DISTANCE", (10.0, 20.0, 10.0, 20.0, None), 0.0),
        ("GEO_DISTANCE", (None, 20.0, 10.0, 20.0, "km"), None),
        ("TO_BYTES", ("YQ", "base64"), b"a"),
        ("ELT", (3, "a", "b"), None),
        ("FIELD", (None, "a"), 0),
        ("ENCODE", ("0xabc", "hex", "base64"), "Crw="),
        ("ENCODE", ("é", "utf8", "ascii"), "\ufffd\ufffd"),
        ("ENCODE", ("é", "ascii", "hex"), "3f"),
        ("UUID", (b"x",), None),
        ("REGEXP_EXTRACT", ("(?<a>x)?b", "b", 1), None),
        ("REGEXP_EXTRACT", ("a", "a", 2), None),
        ("REGEXP_EXTRACT", ("\\w+", "éab"), "ab"),
        ("REGEXP_REPLACE", ("a.b", "\\.", "\\$0"), "a$0b"),
        ("REGEXP_REPLACE", ("ab", "(a)(b)", "$2$12"), "ba2"),
        ("REGEXP_REPLACE", ("a-b, c!", "\\p{Punct}+", ""), "ab c"),
        ("REGEXP_REPLACE", ("abc", "x", "$"), "abc"),
        ("REGEXP_SPLIT_TO_ARRAY", ("abc", ""), ["a", "b", "c"]),
        ("ARRAY_SORT", ([2, 1], "sideways"), None),
        ("SLICE", ([1, 2, 3], 0, 2), None),
        ("SLICE", ([1, 2, 3], 2, 9), None),
        ("SLICE", ([1, 2, 3], None, None), [1, 2, 3]),
        ("ARRAY_REMOVE", ([1, None, 2], None), [1, 2]),
        ("ARRAY_JOIN", ([1.0, 1e10, None], ";"), "1.0;1.0E10;null"),
        ("ARRAY_JOIN", ([True, False], None), "truefalse"),
        ("ARRAY_DISTINCT", ([math.nan, math.nan, 0.0, -0.0],), [math.nan, 0.0, -0.0]),
        ("ARRAY_CONTAINS", (None, 1), False),
        ("ARRAY_CONTAINS", ([1, None], None), True),
        ("MAP_UNION", (None, {"a": 1}), {"a": 1}),
        ("EXTRACTJSONFIELD", ('{"a":{"b c":[1,{"d":1e2}]}}', '$.a["b c"][1].d'), "100"),
        ("EXTRACTJSONFIELD", ('{"a":null}', "$.a"), "null"),
        ("EXTRACTJSONFIELD", ('{"a":[1]}', "$.a[1]"), None),
        (
            "EXTRACTJSONFIELD",
            ('{"a":12345678901234567890.10}', "$"),
            '{"a":12345678901234567890.10}',
        ),
        ("EXTRACTJSONFIELD", ('{"a":["\\ud83d\\ude00", "\\ud83d"]}', "$.a"), '["😀","?"]'),
        ("JSON_ARRAY_CONTAINS", ("[1.5, 2, true, null]", 1.5), True),
        ("JSON_ARRAY_CONTAINS", ("[1.5, 2, true, null]", 2.0), False),
        ("JSON_ARRAY_CONTAINS", ("[1.5, 2, true, null]", None), True),
        ("JSON_ARRAY_CONTAINS", ("{}", 1), False),
        ("JSON_CONCAT", ("1", ""), None),
        ("JSON_ITEMS", ('[{"a":1}, 2]',), None),
        ("JSON_KEYS", ("[]",), None),
        ("IS_JSON_STRING", ("NaN",), False),
        ("IS_JSON_STRING", ("[" * 100_000,), False),
        ("IS_JSON_STRING", ("9" * 10_000,), False),
        ("EXTRACTJSONFIELD", ("1e999999999", "$"), "1E+999999999"),
        ("TO_JSON_STRING", (None,), "null"),
        ("TO_JSON_STRING", (1e7,), "1.0E7"),
        ("TO_JSON_STRING", ({"b": [1, None], "a": None},), '{"a":null,"b":[1,null]}'),
        ("URL_ENCODE_PARAM", ("a~*-_.é",), "a%7E*-_.%C3%A9"),
        ("URL_EXTRACT_HOST", ("mailto:me@a.org",), None),
        ("URL_EXTRACT_HOST", ("http://[::1]:80/",), "[::1]"),
        ("URL_EXTRACT_PATH", ("http://a.org/b%20c",), "/b c"),
        ("URL_EXTRACT_PARAMETER", ("http://a.org/?x&y=1=2", "y"), "1=2"),
        ("URL_EXTRACT_PARAMETER", ("http://a.org/?x&y=1", "x"), ""),
        ("MASK", ("ÄäAa1٣-",), "XxXxnn-"),
        ("MASK_LEFT", ("abc", 9), "xxx"),
        ("PARSE_DATE", ("2004-01-01-01-01", "yyyy-MM-dd"), 12418),
        ("PARSE_DATE", ("2024-2-30", "yyyy-MM-dd"), 19783),
        ("DATETOSTRING", (-1, "yyyy"), "1969"),
        ("CUBE_EXPLODE", ([1, 2],), [[None, None], [None, 2], [1, None], [1, 2]]),
    ],
)
def test_edges(name: str, arguments: tuple[Any, ...], result: Any) -> None:
    found = call(name, *arguments)
    assert repr(found) == repr(result)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("GEO_DISTANCE", (91.0, 0.0, 0.0, 0.0)),
        ("GEO_DISTANCE", (1.0, 0.0, 0.0, 0.0, "leagues")),
        ("ENCODE", ("x", "utf8", "rot13")),
        ("MASK_LEFT", ("abc", -1)),
        ("MASK", ("abc", "too long", None, None, None)),
        ("LPAD", ("a", 2**31 - 1, "x")),
        ("GENERATE_SERIES", (1, 5, 0)),
        ("GENERATE_SERIES", (1, 5, -1)),
        ("ARRAY_JOIN", ([[1]],)),
        ("CHR", ("\\u00zz1",)),
        ("REGEXP_REPLACE", ("abc", "b", "$x")),
        ("REGEXP_EXTRACT", ("{", "{")),
        ("EXTRACTJSONFIELD", ("{", "$.a")),
        ("EXTRACTJSONFIELD", ("{}", "a")),
        ("JSON_ITEMS", ("{}",)),
        ("URL_DECODE_PARAM", ("%zz",)),
        ("URL_EXTRACT_HOST", ("http://a b/",)),
        ("TRUNC", (math.nan, 1)),
        ("CHR", (0xD800,)),
        ("FROM_DAYS", (10_000_000,)),
    ],
)
def test_calls_that_fail_say_why(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(FunctionFailure, match=r"\w"):
        call(name, *arguments)


def test_moments_are_not_joined_as_the_numbers_that_they_are_here() -> None:
    kind = Array(Scalar.DATE)
    assert call("ARRAY_JOIN", [None, None], types=[kind]) == "null,null"
    with pytest.raises(FunctionFailure, match="texts only"):
        call("ARRAY_JOIN", [1], types=[kind])


def test_a_map_keeps_no_null_in_a_filter() -> None:
    found = FUNCTIONS.resolve(
        "FILTER",
        [Map(Scalar.STRING, Scalar.INTEGER), LambdaArgument(2, lambda _: Scalar.BOOLEAN)],
    )
    assert found.apply({"a": 1, "b": None}, lambda key, _: key == "a") == {"a": 1}
    with pytest.raises(FunctionFailure, match="NULL"):
        found.apply({"a": 1, "b": None}, lambda *_: True)


def test_a_decimal_that_does_not_fit_its_type_fails() -> None:
    found = FUNCTIONS.resolve("ROUND", [Decimal(3, 2)])
    assert found.apply(Number("9.49")) == 9
    assert found.apply(Number("0.00")) == 0
    with pytest.raises(FunctionFailure, match="does not fit"):
        found.apply(Number("9.99"))


def test_dates_are_moved_towards_1970_by_parts_of_a_day() -> None:
    days = FUNCTIONS.resolve("DATESUB", [Scalar.STRING, Scalar.INTEGER, Scalar.DATE])
    assert days.apply("HOURS", 1, 0) == 0
    assert days.apply("HOURS", 25, 0) == -1
    assert days.apply("HOURS", 1, 1) == 0


def test_maps_are_reduced_in_the_order_of_their_hashes() -> None:
    kind = Map(Scalar.STRING, Scalar.STRING)
    step = LambdaArgument(3, lambda _: Scalar.STRING)
    found = FUNCTIONS.resolve("REDUCE", [kind, Scalar.STRING, step])
    joined = found.apply({"b": "1", "a": "2"}, "", lambda s, k, v: s + k + v)
    assert joined == "a2b1"
    assert found.apply(None, "x", None) == "x"
    assert found.apply({"b": "1"}, None, None) is None


def test_json_of_moments_is_text() -> None:
    fields = {"D": Scalar.DATE, "T": Scalar.TIME, "S": Scalar.TIMESTAMP, "B": Scalar.BYTES}
    for (name, kind), value, text in zip(
        fields.items(),
        (19782, 37_805_123, 1_709_202_605_007, b"\x00\xff"),
        ('"2024-02-29"', '"10:30:05"', '"2024-02-29T10:30:05.007"', '"AP8="'),
        strict=True,
    ):
        assert call("TO_JSON_STRING", value, types=[kind]) == text, name
