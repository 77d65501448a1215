"""Sizes, durations and instants as people write and read them."""

import re
from datetime import UTC, datetime

from orion.model.errors import InvalidInputError

_DURATION_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
# The end of the year 9999. A time behind it was not meant as milliseconds since 1970.
LAST_MS = 253_402_300_799_999
_BYTES = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def parse_duration_ms(text: str) -> int:
    """Read `250ms`, `10m` or `1h30m` as milliseconds.

    >>> parse_duration_ms("1h30m")
    5400000
    """
    parts = re.findall(r"(\d+)(ms|[smhdw])", text)
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        raise InvalidInputError(
            f"Duration '{text}' is not understood.",
            fix="Write it like 250ms, 30s, 10m, 1h30m or 7d.",
        )
    return sum(int(number) * _DURATION_MS[unit] for number, unit in parts)


def format_duration(ms: float) -> str:
    """Write milliseconds with its two largest units.

    >>> format_duration(604_800_000), format_duration(5_400_000), format_duration(1_250)
    ('7d', '1h 30m', '1.2s')
    """
    if ms < 1_000:
        return f"{ms:.0f}ms"
    if ms < 60_000:
        return f"{ms / 1_000:.1f}".rstrip("0").rstrip(".") + "s"
    left, parts = int(ms), []
    for unit in ("d", "h", "m", "s"):
        count, left = divmod(left, _DURATION_MS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2])


def parse_bytes(text: str) -> int:
    """Read `512`, `64k` or `2g` as bytes.

    >>> parse_bytes("64k")
    65536
    """
    match = re.fullmatch(r"(\d+)\s*([bkmgt]?)(?:i?b)?", text.strip().lower())
    if match is None:
        raise InvalidInputError(
            f"Size '{text}' is not understood.", fix="Write it like 512m or 2g."
        )
    return int(match[1]) * _BYTES[match[2]]


def format_bytes(size: float) -> str:
    """Write a size with a binary unit.

    >>> format_bytes(1_536), format_bytes(12)
    ('1.5 KiB', '12 B')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def format_count(number: float) -> str:
    """Write a number with separated thousands.

    >>> format_count(1234567)
    '1,234,567'
    """
    return f"{number:,.0f}"


def parse_instant_ms(text: str, *, now_ms: int) -> int:
    """Read `10m` (that long ago) or an ISO date and time as epoch milliseconds.

    A date without an offset is in the local time zone.
    """
    if re.fullmatch(r"(\d+(ms|[smhdw]))+", text.strip()):
        return now_ms - parse_duration_ms(text.strip())
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidInputError(
            f"Time '{text}' is not understood.",
            fix="Write it like 10m (ago), 2026-01-31, 2026-01-31T18:00 or 2026-01-31T18:00+01:00.",
        ) from error
    return int((when if when.tzinfo else when.astimezone()).astimezone(UTC).timestamp() * 1_000)
