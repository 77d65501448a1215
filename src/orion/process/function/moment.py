"""Dates, times and moments; texts by the patterns that Spark writes as Java does."""

import re

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from orion.model import Scalar
from orion.process.function.call import Call, Native

_DAY_MS = 86_400_000
_UNITS = {"DAY": _DAY_MS, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1_000, "MILLISECOND": 1}
_DATE_RUNS = frozenset(("yyyy", "MM", "M", "MMM", "MMMM", "dd", "d", "EEE", "EEEE"))
_TIME_RUNS = frozenset(("HH", "H", "hh", "h", "mm", "m", "ss", "s", "SSS", "a"))
_RUN = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*")
_REGION = re.compile(r"[A-Za-z]+(?:/[A-Za-z_+-]+)+|UTC|[+-]\d{2}:\d{2}")
# Outside of the years 1 to 9999 there is no result: Spark would stop at some of them.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_FIRST_MS, _LAST_MS = _FIRST_DAY * _DAY_MS, (_LAST_DAY + 1) * _DAY_MS - 1


def _date(days: Column) -> Column:
    inside = days.between(F.lit(_FIRST_DAY), F.lit(_LAST_DAY))
    return F.date_from_unix_date(F.when(inside, days).cast("int"))


def _moment(ms: Column) -> Column:
    return F.timestamp_millis(F.when(ms.between(F.lit(_FIRST_MS), F.lit(_LAST_MS)), ms))


def _span_ms(unit: Column, amount: Column) -> Column:
    name = F.regexp_replace(F.upper(unit), "S$", "")
    length = F.lit(None).cast("bigint")
    for known, ms in _UNITS.items():
        length = F.when(name == known, F.lit(ms).cast("bigint")).otherwise(length)
    return amount.cast("bigint") * length


def _move(sign: int) -> Native:
    def native(call: Call) -> Column:
        unit, amount, value = call.arguments
        span = _span_ms(unit, amount) * sign
        if call.returns is Scalar.DATE:
            moved = F.unix_date(value).cast("bigint") * _DAY_MS + span
            return _date(F.call_function("div", moved, F.lit(_DAY_MS).cast("bigint")))
        if call.returns is Scalar.TIME:
            return F.pmod(value.cast("bigint") + span, F.lit(_DAY_MS)).cast("int")
        return _moment(F.unix_millis(value) + span)

    return native


def _is_plain(pattern: object, runs: frozenset[str]) -> bool:
    """Tell whether a pattern is known, and made only of what Spark writes as Java does."""
    if not isinstance(pattern, str) or set(pattern) & set("[]{}#") or pattern.count("'") % 2:
        return False
    found = [match.group() for match in _RUN.finditer(pattern)]
    return all(run.startswith("'") or run in runs for run in found)


def _format_date(call: Call) -> Column | None:
    pattern = call.constants.get(1)
    if not _is_plain(pattern, _DATE_RUNS):
        return None
    value = _date(call[0]) if call.types[0] is Scalar.INTEGER else call[0]
    return F.date_format(value, str(pattern))


def _format_time(call: Call) -> Column | None:
    pattern = call.constants.get(1)
    if not _is_plain(pattern, _TIME_RUNS):
        return None
    return F.date_format(F.timestamp_millis(call[0]), str(pattern))


def _format_timestamp(call: Call) -> Column | None:
    pattern = call.constants.get(1)
    if not _is_plain(pattern, _DATE_RUNS | _TIME_RUNS):
        return None
    value = _moment(call[0]) if call.types[0] is Scalar.BIGINT else call[0]
    if call.count > 2:
        zone = call.constants.get(2)
        if not isinstance(zone, str) or not _REGION.fullmatch(zone):
            return None
        value = F.from_utc_timestamp(value, zone)
    return F.date_format(value, str(pattern))


def _unix_date(call: Call) -> Column:
    return F.unix_date(call[0] if call.count else F.current_date())


def _unix_timestamp(call: Call) -> Column:
    return F.unix_millis(call[0] if call.count else F.current_timestamp())


NATIVE: dict[str, Native] = {
    "DATEADD": _move(1),
    "DATESUB": _move(-1),
    "TIMEADD": _move(1),
    "TIMESUB": _move(-1),
    "TIMESTAMPADD": _move(1),
    "TIMESTAMPSUB": _move(-1),
    "DATETOSTRING": _format_date,
    "FORMAT_DATE": _format_date,
    "FORMAT_TIME": _format_time,
    "FORMAT_TIMESTAMP": _format_timestamp,
    "TIMESTAMPTOSTRING": _format_timestamp,
    "FROM_DAYS": lambda call: _date(call[0]),
    "FROM_UNIXTIME": lambda call: _moment(call[0]),
    "UNIX_DATE": _unix_date,
    "UNIX_TIMESTAMP": _unix_timestamp,
}
