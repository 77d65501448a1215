"""Ten kinds of bad records among good ones: each set aside once, and sent back to the byte."""

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from orion.lake import Lake
from orion.log import PROCESSING_LOG_TOPIC, Record, Selection, Topics, consume
from orion.testing.kafka import KafkaServer
from orion.testing.spark import Pipelines

pytestmark = pytest.mark.timeout(400)

GOOD = 1_000
# An hour ago: older records would fall to the topic's retention.
START_MS = int(time.time() * 1_000) - 3_600_000
DEEP = b'{"id": 7, "amount": ' + b"[" * 1_000 + b"]" * 1_000 + b"}"
# A kind of bad record and a part of the reason that it must be given.
BAD: dict[str, tuple[bytes | None, str]] = {
    "empty": (b"", "the value is empty"),
    "null": (None, "the value is null"),
    "invalid-utf8": (b'{"id": 1, "name": "\xc3\x28"}', "not valid UTF-8"),
    "truncated": (b'{"id": 1, "amount": 2, "na', "not valid JSON"),
    "wrong-type": (b'{"id": "one", "amount": 2}', "field 'id' is not BIGINT"),
    "overflow": (b'{"id": 9223372036854775808, "amount": 2}', "field 'id' is not BIGINT"),
    "huge": (b"\x01" * 10_000_000, "not valid JSON"),
    "deep": (DEEP, "field 'amount' is not INTEGER"),
    "confluent-framed": (b"\x00\x00\x00\x00\x2a" + b'{"id": 1, "amount": 2}', "not valid JSON"),
    "avro-like": (b"\x02\xf6\x01\x0cgarbage\xfe\xff\x00", "not valid UTF-8"),
}
HEADERS: list[tuple[str, str | bytes | None]] = [
    ("trace", b"\x00\xff"),
    ("nothing", None),
    ("trace", b"again"),
]

PIPELINE = """
import orion

orders = orion.stream("{topic}", "id BIGINT, amount INT, name STRING")
orion.to_topic(orders, "{topic}-out", name="{topic}-to-topic")
orion.to_table(orders, "silver", name="{topic}-to-table")
"""


@dataclass(frozen=True)
class Shop:
    """A topic that was read once, bad records and all."""

    topic: str
    pipelines: Pipelines
    kafka: KafkaServer

    @property
    def query(self) -> str:
        return f"{self.topic}-to-topic"

    def records(self, topic: str) -> list[Record]:
        return list(consume(self.kafka.connection, Selection(topic)))

    def originals(self) -> dict[str, Record]:
        """The bad records as they were written first, by kind."""
        found = sorted(self.records(self.topic), key=lambda r: -(r.offset or 0))
        return {_kind(record): record for record in found if _kind(record) in BAD}


def _kind(record: Record) -> str:
    return (record.key or b"").decode()


def _write_orders(kafka: KafkaServer, topic: str) -> None:
    """Write the good records with a bad one after every hundredth."""
    producer = kafka.connection.producer(message_max_bytes=12_000_000)
    kinds = iter(BAD)
    for number in range(GOOD):
        body = json.dumps({"id": number, "amount": number % 7, "name": f"n{number}"}).encode()
        producer.produce(topic, body, key=f"good-{number}".encode(), timestamp=START_MS)
        if number % 100 == 50:
            kind = next(kinds)
            producer.produce(
                topic,
                BAD[kind][0],
                key=kind.encode(),
                headers=HEADERS,
                timestamp=START_MS - 1_000 + number,
            )
    assert producer.flush(30) == 0


@pytest.fixture(scope="module")
def shop(kafka: KafkaServer, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    topic = f"orders-{uuid.uuid4().hex[:8]}"
    Topics(kafka.connection).create(topic, partitions=3)
    _write_orders(kafka, topic)
    pipelines = Pipelines(tmp_path_factory.mktemp("shop"), kafka.addresses)
    pipelines.run_once(PIPELINE.format(topic=topic), name="shop")
    return Shop(topic, pipelines, kafka)


def _place(record: Record) -> tuple[int | None, int | None]:
    return record.partition, record.offset


def test_good_rows_reach_the_topic_unharmed(shop: Shop) -> None:
    out = [json.loads(record.value or b"") for record in shop.records(f"{shop.topic}-out")]
    wanted = [{"id": n, "amount": n % 7, "name": f"n{n}"} for n in range(GOOD)]
    assert sorted(out, key=lambda row: int(row["id"])) == wanted


def test_good_rows_reach_the_table_unharmed(shop: Shop) -> None:
    lake = Lake(str(shop.pipelines.folder / ".orion" / "lake"))
    rows = lake.read("silver").select(["id", "amount", "name"]).sort_by("id").to_pylist()
    assert rows == [{"id": n, "amount": n % 7, "name": f"n{n}"} for n in range(GOOD)]


@pytest.mark.parametrize("sink", ["topic", "table"])
def test_each_bad_record_is_set_aside_once_with_its_reason(shop: Shop, sink: str) -> None:
    letters = shop.pipelines.read_json(
        "dlq", "show", f"{shop.topic}-to-{sink}", "-n", str(2 * len(BAD))
    )
    kinds = Counter(letter["key"] for letter in letters)
    assert kinds == Counter(list(BAD))
    for letter in letters:
        assert BAD[letter["key"]][1] in letter["reason"], letter["key"]
    originals = shop.originals()
    places = {letter["key"]: (letter["partition"], letter["offset"]) for letter in letters}
    assert places == {kind: _place(record) for kind, record in originals.items()}


def test_the_processing_log_tells_the_same(shop: Shop) -> None:
    entries = [json.loads(record.value or b"") for record in shop.records(PROCESSING_LOG_TOPIC)]
    own = [e for e in entries if e["LOGGER"] == f"processing.{shop.query}.deserializer"]
    reasons = sorted(e["MESSAGE"]["deserializationError"]["errorMessage"] for e in own)
    assert len(reasons) == len(BAD)
    assert all(any(part in reason for reason in reasons) for _, part in BAD.values())


def test_the_list_counts_and_the_page_is_safe_to_print(shop: Shop) -> None:
    listed = {found["query"]: found for found in shop.pipelines.read_json("dlq", "list")}
    found = listed[f"{shop.topic}-to-table"]
    assert (found["total"], found["waiting"]) == (len(BAD), len(BAD))
    assert found["oldest_ms"] == START_MS - 950
    page = shop.pipelines.succeed("dlq", "show", shop.query)
    assert "hex 02f6010c67617262616765feff00" in page
    assert "(9.5 MiB)" in page
    assert "nothing=null" in page
    assert not [c for c in page if not c.isprintable() and c != "\n"]


def test_queries_name_their_dead_letters(shop: Shop) -> None:
    described = shop.pipelines.read_json("queries", "describe", shop.query)
    assert described["state"] == "STOPPED"
    assert described["dead_letters_total"] == len(BAD)
    assert described["lag_records"] == 0
    assert "exactly once" in described["guarantee"]


def test_an_unknown_query_has_no_dead_letters(shop: Shop) -> None:
    missing = shop.pipelines.orion("dlq", "show", shop.query + "s")
    assert missing.returncode == 3
    assert f"Did you mean '{shop.query}'?" in missing.stderr.replace("\n", " ")


def test_redriven_records_are_the_originals_to_the_byte(shop: Shop) -> None:
    before = {(r.partition, r.offset) for r in shop.records(shop.topic)}
    refused = shop.pipelines.orion("dlq", "redrive", shop.query)
    assert refused.returncode == 2
    assert "--yes" in refused.stderr

    def redrive(*words: str) -> int:
        done = shop.pipelines.read_json("dlq", "redrive", shop.query, "--yes", *words)
        return int(done["redriven"])

    assert redrive("--max", "3") == 3
    assert redrive() == len(BAD) - 3
    assert redrive() == 0

    written = [r for r in shop.records(shop.topic) if _place(r) not in before]
    originals = shop.originals()
    assert Counter(map(_kind, written)) == Counter(list(BAD))
    for record in written:
        original = originals[_kind(record)]
        assert (record.value, record.headers) == (original.value, original.headers)
        assert (record.timestamp_ms, record.partition) == (
            original.timestamp_ms,
            original.partition,
        )
    listed = {found["query"]: found["waiting"] for found in shop.pipelines.read_json("dlq", "list")}
    assert listed[shop.query] == 0
    assert listed[f"{shop.topic}-to-table"] == len(BAD)


def test_a_record_without_its_topic_is_refused_and_stays(
    shop: Shop, kafka: KafkaServer, make_letter: Callable[[str, str], None], topic: str
) -> None:
    make_letter(topic, f"{topic}-gone")
    refused = shop.pipelines.orion("dlq", "redrive", topic, "--yes")
    assert refused.returncode == 3
    assert f"{topic}-gone" in refused.stderr.replace("\n", "")
    listed = {found["query"]: found["waiting"] for found in shop.pipelines.read_json("dlq", "list")}
    assert listed[topic] == 1


@pytest.fixture
def make_letter(kafka: KafkaServer) -> Callable[[str, str], None]:
    from orion.log import DeadLetter, encode_dead_letters

    def make(query: str, source: str) -> None:
        record = Record(b"?", topic=source, partition=0, offset=0, timestamp_ms=1)
        encoded = encode_dead_letters([DeadLetter(record, query, "why")], f"{query}.dlq")
        Topics(kafka.connection).create(encoded.topic, partitions=1)
        assert encoded.headers
        producer = kafka.connection.producer()
        producer.produce(encoded.topic, encoded.values[0], headers=list(encoded.headers[0] or ()))
        assert producer.flush(20) == 0

    return make


def test_no_dead_letters_is_said(kafka: KafkaServer, tmp_path: Path) -> None:
    quiet = Pipelines(tmp_path, kafka.addresses)
    (tmp_path / "orion.toml").write_text('[engine]\ndead_letter_suffix = ".none"\n')
    assert "every record could be read" in quiet.succeed("dlq", "list")
