"""Days and years by arithmetic, for any year: Python's own dates end at 9999."""

from typing import NamedTuple

DAY_MS = 86_400_000
_ERA_DAYS, _ERA_SHIFT = 146_097, 719_468
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Civil(NamedTuple):
    """A date of the calendar; the year before 1 is 0."""

    year: int
    month: int
    day: int


def to_civil(days: int) -> Civil:
    """Return the date of a number of days since 1970.

    >>> to_civil(0), to_civil(-1)
    (Civil(year=1970, month=1, day=1), Civil(year=1969, month=12, day=31))
    """
    # Years that begin in March have their odd day at the end; 400 of them repeat.
    era, day_of_era = divmod(days + _ERA_SHIFT, _ERA_DAYS)
    year = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    return Civil(era * 400 + year + (month <= 2), month, day)


def to_days(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a date."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * _ERA_DAYS + day_of_era - _ERA_SHIFT


def is_leap(year: int) -> bool:
    """Tell whether a year has a 29th of February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in(year: int, month: int) -> int:
    """Return the number of days of a month."""
    return 29 if month == 2 and is_leap(year) else _MONTH_DAYS[month - 1]


def format_iso_date(days: int) -> str:
    """Return a date as `2024-02-29`."""
    year, month, day = to_civil(days)
    return f"{format_year(year)}-{month:02}-{day:02}"


def format_iso_time(ms: int) -> str:
    """Return a time of day as `10:30`, `10:30:05` or `10:30:05.120`, whatever says it all."""
    seconds, milli = divmod(ms, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    if milli:
        return f"{hour:02}:{minute:02}:{second:02}.{milli:03}"
    return f"{hour:02}:{minute:02}:{second:02}" if second else f"{hour:02}:{minute:02}"


def format_iso_timestamp(ms: int) -> str:
    """Return a moment as `2024-02-29T10:30:00.000`, in UTC."""
    days, rest = divmod(ms, DAY_MS)
    seconds, milli = divmod(rest, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{format_iso_date(days)}T{hour:02}:{minute:02}:{second:02}.{milli:03}"


def format_year(year: int) -> str:
    """Return a year of at least four digits; one of more has a sign."""
    if year > 9999:
        return f"+{year}"
    return f"-{-year:04}" if year < 0 else f"{year:04}"
