"""Random SQL over rows: joins, groups, subqueries, order; held against another engine's answers."""

import random
import sqlite3
from collections.abc import Mapping, Sequence

from tests.unit.views.test_question import ask

from orion.model import OrionError

QUESTIONS = 600
NUMBER, TEXT = "number", "text"
Columns = Mapping[str, str]
TABLES: Mapping[str, Columns] = {
    "users": {"id": TEXT, "city": TEXT, "age": NUMBER},
    "orders": {"id": NUMBER, "buyer": TEXT, "amount": NUMBER},
}
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


class Grammar:
    """Writes queries whose meaning is the same in both languages.

    What differs is left out: NOT beside NULL, sums of nothing, texts as conditions.
    """

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._names = 0

    def question(self) -> str:
        """Return a query whose rows have one order."""
        text, columns = self._select(depth=2)
        ways = [
            f"{c}{self._pick('', ' DESC')} NULLS {self._pick('FIRST', 'LAST')}" for c in columns
        ]
        text += f" ORDER BY {', '.join(ways)}"
        if self._happens(0.3):
            text += f" LIMIT {self._chance.randrange(6)} OFFSET {self._chance.randrange(4)}"
        return text

    def _pick(self, *choices: str) -> str:
        return self._chance.choice(choices)

    def _happens(self, share: float) -> bool:
        return self._chance.random() < share

    def _name(self) -> str:
        self._names += 1
        return f"n{self._names}"

    def _source(self, depth: int) -> tuple[str, Columns]:
        name = self._name()
        if depth > 0 and self._happens(0.25):
            text, columns = self._select(depth - 1)
            return f"({text}) AS {name}", {f"{name}.{c}": kind for c, kind in columns.items()}
        table = self._pick(*TABLES)
        return f"{table} {name}", {f"{name}.{c}": kind for c, kind in TABLES[table].items()}

    def _joined(self, depth: int) -> tuple[str, Columns]:
        text, columns = self._source(depth)
        for _ in range(self._chance.choice([0, 0, 1, 1, 2]) if depth else 0):
            other, theirs = self._source(0)
            kind = self._pick(NUMBER, TEXT)
            one, two = self._column(columns, kind), self._column(theirs, kind)
            if one is None or two is None:
                continue
            more = f" AND {self._condition(theirs, 0)}" if self._happens(0.3) else ""
            text += (
                f" {self._pick('', 'LEFT ', 'RIGHT ', 'FULL ')}JOIN {other} ON {one} = {two}{more}"
            )
            columns = {**columns, **theirs}
        return text, columns

    def _column(self, columns: Columns, kind: str) -> str | None:
        found = [name for name, of_kind in columns.items() if of_kind == kind]
        return self._pick(*found) if found else None

    def _value(self, columns: Columns, kind: str, depth: int = 1) -> str:
        column = self._column(columns, kind)
        if column is None:
            return self._pick("0", "3") if kind == NUMBER else self._pick("'Rome'", "'u3'")
        if depth == 0 or self._happens(0.6):
            return column
        other = "3" if kind == NUMBER else "'q'"
        ways = [f"COALESCE({column}, {other})"]
        ways += [f"CASE WHEN {self._condition(columns, 0)} THEN {column} ELSE {other} END"]
        if kind == NUMBER:
            ways += [f"({column} + {self._value(columns, kind, 0)})", f"({column} * 2 - 1)"]
        return self._pick(*ways)

    def _condition(self, columns: Columns, depth: int, *, asks: bool = False) -> str:
        if depth and self._happens(0.35):
            both = [self._condition(columns, depth - 1, asks=asks) for _ in range(2)]
            return f"({self._pick(' AND ', ' OR ').join(both)})"
        if asks and self._happens(0.4):
            return self._question_within(columns)
        kind = self._pick(NUMBER, TEXT)
        value, number = self._value(columns, kind, depth), self._value(columns, NUMBER, depth)
        return self._pick(
            f"{value} {self._pick(*COMPARISONS)} {self._value(columns, kind, 0)}",
            f"{value} IS {self._pick('', 'NOT ')}NULL",
            f"{number} BETWEEN {self._chance.randrange(5)} AND {self._chance.randrange(3, 40)}",
            f"{self._value(columns, TEXT, depth)} IN ('u1', 'u2', 'Rome')",
        )

    def _question_within(self, columns: Columns) -> str:
        text, made = self._select(depth=0, width=1)
        own = self._column(columns, *made.values())
        if own is not None and self._happens(0.5):
            return f"{own} IN ({text})"
        table, name = self._pick("users", "orders"), self._name()
        own = self._value(columns, NUMBER, 0)
        theirs = f"{name}.{'age' if table == 'users' else 'amount'}"
        inner = (
            f"SELECT MAX({theirs}) FROM {table} {name} WHERE {theirs} {self._pick('<', '>')} {own}"
        )
        return f"{own} {self._pick('<', '>', '=')} ({inner})"

    def _select(self, depth: int, width: int = 0) -> tuple[str, Columns]:
        text, columns = self._joined(depth)
        if self._happens(0.6):
            text += f" WHERE {self._condition(columns, 1, asks=depth > 0)}"
        width = width or self._chance.choice([1, 2, 3])
        if self._happens(0.4):
            return self._grouped(text, columns, width)
        kinds = [self._pick(NUMBER, TEXT) for _ in range(width)]
        items = [(self._value(columns, kind), kind) for kind in kinds]
        distinct = "DISTINCT " if self._happens(0.25) else ""
        number, by = self._column(columns, NUMBER), self._column(columns, TEXT)
        if depth and not distinct and number and by and self._happens(0.2):
            items.append((f"SUM(COALESCE({number}, 0)) OVER (PARTITION BY {by})", NUMBER))
        return self._written(f"SELECT {distinct}", items, text)

    def _grouped(self, text: str, columns: Columns, width: int) -> tuple[str, Columns]:
        kinds = [self._pick(NUMBER, TEXT) for _ in range(2)]
        keys = {self._column(columns, kind): kind for kind in kinds}
        found = [(key, kind) for key, kind in keys.items() if key is not None]
        counts = ["COUNT(*)"]
        number = self._column(columns, NUMBER)
        if number is not None:
            counts += [f"{name}({number})" for name in ("COUNT", "MIN", "MAX")]
            counts.append(f"SUM(COALESCE({number}, 0))")
        offered = [*found, *((count, NUMBER) for count in counts)]
        items = [self._chance.choice(offered) for _ in range(width)]
        if found:
            text += f" GROUP BY {', '.join(key for key, _ in found)}"
        else:
            items[0] = ("COUNT(*)", NUMBER)
        if self._happens(0.3):
            text += f" HAVING COUNT(*) {self._pick('>', '<')} {self._chance.randrange(4)}"
        return self._written("SELECT ", items, text)

    def _written(
        self, select: str, items: Sequence[tuple[str, str]], text: str
    ) -> tuple[str, Columns]:
        named = [(expression, self._name(), kind) for expression, kind in items]
        shown = ", ".join(f"{expression} AS {name}" for expression, name, _ in named)
        return f"{select}{shown} FROM {text}", {name: kind for _, name, kind in named}


def test_random_answers_are_those_of_another_engine(other: sqlite3.Connection) -> None:
    answered = 0
    for seed in range(QUESTIONS):
        text = Grammar(random.Random(seed)).question()
        expected = [list(row) for row in other.execute(text)]
        try:
            found = ask(f"{text};")
        except OrionError as error:
            raise AssertionError(f"seed {seed}: {text} is refused: {error}") from error
        assert found == expected, f"seed {seed}: {text}"
        answered += bool(expected)
    assert answered > QUESTIONS // 3
