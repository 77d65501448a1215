"""The J1 job: JSON bids of about 200 bytes; parse, keep half, project, encode."""

import json
import random
from collections.abc import Iterator

from confluent_kafka import Producer

COLUMNS = "auction BIGINT, bidder BIGINT, price BIGINT, dateTime BIGINT"
CONDITION = "price % 2 = 0"
KEPT = ("auction", "bidder", "price", "dateTime")


def bids(count: int, *, seed: int = 7) -> Iterator[bytes]:
    chance = random.Random(seed)
    for number in range(count):
        yield json.dumps(
            {
                "auction": chance.randrange(1_000),
                "bidder": chance.randrange(10_000),
                "price": chance.randrange(10_000_000),
                "channel": "Google",
                "url": "https://www.example.com/item.htm?query=1&channel_id=12345",
                "dateTime": 1_700_000_000_000 + number,
                "extra": "x" * 30,
            }
        ).encode()


# What cannot be read, each in its own way; larger ones would measure their size instead.
BAD = (
    None,
    b"",
    b"\xff\xfe{}",
    b'{"auction": 1, "bid',
    b"[1, 2, 3]",
    b'{"price": "many"}',
    b'{"price": 1.5}',
    b'{"bidder": 99999999999999999999999}',
    b'{"auction": ' + b"[" * 1_000 + b"]" * 1_000 + b"}",
    b"\0\0\0\0\1\2",
)


def bad_among(values: Iterator[bytes], *, every: int) -> Iterator[bytes | None]:
    """Yield the values with every so many replaced by one that cannot be read."""
    for number, value in enumerate(values):
        yield BAD[number // every % len(BAD)] if number % every == 0 else value


def load(
    addresses: str, topic: str, count: int, *, values: Iterator[bytes | None] | None = None
) -> None:
    producer = Producer(
        {
            "bootstrap.servers": addresses,
            "linger.ms": 50,
            "compression.type": "lz4",
            "queue.buffering.max.messages": 2_000_000,
        }
    )
    for number, value in enumerate(values or bids(count)):
        producer.produce(topic, value, key=str(number % 1_000).encode())
        if number % 10_000 == 0:
            producer.poll(0)
    producer.flush()
