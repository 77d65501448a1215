"""Pull queries over the wire: planned, answered from the views, and written in one go."""

import base64
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from orion.model import Array, Decimal, Map, Scalar, Struct, Type
from orion.serve.sql.rooms import SqlRooms
from orion.sql import spell, tree
from orion.views import plan_pull

# Asks that an answer holds everything written before the question.
FRESH = "orion.query.pull.fresh"
_TEMPORAL = (Scalar.DATE, Scalar.TIME, Scalar.TIMESTAMP)


@dataclass(frozen=True)
class PullAnswer:
    """The columns and rows of an answer."""

    id: str
    columns: list[tuple[str, Type | None, bool]]
    rows: list[list[Any]]

    @property
    def schema_text(self) -> str:
        """The columns as the API shows them, those of the key marked."""
        return ", ".join(
            f"`{name}` {kind or Scalar.STRING}{' KEY' if is_key else ''}"
            for name, kind, is_key in self.columns
        )


def answer_pull(
    rooms: SqlRooms, statement: tree.SelectStatement, properties: Mapping[str, str]
) -> PullAnswer:
    """Return the answer of a pull query; blocks while its table is read the first time."""
    pull = plan_pull(statement.query, rooms.catalogue, rooms.functions, properties)
    fresh = str(properties.get(FRESH, "false")).lower() == "true"
    kinds = [kind for _, kind, _ in pull.columns]
    rows = [
        [shown(value, kind) for value, kind in zip(row, kinds, strict=True)]
        for row in rooms.views.answer(pull, fresh=fresh)
    ]
    return PullAnswer(f"query_{uuid.uuid4().hex[:16]}", pull.columns, rows)


def shown(value: Any, kind: Type | None) -> Any:
    """Return a value as JSON shows it: moments as text, bytes in base64."""
    if value is None or kind is None:
        return value
    match kind:
        case Scalar.BYTES:
            return base64.b64encode(value).decode()
        case Scalar() if kind in _TEMPORAL:
            return spell(value, kind)
        case Decimal():
            # Exact digits go out as a JSON number, see `_exact`.
            return value
        case Array(element):
            return [shown(item, element) for item in value]
        case Map(key, element):
            return {_key(k, key): shown(v, element) for k, v in value.items()}
        case Struct(fields):
            return {field.name: shown(value.get(field.name), field.type) for field in fields}
    return value


def _key(value: Any, kind: Type) -> str:
    return value if isinstance(value, str) else spell(value, kind)


def array_body(answer: PullAnswer) -> Iterator[bytes]:
    """Yield the answer as one JSON array: header, then rows."""
    header = {"header": {"queryId": answer.id, "schema": answer.schema_text}}
    yield b"[" + dump(header)
    for row in answer.rows:
        yield b",\n" + dump({"row": {"columns": row}})
    yield b"]\n"


def delimited_body(answer: PullAnswer) -> Iterator[bytes]:
    """Yield a line for the header and for each row."""
    yield dump(_header(answer)) + b"\n"
    for row in answer.rows:
        yield dump(row) + b"\n"


def plain_array_body(answer: PullAnswer) -> Iterator[bytes]:
    """Yield one JSON array: the header object, then the rows as arrays."""
    yield b"[" + dump(_header(answer))
    for row in answer.rows:
        yield b",\n" + dump(row)
    yield b"]\n"


def _header(answer: PullAnswer) -> dict[str, Any]:
    return {
        "queryId": answer.id,
        "columnNames": [name for name, _, _ in answer.columns],
        "columnTypes": [str(kind or Scalar.STRING) for _, kind, _ in answer.columns],
    }


def dump(value: Any) -> bytes:
    """Return JSON in which decimals keep every digit."""
    return orjson.dumps(value, default=_exact, option=orjson.OPT_NON_STR_KEYS)


def _exact(value: Any) -> Any:
    return orjson.Fragment(str(value))
