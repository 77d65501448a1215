"""Cases as people write them: statements, `<<` records in, `>>` records out.

    # counts by user
    CREATE STREAM views (user STRING KEY, page STRING)
      WITH (KAFKA_TOPIC='views', VALUE_FORMAT='JSON');
    CREATE TABLE per_user AS SELECT user, COUNT(*) AS n FROM views GROUP BY user;

    << views    {"key": "ann", "value": {"page": "a"}}
    >> PER_USER {"key": "ann", "value": {"N": 1}}

`!!` on a line of its own says that the last statement must be refused.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from orion.cases.case import Case, CaseFileError
from orion.model import OrionError
from orion.sql import split_statements

_TITLE, _IN, _OUT, _REFUSED = "# ", "<<", ">>", "!!"


@dataclass
class _Draft:
    """A case while its lines are read."""

    title: str
    lines: list[str] = field(default_factory=list)
    inputs: list[dict[str, Any]] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    fails: bool = False


def read_text_cases(path: Path) -> Iterator[Case]:
    """Yield the cases of a text file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CaseFileError(path, str(error)) from error
    for draft in _drafts(lines, path):
        try:
            statements = [part for part in split_statements("\n".join(draft.lines)) if part.strip()]
        except OrionError as error:
            raise CaseFileError(path, str(error)) from error
        yield Case(
            id=f"{path.stem}/{draft.title}",
            kind="query",
            statements=tuple(statements),
            inputs=tuple(draft.inputs),
            outputs=tuple(draft.outputs),
            fails=draft.fails,
        )


def _drafts(lines: Sequence[str], path: Path) -> Iterator[_Draft]:
    draft: _Draft | None = None
    for number, line in enumerate(lines, start=1):
        if line.startswith(_TITLE):
            if draft is not None:
                yield draft
            draft = _Draft(line.removeprefix(_TITLE).strip())
        elif line.strip():
            if draft is None:
                raise CaseFileError(path, f"line {number} stands before the first '# title'")
            _take(draft, line, path, number)
    if draft is not None:
        yield draft


def _take(draft: _Draft, line: str, path: Path, number: int) -> None:
    mark = line.strip()[:2]
    if mark == _IN:
        draft.inputs.append(_record(line, path, number))
    elif mark == _OUT:
        draft.outputs.append(_record(line, path, number))
    elif line.strip() == _REFUSED:
        draft.fails = True
    else:
        draft.lines.append(line)


def _record(line: str, path: Path, number: int) -> dict[str, Any]:
    topic, _, body = line.strip()[2:].strip().partition(" ")
    try:
        record = json.loads(body, parse_float=Decimal)
    except ValueError as error:
        raise CaseFileError(path, f"line {number} has no JSON record: {error}") from error
    if not isinstance(record, dict):
        raise CaseFileError(path, f"line {number} has no JSON object")
    return {**record, "topic": topic}
