"""Java's regular expressions in Python's words: letters of ASCII, flags anywhere, sets of sets."""

import re

from orion.sql.function.errors import FunctionFailure
from orion.sql.function.value.letter_set import (
    ANY,
    LETTER_ENDS,
    Ranges,
    category,
    complement,
    escape_set,
    intersection,
    union,
    written,
)

_END = r"(?=(?:\r\n|[\r\x85\u2028\u2029]|(?<!\r)\n)?\Z)"
_LINE_END = r"(?=\r\n|[\r\x85\u2028\u2029]|(?<!\r)\n|\Z)"
_LINE_START = r"(?:\A|(?<=[\n\x85\u2028\u2029])|(?<=\r)(?!\n))(?!\Z)"
_LINE_BREAK = r"(?:\r\n|[\n\x0b\f\r\x85\u2028\u2029])"
_PLACES = {"b": r"\b", "B": r"\B", "A": r"\A", "z": r"\Z", "Z": _END, "R": _LINE_BREAK}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_CODES = (
    re.compile(r"x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})"),
    re.compile(r"0([0-3]?[0-7]{1,2})"),
)
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})[?+]?")
_GROUP = re.compile(
    r"\?(?:<([A-Za-z][A-Za-z0-9]*)>|([:=!>]|<=|<!)|([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)]))"
)
_NAME = re.compile(r"k<([A-Za-z][A-Za-z0-9]*)>")
_PROPERTY = re.compile(r"([pP])(?:\{([^}]*)\}|(\w))")
_FLAGS = frozenset("idmsuxU")
_BLANKS = re.compile(r"(?:[ \t\n\x0b\f\r]|#[^\n\r\x85\u2028\u2029]*)+")


def translate(pattern: str) -> str:
    """Return a pattern that means to Python what the given one means to Java.

    >>> translate("a(?i)b|c"), translate("[a-f&&[^b]]+")
    ('a(?ai:b)|(?ai:c)', '[ac-f]+')
    """
    reader = _Reader(pattern)
    found = reader.alternatives(frozenset())
    if reader.at != len(pattern):
        raise reader.refuse("closes a group that was never opened")
    return found


class _Reader:
    """Goes through a pattern; what an atom is depends on the flags that are set around it."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self.at = 0
        self._groups = 0

    def refuse(self, why: str) -> FunctionFailure:
        return FunctionFailure(f"The pattern '{self._pattern}' {why}.")

    def alternatives(self, flags: frozenset[str]) -> str:
        """Return what stands up to the end of a group; its flags end with it."""
        parts: list[str] = []
        while self.at < len(self._pattern) and self._pattern[self.at] != ")":
            if "x" in flags and self._take(_BLANKS):
                continue
            if self._pattern[self.at] == "|":
                parts.append("|")
                self.at += 1
                continue
            atom, flags = self._atom(flags)
            quantifier = self._take(_QUANTIFIER) if atom else None
            parts.append(atom + (quantifier.group() if quantifier else ""))
        return "".join(parts)

    def _take(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        found = expression.match(self._pattern, self.at)
        self.at = found.end() if found else self.at
        return found

    def _atom(self, flags: frozenset[str]) -> tuple[str, frozenset[str]]:
        letter = self._pattern[self.at]
        self.at += 1
        match letter:
            case "(":
                return self._group(flags)
            case "[":
                return _cased(written(self._set(flags)), flags), flags
            case "\\":
                return self._escape(flags), flags
            case "^":
                return (_LINE_START if "m" in flags else r"\A"), flags
            case "$":
                return (_LINE_END if "m" in flags else _END), flags
            case "." if "s" in flags:
                return "(?s:.)", flags
            case ".":
                return written(complement(LETTER_ENDS)), flags
            case "*" | "+" | "?" | "{":
                raise self.refuse(f"repeats nothing with '{letter}'")
        return _cased(re.escape(letter), flags), flags

    def _group(self, flags: frozenset[str]) -> tuple[str, frozenset[str]]:
        head = self._take(_GROUP)
        if head is None and self._pattern.startswith("?", self.at):
            raise self.refuse("has a group of an unknown kind")
        name, kind, on, off, end = head.groups() if head else (None, None, None, None, None)
        inner = flags
        if end is not None:
            if not {*(on or ""), *(off or "")} <= _FLAGS:
                raise self.refuse("sets an unknown flag")
            inner = (flags | {*(on or "")}) - {*(off or "")}
            if end == ")":
                return "", inner
        if head is None or name is not None:
            self._groups += 1
        start = f"?P<{name}>" if name else f"?{kind or ':'}" if head else ""
        body = self.alternatives(inner)
        if not self._pattern.startswith(")", self.at):
            raise self.refuse("has a group that is not closed")
        self.at += 1
        return f"({start}{body})", flags

    def _escape(self, flags: frozenset[str]) -> str:
        letter = self._pattern[self.at : self.at + 1]
        if letter == "Q":
            return "".join(_cased(re.escape(one), flags) for one in self._quoted())
        if letter in _PLACES:
            self.at += 1
            return _PLACES[letter]
        if letter == "k":
            found = self._take(_NAME)
            if found is None:
                raise self.refuse("refers to no group")
            return _cased(f"(?P={found[1]})", flags)
        if letter.isascii() and letter.isdigit() and letter != "0":
            return _cased(f"(?:\\{self._reference()})", flags)
        return _cased(written(self._escaped_set(flags)), flags)

    def _quoted(self) -> str:
        end = self._pattern.find("\\E", self.at)
        end = len(self._pattern) if end < 0 else end
        text = self._pattern[self.at + 1 : end]
        self.at = end + 2 if end < len(self._pattern) else end
        return text

    def _reference(self) -> int:
        """Return the number of a group: as many digits as there are groups for."""
        number = 0
        while (digit := self._pattern[self.at : self.at + 1]).isdecimal():
            if number and number * 10 + int(digit) > self._groups:
                break
            number = number * 10 + int(digit)
            self.at += 1
        return number

    def _escaped_set(self, flags: frozenset[str]) -> Ranges:
        """Return the letters that an escape stands for."""
        letter = self._pattern[self.at : self.at + 1]
        found = self._take(_PROPERTY)
        if found is not None:
            named = category(found[2] or found[3])
            if named is None:
                raise self.refuse(f"names '{found[2] or found[3]}', which is no known property")
            return complement(named) if found[1] == "P" else named
        known = escape_set(letter, is_unicode="U" in flags)
        if known is not None:
            self.at += 1
            return known
        code = self._code(letter)
        return ((code, code),)

    def _code(self, letter: str) -> int:
        for base, expression in zip((16, 8), _CODES, strict=True):
            found = self._take(expression)
            if found is not None:
                return int(next(filter(None, found.groups())), base)
        self.at += 1
        if letter == "c" and self.at < len(self._pattern):
            self.at += 1
            return ord(self._pattern[self.at - 1]) ^ 64
        if letter in _CONTROLS:
            return ord(_CONTROLS[letter])
        if not letter or (letter.isascii() and letter.isalnum()):
            raise self.refuse(f"has an unknown escape '\\{letter}'")
        return ord(letter)

    def _set(self, flags: frozenset[str]) -> Ranges:
        """Return the letters of a set in brackets; sets inside of it add to it, && takes away."""
        negative = self._pattern.startswith("^", self.at)
        self.at += negative
        sides: list[Ranges] = [()]
        begin = self.at
        while True:
            if self.at >= len(self._pattern):
                raise self.refuse("has a set that is not closed")
            if self._pattern[self.at] == "]" and self.at > begin:
                break
            if self._pattern.startswith("&&", self.at):
                self.at += 2
                sides.append(())
            else:
                sides[-1] = union(sides[-1], self._member(flags))
        self.at += 1
        found = ANY
        for side in sides:
            found = intersection(found, side) if side else found
        return complement(found) if negative else found

    def _member(self, flags: frozenset[str]) -> Ranges:
        first = self._letters(flags)
        ahead = self._pattern[self.at : self.at + 2]
        if not ahead.startswith("-") or ahead[1:] in ("]", "[", "") or _size(first) != 1:
            return first
        self.at += 1
        last = self._letters(flags)
        if _size(last) != 1 or last[0][0] < first[0][0]:
            raise self.refuse("has a range that goes backwards")
        return ((first[0][0], last[0][0]),)

    def _letters(self, flags: frozenset[str]) -> Ranges:
        letter = self._pattern[self.at]
        self.at += 1
        if letter == "[":
            return self._set(flags)
        if letter == "\\" and self._pattern.startswith("Q", self.at):
            quoted: Ranges = ()
            for one in self._quoted():
                quoted = union(quoted, ((ord(one), ord(one)),))
            return quoted
        return self._escaped_set(flags) if letter == "\\" else ((ord(letter), ord(letter)),)


def _size(letters: Ranges) -> int:
    return sum(last - first + 1 for first, last in letters)


def _cased(atom: str, flags: frozenset[str]) -> str:
    """Return an atom that looks at case as the flags say: only at that of ASCII without `u`."""
    if "i" not in flags:
        return atom
    return f"(?i:{atom})" if {"u", "U"} & flags else f"(?ai:{atom})"


def compile_java(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern; raises FunctionFailure where there is none."""
    try:
        return re.compile(translate(pattern))
    except (re.error, RecursionError, OverflowError, ValueError) as error:
        raise FunctionFailure(f"The pattern '{pattern}' cannot be used: {error}.") from error
