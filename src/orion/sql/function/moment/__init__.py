"""Moments as texts by Java's patterns: `yyyy-MM-dd'T'HH:mm:ssX` and its kin, read and written.

In:  a pattern, a text or a moment, a time zone.
Out: days, milliseconds of a day or since 1970, or a text.
Never: the clock or the machine's own zone; what is not said is UTC.
"""

from orion.sql.function.moment.calendar import (
    DAY_MS,
    format_iso_date,
    format_iso_time,
    format_iso_timestamp,
)
from orion.sql.function.moment.formatting import format_date, format_time, format_timestamp
from orion.sql.function.moment.lenient import parse_lenient_date
from orion.sql.function.moment.parsing import parse_date, parse_time, parse_timestamp
from orion.sql.function.moment.pattern import PatternError, check_pattern
from orion.sql.function.moment.zone import find_zone, offset_ms

__all__ = [
    "DAY_MS",
    "PatternError",
    "check_pattern",
    "find_zone",
    "format_date",
    "format_iso_date",
    "format_iso_time",
    "format_iso_timestamp",
    "format_time",
    "format_timestamp",
    "offset_ms",
    "parse_date",
    "parse_lenient_date",
    "parse_time",
    "parse_timestamp",
]
