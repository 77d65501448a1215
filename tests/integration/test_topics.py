"""`orion topics` and the log room against a real broker."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from orion.log import (
    ProduceError,
    ProtectedTopicError,
    Record,
    Selection,
    Start,
    TopicExistsError,
    TopicNotFoundError,
    Topics,
    consume,
    decode_line,
    find_risks,
    produce,
)
from orion.testing.kafka import KafkaServer
from orion.testing.wait import wait_until

ORION = str(Path(sys.executable).with_name("orion"))
# Records of 1970 would be gone at the broker's next look at retention.
FOR_EVER = {"retention.ms": "-1"}
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def environment(kafka: KafkaServer, tmp_path: Path) -> dict[str, str]:
    given = {"ORION_KAFKA_BOOTSTRAP_SERVERS": kafka.addresses, "ORION_PROJECT": str(tmp_path)}
    return {**os.environ, **given, "COLUMNS": "80"}


@pytest.fixture
def orion(environment: dict[str, str]) -> Run:
    def run(*words: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [ORION, *words], input=stdin, capture_output=True, env=environment, timeout=60
        )

    return run


@pytest.fixture
def topics(kafka: KafkaServer) -> Topics:
    return Topics(kafka.connection)


def _read(kafka: KafkaServer, topic: str, **options: Any) -> list[Record]:
    return list(consume(kafka.connection, Selection(topic, **options)))


def _json(done: "subprocess.CompletedProcess[bytes]") -> Any:
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_a_topic_lives_from_create_to_delete(orion: Run, topic: str) -> None:
    made = orion("topics", "create", topic, "-p", "3", "-c", "retention.ms=7d", "--json")
    assert _json(made)["partitions"] == 3
    again = orion("topics", "create", topic)
    assert again.returncode == 4
    assert b"exists already" in again.stderr
    assert _json(orion("topics", "create", topic, "--if-not-exists", "--json"))["created"] is False
    assert topic in [found["topic"] for found in _json(orion("topics", "list", "--json"))]
    assert _json(orion("topics", "describe", topic, "--json"))["configs"] == {
        "retention.ms": "604800000"
    }
    refused = orion("topics", "delete", topic)
    assert refused.returncode == 2
    assert b"--yes" in refused.stderr
    assert _json(orion("topics", "delete", topic, "--yes", "--json")) == {"deleted": [topic]}
    assert orion("topics", "describe", topic).returncode == 3


def test_describe_fits_eighty_columns_and_names_risks(
    orion: Run, topics: Topics, topic: str
) -> None:
    topics.create(topic, partitions=1, configs={"retention.ms": "-1"})
    shown = orion("topics", "describe", topic).stdout.decode()
    assert "unlimited" in shown
    assert shown.count("warning:") == shown.count("fix:") == 3
    assert max(len(line) for line in shown.splitlines() if topic not in line) <= 80


def test_a_topic_tells_offsets_size_and_leaders(
    kafka: KafkaServer, topics: Topics, topic: str
) -> None:
    topics.create(topic, partitions=2)
    produce(kafka.connection, topic, [Record(b"x" * 100, partition=1)] * 5)
    first, second = topics.get(topic).partitions
    assert (first.records, second.start_offset, second.end_offset) == (0, 0, 5)
    assert second.leader in second.replicas
    assert second.in_sync == second.replicas
    assert second.size_bytes is not None
    assert second.size_bytes > 0 == first.size_bytes
    assert find_risks(topics.get(topic), topics.configs(topic), brokers=topics.broker_count())


def test_topic_errors_say_what_and_what_instead(topics: Topics, topic: str) -> None:
    topics.create(topic)
    with pytest.raises(TopicExistsError):
        topics.create(topic)
    with pytest.raises(TopicNotFoundError, match=f"Did you mean '{topic}'"):
        topics.get(f"{topic}x")
    with pytest.raises(ProtectedTopicError):
        topics.delete("__consumer_offsets")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("create", "bad name!"), 2, "contains one or more characters"),
        (("create", "t", "--replication", "9"), 2, "replication factor of 9"),
        (("create", "t", "-c", "retention.ms=soon"), 2, "Duration 'soon'"),
        (("create", "t", "-c", "retention.mss=1"), 2, "Unknown topic config name"),
        (("create", "t", "-c", "cleanup.policy=burn"), 2, "burn"),
        (("describe", "no-such-topic"), 3, "does not exist"),
        (("produce", "no-such-topic", "-v", "x"), 3, "does not exist"),
        (("consume", "no-such-topic"), 3, "does not exist"),
        (("consume", "t", "--from", "soon"), 2, "Time 'soon'"),
        (("consume", "t", "--offset", "3"), 2, "--partition"),
        (("consume", "t", "--from", "1h", "--from-beginning"), 2, "exclude each other"),
        (("produce", "t", "-v", "x", "--json-lines"), 2, "exclude each other"),
        (("produce", "t", "--tombstone"), 2, "needs a key"),
        (("produce", "t", "-v", "x", "-H", "novalue"), 2, "name=value"),
        (("produce", "_orion_commands", "-v", "x"), 4, "internal"),
    ],
)
def test_mistakes_get_an_exit_code_and_a_fix(
    orion: Run, words: tuple[str, ...], code: int, said: str
) -> None:
    done = orion("topics", *words)
    text = " ".join(done.stderr.decode().split())
    assert done.returncode == code, text
    assert said in text
    assert "fix:" in text


def test_configuration_is_shown_set_and_unset(orion: Run, topics: Topics, topic: str) -> None:
    topics.create(topic)
    assert b"overrides nothing" in orion("topics", "config", "show", topic).stdout
    done = orion("topics", "config", "set", topic, "retention.ms=1h", "segment.bytes=64m")
    assert done.returncode == 0
    shown = _json(orion("topics", "config", "show", topic, "--json"))
    assert {c["name"]: c["value"] for c in shown} == {
        "retention.ms": "3600000",
        "segment.bytes": "67108864",
    }
    unset = orion("topics", "config", "unset", topic, "retention.ms")
    assert b"now 7d" in unset.stdout
    wrong = orion("topics", "config", "set", topic, "retentoin.ms=1h")
    assert wrong.returncode == 2
    assert b"'retention.ms'" in wrong.stderr
    assert orion("topics", "config", "set", topic, "retention.ms=-5").returncode == 2
    assert [c.name for c in topics.configs(topic).values() if c.is_overridden] == ["segment.bytes"]


def test_a_topic_grows_but_never_shrinks(orion: Run, topics: Topics, topic: str) -> None:
    topics.create(topic, partitions=2)
    assert orion("topics", "add-partitions", topic, "4").returncode == 0
    assert len(topics.get(topic).partitions) == 4
    assert orion("topics", "add-partitions", topic, "1").returncode == 2


def test_records_round_trip_byte_for_byte(
    orion: Run, kafka: KafkaServer, topics: Topics, topic: str
) -> None:
    records = [
        Record(b"text", key=b"k", headers=(("h", b"1"), ("h", None)), timestamp_ms=1_000),
        Record(None, key=b"k", timestamp_ms=2_000),
        Record(b"", key=b"", timestamp_ms=3_000),
        Record(b"\xff\x00\n", key=None, headers=(("b", b"\xfe"),), timestamp_ms=4_000),
        Record('{"é":\u2028"x"}'.encode(), timestamp_ms=5_000),
    ]
    copy = f"{topic}-copy"
    topics.create(topic, partitions=1, configs=FOR_EVER)
    topics.create(copy, partitions=1, configs=FOR_EVER)
    assert produce(kafka.connection, topic, records) == 5
    lines = orion("topics", "consume", topic, "--json").stdout
    assert _json(orion("topics", "produce", copy, "--json-lines", "--json", stdin=lines)) == {
        "topic": copy,
        "delivered": 5,
        "failed": 0,
    }
    read = _read(kafka, copy)
    assert [(r.key, r.value, r.headers, r.timestamp_ms) for r in read] == [
        (r.key, r.value, r.headers, r.timestamp_ms) for r in records
    ]
    assert [decode_line(line).offset for line in lines.splitlines()] == [0, 1, 2, 3, 4]


def test_lines_options_and_tombstones_become_records(
    orion: Run, kafka: KafkaServer, topics: Topics, topic: str
) -> None:
    topics.create(topic, partitions=2, configs=FOR_EVER)
    words = ("topics", "produce", topic, "--partition", "1")
    assert orion(*words, "-K", ":", stdin=b"a:1\nb:2:3\nc:").returncode == 0
    assert orion(*words, "-k", "a", "--tombstone").returncode == 0
    assert orion(*words, "-v", "x", "-H", "n=1", "--timestamp", "7000").returncode == 0
    assert orion(*words, stdin=b"").stdout.startswith(b"Wrote 0 records")
    read = _read(kafka, topic)
    expected = [(b"a", b"1"), (b"b", b"2:3"), (b"c", b""), (b"a", None), (None, b"x")]
    assert [(r.key, r.value) for r in read] == expected
    assert (read[-1].headers, read[-1].timestamp_ms) == ((("n", b"1"),), 7_000)
    shown = orion("topics", "consume", topic, "-K", "=", "--print-offset", "--print-headers").stdout
    assert shown.splitlines()[-2:] == [b"1:3\t\ta=null", b"1:4\tn=1\tnull=x"]


def test_a_bad_line_stops_the_input_and_says_what_was_written(
    orion: Run, kafka: KafkaServer, topics: Topics, topic: str
) -> None:
    topics.create(topic)
    done = orion("topics", "produce", topic, "-K", ":", stdin=b"a:1\nb:2\nno separator\nd:4\n")
    assert done.returncode == 2
    assert b"2 record(s) before it were written" in done.stderr
    assert b"Line 3" in done.stderr
    assert len(_read(kafka, topic)) == 2


def test_what_kafka_refuses_is_reported_with_its_record(
    orion: Run, kafka: KafkaServer, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic, partitions=1, configs={"max.message.bytes": "2000"})
    noise = os.urandom(4_000)
    with pytest.raises(ProduceError) as caught:
        produce(kafka.connection, topic, [Record(b"a"), Record(noise), Record(b"b")])
    error = caught.value
    assert (error.failed, error.delivered) == (1, 2)
    assert error.failures[0].record.value == noise
    assert [r.value for r in _read(kafka, topic)] == [b"a", b"b"]
    line, failed = noise.replace(b"\n", b""), tmp_path / "failed.jsonl"
    done = orion("topics", "produce", topic, "--failed", str(failed), stdin=line + b"\nok\n")
    assert done.returncode == 1
    assert b"not written" in done.stderr
    assert [decode_line(text).value for text in failed.read_bytes().splitlines()] == [line]
    topics.set_configs(topic, {}, unset=["max.message.bytes"])
    again = orion("topics", "produce", topic, "--json-lines", stdin=failed.read_bytes())
    assert again.returncode == 0
    assert _read(kafka, topic)[-1].value == line


def test_reading_starts_and_stops_where_asked(
    orion: Run, kafka: KafkaServer, topics: Topics, topic: str
) -> None:
    topics.create(topic, partitions=2, configs=FOR_EVER)
    records = [Record(str(n).encode(), timestamp_ms=1_000 * n, partition=0) for n in range(1, 11)]
    produce(kafka.connection, topic, [*records, Record(b"other", timestamp_ms=1, partition=1)])

    def values(**options: Any) -> list[int]:
        found = _read(kafka, topic, partitions=(0,), **options)
        return [int(record.value or b"") for record in found]

    assert values(start=Start.beginning(), limit=2) == [1, 2]
    assert values(start=Start.offset(8)) == [9, 10]
    assert values(start=Start.instant(9_500)) == [10]
    assert values(start=Start.instant(99_000)) == []
    assert values(start=Start.end()) == []
    assert values(limit=0) == []
    assert len(_read(kafka, topic)) == 11
    shown = orion("topics", "consume", topic, "--from", "1970-01-01T00:00:09.5+00:00")
    assert shown.stdout == b"10\n"
    assert orion("topics", "consume", topic, "-p", "0", "-o", "99").returncode == 2
    assert orion("topics", "consume", topic, "-p", "7").returncode == 3


def test_open_and_aborted_transactions_are_left_out(
    kafka: KafkaServer, topics: Topics, topic: str
) -> None:
    topics.create(topic, partitions=1)
    options = {"bootstrap.servers": kafka.addresses, "transactional.id": topic}
    writer = Producer(options)
    writer.init_transactions()
    for value, end in (
        (b"kept", writer.commit_transaction),
        (b"dropped", writer.abort_transaction),
    ):
        writer.begin_transaction()
        writer.produce(topic, value)
        writer.flush()
        end()
    writer.begin_transaction()
    writer.produce(topic, b"open")
    writer.flush()
    assert [r.value for r in _read(kafka, topic)] == [b"kept"]
    every = _read(kafka, topic, committed=False)
    assert [r.value for r in every] == [b"kept", b"dropped", b"open"]
    writer.abort_transaction()


@pytest.fixture
def follower(
    environment: dict[str, str], topics: Topics, topic: str
) -> Iterator["subprocess.Popen[bytes]"]:
    topics.create(topic, partitions=1)
    words = [ORION, "topics", "consume", topic, "--follow", "--from-beginning"]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    yield process
    process.kill()
    process.communicate()


def test_a_follower_sees_new_records_and_ends_with_ctrl_c(
    kafka: KafkaServer, topic: str, follower: "subprocess.Popen[bytes]"
) -> None:
    assert follower.stdout is not None
    for value in (b"first", b"second"):
        produce(kafka.connection, topic, [Record(value)])
        assert follower.stdout.readline() == value + b"\n"
    follower.send_signal(signal.SIGINT)
    _, complaints = follower.communicate(timeout=10)
    assert (follower.returncode, complaints) == (0, b"")


def test_a_reader_that_goes_away_ends_the_command_in_silence(
    kafka: KafkaServer, topics: Topics, topic: str, environment: dict[str, str]
) -> None:
    topics.create(topic)
    produce(kafka.connection, topic, [Record(b"x" * 1_000)] * 2_000)
    with subprocess.Popen(
        [ORION, "topics", "consume", topic],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_no_broker_is_an_error_that_may_be_retried(environment: dict[str, str]) -> None:
    nowhere = {**environment, "ORION_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"}
    done = subprocess.run(
        [ORION, "topics", "list", "--json"], capture_output=True, env=nowhere, timeout=60
    )
    assert done.returncode == 5
    assert json.loads(done.stderr)["error"] == "BrokerUnreachableError"


def test_the_shell_completes_names_and_stays_silent_without_a_broker(
    environment: dict[str, str], topics: Topics, topic: str
) -> None:
    topics.create(topic)
    asked = {
        "_ORION_COMPLETE": "complete_bash",
        "COMP_WORDS": f"orion topics describe {topic[:-2]}",
        "COMP_CWORD": "3",
        "_TYPER_COMPLETE_ARGS": f"orion topics describe {topic[:-2]}",
    }

    def complete(addresses: str) -> "subprocess.CompletedProcess[str]":
        given = {**environment, **asked, "ORION_KAFKA_BOOTSTRAP_SERVERS": addresses}
        return subprocess.run([ORION], capture_output=True, text=True, env=given, timeout=30)

    found = complete(environment["ORION_KAFKA_BOOTSTRAP_SERVERS"])
    assert topic in found.stdout.splitlines()
    lost = complete("127.0.0.1:1")
    assert (lost.stdout.strip(), lost.stderr) == ("", "")


def test_an_interrupted_producer_has_written_what_it_read(
    kafka: KafkaServer, topics: Topics, topic: str, environment: dict[str, str]
) -> None:
    topics.create(topic, partitions=1)
    with subprocess.Popen(
        [ORION, "topics", "produce", topic],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"one\ntwo\n")
        process.stdin.flush()
        wait_until(lambda: len(_read(kafka, topic)) == 2, what="Two records")
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"2 record(s) before it were written" in complaints
