"""Session variables: `${name}` gives way to its value before the statement is read."""

from collections.abc import Mapping, Sequence

from orion.sql.parse.errors import UnknownVariableError, VariableValueError
from orion.sql.parse.lexer import Token, tokenize

_ONE_TOKEN = ("WORD", "QUOTED", "STRING", "INTEGER", "DECIMAL", "DOUBLE", "DIGIT_WORD")


def has_variables(text: str) -> bool:
    """Tell whether a text may hold a variable."""
    return "${" in text


def substitute(text: str, tokens: Sequence[Token], variables: Mapping[str, str]) -> str:
    """Return the text with its variables replaced.

    Where a name or literal must stand, the value must be exactly one of them, so that no value can
    add to a statement. Inside quotes any value will do, and what is no known variable stays.

    Args:
        text: A statement.
        tokens: Its tokens.
        variables: The session's variables; names are compared without case.
    """
    known = {name.upper(): value for name, value in variables.items()}
    parts: list[str] = []
    position = 0
    for token in tokens:
        if token.kind == "VARIABLE":
            new = _value_of(token.value, known)
        elif token.kind in ("STRING", "QUOTED"):
            new = _fill(text[token.start : token.end], known)
        else:
            continue
        parts += [text[position : token.start], new]
        position = token.end
    return "".join([*parts, text[position:]])


def _value_of(name: str, known: Mapping[str, str]) -> str:
    value = known.get(name.upper())
    if value is None:
        raise UnknownVariableError(name, list(known))
    tokens = tokenize(value)
    signed = len(tokens) == 2 and tokens[0].value == "-" and tokens[1].kind in _ONE_TOKEN[3:6]
    if not signed and (len(tokens) != 1 or tokens[0].kind not in _ONE_TOKEN):
        raise VariableValueError(name, value)
    return value


def _fill(quoted: str, known: Mapping[str, str]) -> str:
    quote, inner = quoted[0], quoted[1:-1]
    pieces = inner.split("${")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, closed, rest = piece.partition("}")
        value = known.get(name.upper()) if closed else None
        if value is None:
            filled.append("${" + piece)
        else:
            # A quote inside the value must not end the text around it.
            filled.append(value.replace(quote, quote * 2) + rest)
    return f"{quote}{''.join(filled)}{quote}"
