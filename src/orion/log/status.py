"""What queries say of themselves, and what they are told: topics between processes."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Event

from confluent_kafka import OFFSET_END, KafkaException, TopicPartition

from orion.log.connection import BrokerUnreachableError, Connection
from orion.log.errors import TopicExistsError
from orion.log.processing_log import PROCESSING_LOG_TOPIC
from orion.log.topic import Topics
from orion.model import QueryStatus, State

logger = logging.getLogger(__name__)

STATUS_TOPIC = "_orion_status"
PLAN_TOPIC = "_orion_plans"
ORDER_TOPIC = "_orion_orders"
# A query speaks at least every HEARTBEAT_S; silence for LOST_AFTER_S means its process is gone.
HEARTBEAT_S = 5.0
LOST_AFTER_S = 20.0
# A client waits this long for a full batch of records, and gives up on a silent broker so late.
_BATCH_WAIT_S, _SILENCE_S = 0.02, 10.0
_LONGEST_PLAN = 200_000

_TOPICS = {
    STATUS_TOPIC: {"cleanup.policy": "compact", "segment.ms": "600000"},
    PLAN_TOPIC: {"cleanup.policy": "compact", "segment.ms": "600000"},
    ORDER_TOPIC: {"retention.ms": "86400000"},
    PROCESSING_LOG_TOPIC: {"retention.ms": "604800000"},
}


def create_own_topics(connection: Connection) -> None:
    """Create the topics that Orion's processes speak through, where they are missing."""
    topics = Topics(connection)
    there = set(topics.names(internal=True))
    for name, configs in _TOPICS.items():
        if name not in there:
            try:
                topics.create(name, partitions=1, configs=configs)
            except TopicExistsError:
                continue  # another process was faster


class StatusLog:
    """The last word of every query, kept in a compacted topic."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._producer = connection.producer(linger_ms=0)

    def publish(self, status: QueryStatus) -> None:
        """Say how a query is."""
        body = json.dumps(status.to_dict()).encode()
        self._producer.produce(STATUS_TOPIC, body, key=status.name.encode())
        self._producer.poll(0)

    def publish_plan(self, name: str, text: str) -> None:
        """Say how a query is carried out; it is long, so it is said once and not with each word."""
        self._producer.produce(PLAN_TOPIC, text[:_LONGEST_PLAN].encode(), key=name.encode())
        self._producer.poll(0)

    def read_plan(self, name: str) -> str:
        """Return how a query is carried out; empty while it has not said so."""
        found = b""
        for key, value in _read_all(self._connection, PLAN_TOPIC):
            if key == name:
                found = value or b""
        return found.decode()

    def forget(self, name: str) -> None:
        """Remove a query from the list."""
        for topic in (STATUS_TOPIC, PLAN_TOPIC):
            self._producer.produce(topic, None, key=name.encode())
        if self._producer.flush(5.0):
            raise BrokerUnreachableError(self._connection.addresses, "nothing was changed")

    def flush(self) -> None:
        """Wait until what was said is stored."""
        self._producer.flush(5.0)

    def read(self) -> dict[str, QueryStatus]:
        """Return the last status of each query; one that fell silent is LOST."""
        found: dict[str, QueryStatus] = {}
        for key, value in _read_all(self._connection, STATUS_TOPIC):
            if value is None:
                found.pop(key, None)
            else:
                found[key] = QueryStatus.from_dict(json.loads(value))
        return {name: _judge(status) for name, status in sorted(found.items())}


class OrderLog:
    """Orders to running queries: stop, restart."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send(self, verb: str, query: str) -> None:
        """Send an order to whichever process runs the query."""
        producer = self._connection.producer(linger_ms=0)
        body = json.dumps({"verb": verb, "query": query, "sent_ms": int(time.time() * 1000)})
        producer.produce(ORDER_TOPIC, body.encode(), key=query.encode())
        if producer.flush(5.0):
            raise BrokerUnreachableError(self._connection.addresses, "the order was not stored")

    def follow(self, take: Callable[[str, str], None], stopped: Event) -> None:
        """Give each order sent from now on to `take(verb, query)` until stopped; blocks."""
        consumer = self._connection.consumer("orion-orders")
        try:
            # The end is looked up by the client itself, again and again until a broker answers.
            consumer.assign([TopicPartition(ORDER_TOPIC, 0, OFFSET_END)])
            while not stopped.is_set():
                message = consumer.poll(0.5)
                if message is not None and message.error() is None:
                    _give(message.value(), take)
        finally:
            consumer.close()


def _give(body: bytes | None, take: Callable[[str, str], None]) -> None:
    """Hand an order over; one that is not understood is named and passed by."""
    try:
        order = json.loads(body or b"")
        verb, query = str(order["verb"]), str(order["query"])
    except (ValueError, KeyError, TypeError):
        logger.warning("an order was not understood: %r", body)
        return
    take(verb, query)


def _judge(status: QueryStatus) -> QueryStatus:
    silent_s = time.time() - status.updated_ms / 1000
    if status.state.is_active and silent_s > LOST_AFTER_S:
        return replace(status, state=State.LOST, error=f"no word from it for {silent_s:.0f} s")
    return status


def _read_all(connection: Connection, topic: str) -> Iterator[tuple[str, bytes | None]]:
    consumer = connection.consumer("orion-status", enable_partition_eof=True)
    try:
        partition = TopicPartition(topic, 0)
        try:
            low, high = consumer.get_watermark_offsets(partition, timeout=5.0)
        except KafkaException:
            return
        partition.offset = low
        consumer.assign([partition])
        deadline = time.monotonic() + _SILENCE_S
        while low < high:
            for message in consumer.consume(500, timeout=_BATCH_WAIT_S):
                if message.error() is not None:
                    return
                low = (message.offset() or 0) + 1
                deadline = time.monotonic() + _SILENCE_S
                yield (message.key() or b"").decode(), message.value()
            if time.monotonic() > deadline:
                raise BrokerUnreachableError(connection.addresses, f"{topic} cannot be read")
    finally:
        consumer.close()
