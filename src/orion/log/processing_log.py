"""The processing log: what queries could not read, compute or write, as records for SQL."""

import base64
import json
import time
from collections.abc import Sequence

from orion.log.dead_letter import DeadLetter
from orion.log.transaction import Outgoing
from orion.model import FailedExpression

PROCESSING_LOG_TOPIC = "_orion_processing_log"
# The numbers of the kinds of messages: what could not be decoded, computed, encoded.
_DESERIALIZATION, _PROCESSING, _SERIALIZATION = 0, 1, 3
_LARGEST_BODY = 64 << 10


def encode_processing_log(
    query: str, letters: Sequence[DeadLetter], failed: Sequence[FailedExpression] = ()
) -> Outgoing:
    """Return what went wrong in a query's batch as entries of the processing log."""
    now_ms = int(time.time() * 1000)
    parts = [*(_of_letter(letter) for letter in letters), *(_of_expression(f) for f in failed)]
    entries = [
        {"LOGGER": f"processing.{query}.{step}", "LEVEL": "ERROR", "TIME": now_ms, "MESSAGE": part}
        for step, part in parts
    ]
    return Outgoing(
        PROCESSING_LOG_TOPIC,
        values=[json.dumps(entry).encode() for entry in entries],
        keys=[None] * len(entries),
    )


def _of_letter(letter: DeadLetter) -> tuple[str, dict[str, object]]:
    if letter.is_row:
        return "serializer", _serialization(letter)
    return "deserializer", _deserialization(letter)


def _of_expression(failed: FailedExpression) -> tuple[str, dict[str, object]]:
    failure = {
        "errorMessage": f"{failed.name} could not be computed: {failed.reason}",
        "record": failed.row[:_LARGEST_BODY],
        "cause": ["the column is null in that row"],
    }
    return "expression", {"type": _PROCESSING, "recordProcessingError": failure}


def _deserialization(letter: DeadLetter) -> dict[str, object]:
    topic, partition, offset = letter.place
    body = _if_small(letter.record.value)
    failure = {
        "target": "value",
        "errorMessage": letter.reason,
        "recordB64": None if body is None else base64.b64encode(body).decode(),
        "cause": [f"partition {partition}, offset {offset}"],
        "topic": topic,
    }
    return {"type": _DESERIALIZATION, "deserializationError": failure}


def _serialization(letter: DeadLetter) -> dict[str, object]:
    row = _if_small(letter.record.value)
    failure = {
        "target": "key" if letter.reason.startswith("key: ") else "value",
        "errorMessage": letter.reason,
        "record": None if row is None else row.decode(errors="replace"),
        "cause": ["the row was made by the query and lies in no topic"],
        "topic": letter.record.topic,
    }
    return {"type": _SERIALIZATION, "serializationError": failure}


def _if_small(value: bytes | None) -> bytes | None:
    # Large ones lie whole in the dead letters only: an entry must fit any topic's limit.
    return value if value is not None and len(value) <= _LARGEST_BODY else None
