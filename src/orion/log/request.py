"""Requests to the engine from processes that have no Spark: run this for a while, stop it."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import Any

from confluent_kafka import OFFSET_END, TopicPartition

from orion.log.connection import BrokerUnreachableError, Connection
from orion.log.errors import TopicExistsError
from orion.log.topic import Topics

logger = logging.getLogger(__name__)

REQUEST_TOPIC = "_orion_requests"
_RETENTION_MS = "3600000"


class RequestLog:
    """A topic of requests, each a JSON object; old ones mean nothing."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._producer = connection.producer(linger_ms=0)

    def create(self) -> None:
        """Create the topic where it is missing."""
        topics = Topics(self._connection)
        if topics.exists(REQUEST_TOPIC):
            return
        try:
            topics.create(REQUEST_TOPIC, partitions=1, configs={"retention.ms": _RETENTION_MS})
        except TopicExistsError:
            return  # another process was faster

    def send(self, request: Mapping[str, Any]) -> None:
        """Send a request; it is stored when this returns."""
        body = json.dumps({**request, "sent_ms": int(time.time() * 1000)}).encode()
        self._producer.produce(REQUEST_TOPIC, body)
        if self._producer.flush(5.0):
            raise BrokerUnreachableError(self._connection.addresses, "the request was not stored")

    def follow(self, take: Callable[[Mapping[str, Any]], None], stopped: Event) -> None:
        """Give each request sent from now on to `take` until stopped; blocks."""
        consumer = self._connection.consumer("orion-requests")
        try:
            consumer.assign([TopicPartition(REQUEST_TOPIC, 0, OFFSET_END)])
            while not stopped.is_set():
                message = consumer.poll(0.2)
                if message is None or message.error() is not None:
                    continue
                try:
                    request = json.loads(message.value() or b"")
                except ValueError:
                    logger.warning("a request was not understood: %r", message.value())
                    continue
                take(request)
        finally:
            consumer.close()
