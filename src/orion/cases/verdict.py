"""Whether a case gave what it wants: record by record, or at least the same in the end."""

import enum
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from orion.cases.case import Case, Json
from orion.cases.run import Outcome


class Grade(enum.Enum):
    """How close an outcome is."""

    EXACT = "exact"
    EQUIVALENT = "equivalent"
    WRONG = "wrong"


@dataclass(frozen=True)
class Verdict:
    """A grade and, where something is wrong, what."""

    grade: Grade
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether the case holds."""
        return self.grade is not Grade.WRONG


def judge(case: Case, outcome: Outcome) -> Verdict:
    """Compare what came out with what the case wants."""
    if case.fails:
        return _judge_refusal(case, outcome)
    if outcome.error is not None:
        return Verdict(Grade.WRONG, outcome.error)
    for number, (want, got) in enumerate(zip(case.responses, outcome.responses, strict=False)):
        if not holds_response(want, got):
            return _differs(f"response {number}", want, got)
    wanted, found = _by_topic(case.outputs), _by_topic(outcome.outputs)
    grades = [_judge_topic(topic, wanted[topic], found.get(topic, [])) for topic in wanted]
    wrong = next((verdict for verdict in grades if not verdict.passed), None)
    if wrong is not None:
        return wrong
    is_exact = all(verdict.grade is Grade.EXACT for verdict in grades)
    return Verdict(Grade.EXACT if is_exact else Grade.EQUIVALENT)


def _judge_refusal(case: Case, outcome: Outcome) -> Verdict:
    if outcome.error is None:
        return Verdict(Grade.WRONG, "it was accepted, but must be refused")
    if outcome.internal:
        return Verdict(Grade.WRONG, f"the engine is at fault: {outcome.error}")
    last = len(case.statements) - 1
    if outcome.failed_statement != last:
        return Verdict(Grade.WRONG, f"statement {outcome.failed_statement} was refused, not {last}")
    return Verdict(Grade.EXACT)


def _by_topic(records: Sequence[Json]) -> dict[str, list[Json]]:
    found: dict[str, list[Json]] = defaultdict(list)
    for record in records:
        found[str(record["topic"]).upper()].append(record)
    return found


def _judge_topic(topic: str, wanted: Sequence[Json], found: Sequence[Json]) -> Verdict:
    same = len(wanted) == len(found)
    if same and all(_is_same(want, got) for want, got in zip(wanted, found, strict=True)):
        return Verdict(Grade.EXACT)
    if _by_key(wanted, wanted) == _by_key(found, wanted):
        return Verdict(Grade.EQUIVALENT)
    at = next(
        (n for n, (w, g) in enumerate(zip(wanted, found, strict=False)) if not _is_same(w, g)),
        min(len(wanted), len(found)),
    )
    want = wanted[at] if at < len(wanted) else None
    got = found[at] if at < len(found) else None
    return _differs(f"topic {topic}, record {at}", want, got)


def _differs(what: str, want: Any, got: Any) -> Verdict:
    return Verdict(
        Grade.WRONG, f"{what}\n    wanted  {_spelled(want)}\n    found   {_spelled(got)}"
    )


def _spelled(found: Any) -> str:
    """Return a record or an answer as cases write it."""
    if found is None:
        return "nothing"
    if isinstance(found, dict) and "topic" in found:
        found = {name: part for name, part in found.items() if name != "topic" and part != []}
    return json.dumps(found, default=str, ensure_ascii=False)


def _by_key(records: Sequence[Json], wanted: Sequence[Json]) -> dict[str, list[Any]]:
    """Return the values of each key, in order; records of different keys have no order."""
    shown = {_key(record): record for record in wanted}
    found: dict[str, list[Any]] = defaultdict(list)
    for record in records:
        key = _key(record)
        found[key].append(_shape(record, shown.get(key, record)))
    return found


def _key(record: Json) -> str:
    window = record.get("window") or {}
    return repr([_plain(record.get("key")), window.get("start"), window.get("end")])


def _is_same(want: Json, got: Json) -> bool:
    return _shape(want, want) == _shape(got, want)


def _shape(record: Json, like: Json) -> list[Any]:
    """Return what counts of a record: time, window and headers only where the case names them."""
    shape = [_plain(record.get("key")), _plain(record.get("value"))]
    if "timestamp" in like:
        shape.append(record.get("timestamp"))
    if like.get("window"):
        window = record.get("window") or {}
        shape.append([window.get("start"), window.get("end")])
    if like.get("headers"):
        shape.append(_plain(record.get("headers") or []))
    return shape


def _plain(value: Any) -> Any:
    """Return a value without what does not count: case of names, the form of numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        if isinstance(value, Mapping):
            return {str(k).upper(): _plain(v) for k, v in value.items()}
        return [_plain(item) for item in value] if isinstance(value, list) else value
    return round(float(value), 6)


def holds_response(want: Any, got: Any) -> bool:
    """Tell whether an answer holds what is wanted of it; rows may come in any order."""
    if isinstance(want, Mapping) and "query" in want:
        rows = [row for row in got.get("query", []) if row]
        if len(rows) != len(want["query"]):
            return False
        for wanted in want["query"]:
            match = next((row for row in rows if _holds(wanted, row)), None)
            if match is None:
                return False
            rows.remove(match)
        return True
    return _holds(want, got)


def _holds(want: Any, got: Any) -> bool:
    if isinstance(want, Mapping):
        return isinstance(got, Mapping) and all(
            _holds_field(name, value, got) for name, value in want.items()
        )
    if isinstance(want, list):
        same = isinstance(got, list) and len(want) == len(got)
        return same and all(_holds(w, g) for w, g in zip(want, got, strict=True))
    return bool(_plain(want) == _plain(got))


def _holds_field(name: str, value: Any, got: Mapping[str, Any]) -> bool:
    if name.endswith("|starts_with"):
        return str(got.get(name.split("|")[0], "")).startswith(str(value))
    # Words for people are free.
    if name in ("message", "finalMessage", "errorMessage"):
        return name in got
    return name in got and _holds(value, got[name])
