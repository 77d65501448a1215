"""Entries of the processing log hold what could not be read, and why."""

import base64
import json

from orion.log import (
    NO_PARTITION,
    PROCESSING_LOG_TOPIC,
    DeadLetter,
    Record,
    encode_processing_log,
)
from orion.model import FailedExpression


def test_a_dead_letter_becomes_an_entry() -> None:
    record = Record(b"{oops", b"k", topic="plays", partition=2, offset=7)
    outgoing = encode_processing_log("CSAS_X_1", [DeadLetter(record, "CSAS_X_1", "no JSON")])
    assert outgoing.topic == PROCESSING_LOG_TOPIC
    (body,) = outgoing.values
    assert body is not None
    entry = json.loads(body)
    assert (entry["LOGGER"], entry["LEVEL"]) == ("processing.CSAS_X_1.deserializer", "ERROR")
    failure = entry["MESSAGE"]["deserializationError"]
    assert (failure["errorMessage"], failure["topic"]) == ("no JSON", "plays")
    assert base64.b64decode(failure["recordB64"]) == b"{oops"
    assert failure["cause"] == ["partition 2, offset 7"]


def test_a_large_record_is_left_to_the_dead_letters() -> None:
    for value in (b"x" * 10_000_000, None):
        outgoing = encode_processing_log(
            "CSAS_X_1", [DeadLetter(Record(value, b"k"), "Q", "too large")]
        )
        (body,) = outgoing.values
        assert body is not None
        assert len(body) < 1_000
        assert json.loads(body)["MESSAGE"]["deserializationError"]["recordB64"] is None


def test_a_row_that_could_not_be_written_is_an_error_of_serialization() -> None:
    row = Record(b'{"ID":null}', topic="out", partition=NO_PARTITION, offset=7)
    outgoing = encode_processing_log("CSAS_X_1", [DeadLetter(row, "CSAS_X_1", "ID is null")])
    (body,) = outgoing.values
    message = json.loads(body or b"")["MESSAGE"]
    assert message["type"] == 3
    assert message["serializationError"]["record"] == '{"ID":null}'
    assert message["serializationError"]["topic"] == "out"


def test_an_expression_that_failed_is_an_error_of_processing() -> None:
    failed = FailedExpression("HALVE", "unsupported operand", '{"ID": "x"}')
    (body,) = encode_processing_log("CSAS_X_1", [], [failed]).values
    entry = json.loads(body or b"")
    assert entry["LOGGER"] == "processing.CSAS_X_1.expression"
    assert entry["MESSAGE"]["type"] == 1
    failure = entry["MESSAGE"]["recordProcessingError"]
    assert failure["errorMessage"] == "HALVE could not be computed: unsupported operand"
    assert failure["record"] == '{"ID": "x"}'
