"""Texts to dates as Java's older formatters read them: numbers of any length, no end too far."""

import re
from functools import lru_cache

from orion.sql.function.moment.calendar import DAY_MS, to_days
from orion.sql.function.moment.names import NAMES
from orion.sql.function.moment.parsing import parse_date
from orion.sql.function.moment.pattern import Part, PatternError

_TOKEN = re.compile(r"([A-Za-z])\1*|(?:'(?:[^']|'')*'|[^A-Za-z'])+")
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
# What a number is by its letter; the two ways to count a year's days exclude each other.
_NUMBERS = {
    **dict.fromkeys("yY", Part.YEAR),
    **dict.fromkeys("ML", Part.MONTH),
    **dict.fromkeys("Hk", Part.HOUR),
    **dict.fromkeys("Kh", Part.HOUR_OF_HALF),
    "d": Part.DAY,
    "D": Part.DAY_OF_YEAR,
    "m": Part.MINUTE,
    "s": Part.SECOND,
    "S": Part.MILLI_OF_DAY,
}
_WORDS = {"M": Part.MONTH, "L": Part.MONTH, "E": Part.DAY_OF_WEEK, "a": Part.HALF}
_OTHER_DAY = {Part.DAY: Part.DAY_OF_YEAR, Part.DAY_OF_YEAR: Part.DAY}
_YEARS_BACK = 80

Token = tuple[str, int]


def parse_lenient_date(text: str, pattern: str, this_year: int) -> int:
    """Return the days since 1970 of the date that a text begins with.

    What is left out is that of 1970-01-01. Years of two digits lie up to 80 years back.

    >>> parse_lenient_date("2024-1-32", "yyyy-MM-dd", 2026), parse_lenient_date("7", "MM", 2026)
    (19754, 181)
    """
    tokens = _tokens(pattern)
    if any(length and letter not in {*_NUMBERS, *_WORDS} for letter, length in tokens):
        return parse_date(text, pattern, whole=False)
    at = 0
    values: dict[Part, int] = {}
    for token, following in zip(tokens, (*tokens[1:], ("", 0)), strict=True):
        at = _read(token, text, at, values, is_packed=_is_number(following))
        if token[0] in ("y", "Y") and token[1] <= 2 and values[Part.YEAR] < 100:
            values[Part.YEAR] = _full_year(values[Part.YEAR], this_year)
    return _days(values)


@lru_cache(maxsize=1000)
def _tokens(pattern: str) -> tuple[Token, ...]:
    """Return runs of a letter with their lengths, and the texts between them with a length of 0."""
    found: list[Token] = []
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise PatternError(f"Pattern '{pattern}' has a quote that is not closed.")
        at = token.end()
        found.append((token[1], len(token[0])) if token[1] else (_unquoted(token[0]), 0))
    return tuple(found)


def _unquoted(text: str) -> str:
    return _QUOTED.sub(lambda found: found[1].replace("''", "'") or "'", text)


def _is_number(token: Token) -> bool:
    letter, length = token
    return bool(length) and letter in _NUMBERS and (letter not in _WORDS or length < 3)


def _read(token: Token, text: str, at: int, values: dict[Part, int], *, is_packed: bool) -> int:
    """Take one token from a text; return where reading goes on."""
    letter, length = token
    if not length:
        if not text.startswith(letter, at):
            raise PatternError(f"'{text}' has no '{letter}' at position {at + 1}.")
        return at + len(letter)
    if not _is_number(token):
        return _read_word(_WORDS[letter], text, at, values)
    # Only numbers that touch each other are as long as the pattern says.
    limit = at + length if is_packed else len(text)
    while not is_packed and at < limit and text[at].isspace():
        at += 1
    end = at
    while end < min(limit, len(text)) and text[end].isdecimal():
        end += 1
    if end == at:
        raise PatternError(f"'{text}' has no number at position {at + 1}.")
    part = _NUMBERS[letter]
    values.pop(_OTHER_DAY.get(part, part), None)
    number = int(text[at:end])
    values[part] = number % 24 if letter == "k" else number
    return end


def _read_word(part: Part, text: str, at: int, values: dict[Part, int]) -> int:
    rest = text[at:].lower()
    fitting = [
        (len(name), first + place)
        for style in ("full", "short")
        for first, names in [NAMES.get((part, style), (0, ()))]
        for place, name in enumerate(names)
        if rest.startswith(name.lower())
    ]
    if not fitting:
        raise PatternError(f"'{text}' has no name of {part.name} at position {at + 1}.")
    size, values[part] = max(fitting)
    return at + size


def _full_year(year: int, this_year: int) -> int:
    century, first = divmod(this_year - _YEARS_BACK, 100)
    return century * 100 + year + (100 if year < first else 0)


def _days(values: dict[Part, int]) -> int:
    years, month = divmod(values.get(Part.MONTH, 1) - 1, 12)
    year = values.get(Part.YEAR, 1970)
    if Part.DAY_OF_YEAR in values:
        days = to_days(year, 1, 1) + values[Part.DAY_OF_YEAR] - 1
    else:
        days = to_days(year + years, month + 1, 1) + values.get(Part.DAY, 1) - 1
    more, rest = divmod(_ms(values), DAY_MS)
    if rest:
        raise PatternError("There is a time of day, not only a date.")
    return days + more


def _ms(values: dict[Part, int]) -> int:
    hour = values.get(Part.HOUR)
    if hour is None:
        hour = values.get(Part.HOUR_OF_HALF, 0) % 12 + 12 * values.get(Part.HALF, 0)
    minutes = hour * 60 + values.get(Part.MINUTE, 0)
    return (minutes * 60 + values.get(Part.SECOND, 0)) * 1000 + values.get(Part.MILLI_OF_DAY, 0)
