"""Moments, dates and times as texts, whole or cut short: `2024`, `2024-02-29T10:30+0100`."""

import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_MOMENT = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?)?"
    r"(?:[T ](?:(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})"
    r"(?:\.(?P<fraction>\d{1,9}))?)?)?)?)?(?P<zone>Z|[+-]\d{2}:?\d{2}|[A-Za-z][\w/+-]*)?",
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1)


def parse_timestamp_ms(text: str) -> int:
    """Return the milliseconds since 1970 of a moment; what is left out is the least.

    >>> parse_timestamp_ms("1970-01-01T24"), parse_timestamp_ms("1970-01-01T01:00:00.5+0100")
    (86400000, 500)
    """
    found = _MOMENT.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"'{text}' is not a timestamp like 2024-02-29T10:30:00.000")
    fraction = (found["fraction"] or "0")[:6].ljust(6, "0")
    year, month, day, hour, minute, second = (int(found[part] or least) for part, least in _PARTS)
    zone = _zone(found["zone"])
    # A day may end at 24:00, when the next one begins.
    is_end = (hour, minute, second, int(fraction)) == (24, 0, 0, 0)
    hour = 0 if is_end else hour
    moment = datetime(year, month, day, hour, minute, second, int(fraction), tzinfo=zone)
    return (moment - _EPOCH + timedelta(days=is_end)) // timedelta(milliseconds=1)


_PARTS = (("year", 1), ("month", 1), ("day", 1), ("hour", 0), ("minute", 0), ("second", 0))


def _zone(text: str | None) -> tzinfo:
    if text in (None, "Z"):
        return UTC
    assert text is not None
    if text[0] in "+-":
        digits = text[1:].replace(":", "")
        offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        return timezone(-offset if text[0] == "-" else offset)
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError(f"'{text}' is not a time zone") from error


def parse_date_days(text: str) -> int:
    """Return the days since 1970 of a date.

    >>> parse_date_days("1970-02-01"), parse_date_days("1971")
    (31, 365)
    """
    found = _MOMENT.fullmatch(text.strip())
    if found is None or found["hour"] or found["zone"]:
        raise ValueError(f"'{text}' is not a date like 2024-02-29")
    parsed = date(*(int(found[part] or least) for part, least in _PARTS[:3]))
    return (parsed - _EPOCH_DAY).days


def parse_time_ms(text: str) -> int:
    """Return the milliseconds since midnight of a time.

    >>> parse_time_ms("00:01"), parse_time_ms("01:00:00.250")
    (60000, 3600250)
    """
    parsed = time.fromisoformat(text.strip())
    seconds = (parsed.hour * 60 + parsed.minute) * 60 + parsed.second
    return seconds * 1000 + parsed.microsecond // 1000


def format_timestamp_ms(ms: int) -> str:
    """Return a moment as text.

    >>> format_timestamp_ms(1500)
    '1970-01-01T00:00:01.500'
    """
    moment = _EPOCH + timedelta(milliseconds=ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}"


def format_date_days(days: int) -> str:
    """Return a date as text."""
    return (_EPOCH_DAY + timedelta(days=days)).isoformat()


def format_time_ms(ms: int) -> str:
    """Return a time as text; seconds and thousandths only where there are any.

    >>> format_time_ms(3_600_000), format_time_ms(61_500)
    ('01:00', '00:01:01.500')
    """
    minutes, rest = divmod(ms, 60_000)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}"
    if rest:
        text += f":{rest // 1000:02d}"
    return text + (f".{rest % 1000:03d}" if rest % 1000 else "")
