"""Regular expressions, in Java's syntax as far as Python's can follow."""

import re
from functools import lru_cache

from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, variant
from orion.sql.function.value.java_pattern import compile_java

_CATEGORY = "REGULAR EXPRESSION"
_REFERENCE = re.compile(r"\\(.)|\$\{([A-Za-z][A-Za-z0-9]*)\}|\$([0-9]+)|[\\$]", re.DOTALL)

_compile = lru_cache(maxsize=1000)(compile_java)


def _extract(pattern: str, text: str, group: int = 0) -> str | None:
    compiled = _compile(pattern)
    if group > compiled.groups:
        return None
    found = compiled.search(text)
    return found.group(group) if found else None


def _extract_all(pattern: str, text: str, group: int = 0) -> list[str] | None:
    compiled = _compile(pattern)
    if group > compiled.groups:
        return None
    return [found.group(group) for found in compiled.finditer(text)]


def _replace(text: str, pattern: str, new: str) -> str:
    def fill(found: re.Match[str]) -> str:
        return _REFERENCE.sub(lambda mark: _referred(mark, found), new)

    return _compile(pattern).sub(fill, text)


def _referred(mark: re.Match[str], found: re.Match[str]) -> str:
    escaped, name, digits = mark.groups()
    if escaped is not None:
        return str(escaped)
    if name is not None:
        return found.group(name) or ""
    if digits is None:
        raise FunctionFailure(f"'{mark.group()}' in the new text is followed by nothing it knows.")
    # As many digits belong to the number as there are groups for.
    sizes = range(len(digits), 1, -1)
    size = next((n for n in sizes if int(digits[:n]) <= found.re.groups), 1)
    return (found.group(int(digits[:size])) or "") + digits[size:]


def _split(text: str, pattern: str) -> list[str]:
    """Split at matches; a pattern that matches nothing at all splits between characters."""
    compiled = _compile(pattern)
    empty = compiled.fullmatch("") is not None
    parts, begin = [], 0
    for found in compiled.finditer(text):
        if found.end() == 0 or (found.start() == found.end() and found.start() == len(text)):
            continue
        parts.append(text[begin : found.start()])
        begin = found.end()
    parts.append(text[begin:])
    if empty:
        # The kind of splitting that this case uses drops empty parts at the end.
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
    return parts


_EXTRACTION = "pattern STRING, text STRING"

FUNCTIONS = (
    Function(
        "REGEXP_EXTRACT",
        _CATEGORY,
        "The first part of a text that matches, or the group of a number in it; NULL if none does.",
        (
            variant(_EXTRACTION, "STRING", _extract),
            variant(f"{_EXTRACTION}, group INT", "STRING", _extract),
        ),
        (Example("REGEXP_EXTRACT('(.)at', 'the cat sat', 1)", "c"),),
    ),
    Function(
        "REGEXP_EXTRACT_ALL",
        _CATEGORY,
        "Every part of a text that matches, or the group of a number in each.",
        (
            variant(_EXTRACTION, "ARRAY<STRING>", _extract_all),
            variant(f"{_EXTRACTION}, group INT", "ARRAY<STRING>", _extract_all),
        ),
        (Example("REGEXP_EXTRACT_ALL('.at', 'the cat sat')", ["cat", "sat"]),),
    ),
    Function(
        "REGEXP_REPLACE",
        _CATEGORY,
        "The text with every match replaced; $1 in the new text stands for the first group.",
        (variant("text STRING, pattern STRING, new STRING", "STRING", _replace),),
        (Example("REGEXP_REPLACE('a1b22', '([0-9]+)', '<$1>')", "a<1>b<22>"),),
    ),
    Function(
        "REGEXP_SPLIT_TO_ARRAY",
        _CATEGORY,
        "The parts of a text between matches.",
        (variant("text STRING, pattern STRING", "ARRAY<STRING>", _split),),
        (Example("REGEXP_SPLIT_TO_ARRAY('a1b22c', '[0-9]+')", ["a", "b", "c"]),),
    ),
)
