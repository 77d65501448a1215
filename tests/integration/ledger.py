"""The books of a kill test: what was acknowledged, and what every sink holds."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from orion.lake import Lake
from orion.log import Connection, Record, Selection, consume, produce

KEYS = 20
# For processes that are killed before thorough compilation pays: a tenth less time.
SHORT_LIVED = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1"}


@dataclass
class Ledger:
    """Writes numbered records and remembers those the log acknowledged."""

    connection: Connection
    topic: str
    acknowledged: list[int] = field(default_factory=list)
    bad: int = 0

    def write(self, count: int) -> None:
        """Write the next records, one in fifty unreadable; every one must be acknowledged."""
        first = len(self.acknowledged) + self.bad
        records, numbers = [], []
        for number in range(first, first + count):
            key = str(number % KEYS).encode()
            if number % 50 == 49:
                records.append(Record(b"{not json", key=key))
                continue
            numbers.append(number)
            records.append(Record(json.dumps({"id": number}).encode(), key=key))
        produce(self.connection, self.topic, records)
        self.acknowledged += numbers
        self.bad += count - len(numbers)


def check_topic(ledger: Ledger, topic: str) -> None:
    """Every acknowledged record is there once, in order within its key."""
    found: dict[bytes, list[int]] = defaultdict(list)
    for record in consume(ledger.connection, Selection(topic)):
        found[record.key or b""].append(json.loads(record.value or b"")["id"])
    _check_ids([number for numbers in found.values() for number in numbers], ledger.acknowledged)
    for numbers in found.values():
        assert numbers == sorted(numbers)


def check_table(ledger: Ledger, lake: Lake, table: str) -> None:
    """Every acknowledged record is in the table once."""
    _check_ids(lake.read(table).column("id").to_pylist(), ledger.acknowledged)


def check_dead_letters(ledger: Ledger, topic: str) -> None:
    """Every unreadable record is a dead letter once."""
    places = [
        tuple(record.headers[-6:-3]) for record in consume(ledger.connection, Selection(topic))
    ]
    assert len(places) == len(set(places)) == ledger.bad


def _check_ids(found: Iterable[int], expected: list[int]) -> None:
    counts = Counter(found)
    doubled = [number for number, count in counts.items() if count > 1]
    lost = sorted(set(expected) - set(counts))
    strange = sorted(set(counts) - set(expected))
    assert (doubled, lost, strange) == ([], [], [])
