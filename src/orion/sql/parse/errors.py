"""What can be wrong with a text before anyone asks what it means."""

from collections.abc import Sequence

from orion.model import InvalidInputError, NotFoundError, nearest
from orion.sql.parse.tree import Place

# With two spaces ahead of it, a terminal of 80 columns does not break it.
_EXCERPT_WIDTH = 76
_SHOWN_EXPECTATIONS = 8


def show_place(text: str, place: Place) -> str:
    """Return the line of a place with what stands there underlined.

    >>> print(show_place("SELECT a FORM b", Place(9, 13, 1, 10)))
      SELECT a FORM b
               ^^^^
    """
    begin = text.rfind("\n", 0, place.start) + 1
    finish = text.find("\n", place.start)
    finish = len(text) if finish < 0 else finish
    # A long line is shown around the place only.
    left = max(begin, place.start - _EXCERPT_WIDTH // 2)
    right = min(finish, left + _EXCERPT_WIDTH)
    line = text[left:right].rstrip()
    width = max(1, min(place.end, right) - place.start)
    pad = "".join("\t" if letter == "\t" else " " for letter in text[left : place.start])
    return f"  {line}\n  {pad}{'^' * width}"


class SqlSyntaxError(InvalidInputError):
    """Raised when a text is no statement, with the place where that shows.

    Args:
        text: The statement or script.
        place: Where reading ended.
        found: What stands there.
        expected: What could have stood there; keywords in upper case, the rest in words.
        hint: A suggestion; otherwise the nearest expected keyword is named.
        reason: What to say instead of the expectations.
    """

    def __init__(
        self,
        text: str,
        place: Place,
        *,
        found: str,
        expected: Sequence[str] = (),
        hint: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.place, self.line, self.column = place, place.line, place.column
        self.found, self.expected = found, tuple(expected)
        self.hint = hint or _nearest_keyword(found, expected)
        self.excerpt = show_place(text, place)
        what = reason or f"found {found}, expected {_join(expected)}"
        head = f"The SQL cannot be read at line {place.line}, column {place.column}: {what}."
        super().__init__(f"{head}\n{self.excerpt}", fix=self.hint or None)


class SqlTooLongError(InvalidInputError):
    """Raised when a text is too long to be read."""

    def __init__(self, size: int, limit: int, unit: str) -> None:
        self.size, self.limit, self.unit = size, limit, unit
        super().__init__(
            f"The SQL has {size:,} {unit}, more than the {limit:,} that are read.",
            fix="Split it into several statements or requests.",
        )


class SqlTooDeepError(InvalidInputError):
    """Raised when expressions or types are nested too deeply."""

    def __init__(self, text: str, place: Place, limit: int) -> None:
        self.place, self.limit = place, limit
        super().__init__(
            f"The SQL is nested more than {limit} levels deep at line {place.line}, "
            f"column {place.column}.\n{show_place(text, place)}",
            fix="Use IN (...) for long chains of OR, or split the query in two.",
        )


class UnknownVariableError(NotFoundError):
    """Raised when `${name}` stands for no variable of the session."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(known)
        hint = nearest(name, known) or f"Define it first: DEFINE {name} = 'value';"
        super().__init__(f"Variable '{name}' is not defined.", fix=hint)


class VariableValueError(InvalidInputError):
    """Raised when a variable's value is more than one word where a name or literal must stand."""

    def __init__(self, name: str, value: str) -> None:
        self.name, self.value = name, value
        super().__init__(
            f"Variable '{name}' is {value!r}, which is neither one name nor one literal.",
            fix=f"For a text, keep the quotes inside: DEFINE {name} = '''text''';",
        )


class UnknownTypeError(NotFoundError):
    """Raised when a type is neither built in nor made by CREATE TYPE."""

    def __init__(self, name: str, place: Place, known: Sequence[str]) -> None:
        self.name, self.place = name, place
        hint = nearest(name, known) or "See the types you made with: SHOW TYPES;"
        super().__init__(
            f"Type '{name}' (line {place.line}, column {place.column}) does not exist.", fix=hint
        )


class DuplicateFieldError(InvalidInputError):
    """Raised when a struct type names a field twice."""

    def __init__(self, name: str, place: Place) -> None:
        self.name, self.place = name, place
        super().__init__(
            f"Field '{name}' occurs twice in a STRUCT (line {place.line}, column {place.column})."
        )


def _join(expected: Sequence[str]) -> str:
    shown = list(dict.fromkeys(expected))[:_SHOWN_EXPECTATIONS]
    if len(set(expected)) > len(shown):
        return f"{', '.join(shown)} or others"
    return " or ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _nearest_keyword(found: str, expected: Sequence[str]) -> str:
    keywords = [word for word in expected if word.isupper()]
    return nearest(found.strip("'").upper()[:40], keywords)
