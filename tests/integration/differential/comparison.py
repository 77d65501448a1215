"""What a query has written, beside the answer that it should have given."""

import json
from collections.abc import Sequence

from orion.process import GivenRecord
from tests.integration.differential.question import Answer, Place, Question
from tests.integration.differential.record import Event

BOUND_BYTES = 8


def difference(
    name: str,
    question: Question,
    events: Sequence[Event],
    written: Sequence[GivenRecord],
    *,
    once: bool,
) -> str:
    """Return in words what differs from the answer, or nothing.

    Args:
        once: Whether groups tell of a batch once, so that changes are not counted.
    """
    wanted = question.answer(events)
    found = _read(question, written)
    if wanted.changes is not None and len(written) != wanted.changes and not once:
        return f"{name}\n  {len(written)} changes instead of {wanted.changes}"
    for part, other in ((wanted.events, found.events), (wanted.rows, found.rows)):
        for place in sorted({*part, *other}, key=str):
            one, two = part.get(place), other.get(place)
            if one != two:
                return f"{name}\n  {place}: {two} instead of {one}"
    return ""


def _read(question: Question, written: Sequence[GivenRecord]) -> Answer:
    """Return a topic's records in the form of an answer."""
    found = Answer()
    for record in written:
        value = None if record.value is None else json.loads(record.value)
        key, start, end = _split(question, record.key)
        if not question.is_table:
            found.events.setdefault(key, []).append((value, record.timestamp_ms))
        elif value is None:
            found.rows.pop((key, start, end), None)
        else:
            found.rows[key, start, end] = value
    return found


def _split(question: Question, key: bytes | None) -> Place:
    """Return the key and the bounds of its window."""
    window = question.window
    if key is None or window is None:
        return (None if key is None else _key(question, key)), 0, 0
    start = int.from_bytes(key[-BOUND_BYTES:], "big")
    if window.kind != "SESSION":
        return _key(question, key[:-BOUND_BYTES]), start, start + window.size_ms
    bare, end = key[: -2 * BOUND_BYTES], key[-2 * BOUND_BYTES : -BOUND_BYTES]
    return _key(question, bare), start, int.from_bytes(end, "big")


def _key(question: Question, key: bytes) -> str | tuple[str, ...]:
    return tuple(json.loads(key).values()) if len(question.by) > 1 else key.decode()
