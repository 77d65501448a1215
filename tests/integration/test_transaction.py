"""Transactions of the log: all or nothing, fenced, and found again after a crash."""

import pytest

import orion.log.transaction as transaction_module
from orion.log import (
    FencedError,
    Groups,
    Outgoing,
    Record,
    Selection,
    Topics,
    TransactionalWriter,
    consume,
)
from orion.testing.kafka import KafkaServer
from orion.testing.wait import wait_until


@pytest.fixture
def writer(kafka: KafkaServer, topic: str) -> TransactionalWriter:
    Topics(kafka.connection).create(topic, partitions=1)
    found = TransactionalWriter(kafka.connection, f"{topic}-query")
    found.open()
    return found


def values(kafka: KafkaServer, topic: str) -> list[bytes | None]:
    return [record.value for record in consume(kafka.connection, Selection(topic))]


def committed(kafka: KafkaServer, topic: str, count: int) -> list[Record]:
    """Return a topic's records when there are as many; a commit reaches readers a moment later."""

    def enough() -> list[Record]:
        found = list(consume(kafka.connection, Selection(topic)))
        return found if len(found) >= count else []

    return wait_until(enough, what=f"{count} records in {topic}")


def test_output_and_offsets_become_visible_together(
    kafka: KafkaServer, topic: str, writer: TransactionalWriter
) -> None:
    headers = [("a", b"1"), ("a", None)]
    with writer.transaction() as transaction:
        transaction.write(
            Outgoing(
                topic,
                [b"x", None],
                keys=[b"k", None],
                timestamps_ms=[5, 6],
                headers=[headers, None],
            )
        )
        transaction.commit_offsets({topic: {0: 7}}, checkpoint="c", batch=3)
        assert values(kafka, topic) == []
    first, second = committed(kafka, topic, 2)
    assert (first.key, first.value, first.timestamp_ms) == (b"k", b"x", 5)
    assert first.headers == (("a", b"1"), ("a", None))
    assert (second.key, second.value, second.timestamp_ms) == (None, None, 6)
    position = writer.position([topic])
    assert position is not None
    assert (position.checkpoint, position.batch, position.offsets) == ("c", 3, {topic: {0: 7}})
    group = Groups(kafka.connection).get(f"{topic}-query")
    assert [part.committed for part in group.partitions] == [7]


def test_a_failed_block_leaves_nothing_behind(
    kafka: KafkaServer, topic: str, writer: TransactionalWriter
) -> None:
    def fail_half_way() -> None:
        with writer.transaction() as transaction:
            transaction.write(Outgoing(topic, [b"x"]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert values(kafka, topic) == []
    assert writer.position([topic]) is None
    with writer.transaction() as transaction:
        transaction.write(Outgoing(topic, [b"y"]))
    assert [record.value for record in committed(kafka, topic, 1)] == [b"y"]


def test_a_zombie_is_fenced_by_its_successor(
    kafka: KafkaServer, topic: str, writer: TransactionalWriter
) -> None:
    with writer.transaction() as transaction:
        transaction.write(Outgoing(topic, [b"before"]))
    successor = TransactionalWriter(kafka.connection, f"{topic}-query")
    successor.open()
    with pytest.raises(FencedError), writer.transaction() as transaction:
        transaction.write(Outgoing(topic, [b"zombie"]))
    with successor.transaction() as transaction:
        transaction.write(Outgoing(topic, [b"after"]))
    assert [record.value for record in committed(kafka, topic, 2)] == [b"before", b"after"]


def test_a_full_queue_delays_records_and_loses_none(
    kafka: KafkaServer, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(transaction_module._PRODUCER, "queue_buffering_max_messages", 100)
    writer = TransactionalWriter(kafka.connection, f"{topic}-narrow")
    writer.open()
    sent = [str(number).encode() for number in range(5_000)]
    with writer.transaction() as transaction:
        transaction.write(Outgoing(topic, sent, keys=[b"k"] * len(sent)))
    writer.close()
    assert [record.value for record in committed(kafka, topic, len(sent))] == sent
