"""Text to tokens: words, quoted names, literals and symbols, each with its offsets."""

import re
from typing import NamedTuple

from orion.sql.parse.errors import SqlSyntaxError, SqlTooLongError
from orion.sql.parse.tree import Place

MAX_LENGTH = 1 << 20


class Token(NamedTuple):
    """A piece of the text; `value` is a word in upper case, or what the quotes enclose."""

    kind: str
    value: str
    start: int
    end: int


# Kinds: WORD, QUOTED, STRING, INTEGER, DECIMAL, DOUBLE, DIGIT_WORD, VARIABLE, SYMBOL and END.
# The longest match wins where two begin alike, so the order of alternatives matters.
_TOKEN = re.compile(
    r"""
      (?P<SKIP>     [ \r\n\t]+ | --[^\r\n]* | /\*[\s\S]*?\*/ )
    | (?P<WORD>     [A-Za-z_][A-Za-z0-9_@]* )
    | (?P<STRING>   '[^']*+(?:''[^']*+)*+' )
    | (?P<QUOTED>   `[^`]*+(?:``[^`]*+)*+` | "[^"]*+(?:""[^"]*+)*+" )
    | (?P<DOUBLE>   (?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[Ee][+-]?[0-9]+(?![A-Za-z0-9_@]) )
    | (?P<DIGIT_WORD> [0-9]+[A-Za-z_@][A-Za-z0-9_@]* )
    | (?P<DECIMAL>  [0-9]+\.[0-9]* | \.[0-9]+ )
    | (?P<INTEGER>  [0-9]+ )
    | (?P<VARIABLE> \$\{[A-Za-z_][A-Za-z0-9_@]*\} )
    | (?P<SYMBOL>   \|\| | := | -> | => | <> | != | <= | >= | [-+*/%=<>(),.;\[\]] )
    """,
    re.VERBOSE,
)
_UNCLOSED = {
    "'": "this text has no closing quote",
    '"': "this quoted name has no closing quote",
    "`": "this quoted name has no closing backquote",
    "/": "this comment is not closed by */",
}


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text, without spaces and comments."""
    if len(text) > MAX_LENGTH:
        raise SqlTooLongError(len(text), MAX_LENGTH, "characters")
    tokens: list[Token] = []
    position, size, match = 0, len(text), _TOKEN.match
    while position < size:
        found = match(text, position)
        # `/` is a symbol, but the comment it begins may not be closed.
        if found is None or (text.startswith("/*", position) and found.lastgroup != "SKIP"):
            raise _unreadable(text, position)
        kind, end = found.lastgroup or "", found.end()
        if kind != "SKIP":
            tokens.append(Token(kind, _value(kind, found.group()), position, end))
        position = end
    return tokens


def place_at(text: str, start: int, end: int) -> Place:
    """Return the place of two offsets of a text."""
    line = text.count("\n", 0, start) + 1
    return Place(start, end, line, start - text.rfind("\n", 0, start))


def _value(kind: str, text: str) -> str:
    if kind in ("WORD", "DIGIT_WORD"):
        return text.upper()
    if kind in ("STRING", "QUOTED"):
        quote = text[0]
        return text[1:-1].replace(quote * 2, quote)
    return text[2:-1] if kind == "VARIABLE" else text


def _unreadable(text: str, position: int) -> SqlSyntaxError:
    letter = text[position]
    place = place_at(text, position, position + 1)
    reason = _UNCLOSED.get(letter)
    if reason is None and text.startswith("${", position):
        reason = "a variable is written ${name}"
    if reason is None:
        shown = letter if letter.isprintable() else f"U+{ord(letter):04X}"
        reason = f"the character {shown!r} has no meaning here"
    return SqlSyntaxError(text, place, found=repr(letter), reason=reason)
