"""The processing log: what queries could not read or write, as records that SQL can read."""

import base64
import json
import time
from collections.abc import Sequence

from orion.log.dead_letter import DeadLetter
from orion.log.transaction import Outgoing

PROCESSING_LOG_TOPIC = "_orion_processing_log"
# The numbers of the kinds of messages: what could not be decoded, what not encoded.
_DESERIALIZATION, _SERIALIZATION = 0, 3
_LARGEST_BODY = 64 << 10


def encode_processing_log(letters: Sequence[DeadLetter]) -> Outgoing:
    """Return dead letters as entries of the processing log."""
    now_ms = int(time.time() * 1000)
    entries = [_entry(letter, now_ms) for letter in letters]
    return Outgoing(
        PROCESSING_LOG_TOPIC,
        values=[json.dumps(entry).encode() for entry in entries],
        keys=[None] * len(entries),
    )


def _entry(letter: DeadLetter, now_ms: int) -> dict[str, object]:
    message = _serialization(letter) if letter.is_row else _deserialization(letter)
    step = "serializer" if letter.is_row else "deserializer"
    return {
        "LOGGER": f"processing.{letter.query}.{step}",
        "LEVEL": "ERROR",
        "TIME": now_ms,
        "MESSAGE": message,
    }


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
