"""A dead letter is the original record with Orion's headers behind its own."""

from dataclasses import replace

import pytest

from orion.log.dead_letter import (
    _AT_ONCE,
    _AT_ONCE_BYTES,
    DeadLetter,
    _batches,
    decode_dead_letter,
    encode_dead_letters,
)
from orion.log.record import Record

ORIGINAL = Record(
    value=b"\x00\xff",
    key=b"k",
    headers=(("trace", b"\x01"), ("nothing", None), ("orion.topic", b"a fake")),
    timestamp_ms=1_700_000_000_123,
    topic="orders",
    partition=2,
    offset=41,
)


def _stored(letter: DeadLetter) -> Record:
    """Return the letter as it is read back from its own topic."""
    out = encode_dead_letters([letter], "q.dlq")
    assert out.keys
    assert out.headers
    return Record(
        value=out.values[0],
        key=out.keys[0],
        headers=tuple(out.headers[0] or ()),
        timestamp_ms=1,
        topic=out.topic,
        partition=0,
        offset=7,
    )


@pytest.mark.parametrize(
    "record", [ORIGINAL, replace(ORIGINAL, value=None, key=None, headers=()), Record(b"")]
)
def test_a_letter_reads_back_as_the_original(record: Record) -> None:
    letter = DeadLetter(record, "q", "the value is empty: é")
    found = decode_dead_letter(_stored(letter))
    assert found is not None
    assert (found.query, found.reason) == ("q", "the value is empty: é")
    assert (found.record.value, found.record.key) == (record.value, record.key)
    assert found.record.headers == record.headers
    assert found.place == letter.place
    assert found.record.timestamp_ms == (record.timestamp_ms or 0)


def test_letters_of_others_are_not_ours() -> None:
    assert decode_dead_letter(Record(b"x", headers=(("orion.topic", b"t"),))) is None
    assert decode_dead_letter(Record(b"x")) is None


def test_batches_are_bounded_in_records_and_bytes() -> None:
    sizes = [len(batch) for batch in _batches(Record(b"") for _ in range(_AT_ONCE + 1))]
    assert sizes == [_AT_ONCE, 1]
    half = Record(b"x" * (_AT_ONCE_BYTES // 2))
    assert [len(batch) for batch in _batches([half] * 3)] == [2, 1]
    assert list(_batches([])) == []
