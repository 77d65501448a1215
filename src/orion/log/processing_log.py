"""The processing log: what queries could not read, as records that SQL itself can read."""

import base64
import json
import time
from collections.abc import Sequence

from orion.log.dead_letter import DeadLetter
from orion.log.transaction import Outgoing

PROCESSING_LOG_TOPIC = "_orion_processing_log"
# The number that stands for errors of decoding among the kinds of messages.
_DESERIALIZATION = 0
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
    record = letter.record
    value = record.value
    # Large ones lie whole in the dead letters only: an entry must fit any topic's limit.
    fits = value is not None and len(value) <= _LARGEST_BODY
    body = base64.b64encode(value or b"").decode() if fits else None
    topic, partition, offset = letter.place
    failure = {
        "target": "value",
        "errorMessage": letter.reason,
        "recordB64": body,
        "cause": [f"partition {partition}, offset {offset}"],
        "topic": topic,
    }
    return {
        "LOGGER": f"processing.{letter.query}.deserializer",
        "LEVEL": "ERROR",
        "TIME": now_ms,
        "MESSAGE": {"type": _DESERIALIZATION, "deserializationError": failure},
    }
