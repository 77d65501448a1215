"""Texts to moments: what was read becomes days and milliseconds, or an error says why not."""

from datetime import UTC

from orion.sql.function.moment.calendar import DAY_MS, days_in, is_leap, to_days
from orion.sql.function.moment.pattern import DATE_PARTS, TIME_PARTS, Part, PatternError
from orion.sql.function.moment.reading import read_text
from orion.sql.function.moment.zone import find_zone, to_instant_ms

_RANGES = {
    Part.MONTH: (1, 12),
    Part.DAY: (1, 31),
    Part.HALF: (0, 1),
    Part.HOUR_OF_HALF: (0, 11),
    Part.CLOCK_HOUR_OF_HALF: (1, 12),
    Part.HOUR: (0, 24),
    Part.CLOCK_HOUR: (1, 24),
    Part.MINUTE: (0, 59),
    Part.SECOND: (0, 59),
    Part.MILLI_OF_DAY: (0, DAY_MS - 1),
    Part.NANO_OF_SECOND: (0, 999_999_999),
    Part.NANO_OF_DAY: (0, DAY_MS * 1_000_000 - 1),
}


def parse_date(text: str, pattern: str, *, whole: bool = True) -> int:
    """Return the days since 1970 of a date; month and day may be left out, the year may not.

    Args:
        text: The date.
        pattern: How it is written.
        whole: Whether nothing may follow the date.

    >>> parse_date("29/02/2024", "dd/MM/yyyy"), parse_date("Mar 1970", "MMM yyyy")
    (19782, 59)
    """
    values = read_text(pattern, text, whole=whole).values
    if values.keys() & TIME_PARTS:
        raise PatternError(f"'{pattern}' reads a time of day, not only a date.")
    _check(values)
    return _days(values, None)


def parse_time(text: str, pattern: str) -> int:
    """Return the milliseconds of the day of a time.

    >>> parse_time("1:05 PM", "h:mm a")
    47100000
    """
    values = read_text(pattern, text).values
    if values.keys() & DATE_PARTS:
        raise PatternError(f"'{pattern}' reads a date, not only a time of day.")
    _check(values)
    nanos = _nanos(values, None)
    return nanos // 1_000_000 % DAY_MS


def parse_timestamp(text: str, pattern: str, zone: str = "UTC") -> int:
    """Return the milliseconds since 1970 of a moment; what is left out is that of 1970-01-01.

    A zone in the text wins over the one given.

    >>> parse_timestamp("1970-01-01T01:00+01", "yyyy-MM-dd'T'HH:mmX")
    0
    """
    found = read_text(pattern, text)
    _check(found.values)
    local = _days(found.values, 1970) * DAY_MS + _nanos(found.values, 0) // 1_000_000
    where = found.zone or find_zone(zone)
    return local if where is UTC else to_instant_ms(where, local)


def _check(values: dict[Part, int]) -> None:
    for part, value in values.items():
        low, high = _RANGES.get(part, (value, value))
        if not low <= value <= high:
            raise PatternError(f"{part.name} is {low} to {high}, not {value}.")


def _days(values: dict[Part, int], default_year: int | None) -> int:
    year = _year(values, default_year)
    if Part.DAY_OF_YEAR in values:
        day = values[Part.DAY_OF_YEAR]
        if not 1 <= day <= (366 if is_leap(year) else 365):
            raise PatternError(f"Year {year} has no day {day}.")
        days = to_days(year, 1, 1) + day - 1
    else:
        quarter = values.get(Part.QUARTER, 1)
        month = values.get(Part.MONTH, quarter * 3 - 2)
        # A day that the month does not have becomes its last one, as Java's formatters do.
        day = min(values.get(Part.DAY, 1), days_in(year, month))
        days = to_days(year, month, day)
    if values.get(Part.DAY_OF_WEEK, (days + 3) % 7 + 1) != (days + 3) % 7 + 1:
        raise PatternError("The day of the week is not the one of the date.")
    return days


def _year(values: dict[Part, int], default: int | None) -> int:
    if Part.YEAR in values:
        return values[Part.YEAR]
    if Part.YEAR_OF_ERA in values:
        year = values[Part.YEAR_OF_ERA]
        return year if values.get(Part.ERA, 1) else 1 - year
    if default is None:
        raise PatternError("There is no year.")
    return default


def _nanos(values: dict[Part, int], default_hour: int | None) -> int:
    if Part.NANO_OF_DAY in values:
        return values[Part.NANO_OF_DAY]
    if Part.MILLI_OF_DAY in values:
        return values[Part.MILLI_OF_DAY] * 1_000_000
    hour = _hour(values, default_hour)
    minute, second = values.get(Part.MINUTE, 0), values.get(Part.SECOND, 0)
    nano = values.get(Part.FRACTION, values.get(Part.NANO_OF_SECOND, 0))
    total = ((hour * 60 + minute) * 60 + second) * 1_000_000_000 + nano
    if total > DAY_MS * 1_000_000:
        raise PatternError("A day ends at 24:00.")
    return total


def _hour(values: dict[Part, int], default: int | None) -> int:
    if Part.HOUR in values:
        return values[Part.HOUR]
    if Part.CLOCK_HOUR in values:
        return values[Part.CLOCK_HOUR] % 24
    half = values.get(Part.HALF, default)
    for part in (Part.HOUR_OF_HALF, Part.CLOCK_HOUR_OF_HALF):
        if part in values and half is not None:
            return values[part] % 12 + 12 * half
    if default is None:
        raise PatternError("There is no hour of the day.")
    return default
