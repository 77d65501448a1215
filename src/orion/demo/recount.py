"""Count again what is in topics and tables: by a plain consumer and by DuckDB, without Spark."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from orion.app import App
from orion.lake import TableNotFoundError
from orion.log import Selection, consume

Key = tuple[Any, ...]
_TIMES = ("played_at", "window_start", "session_start", "session_end")
_Row = dict[str, Any]


@dataclass
class Found:
    """Rows by their key, and how many there were in all.

    Args:
        repeated: Rows whose key was there before.
    """

    count: int = 0
    rows: dict[Key, Key] = field(default_factory=dict)
    repeated: int = 0

    def add(self, key: Key, value: Key) -> None:
        """Take in one row; a later one replaces an earlier one."""
        self.count += 1
        self.repeated += key in self.rows
        self.rows[key] = value


def read_topic(
    app: App, topic: str, key: Sequence[str], values: Sequence[str], *, keyed_by: str = ""
) -> Found:
    """Read a topic's committed records as JSON rows.

    Args:
        keyed_by: The column that is the record's key, and not in its value.
    """
    found = Found()
    for record in consume(app.connection, Selection(topic)):
        body = json.loads(record.value or b"{}")
        if keyed_by:
            body[keyed_by.upper()] = (record.key or b"").decode()
        _add(found, body, key, values)
    return found


def read_rows(rows: Iterable[_Row], key: Sequence[str], values: Sequence[str]) -> Found:
    """Take in the rows of an answer."""
    found = Found()
    for row in rows:
        _add(found, row, key, values)
    return found


def count_topic(app: App, topic: str) -> int:
    """Count a topic's committed records, whatever they hold."""
    return sum(1 for _ in consume(app.connection, Selection(topic)))


def count_dead_letters(app: App, query: str, topic: str) -> int:
    """Count the dead letters of one query that came from one topic."""
    return sum(1 for letter in app.dead_letters.read(query) if letter.place[0] == topic)


def read_table(app: App, table: str, key: Sequence[str], values: Sequence[str]) -> Found:
    """Read a table's rows; one that was never made has none."""
    names = [*key, *values]
    columns = ", ".join(f'epoch_ms("{n}") AS "{n}"' if n in _TIMES else f'"{n}"' for n in names)
    found = Found()
    try:
        rows = app.lake.query(f"SELECT {columns} FROM rows", rows=table).to_pydict()
    except TableNotFoundError:
        return found
    for row in zip(*(rows[name] for name in names), strict=True):
        found.add(row[: len(key)], row[len(key) :])
    return found


def compare(
    where: str, expected: dict[Key, Key], found: dict[Key, Key], *, show: Callable[[Key], str]
) -> Iterator[str]:
    """Yield a sentence for each kind of difference, with its first example."""
    missing = [key for key in expected if key not in found]
    surplus = [key for key in found if key not in expected]
    wrong = [key for key, value in expected.items() if key in found and found[key] != value]
    for keys, word in ((missing, "missing from"), (surplus, "not expected in")):
        if keys:
            yield f"{len(keys)} {word} {where}, first {show(keys[0])}"
    if wrong:
        first = wrong[0]
        values = f"{found[first]} instead of {expected[first]}"
        yield f"{len(wrong)} wrong in {where}, first {show(first)}: {values}"


def _add(found: Found, body: _Row, key: Sequence[str], values: Sequence[str]) -> None:
    # SQL spells its columns in upper case.
    row = [
        _plain(body.get(name.upper())) if name in _TIMES else body.get(name.upper())
        for name in (*key, *values)
    ]
    found.add(tuple(row[: len(key)]), tuple(row[len(key) :]))


def _plain(value: Any) -> Any:
    """Return an instant in milliseconds."""
    if not isinstance(value, str):
        return value
    return round(datetime.fromisoformat(value).timestamp() * 1_000)
