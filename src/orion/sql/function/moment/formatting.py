"""Moments to texts."""

from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import lru_cache

from orion.sql.function.moment import pattern as p
from orion.sql.function.moment.calendar import DAY_MS, to_civil, to_days
from orion.sql.function.moment.names import NAMES, ZONE_NAMES
from orion.sql.function.moment.pattern import Element, Part, PatternError, read_pattern
from orion.sql.function.moment.zone import find_zone, moment_in, offset_ms


@dataclass(frozen=True)
class Moment:
    """What a formatter can ask about: a date, a time of day, a zone, or less."""

    values: dict[Part, int] = field(default_factory=dict)
    zone: tzinfo | None = None
    zone_id: str = ""
    instant_ms: int = 0

    def get(self, part: Part) -> int:
        """Return a part, or raise if there is none."""
        if part not in self.values:
            raise PatternError(f"There is no {part.name} to format.")
        return self.values[part]


def format_date(days: int, pattern: str) -> str:
    """Return a date by a pattern."""
    return _write(pattern, Moment(_date_parts(days)))


def format_time(ms: int, pattern: str) -> str:
    """Return a time of day by a pattern."""
    return _write(pattern, Moment(_time_parts(ms)))


def format_timestamp(ms: int, pattern: str, zone: str = "UTC") -> str:
    """Return a moment by a pattern, as clocks show it in a zone."""
    found = find_zone(zone)
    days, rest = divmod(ms + offset_ms(found, ms), DAY_MS)
    parts = _date_parts(days) | _time_parts(rest)
    return _write(pattern, Moment(parts, found, zone, ms))


def _date_parts(days: int) -> dict[Part, int]:
    year, month, day = to_civil(days)
    return {
        Part.ERA: int(year > 0),
        Part.YEAR: year,
        Part.YEAR_OF_ERA: year if year > 0 else 1 - year,
        Part.DAY_OF_YEAR: days - to_days(year, 1, 1) + 1,
        Part.MONTH: month,
        Part.DAY: day,
        Part.QUARTER: (month + 2) // 3,
        Part.DAY_OF_WEEK: (days + 3) % 7 + 1,
    }


def _time_parts(ms: int) -> dict[Part, int]:
    seconds, milli = divmod(ms, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return {
        Part.HALF: hour // 12,
        Part.HOUR_OF_HALF: hour % 12,
        Part.CLOCK_HOUR_OF_HALF: hour % 12 or 12,
        Part.HOUR: hour,
        Part.CLOCK_HOUR: hour or 24,
        Part.MINUTE: minute,
        Part.SECOND: second,
        Part.FRACTION: milli * 1_000_000,
        Part.MILLI_OF_DAY: ms,
        Part.NANO_OF_SECOND: milli * 1_000_000,
        Part.NANO_OF_DAY: ms * 1_000_000,
    }


def _write(pattern: str, moment: Moment) -> str:
    quick = _template(pattern)
    # Years of other than four digits have signs, which only the long way knows.
    if quick is not None and 1 <= moment.values.get(Part.YEAR, 1) <= 9999:
        template, wanted = quick
        try:
            return template.format(*[moment.values[part] // unit for part, unit in wanted])
        except KeyError:
            pass
    return _format(read_pattern(pattern), moment)


@lru_cache(maxsize=1000)
def _template(pattern: str) -> tuple[str, tuple[tuple[Part, int], ...]] | None:
    """Return a pattern of mere numbers as one format string; None if it is more than that."""
    template: list[str] = []
    wanted: list[tuple[Part, int]] = []
    for element in read_pattern(pattern):
        match element:
            case p.Text(value):
                template.append(value.replace("{", "{{").replace("}", "}}"))
            case p.Number(part, low):
                template.append(f"{{:0{low}}}")
                wanted.append((part, 1))
            case p.Fraction(digits):
                template.append(f"{{:0{digits}}}")
                wanted.append((Part.FRACTION, 10 ** (9 - digits)))
            case _:
                return None
    return "".join(template), tuple(wanted)


def _format(elements: tuple[Element, ...], moment: Moment) -> str:
    return "".join(_format_element(element, moment) for element in elements)


def _format_element(element: Element, moment: Moment) -> str:
    match element:
        case p.Text(value):
            return value
        case p.Number() | p.ShortYear() | p.Fraction() | p.Word():
            return _format_value(element, moment)
        case p.Maybe(inner):
            try:
                return _format(inner, moment)
            except PatternError:
                return ""
        case p.Zone(style):
            return _format_zone(style, moment)
        case p.Offset(shape, zero):
            return _format_offset(shape, zero, _offset_s(moment))
        case p.NamedOffset(full):
            return _format_named_offset(full, _offset_s(moment))


def _format_value(element: p.Number | p.ShortYear | p.Fraction | p.Word, moment: Moment) -> str:
    match element:
        case p.Number():
            return _format_number(element, moment.get(element.part))
        case p.ShortYear(part):
            return f"{moment.get(part) % 100:02}"
        case p.Fraction(digits):
            return f"{moment.get(Part.FRACTION):09}"[:digits]
        case p.Word(part, style):
            first, names = NAMES[part, style]
            return names[moment.get(part) - first]


def _format_number(element: p.Number, value: int) -> str:
    digits = f"{abs(value):0{element.low}}"
    if len(digits) > element.high:
        raise PatternError(f"{value} has more than {element.high} digits.")
    if value < 0:
        return f"-{digits}"
    return f"+{digits}" if element.signed and len(digits) > element.low else digits


def _offset_s(moment: Moment) -> int:
    if moment.zone is None:
        raise PatternError("There is no time zone to format.")
    return offset_ms(moment.zone, moment.instant_ms) // 1000


def _format_zone(style: str, moment: Moment) -> str:
    if moment.zone is None:
        raise PatternError("There is no time zone to format.")
    if moment.zone_id[:1] in ("+", "-"):
        return _format_offset("+HH:MM:ss", "Z", _offset_s(moment))
    if style == "id":
        return moment.zone_id
    # The many names of UTC are written as they were given.
    short = moment_in(moment.zone, moment.instant_ms).tzname() or ""
    short = moment.zone_id if moment.zone is UTC else short
    return ZONE_NAMES.get(short, short) if style == "full" else short


def _format_offset(shape: str, zero: str, seconds: int) -> str:
    if seconds == 0:
        return zero
    minutes, second = divmod(abs(seconds), 60)
    hour, minute = divmod(minutes, 60)
    colon = ":" if ":" in shape else ""
    text = f"{'-' if seconds < 0 else '+'}{hour:02}"
    # The small letters of a shape are written only if they say something.
    if "MM" in shape or minute:
        text += f"{colon}{minute:02}"
    return text + f"{colon}{second:02}" if "ss" in shape and second else text


def _format_named_offset(full: bool, seconds: int) -> str:
    if seconds == 0:
        return "GMT"
    minutes, second = divmod(abs(seconds), 60)
    hour, minute = divmod(minutes, 60)
    sign = "-" if seconds < 0 else "+"
    if full:
        return f"GMT{sign}{hour:02}:{minute:02}" + (f":{second:02}" if second else "")
    text = f"GMT{sign}{hour}"
    if minute or second:
        text += f":{minute:02}"
    return text + (f":{second:02}" if second else "")
