"""Texts: joined, cut, searched, padded, split. Positions count characters from 1."""

import hashlib
import re
import uuid
from typing import AnyStr

from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, variant

_CATEGORY = "STRING"
# What Java's trim takes away: every character up to the space.
_BLANKS = "".join(map(chr, range(33)))
_UNIT = re.compile(r"\\u([0-9A-Fa-f]{4})")
# One row must not take the memory of all the others.
_LONGEST_PADDED = 1_000_000


def _concat(*parts: str | None) -> str:
    return "".join(part for part in parts if part is not None)


def _concat_bytes(*parts: bytes | None) -> bytes:
    return b"".join(part for part in parts if part is not None)


def _concat_ws(separator: AnyStr | None, *parts: AnyStr | None) -> AnyStr | None:
    if separator is None:
        return None
    return separator.join([part for part in parts if part is not None])


def _substring(value: AnyStr, position: int, length: int | None = None) -> AnyStr:
    size = len(value)
    start = max(size + position, 0) if position < 0 else max(min(position - 1, size), 0)
    end = size if length is None else max(min(start + length, size), start)
    return value[start:end]


def _instr(text: str | None, part: str | None, position: int = 1, occurrence: int = 1) -> int:
    if text is None or part is None or abs(position) > len(text):
        return 0
    if position < 0:
        found = _find(text[::-1], part[::-1], -position, occurrence)
        return len(text) + position - found - len(part) + 2 if found >= 0 else 0
    found = _find(text, part, position, occurrence)
    return found + position if found >= 0 else 0


def _find(text: str, part: str, position: int, occurrence: int) -> int:
    rest = text[position - 1 :] if position else text[-1:]
    if not part:
        return 0 if occurrence > 0 else -1
    at = -1
    for _ in range(occurrence):
        at = rest.find(part, at + 1)
        if at < 0:
            return -1
    return at if occurrence > 0 else -1


def _padding(value: AnyStr, length: int, padding: AnyStr) -> AnyStr | None:
    if not padding or length < 0:
        return None
    if length > _LONGEST_PADDED:
        raise FunctionFailure(f"A text is padded to at most {_LONGEST_PADDED:,} characters.")
    missing = max(length - len(value), 0)
    return (padding * (missing // len(padding) + 1))[:missing]


def _pad_left(value: AnyStr, length: int, padding: AnyStr) -> AnyStr | None:
    fill = _padding(value, length, padding)
    return None if fill is None else (fill + value)[:length]


def _pad_right(value: AnyStr, length: int, padding: AnyStr) -> AnyStr | None:
    fill = _padding(value, length, padding)
    return None if fill is None else (value + fill)[:length]


def _split(text: str, delimiter: str) -> list[str]:
    if not delimiter:
        return list(text) or [""]
    return text.split(delimiter)


def _split_bytes(value: bytes, delimiter: bytes) -> list[bytes]:
    if not delimiter:
        return [value[at : at + 1] for at in range(len(value))] or [b""]
    return value.split(delimiter)


def _split_to_map(text: str, entry: str, pair: str) -> dict[str, str] | None:
    if not entry or not pair or entry == pair:
        return None
    parts = (part.split(pair) for part in text.split(entry) if pair in part)
    return {part[0]: part[1] for part in parts}


def _initcap(text: str) -> str:
    """Capitalise words; white space before the first one is dropped."""
    result, begins = [], True
    for letter in text.lower().lstrip(" \t\n\x0b\f\r"):
        result.append(letter.upper() if begins else letter)
        begins = letter in " \t\n\x0b\f\r"
    return "".join(result)


def _elt(position: int, *texts: str | None) -> str | None:
    return texts[position - 1] if 1 <= position <= len(texts) else None


def _field(text: str | None, *texts: str | None) -> int:
    if text is None or text not in texts:
        return 0
    return texts.index(text) + 1


def _chr(code: int) -> str | None:
    if not 0 <= code <= 0x10FFFF:
        return None
    if 0xD800 <= code <= 0xDFFF:
        raise FunctionFailure("A half of a surrogate pair is no character.")
    return chr(code)


def _chr_escaped(code: str) -> str | None:
    if len(code) < 6 or not code.startswith("\\u"):
        return None
    units = _UNIT.sub(lambda found: chr(int(found[1], 16)), code)
    if "\\u" in units:
        raise FunctionFailure(f"'{code}' has no four hexadecimal digits after \\u.")
    # Two units may be the halves of one character.
    return units.encode("utf-16-be", "surrogatepass").decode("utf-16-be")


def _uuid_of(value: bytes) -> str | None:
    return str(uuid.UUID(bytes=value)) if len(value) == 16 else None


_POSITION = "text STRING, part STRING"

FUNCTIONS = (
    Function(
        "CHR",
        _CATEGORY,
        "The character of a code point, given as a number or as a text like '\\u004b'.",
        (variant("code INT", "STRING", _chr), variant("code STRING", "STRING", _chr_escaped)),
        (Example("CHR(75)", "K"), Example("CHR('\\u004b')", "K")),
    ),
    Function(
        "CONCAT",
        _CATEGORY,
        "The texts, or bytes, one after the other; NULLs are left out.",
        tuple(
            variant(f"first {kind}, second {kind}, more {kind}...", kind, meaning, takes_nulls=True)
            for kind, meaning in (("STRING", _concat), ("BYTES", _concat_bytes))
        ),
        (Example("CONCAT('a', NULL, 'b')", "ab"),),
    ),
    Function(
        "CONCAT_WS",
        _CATEGORY,
        "The texts, or bytes, with a separator between them; NULLs are left out.",
        tuple(
            variant(
                f"separator {kind}, first {kind}, more {kind}...",
                kind,
                _concat_ws,
                takes_nulls=True,
            )
            for kind in ("STRING", "BYTES")
        ),
        (Example("CONCAT_WS(', ', 'a', NULL, 'b')", "a, b"),),
    ),
    Function(
        "ELT",
        _CATEGORY,
        "The n-th of the texts, counted from 1; NULL if there is none.",
        (variant("n INT, texts STRING...", "STRING", _elt, takes_nulls=True),),
        (Example("ELT(2, 'a', 'b')", "b"),),
    ),
    Function(
        "FIELD",
        _CATEGORY,
        "The position of a text among others, counted from 1; 0 if it is not there.",
        (variant("text STRING, texts STRING...", "INT", _field, takes_nulls=True),),
        (Example("FIELD('b', 'a', 'b')", 2),),
    ),
    Function(
        "INITCAP",
        _CATEGORY,
        "The text with the first letter of every word in upper case, the others in lower case.",
        (variant("text STRING", "STRING", _initcap),),
        (Example("INITCAP('the sQL shell')", "The Sql Shell"),),
    ),
    Function(
        "INSTR",
        _CATEGORY,
        "The position of a part in a text, counted from 1; 0 if it is not there. The search begins "
        "at a position (negative: from the end, backwards) and takes the n-th occurrence.",
        (
            variant(_POSITION, "INT", _instr, takes_nulls=True),
            variant(f"{_POSITION}, position INT", "INT", _instr, takes_nulls=True),
            variant(f"{_POSITION}, position INT, occurrence INT", "INT", _instr, takes_nulls=True),
        ),
        (Example("INSTR('a map of maps', 'map', 1, 2)", 10), Example("INSTR('abc', 'x')", 0)),
    ),
    Function(
        "LCASE",
        _CATEGORY,
        "The text in lower case.",
        (variant("text STRING", "STRING", str.lower),),
        (Example("LCASE('AbC')", "abc"),),
    ),
    Function(
        "UCASE",
        _CATEGORY,
        "The text in upper case.",
        (variant("text STRING", "STRING", str.upper),),
        (Example("UCASE('AbC')", "ABC"),),
    ),
    Function(
        "LEN",
        _CATEGORY,
        "The number of characters of a text, or of bytes.",
        (variant("text STRING", "INT", len), variant("bytes BYTES", "INT", len)),
        (Example("LEN('abc')", 3),),
    ),
    Function(
        "LPAD",
        _CATEGORY,
        "The text, or bytes, filled from the left up to a length, or cut to it.",
        (
            variant("text STRING, length INT, padding STRING", "STRING", _pad_left),
            variant("bytes BYTES, length INT, padding BYTES", "BYTES", _pad_left),
        ),
        (Example("LPAD('7', 3, '0')", "007"), Example("LPAD('abcd', 3, '0')", "abc")),
    ),
    Function(
        "RPAD",
        _CATEGORY,
        "The text, or bytes, filled at the right up to a length, or cut to it.",
        (
            variant("text STRING, length INT, padding STRING", "STRING", _pad_right),
            variant("bytes BYTES, length INT, padding BYTES", "BYTES", _pad_right),
        ),
        (Example("RPAD('7', 3, '.-')", "7.-"),),
    ),
    Function(
        "MD5",
        _CATEGORY,
        "The MD5 digest of a text's UTF-8 bytes, in hexadecimal digits.",
        (
            variant(
                "text STRING",
                "STRING",
                lambda text: hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
            ),
        ),
        (Example("MD5('')", "d41d8cd98f00b204e9800998ecf8427e"),),
    ),
    Function(
        "REPLACE",
        _CATEGORY,
        "The text with every occurrence of a part replaced.",
        (variant("text STRING, part STRING, new STRING", "STRING", str.replace),),
        (Example("REPLACE('banana', 'an', 'o')", "booa"),),
    ),
    Function(
        "SPLIT",
        _CATEGORY,
        "The parts of a text, or of bytes, between a delimiter; an empty one splits everywhere.",
        (
            variant("text STRING, delimiter STRING", "ARRAY<STRING>", _split),
            variant("bytes BYTES, delimiter BYTES", "ARRAY<BYTES>", _split_bytes),
        ),
        (Example("SPLIT('a,b,', ',')", ["a", "b", ""]),),
    ),
    Function(
        "SPLIT_TO_MAP",
        _CATEGORY,
        "A map from a text: one delimiter stands between entries, another between key and value.",
        (variant("text STRING, entry STRING, pair STRING", "MAP<STRING, STRING>", _split_to_map),),
        (Example("SPLIT_TO_MAP('a=1;b=2', ';', '=')", {"a": "1", "b": "2"}),),
    ),
    Function(
        "SUBSTRING",
        _CATEGORY,
        "The part of a text, or of bytes, from a position on (negative: from the end), of some "
        "length.",
        tuple(
            variant(f"value {kind}, position INT{length}", kind, _substring)
            for kind in ("STRING", "BYTES")
            for length in ("", ", length INT")
        ),
        (Example("SUBSTRING('stream', 2, 3)", "tre"), Example("SUBSTRING('stream', -3)", "eam")),
    ),
    Function(
        "TRIM",
        _CATEGORY,
        "The text without white space at its ends.",
        (variant("text STRING", "STRING", lambda text: text.strip(_BLANKS)),),
        (Example("TRIM('  a b ')", "a b"),),
    ),
    Function(
        "UUID",
        _CATEGORY,
        "A random identifier of 128 bits, another one in every row; or 16 bytes written as one.",
        (
            variant("", "STRING", lambda: str(uuid.uuid4())),
            variant("bytes BYTES", "STRING", _uuid_of),
        ),
    ),
)
