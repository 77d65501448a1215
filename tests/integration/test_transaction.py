"""Transactions of the log: all or nothing, fenced, and found again after a crash."""

import random
from collections.abc import Callable, Sequence

import pytest

import orion.log.transaction as transaction_module
from orion.log import (
    FencedError,
    Groups,
    Outgoing,
    Record,
    RecordRefusedError,
    Selection,
    Topics,
    TransactionalWriter,
    consume,
)
from orion.model import UnavailableError
from orion.supervise import free_ports
from orion.testing.kafka import KafkaServer
from orion.testing.project import Project
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


def test_a_record_that_is_refused_is_named_whenever_it_is_heard_of(
    kafka: KafkaServer, topic: str
) -> None:
    """The answer to the record comes ahead of the offsets, beside them, or behind them."""
    Topics(kafka.connection).create(topic, partitions=1, configs={"max.message.bytes": "1000000"})
    large = random.Random(1).randbytes(1_100_000)
    for number in range(30):
        writer = TransactionalWriter(kafka.connection, f"{topic}-query")
        writer.open()
        with pytest.raises(RecordRefusedError):
            _write_with_offsets(writer, topic, [large, *[b"small"] * (1_000 * number)])
        writer.close()


def _write_with_offsets(writer: TransactionalWriter, topic: str, values: Sequence[bytes]) -> None:
    with writer.transaction() as transaction:
        transaction.write(Outgoing(topic, values))
        transaction.commit_offsets({topic: {0: 1}}, checkpoint="c", batch=1)


@pytest.mark.slow
def test_a_broker_that_goes_away_in_the_middle_holds_nobody_up(project: Project) -> None:
    """Kafka's client waits for ever for offsets to be taken, whatever time it is given."""
    port, controller = free_ports(2)
    project.succeed("up", "--detach", "--port", str(port), "--controller-ports", str(controller))
    connection = project.connection
    Topics(connection).create("numbers", partitions=1)
    first = TransactionalWriter(connection, "query", timeout_s=2)
    first.open()
    _commit(first, 1)
    with pytest.raises(UnavailableError):
        _commit(first, 2, in_between=lambda: project.succeed("broker", "stop", "1"))
    first.close()
    project.succeed("broker", "start", "1")
    connection.wait(timeout_s=60)
    second = TransactionalWriter(connection, "query")
    second.open()
    position = second.position(["numbers"])
    assert position is not None
    assert position.batch == 1
    _commit(second, 3)
    second.close()
    found = consume(connection, Selection("numbers"))
    assert [record.value for record in found] == [b"1", b"3"]


def _commit(
    writer: TransactionalWriter, number: int, *, in_between: Callable[[], object] = lambda: None
) -> None:
    with writer.transaction() as transaction:
        transaction.write(Outgoing("numbers", [b"%d" % number]))
        in_between()
        transaction.commit_offsets({"numbers": {0: number}}, checkpoint="c", batch=number)
