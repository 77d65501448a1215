"""A case: statements, the records they are given, and the records that must come out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from orion.model import InvalidInputError

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One case, as its file has it.

    Args:
        inputs: Records: topic, key, value, timestamp, window, headers.
        outputs: The records wanted, in the same form; only the topics named here are looked at.
        topics: Topics that are there before, with their schemas.
        fails: Whether the last statement must be refused.
    """

    id: str
    kind: str
    statements: tuple[str, ...]
    inputs: tuple[Json, ...] = ()
    outputs: tuple[Json, ...] = ()
    topics: tuple[Json, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict)
    responses: tuple[Json, ...] = ()
    fails: bool = False


class CaseFileError(InvalidInputError):
    """Raised when a file holds no cases."""

    def __init__(self, path: Path, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(
            f"{path} holds no cases: {why}.",
            fix="See docs/sql-tests.md for the forms that are read.",
        )


def read_json_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a JSON file: an object with a list `cases`."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, ValueError) as error:
        raise CaseFileError(path, str(error)) from error
    if not isinstance(document, dict) or not isinstance(document.get("cases"), list):
        raise CaseFileError(path, "it has no list 'cases'")
    for number, item in enumerate(document["cases"]):
        yield _case(item, f"{path.stem}/{number}", path)


def _case(item: Json, name: str, path: Path) -> Case:
    statements = item.get("statements")
    if not isinstance(statements, list) or not all(isinstance(s, str) for s in statements):
        raise CaseFileError(path, f"case '{item.get('id', name)}' has no list of statements")
    return Case(
        id=str(item.get("id", name)),
        kind=str(item.get("kind", "query")),
        statements=tuple(statements),
        inputs=_records(item, "inputs"),
        outputs=_records(item, "outputs"),
        topics=_records(item, "topics"),
        properties=item.get("properties") or {},
        responses=_records(item, "responses"),
        fails="expectedException" in item or "expectedError" in item,
    )


def _records(item: Json, name: str) -> tuple[Json, ...]:
    found: Sequence[Json] = item.get(name) or ()
    return tuple(found)
