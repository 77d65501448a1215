"""Texts taken apart by the elements of a pattern, without asking yet what the numbers mean."""

import re
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import lru_cache

from orion.sql.function.moment import pattern as p
from orion.sql.function.moment.names import NAMES, ZONE_NAMES
from orion.sql.function.moment.pattern import Element, Part, PatternError, read_pattern
from orion.sql.function.moment.zone import (
    SHORT_NAMES,
    UnknownZoneError,
    find_zone,
    fixed_zone,
    read_offset,
)

_ZONE_ID = re.compile(r"[A-Za-z][A-Za-z0-9~/._+-]*|[+-]\d{1,2}(?::?\d{2}){0,2}")
_OFFSET = re.compile(r"[+-]\d{2}(?::?\d{2}){0,2}")
_NAMED_OFFSET = re.compile(r"GMT(?:[+-]\d{1,2}(?::?\d{2}){0,2})?", re.IGNORECASE)


@dataclass(frozen=True)
class Found:
    """What a text said so far, and where reading goes on."""

    text: str
    position: int = 0
    values: dict[Part, int] = field(default_factory=dict)
    zone: tzinfo | None = None

    def fail(self, expected: str) -> PatternError:
        """Return the error of a text that goes on in another way."""
        return PatternError(f"'{self.text}' has no {expected} at position {self.position + 1}.")

    def put(self, part: Part, value: int, end: int) -> "Found":
        """Return this with one more value; a second one must be the same."""
        if self.values.get(part, value) != value:
            raise PatternError(f"'{self.text}' names two values of {part.name}.")
        return replace(self, position=end, values={**self.values, part: value})


def read_text(pattern: str, text: str, *, whole: bool = True) -> Found:
    """Return what a text says by a pattern; letters are compared without case.

    Args:
        pattern: The pattern.
        text: The text.
        whole: Whether the text must end where the pattern does.
    """
    quick = _read_quick(pattern, text)
    if quick is not None:
        return quick
    found = _read_all(read_pattern(pattern), Found(text))
    if whole and found.position != len(text):
        raise PatternError(f"'{text}' goes on after what '{pattern}' reads.")
    return found


def _read_quick(pattern: str, text: str) -> Found | None:
    """Read a text of mere digits by one regular expression; None if it must be read with care."""
    known = _expression(pattern)
    found = known[0].fullmatch(text) if known is not None else None
    if known is None or found is None:
        return None
    values: dict[Part, int] = {}
    zone = None
    for group, (part, unit) in zip(found.groups(), known[1], strict=True):
        if part is None:
            zone = fixed_zone(0 if group == "Z" else read_offset(group))
        else:
            values[part] = int(group) * unit
    return Found(text, len(text), values, zone)


@lru_cache(maxsize=1000)
def _expression(pattern: str) -> tuple[re.Pattern[str], tuple[tuple[Part | None, int], ...]] | None:
    """Return a pattern of plain numbers, each named once, as a regular expression."""
    written: list[str] = []
    wanted: list[tuple[Part | None, int]] = []
    for element in read_pattern(pattern):
        match element:
            case p.Text(value):
                written.append(re.escape(value))
            case p.Number(part, low, high) if low == high or (element.signed and low == 4):
                written.append(rf"([0-9]{{{low}}})")
                wanted.append((part, 1))
            case p.Fraction(digits):
                written.append(rf"([0-9]{{{digits}}})")
                wanted.append((Part.FRACTION, 10 ** (9 - digits)))
            case p.Offset(_, "Z"):
                written.append(r"(Z|[+-]\d{2}(?::?\d{2}){0,2})")
                wanted.append((None, 1))
            case _:
                return None
    if len({part for part, _ in wanted}) != len(wanted):
        return None
    return re.compile("".join(written)), tuple(wanted)


def _read_all(elements: tuple[Element, ...], found: Found) -> Found:
    for at, element in enumerate(elements):
        found = _read_one(element, found, elements[at + 1 :])
    return found


def _read_one(element: Element, found: Found, following: tuple[Element, ...]) -> Found:
    match element:
        case p.Text(value):
            end = found.position + len(value)
            if found.text[found.position : end].lower() != value.lower():
                raise found.fail(f"'{value}'")
            return replace(found, position=end)
        case p.Number() | p.ShortYear() | p.Fraction():
            return _read_digits(element, found, following)
        case p.Word(part, style):
            return _read_word(part, style, found)
        case p.Maybe(inner):
            try:
                return _read_all(inner, found)
            except PatternError:
                return found
        case _:
            return _read_zone(element, found)


def _read_digits(
    element: p.Number | p.ShortYear | p.Fraction, found: Found, following: tuple[Element, ...]
) -> Found:
    text, start = found.text, found.position
    negative = False
    if (isinstance(element, p.Number) and element.part is Part.YEAR) or _is_signed(element):
        negative = text[start : start + 1] == "-"
        start += text[start : start + 1] in ("-", "+") if text[start : start + 1] else 0
    run = 0
    while text[start + run : start + run + 1].isdecimal():
        run += 1
    size = min(run - _reserved(element, following), _widest(element)) if run else 0
    if size < _narrowest(element):
        raise found.fail(f"number of {_narrowest(element)} digits")
    digits = text[start : start + size]
    part, value = _value(element, digits)
    return found.put(part, -value if negative else value, start + size)


def _is_signed(element: Element) -> bool:
    return isinstance(element, p.Number) and element.signed


def _narrowest(element: p.Number | p.ShortYear | p.Fraction) -> int:
    match element:
        case p.Number(_, low):
            return low
        case p.Fraction(digits):
            return digits
    return 2


def _widest(element: p.Number | p.ShortYear | p.Fraction) -> int:
    return element.high if isinstance(element, p.Number) else _narrowest(element)


def _reserved(element: Element, following: tuple[Element, ...]) -> int:
    """Return the digits that belong to the numbers of fixed width right after this one."""
    if not isinstance(element, p.Number) or element.low == element.high:
        return 0
    total = 0
    for other in following:
        if not isinstance(other, p.Number | p.ShortYear | p.Fraction):
            break
        if _narrowest(other) != _widest(other):
            break
        total += _narrowest(other)
    return total


def _value(element: p.Number | p.ShortYear | p.Fraction, digits: str) -> tuple[Part, int]:
    match element:
        case p.ShortYear(part):
            return part, 2000 + int(digits)
        case p.Fraction():
            return Part.FRACTION, int(digits.ljust(9, "0"))
        case p.Number(part):
            return part, int(digits)


def _read_word(part: Part, style: str, found: Found) -> Found:
    first, names = NAMES[part, style]
    rest = found.text[found.position :].lower()
    fitting = [(len(name), at) for at, name in enumerate(names) if rest.startswith(name.lower())]
    if not fitting:
        raise found.fail(f"name of {part.name}")
    size, at = max(fitting)
    return found.put(part, at + first, found.position + size)


def _read_zone(element: Element, found: Found) -> Found:
    text, start = found.text, found.position
    try:
        match element:
            case p.Offset(_, zero) if zero == "Z" and text[start : start + 1] in ("Z", "z"):
                return replace(found, position=start + 1, zone=fixed_zone(0))
            case p.Offset():
                size, zone = _offset_at(text, start)
            case p.NamedOffset():
                matched = _NAMED_OFFSET.match(text, start)
                size = len(matched.group()) if matched else 0
                zone = find_zone(text[start : start + size].upper())
            case _:
                size, zone = _named_zone_at(text, start)
    except UnknownZoneError as error:
        raise found.fail("time zone") from error
    return replace(found, position=start + size, zone=zone)


def _offset_at(text: str, start: int) -> tuple[int, tzinfo]:
    matched = _OFFSET.match(text, start)
    written = matched.group() if matched else ""
    return len(written), fixed_zone(read_offset(written))


def _named_zone_at(text: str, start: int) -> tuple[int, tzinfo]:
    rest = text[start:].lower()
    for short, full in ZONE_NAMES.items():
        if rest.startswith(full.lower()):
            return len(full), find_zone(short, short=True)
    matched = _ZONE_ID.match(text, start)
    written = matched.group() if matched else ""
    name = written.upper() if written.upper() in SHORT_NAMES else written
    return len(written), find_zone(name, short=True)
