"""Sets of letters as ranges of code points: joined, crossed, turned round, and named as in Java."""

import re
import sys
import unicodedata
from collections.abc import Callable
from functools import lru_cache

# First and last code points, in order and apart from each other.
Ranges = tuple[tuple[int, int], ...]

ANY: Ranges = ((0, sys.maxunicode),)


def _of(*ends: str | tuple[str, str]) -> Ranges:
    return tuple((ord(end[0]), ord(end[-1])) for end in ends)


LETTER_ENDS = _of("\n", "\r", "\x85", "\u2028\u2029")
_DIGIT = _of("09")
_WORD = _of("09", "AZ", "__", "az")
_SPACE = _of("\t\r", "  ")
_BLANK = _of("\t", " ", "\xa0", "\u1680", "\u180e", "\u2000\u200a", "\u202f", "\u205f", "\u3000")
_BREAK = _of("\n\r", "\x85", "\u2028\u2029")
_ESCAPES = {"d": _DIGIT, "w": _WORD, "s": _SPACE, "h": _BLANK, "v": _BREAK}
_ASCII = {
    "Lower": _of("az"),
    "Upper": _of("AZ"),
    "ASCII": _of("\x00\x7f"),
    "Alpha": _of("AZ", "az"),
    "Digit": _DIGIT,
    "Alnum": _of("09", "AZ", "az"),
    "Punct": _of("!/", ":@", "[`", "{~"),
    "Graph": _of("!~"),
    "Print": _of(" ~"),
    "Blank": _of("\t", " "),
    "Cntrl": _of("\x00\x1f", "\x7f"),
    "XDigit": _of("09", "AF", "af"),
    "Space": _SPACE,
}
_BINARY: dict[str, Callable[[str], bool]] = {
    "ALPHABETIC": str.isalpha,
    "LETTER": str.isalpha,
    "DIGIT": str.isdecimal,
    "UPPERCASE": str.isupper,
    "LOWERCASE": str.islower,
    "PUNCTUATION": lambda letter: unicodedata.category(letter)[0] == "P",
    "WHITE_SPACE": str.isspace,
    "WHITESPACE": str.isspace,
}
_CATEGORY = re.compile(r"L[Cultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfson]?")


def union(one: Ranges, other: Ranges) -> Ranges:
    """Return the letters of both sets."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted((*one, *other)):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)


def complement(letters: Ranges) -> Ranges:
    """Return all other letters."""
    found: list[tuple[int, int]] = []
    begin = 0
    for first, last in letters:
        if first > begin:
            found.append((begin, first - 1))
        begin = last + 1
    return (*found, (begin, sys.maxunicode)) if begin <= sys.maxunicode else tuple(found)


def intersection(one: Ranges, other: Ranges) -> Ranges:
    """Return the letters that both sets have."""
    return complement(union(complement(one), complement(other)))


def escape_set(letter: str, *, is_unicode: bool) -> Ranges | None:
    r"""Return what a class such as `\d` stands for; None: it is no class."""
    known = _ESCAPES.get(letter.lower())
    if known is None:
        return None
    if is_unicode and letter.lower() in "dws":
        known = _matching({"d": str.isdecimal, "w": _is_word, "s": str.isspace}[letter.lower()])
    return known if letter.islower() else complement(known)


def _is_word(letter: str) -> bool:
    return letter == "_" or letter.isalnum()


def category(name: str) -> Ranges | None:
    """Return the letters of a named property: `Lu`, `IsAlphabetic`, `Punct`; None: unknown."""
    if name in _ASCII:
        return _ASCII[name]
    plain = name.removeprefix("general_category=").removeprefix("gc=").removeprefix("Is")
    if _CATEGORY.fullmatch(plain):
        starts = ("Lu", "Ll", "Lt") if plain == "LC" else (plain,)
        return _matching(lambda letter: unicodedata.category(letter).startswith(starts), plain)
    known = _BINARY.get(plain.upper()) if name.startswith("Is") else None
    return None if known is None else _matching(known)


_known_sets: dict[object, Ranges] = {}


def _matching(holds: Callable[[str], bool], key: object = None) -> Ranges:
    """Return the letters for which something holds; a million are asked, and only once."""
    found = _known_sets.get(key or holds)
    if found is None:
        found = _known_sets[key or holds] = _asked(holds)
    return found


def _asked(holds: Callable[[str], bool]) -> Ranges:
    found: list[tuple[int, int]] = []
    begin = -1
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and holds(chr(code))
        if inside and begin < 0:
            begin = code
        elif not inside and begin >= 0:
            found.append((begin, code - 1))
            begin = -1
    return tuple(found)


@lru_cache(maxsize=1000)
def written(letters: Ranges) -> str:
    r"""Return a set as Python's regular expressions write it.

    >>> written(((97, 97), (99, 102))), written(((233, 233),))
    ('[ac-f]', '\\U000000e9')
    """
    if not letters:
        return r"(?!)"
    if len(letters) == 1 and letters[0][0] == letters[0][1]:
        return _shown(letters[0][0])
    outside = complement(letters)
    mark, shown = ("^", outside) if len(outside) < len(letters) and outside else ("", letters)
    parts = (
        _shown(first) if first == last else f"{_shown(first)}-{_shown(last)}"
        for first, last in shown
    )
    return f"[{mark}{''.join(parts)}]"


def _shown(code: int) -> str:
    return re.escape(chr(code)) if code < 128 else f"\\U{code:08x}"
