"""Time zones by their ids, offsets and short names."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from orion.sql.function.moment.calendar import DAY_MS, to_civil

_OFFSET = re.compile(r"([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?")
# The region that a short name stands for; summer or winter is decided by the date.
_SHORT_NAMES = {
    "PST": "America/Los_Angeles",
    "PDT": "America/Los_Angeles",
    "MST": "America/Denver",
    "MDT": "America/Denver",
    "CST": "America/Chicago",
    "CDT": "America/Chicago",
    "EST": "America/New_York",
    "EDT": "America/New_York",
    "AKST": "America/Anchorage",
    "AKDT": "America/Anchorage",
    "HST": "Pacific/Honolulu",
    "BST": "Europe/London",
    "WET": "Europe/Lisbon",
    "WEST": "Europe/Lisbon",
    "CET": "Europe/Paris",
    "CEST": "Europe/Paris",
    "EET": "Europe/Bucharest",
    "EEST": "Europe/Bucharest",
    "MSK": "Europe/Moscow",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "KST": "Asia/Seoul",
    "AEST": "Australia/Sydney",
    "AEDT": "Australia/Sydney",
    "NZST": "Pacific/Auckland",
    "NZDT": "Pacific/Auckland",
}
_UTC_NAMES = ("Z", "UTC", "GMT", "UT")
SHORT_NAMES = frozenset(_SHORT_NAMES) | frozenset(_UTC_NAMES)


class UnknownZoneError(ValueError):
    """Raised when a text names no time zone; never leaves the call of a function."""


@lru_cache(maxsize=1000)
def find_zone(name: str, *, short: bool = False) -> tzinfo:
    """Return the zone of an id (`Europe/Paris`), an offset (`+02:00`, `UTC+2`) or a short name.

    Args:
        name: What was written.
        short: Whether names such as PST are known.
    """
    if name in _UTC_NAMES:
        return UTC
    offset = next((name[len(p) :] for p in ("UTC", "GMT", "UT") if name.startswith(p)), name)
    if offset[:1] in ("+", "-"):
        return fixed_zone(read_offset(offset))
    if short and name in _SHORT_NAMES:
        name = _SHORT_NAMES[name]
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UnknownZoneError(f"'{name}' is not a time zone") from error


def read_offset(text: str) -> int:
    """Return the seconds of `+02`, `+0200`, `+02:00` or `+02:00:30`."""
    found = _OFFSET.fullmatch(text)
    if found is None:
        raise UnknownZoneError(f"'{text}' is not an offset from UTC")
    sign, hours, minutes, seconds = found.groups()
    total = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    if total > 18 * 3600:
        raise UnknownZoneError(f"'{text}' is more than 18 hours from UTC")
    return -total if sign == "-" else total


def fixed_zone(seconds: int) -> tzinfo:
    """Return the zone that is always so far from UTC."""
    return timezone(timedelta(seconds=seconds)) if seconds else UTC


def offset_ms(zone: tzinfo, instant_ms: int) -> int:
    """Return how far a zone is ahead of UTC at a moment."""
    if zone is UTC:
        return 0
    found = moment_in(zone, instant_ms).utcoffset()
    return 0 if found is None else int(found.total_seconds() * 1000)


def moment_in(zone: tzinfo, instant_ms: int) -> datetime:
    """Return Python's datetime of a moment in a zone, for its rules and names.

    Years beyond Python's are moved by whole cycles of the calendar.
    """
    days, rest = divmod(instant_ms, DAY_MS)
    year = to_civil(days).year
    if not 2 <= year <= 9998:
        # 400 years are a whole number of weeks: the rules of weekdays stay right.
        near = 400 if year < 2 else 9200
        instant_ms = (days - (year - near) // 400 * 146_097) * DAY_MS + rest
    moment = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=instant_ms)
    return moment.astimezone(zone)


def to_instant_ms(zone: tzinfo, local_ms: int) -> int:
    """Return the moment of a wall clock's time; in a gap the clock is moved forward.

    Where a time occurs twice, the first is meant.
    """
    # The offset that holds a day earlier is the one before a change of clocks.
    before = offset_ms(zone, local_ms - DAY_MS)
    after = offset_ms(zone, local_ms + DAY_MS)
    if before == after:
        near = offset_ms(zone, local_ms - before)
        return local_ms - near
    first = local_ms - before
    if offset_ms(zone, first) == before:
        return first
    second = local_ms - after
    return second if offset_ms(zone, second) == after else first
