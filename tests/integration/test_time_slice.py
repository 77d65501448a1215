"""Where times lie in topics of a real broker."""

import random

from orion.app import App
from orion.log import Record, TopicTimes, produce

_BEGIN_MS = 1_700_000_000_000


def test_times_of_records_and_of_events_are_found(app: App, topic: str) -> None:
    app.topics.create(topic, partitions=1, configs={"retention.ms": "-1"})
    # Their values hold times of their own, twice as far apart; every third has none.
    records = [
        Record(b"%d" % (2 * n) if n % 3 else b"?", partition=0, timestamp_ms=_BEGIN_MS + n)
        for n in range(400)
    ]
    produce(app.connection, topic, records)
    place = (topic, 0)
    by_log = TopicTimes(app.connection, {})
    assert by_log.times_at({place: 7}) == {place: _BEGIN_MS + 7}
    assert by_log.times_at({place: 400}) == {}
    assert by_log.offsets_at({place: (0, 400)}, _BEGIN_MS + 50) == {place: 50}
    by_value = TopicTimes(app.connection, {topic: _value})
    assert by_value.times_at({place: 9}) == {place: 20}
    # The record at 249 cannot be read, and goes with the next one.
    assert by_value.offsets_at({place: (0, 400)}, 500) == {place: 249}
    assert by_value.offsets_at({place: (0, 100)}, 500) == {place: 100}
    # Where no time can be read, the log's own counts: a topic of such records stops nothing.
    by_none = TopicTimes(app.connection, {topic: lambda _: None})
    assert by_none.times_at({place: 0}) == {place: _BEGIN_MS + 100}
    assert by_none.times_at({place: 350}) == {}


def _value(record: Record) -> int | None:
    text = record.value or b""
    return int(text) if text.isdigit() else None


def test_every_partition_answers_where_batches_are_large(app: App, topic: str) -> None:
    """Brokers fill an answer with the first partition that is asked for, and leave others out.

    A second for each of those would be more than a look-up may take.
    """
    app.topics.create(topic, partitions=24, configs={"retention.ms": "-1"})
    noise = random.Random(1)
    records = [
        Record(noise.randbytes(500), partition=partition, timestamp_ms=_BEGIN_MS + n)
        for partition in range(24)
        for n in range(1_000)
    ]
    produce(app.connection, topic, records)
    times = TopicTimes(app.connection, {topic: lambda record: record.timestamp_ms})
    places = {(topic, partition): 10 * partition for partition in range(24)}
    wanted = {(topic, partition): _BEGIN_MS + 10 * partition for partition in range(24)}
    assert times.times_at(places) == wanted
    ranges = dict.fromkeys(places, (0, 1_000))
    assert times.offsets_at(ranges, _BEGIN_MS + 420) == dict.fromkeys(places, 420)
