"""Where the log is and how clients reach it: the one place that makes client options."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from orion.model import UnavailableError

# librdkafka's names that the Java client spells differently.
_JAVA_NAMES = {"sasl.mechanisms": "sasl.mechanism"}


class BrokerUnreachableError(UnavailableError):
    """Raised when no broker answers at the given addresses."""

    def __init__(self, addresses: str, detail: str = "") -> None:
        self.addresses = addresses
        reason = f" ({detail})" if detail else ""
        super().__init__(
            f"No Kafka broker answers at {addresses}{reason}.",
            fix="Start the local platform with: orion up --detach, or set kafka.bootstrap_servers.",
        )


@dataclass(frozen=True)
class Connection:
    """The addresses of a Kafka and the options every client of it gets."""

    addresses: str
    options: Mapping[str, str] = field(default_factory=dict)

    def client_options(self, **extra: Any) -> dict[str, Any]:
        """Return options for a librdkafka client; words are joined by dots."""
        named = {name.replace("_", "."): value for name, value in extra.items()}
        return {"bootstrap.servers": self.addresses, "log_level": 2, **self.options, **named}

    def spark_options(self) -> dict[str, str]:
        """Return options for Spark's Kafka source and sink, which use the Java client."""
        renamed = {_JAVA_NAMES.get(name, name): value for name, value in self.options.items()}
        return {
            "kafka.bootstrap.servers": self.addresses,
            **{f"kafka.{name}": value for name, value in renamed.items()},
        }

    def admin(self) -> AdminClient:
        """Return an admin client."""
        return AdminClient(self.client_options())

    def producer(self, **extra: Any) -> Producer:
        """Return an idempotent producer that places keys as the Java client does."""
        given = {"enable_idempotence": True, "partitioner": "murmur2_random", **extra}
        return Producer(self.client_options(**given))

    def consumer(self, group: str, **extra: Any) -> Consumer:
        """Return a read-committed consumer that commits nothing by itself."""
        given = {
            "enable_auto_commit": False,
            "isolation_level": "read_committed",
            # A reader that is faster than its queue is long would wait for a second each time.
            "fetch_queue_backoff_ms": 10,
            **extra,
        }
        return Consumer(self.client_options(group_id=group, **given))

    def glancing_consumer(self, group: str) -> Consumer:
        """Return a consumer for one record of each of many partitions, which also tells their ends.

        Brokers send the whole batch that a record lies in, or none where another partition of the
        answer has taken the room: so little is fetched, and what is missing is asked for at once.
        """
        return self.consumer(
            group,
            enable_partition_eof=True,
            auto_offset_reset="earliest",
            fetch_message_max_bytes=64 << 10,
            fetch_wait_max_ms=10,
            queued_min_messages=1,
            fetch_queue_backoff_ms=1,
        )

    def require(self, client: Producer | None = None, *, timeout_s: float = 5.0) -> None:
        """Raise unless a broker answers within the time.

        Args:
            client: Who asks, and is connected from then on; None: a client for this alone.
        """
        try:
            (client or self.admin()).list_topics(timeout=timeout_s)
        except KafkaException as error:
            raise BrokerUnreachableError(self.addresses, error.args[0].str()) from error

    def wait(self, *, timeout_s: float) -> None:
        """Return once a broker answers; raise when none does in time."""
        deadline = time.monotonic() + timeout_s
        while not self.is_ready():
            if time.monotonic() > deadline:
                raise BrokerUnreachableError(self.addresses, f"none within {timeout_s:.0f} s")

    def is_ready(self, *, brokers: int = 1, timeout_s: float = 1.0) -> bool:
        """Tell whether that many brokers answer."""
        try:
            return len(self.admin().list_topics(timeout=timeout_s).brokers) >= brokers
        except KafkaException:
            return False
