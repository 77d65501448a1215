"""Java's patterns of letters, taken apart: each run of a letter is one element.

The letters are those of `java.time.format.DateTimeFormatter`; how often one stands says how wide
the number is, or how long the name.
"""

import enum
from dataclasses import dataclass
from functools import lru_cache


class PatternError(ValueError):
    """Raised when a pattern, or a text by a pattern, cannot be read; stays within a call."""


class Part(enum.Enum):
    """The parts of a moment that a pattern can name."""

    ERA = "G"
    YEAR = "u"
    YEAR_OF_ERA = "y"
    DAY_OF_YEAR = "D"
    MONTH = "M"
    DAY = "d"
    QUARTER = "Q"
    DAY_OF_WEEK = "E"
    HALF = "a"
    HOUR_OF_HALF = "K"
    CLOCK_HOUR_OF_HALF = "h"
    HOUR = "H"
    CLOCK_HOUR = "k"
    MINUTE = "m"
    SECOND = "s"
    FRACTION = "S"
    MILLI_OF_DAY = "A"
    NANO_OF_SECOND = "n"
    NANO_OF_DAY = "N"


DATE_PARTS = frozenset(list(Part)[:8])
TIME_PARTS = frozenset(list(Part)[8:])


@dataclass(frozen=True)
class Text:
    """Letters that stand for themselves."""

    value: str


@dataclass(frozen=True)
class Number:
    """A number of `low` to `high` digits; `signed` years beyond four digits have a sign."""

    part: Part
    low: int
    high: int = 19
    signed: bool = False


@dataclass(frozen=True)
class ShortYear:
    """The last two digits of a year from 2000 to 2099."""

    part: Part


@dataclass(frozen=True)
class Fraction:
    """So many digits of a second's fraction."""

    digits: int


@dataclass(frozen=True)
class Word:
    """A name: short, full, or one letter."""

    part: Part
    style: str


@dataclass(frozen=True)
class Offset:
    """The distance from UTC; `zero` is what stands for none at all."""

    shape: str
    zero: str


@dataclass(frozen=True)
class NamedOffset:
    """`GMT+8` or, in full, `GMT+08:00`."""

    full: bool


@dataclass(frozen=True)
class Zone:
    """A time zone by its id, or by its name, short or full."""

    style: str


@dataclass(frozen=True)
class Maybe:
    """A part that may be missing."""

    elements: tuple["Element", ...]


Element = Text | Number | ShortYear | Fraction | Word | Offset | NamedOffset | Zone | Maybe

_PLAIN_NUMBERS = {part.value: part for part in Part if part.value in "dHkKhms"}
_STYLES = {3: "short", 4: "full", 5: "letter"}
_OFFSET_SHAPES = {1: "+HHmm", 2: "+HHMM", 3: "+HH:MM", 4: "+HHMMss", 5: "+HH:MM:ss"}


@lru_cache(maxsize=1000)
def read_pattern(pattern: str) -> tuple[Element, ...]:
    """Return the elements of a pattern."""
    found, position = _read(pattern, 0, nested=False)
    assert position == len(pattern)
    return found


def check_pattern(pattern: str) -> None:
    """Raise unless a pattern can be read."""
    read_pattern(pattern)


def _read(pattern: str, position: int, *, nested: bool) -> tuple[tuple[Element, ...], int]:
    elements: list[Element] = []
    while position < len(pattern):
        letter = pattern[position]
        if letter.isascii() and letter.isalpha():
            count = _run(pattern, position)
            elements.append(_element(letter, count))
            position += count
        elif letter == "'":
            text, position = _quoted(pattern, position)
            elements.append(Text(text))
        elif letter == "[":
            inner, position = _read(pattern, position + 1, nested=True)
            elements.append(Maybe(inner))
        elif letter == "]":
            if not nested:
                raise PatternError(f"Pattern '{pattern}' closes a bracket it never opened.")
            return tuple(elements), position + 1
        elif letter in "{}#":
            raise PatternError(f"Pattern '{pattern}' uses '{letter}', which is reserved.")
        else:
            elements.append(Text(letter))
            position += 1
    # A bracket that is never closed ends with the pattern.
    return tuple(elements), position


def _run(pattern: str, position: int) -> int:
    letter, end = pattern[position], position
    while end < len(pattern) and pattern[end] == letter:
        end += 1
    return end - position


def _quoted(pattern: str, position: int) -> tuple[str, int]:
    end = position + 1
    text = ""
    while end < len(pattern):
        if pattern[end] == "'":
            if pattern[end + 1 : end + 2] != "'":
                # Two quotes with nothing between them are one quote.
                return text or "'", end + 1
            text += "'"
            end += 1
        else:
            text += pattern[end]
        end += 1
    raise PatternError(f"Pattern '{pattern}' has a quote that is not closed.")


def _element(letter: str, count: int) -> Element:
    if letter in "yu":
        return _year(Part(letter), count)
    if letter in _PLAIN_NUMBERS and count <= 2:
        return Number(_PLAIN_NUMBERS[letter], count, 19 if count == 1 else 2)
    if letter in "MLQqEGa":
        return _named(letter, count)
    if letter in "XxZOVz":
        return _zoned(letter, count)
    if letter == "S" and count <= 9:
        return Fraction(count)
    if letter == "D" and count <= 3:
        return Number(Part.DAY_OF_YEAR, count, 19 if count == 1 else 3)
    if letter in "AnN":
        return Number(Part(letter), count, 19)
    raise PatternError(f"Letters '{letter * count}' mean nothing in a pattern of dates and times.")


def _year(part: Part, count: int) -> Element:
    if count == 2:
        return ShortYear(part)
    return Number(part, count, 19, signed=count >= 4)


def _named(letter: str, count: int) -> Element:
    part = {"L": Part.MONTH, "q": Part.QUARTER}.get(letter) or Part(letter)
    if letter in "MLQq" and count <= 2:
        return Number(part, count, 19 if count == 1 else 2)
    if letter in "EGa" and count <= 3:
        return Word(part, "short")
    if count not in _STYLES or (letter == "a" and count > 1):
        raise PatternError(f"Letters '{letter * count}' are too many.")
    return Word(part, _STYLES[count])


def _zoned(letter: str, count: int) -> Element:
    if letter == "V" and count == 2:
        return Zone("id")
    if letter == "z" and count <= 4:
        return Zone("full" if count == 4 else "short")
    if letter == "O" and count in (1, 4):
        return NamedOffset(count == 4)
    if letter in "Xx" and count <= 5:
        zero = "Z" if letter == "X" else {1: "+00", 3: "+00:00", 5: "+00:00"}.get(count, "+0000")
        return Offset(_OFFSET_SHAPES[count], zero)
    if letter == "Z" and count <= 5:
        if count == 4:
            return NamedOffset(True)
        return Offset("+HHMM", "+0000") if count < 4 else Offset("+HH:MM:ss", "Z")
    raise PatternError(f"Letters '{letter * count}' are no time zone.")
