"""A statement as the command log keeps it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orion.model import Field, Struct
from orion.sql import Format, Formats, parse_type, resolve_type


@dataclass(frozen=True)
class Command:
    """An accepted statement.

    Args:
        number: Its place among all statements.
        properties: Those of the session that count for it.
        inferred: Columns that came from the registry, by topic and part: what was true then.
    """

    number: int
    statement: str
    properties: Mapping[str, str] = field(default_factory=dict)
    inferred: Mapping[str, str] = field(default_factory=dict)
    created_ms: int = 0

    def encode(self) -> tuple[bytes, bytes]:
        """Return the key and the value of its record."""
        body = {
            "statement": self.statement,
            "properties": dict(self.properties),
            "inferred": dict(self.inferred),
            "created_ms": self.created_ms,
        }
        return str(self.number).encode(), json.dumps(body).encode()

    @classmethod
    def decode(cls, key: bytes, value: bytes) -> "Command":
        """Return the command of a record."""
        body: Mapping[str, Any] = json.loads(value)
        return cls(
            int(key),
            body["statement"],
            body.get("properties") or {},
            body.get("inferred") or {},
            body.get("created_ms", 0),
        )


class RecordingFormats:
    """Asks about formats and keeps what the registry told, so that a replay needs no registry."""

    def __init__(self, formats: Formats, told: Mapping[str, str] | None = None) -> None:
        self._formats = formats
        self.told: dict[str, str] = dict(told or {})
        self._replays = told is not None

    def check(self, format: Format, columns: Sequence[Field], *, is_key: bool) -> None:
        """Raise unless the format is known and can carry the columns."""
        self._formats.check(format, columns, is_key=is_key)

    def check_written(self, format: Format, columns: Sequence[Field], *, is_key: bool) -> None:
        """Raise unless rows can follow the named schema; a replay does not ask again."""
        if not self._replays:
            self._formats.check_written(format, columns, is_key=is_key)

    def infer(self, format: Format, topic: str, *, is_key: bool) -> Sequence[Field] | None:
        """Return the columns that the registry tells, or told when the statement was accepted."""
        part = f"{topic}-{'key' if is_key else 'value'}"
        if self._replays:
            return _read_fields(self.told[part]) if part in self.told else None
        found = self._formats.infer(format, topic, is_key=is_key)
        if found is not None:
            self.told[part] = str(Struct(tuple(found)))
        return found


def _read_fields(text: str) -> Sequence[Field]:
    found = resolve_type(parse_type(text))
    assert isinstance(found, Struct)
    return found.fields
