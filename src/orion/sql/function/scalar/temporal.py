"""Dates, times and moments: read, written, moved. What is not said is UTC."""

import time
from collections.abc import Callable
from typing import Any

from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, Variant, variant
from orion.sql.function.moment import (
    DAY_MS,
    find_zone,
    format_date,
    format_time,
    format_timestamp,
    offset_ms,
    parse_date,
    parse_lenient_date,
    parse_time,
    parse_timestamp,
)
from orion.sql.function.value.number import LONG_MAX, LONG_MIN

_CATEGORY = "DATE / TIME"
_UNITS = {
    "DAY": DAY_MS,
    "HOUR": 3_600_000,
    "MINUTE": 60_000,
    "SECOND": 1_000,
    "MILLISECOND": 1,
}
# The first and the last day, and millisecond, of the years that every part of the engine carries.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_FIRST_MS, _LAST_MS = _FIRST_DAY * DAY_MS, (_LAST_DAY + 1) * DAY_MS - 1


def _date(days: int) -> int:
    if not _FIRST_DAY <= days <= _LAST_DAY:
        raise FunctionFailure("Dates are those of the years 1 to 9999.")
    return days


def _moment(ms: int) -> int:
    if not _FIRST_MS <= ms <= _LAST_MS:
        raise FunctionFailure("Moments are those of the years 1 to 9999.")
    return ms


def _span(unit: str, amount: int) -> int:
    length = _UNITS.get(unit.upper().removesuffix("S"))
    if length is None:
        raise FunctionFailure(f"'{unit}' is not a unit of time.")
    return max(LONG_MIN, min(LONG_MAX, length * amount))


def _move_date(sign: int) -> Callable[[str, int, int], int]:
    def move(unit: str, amount: int, days: int) -> int:
        moved = days * DAY_MS + sign * _span(unit, amount)
        # Parts of a day are cut towards 1970, not towards the past.
        return _date(moved // DAY_MS if moved >= 0 else -(-moved // DAY_MS))

    return move


def _move_time(sign: int) -> Callable[[str, int, int], int]:
    return lambda unit, amount, ms: (ms + sign * _span(unit, amount)) % DAY_MS


def _move_timestamp(sign: int) -> Callable[[str, int, int], int]:
    return lambda unit, amount, ms: _moment(ms + sign * _span(unit, amount))


def _convert_zone(ms: int, source: str, target: str) -> int:
    return _moment(ms + offset_ms(find_zone(target), ms) - offset_ms(find_zone(source), ms))


def _days_text(days: int, pattern: str) -> str:
    return format_date(_date(days), pattern)


def _ms_text(ms: int, pattern: str, zone: str = "UTC") -> str:
    return format_timestamp(_moment(ms), pattern, zone)


def _read_date(text: str, pattern: str) -> int:
    return _date(parse_date(text, pattern))


def _read_leading_date(text: str, pattern: str) -> int:
    return _date(parse_lenient_date(text, pattern, time.gmtime().tm_year))


def _read_moment(text: str, pattern: str, zone: str = "UTC") -> int:
    return _moment(parse_timestamp(text, pattern, zone))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _itself(value: Any) -> Any:
    return value


def _moved(name: str, kind: str, verb: str, meaning: Callable[..., int], result: Any) -> Function:
    starts = {"DATE": "FROM_DAYS(10)", "TIME": "PARSE_TIME('10:30', 'HH:mm')"}
    start = starts.get(kind, "FROM_UNIXTIME(100000)")
    unit = "DAYS" if kind == "DATE" else "SECONDS"
    return Function(
        name,
        _CATEGORY,
        f"A {kind} with an amount of a unit {verb}: DAYS, HOURS, MINUTES, SECONDS, MILLISECONDS.",
        (variant(f"unit STRING, amount INT, value {kind}", kind, meaning),),
        (Example(f"{name}({unit}, 5, {start})", result),),
    )


def _zoned(parameters: str, returns: str, meaning: Callable[..., Any]) -> tuple[Variant, ...]:
    return (
        variant(parameters, returns, meaning),
        variant(f"{parameters}, zone STRING", returns, meaning),
    )


_PATTERN = "The pattern is one of Java's DateTimeFormatter."
_ZONE = f"The zone is UTC if none is given. {_PATTERN}"

FUNCTIONS = (
    Function(
        "CONVERT_TZ",
        _CATEGORY,
        "A TIMESTAMP moved by the difference of two time zones, given by ids or offsets.",
        (variant("value TIMESTAMP, source STRING, target STRING", "TIMESTAMP", _convert_zone),),
        (Example("CONVERT_TZ(FROM_UNIXTIME(0), '+0200', '+0500')", 10_800_000),),
    ),
    _moved("DATEADD", "DATE", "added", _move_date(1), 15),
    _moved("DATESUB", "DATE", "taken away", _move_date(-1), 5),
    _moved("TIMEADD", "TIME", "added", _move_time(1), 37_805_000),
    _moved("TIMESUB", "TIME", "taken away", _move_time(-1), 37_795_000),
    _moved("TIMESTAMPADD", "TIMESTAMP", "added", _move_timestamp(1), 105_000),
    _moved("TIMESTAMPSUB", "TIMESTAMP", "taken away", _move_timestamp(-1), 95_000),
    Function(
        "DATETOSTRING",
        _CATEGORY,
        f"Days since 1970 as a text. {_PATTERN}",
        (variant("days INT, pattern STRING", "STRING", _days_text),),
        (Example("DATETOSTRING(18993, 'dd-MMM-yyyy')", "01-Jan-2022"),),
    ),
    Function(
        "FORMAT_DATE",
        _CATEGORY,
        f"A DATE as a text. {_PATTERN}",
        (variant("value DATE, pattern STRING", "STRING", format_date),),
        (Example("FORMAT_DATE(FROM_DAYS(0), 'EEE d.M.yyyy')", "Thu 1.1.1970"),),
    ),
    Function(
        "FORMAT_TIME",
        _CATEGORY,
        f"A TIME as a text. {_PATTERN}",
        (variant("value TIME, pattern STRING", "STRING", format_time),),
        (Example("FORMAT_TIME(PARSE_TIME('13:05', 'HH:mm'), 'h:mm a')", "1:05 PM"),),
    ),
    Function(
        "FORMAT_TIMESTAMP",
        _CATEGORY,
        f"A TIMESTAMP as a text. {_ZONE}",
        _zoned("value TIMESTAMP, pattern STRING", "STRING", format_timestamp),
        (
            Example(
                "FORMAT_TIMESTAMP(FROM_UNIXTIME(0), 'yyyy-MM-dd HH:mm zzz', 'Europe/Paris')",
                "1970-01-01 01:00 CET",
            ),
        ),
    ),
    Function(
        "FROM_DAYS",
        _CATEGORY,
        "The DATE so many days after 1970-01-01.",
        (variant("days INT", "DATE", _date),),
        (Example("FROM_DAYS(19782)", 19782),),
    ),
    Function(
        "FROM_UNIXTIME",
        _CATEGORY,
        "The TIMESTAMP so many milliseconds after the start of 1970 in UTC.",
        (variant("ms BIGINT", "TIMESTAMP", _moment),),
        (Example("FROM_UNIXTIME(1000)", 1000),),
    ),
    Function(
        "PARSE_DATE",
        _CATEGORY,
        "A text as a DATE; what follows the date is not looked at. Numbers may have any length, a "
        "month or day that there is not runs over, and what is left out is that of 1970-01-01. The "
        "pattern is one of Java's SimpleDateFormat.",
        (variant("text STRING, pattern STRING", "DATE", _read_leading_date),),
        (Example("PARSE_DATE('29/02/2024', 'dd/MM/yyyy')", 19782),),
    ),
    Function(
        "PARSE_TIME",
        _CATEGORY,
        f"A text as a TIME. {_PATTERN}",
        (variant("text STRING, pattern STRING", "TIME", parse_time),),
        (Example("PARSE_TIME('1:05 PM', 'h:mm a')", 47_100_000),),
    ),
    Function(
        "PARSE_TIMESTAMP",
        _CATEGORY,
        f"A text as a TIMESTAMP; a zone in the text wins. {_ZONE}",
        _zoned("text STRING, pattern STRING", "TIMESTAMP", _read_moment),
        (
            Example(
                "PARSE_TIMESTAMP('1970-01-01T01:00:00Z', 'yyyy-MM-dd''T''HH:mm:ssX')", 3_600_000
            ),
        ),
    ),
    Function(
        "STRINGTODATE",
        _CATEGORY,
        f"A text as days since 1970. {_PATTERN}",
        (variant("text STRING, pattern STRING", "INT", _read_date),),
        (Example("STRINGTODATE('1970-02-01', 'yyyy-MM-dd')", 31),),
    ),
    Function(
        "STRINGTOTIMESTAMP",
        _CATEGORY,
        f"A text as milliseconds since 1970. {_ZONE}",
        _zoned("text STRING, pattern STRING", "BIGINT", _read_moment),
        (Example("STRINGTOTIMESTAMP('1970-01-01 00:01', 'yyyy-MM-dd HH:mm')", 60_000),),
    ),
    Function(
        "TIMESTAMPTOSTRING",
        _CATEGORY,
        f"Milliseconds since 1970 as a text. {_ZONE}",
        _zoned("ms BIGINT, pattern STRING", "STRING", _ms_text),
        (Example("TIMESTAMPTOSTRING(60000, 'HH:mm:ss.SSS')", "00:01:00.000"),),
    ),
    Function(
        "UNIX_DATE",
        _CATEGORY,
        "The days since 1970 of a DATE, or of today in UTC.",
        (
            variant("", "INT", lambda: _now_ms() // DAY_MS),
            variant("value DATE", "INT", _itself),
        ),
        (Example("UNIX_DATE(FROM_DAYS(3))", 3),),
    ),
    Function(
        "UNIX_TIMESTAMP",
        _CATEGORY,
        "The milliseconds since 1970 of a TIMESTAMP, or of now.",
        (
            variant("", "BIGINT", _now_ms),
            variant("value TIMESTAMP", "BIGINT", _itself),
        ),
        (Example("UNIX_TIMESTAMP(FROM_UNIXTIME(3))", 3),),
    ),
)
