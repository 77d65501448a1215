"""Queries over topics as they grow: output, dead letters, and tables that answer."""

import json
import random
import re
import shutil
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_END, TopicPartition
from pyspark.sql import DataFrame

from orion.formats import Schema, SchemaKind, header
from orion.log import PROCESSING_LOG_TOPIC, DeadLetters, Groups, Record, Tail
from orion.model import State
from orion.process.plan import makes_many_of_one
from orion.process.sql.succession import Phase, Succession
from orion.sql import Started
from orion.testing import wait_until
from orion.views import Views
from tests.integration.bench import Bench


def test_streams_tables_and_answers(bench: Bench, topic: str) -> None:
    name = topic.replace("-", "_")
    bench.sql(f"""
        CREATE STREAM {name} (user STRING KEY, page STRING, ms INT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=2);
        CREATE STREAM {name}_slow AS SELECT user, UCASE(page) AS page FROM {name} WHERE ms > 10;
        CREATE TABLE {name}_users AS SELECT user, COUNT(*) AS n, SUM(ms) AS ms FROM {name}
          GROUP BY user;
    """)
    good: list[tuple[str | None, bytes | None]] = [
        (f"u{n % 3}", json.dumps({"page": "p", "ms": n}).encode()) for n in range(30)
    ]
    bench.write(topic, [*good[:15], ("u1", b"{no json"), ("u2", b'{"ms": "x"}'), *good[15:]])
    bench.settle()
    slow = bench.read(f"{name.upper()}_SLOW")
    assert len(slow) == 19
    assert all(row == {"PAGE": "P"} for _, row in slow)
    letters = DeadLetters(bench.app.connection, bench.app.settings.engine.dead_letter_suffix)
    for query in bench.queries:
        reasons = [record.value for record in _letters(bench, letters.topic(query))]
        assert sorted(reasons, key=str) == [b'{"ms": "x"}', b"{no json"]
    views = Views(bench.app.connection, None)
    try:
        users = f"{name}_users"
        assert bench.ask(f"SELECT * FROM {users} WHERE user = 'u1';", views) == [["u1", 10, 145]]
        assert bench.ask(f"SELECT user, ms / n AS a FROM {users} WHERE n >= 10;", views) == [
            ["u0", 13],
            ["u1", 14],
            ["u2", 15],
        ]
        assert bench.ask(f"SELECT user FROM {users} WHERE user IN ('u0', 'u9');", views) == [["u0"]]
        bench.write(topic, [("u1", b'{"page": "q", "ms": 5}')])
        bench.settle()
        assert bench.ask(f"SELECT n FROM {users} WHERE user = 'u1';", views) == [[11]]
    finally:
        views.close()


def test_only_statements_that_explode_have_their_rows_counted(bench: Bench, topic: str) -> None:
    """Counting costs; operators with state of their own bound what they make by themselves."""
    name = topic.replace("-", "_")
    bench.plan(f"""
        CREATE STREAM {name} (k STRING KEY, many ARRAY<INT>)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=2);
    """)
    made = f"CREATE STREAM {name}_"
    assert makes_many_of_one(bench.rows(f"{made}1 AS SELECT k, EXPLODE(many) AS x FROM {name};"))
    assert not makes_many_of_one(bench.rows(f"{made}2 AS SELECT k, many[1] AS x FROM {name};"))
    joined = f"{name} a JOIN {name}_2 b WITHIN 1 DAY ON a.k = b.k"
    assert not makes_many_of_one(bench.rows(f"{made}3 AS SELECT a.k, b.x FROM {joined};"))


def test_tasks_give_spark_what_somebody_asks_for(bench: Bench, topic: str) -> None:
    """Spark unpacks every value of every row that comes from Python, read or not."""
    name = topic.replace("-", "_")
    bench.plan(f"""
        CREATE STREAM {name} (k STRING KEY, x INT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=2);
    """)
    query = f"AS SELECT k, COUNT(*) AS n FROM {name} GROUP BY k"
    # Key, count, time, whether it is absent, headers.
    assert columns_of_last_task(bench.rows(f"CREATE TABLE {name}_1 {query};")) == 5
    # The count before, whether there was one.
    held = bench.rows(f"CREATE TABLE {name}_2 {query} HAVING COUNT(*) > 1;")
    assert columns_of_last_task(held) == 7
    # Rows that may have a time which no record can have are told apart by their places.
    timed = f"CREATE TABLE {name}_3 WITH (TIMESTAMP='n') {query};"
    assert columns_of_last_task(bench.rows(timed)) == 6


def columns_of_last_task(rows: DataFrame) -> int:
    plan = rows._jdf.queryExecution().analyzed()
    while plan.nodeName() != "MapInArrow":
        plan = plan.children().head()
    return int(plan.output().length())


def test_topics_with_a_history_are_read_in_step(bench: Bench, topic: str) -> None:
    """Each event meets the row that its table had at that time, however late both are read."""
    name = topic.replace("-", "_")
    bench.plan(f"""
        CREATE TABLE {name} (k STRING PRIMARY KEY, price INT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=2, RETENTION_MS=-1);
    """)
    bench.plan(f"""
        CREATE STREAM {name}_s (k STRING KEY, n INT)
          WITH (KAFKA_TOPIC='{topic}-s', VALUE_FORMAT='JSON', PARTITIONS=3, RETENTION_MS=-1);
    """)
    chance = random.Random(5)
    prices: dict[str, int] = {}
    rows, events, wanted = list[Record](), list[Record](), dict[int, int]()
    for n in range(300):
        key, time_ms = f"k{chance.randrange(20)}", 1_700_000_000_000 + n * 10
        # At first only rows, then more and more events: one topic is read through long before.
        if chance.random() > n / 300:
            prices[key] = n
            rows.append(Record(b'{"price": %d}' % n, key.encode(), timestamp_ms=time_ms))
        else:
            events.append(Record(b'{"n": %d}' % n, key.encode(), timestamp_ms=time_ms))
            if key in prices:
                wanted[n] = prices[key]
    bench.load(f"{topic}-s", events)
    bench.load(topic, rows)
    bench.most = 50
    joined = f"{name}_s s JOIN {name} t ON s.k = t.k"
    bench.sql(
        f"CREATE STREAM {name}_j AS SELECT s.k AS k, s.n AS n, t.price AS price FROM {joined};"
    )
    sink = f"{name}_J".upper()
    wait_until(lambda: bench.read(sink) != [], timeout_s=60, what="The first events")
    # A run that begins in the middle of it.
    bench.order("stop")
    assert len(bench.read(sink)) < len(wanted)
    bench.order("restart")
    bench.settle()
    assert {row["N"]: row["PRICE"] for _, row in bench.read(sink)} == wanted
    assert len(bench.read(sink)) == len(wanted)
    # With nothing left to catch up with, new records are read as they come.
    last = Record(b'{"n": 5000}', rows[0].key, timestamp_ms=1_700_000_100_000)
    bench.send(f"{topic}-s", [last])
    bench.settle()
    assert bench.read(sink)[-1][1] is not None
    assert len(bench.read(sink)) == len(wanted) + 1
    # A burst that is larger than a batch.
    bench.load(
        f"{topic}-s", [replace(last, timestamp_ms=1_700_000_200_000 + n) for n in range(100)]
    )
    bench.settle()
    assert len(bench.read(sink)) == len(wanted) + 101


@pytest.mark.parametrize("most", [None, 60])
def test_streams_that_were_filled_one_after_the_other_meet(
    bench: Bench, topic: str, most: int | None
) -> None:
    """Their events' times count, however large the topics are: none is too late for the other."""
    name, begin_ms = topic.replace("-", "_"), 1_700_000_000_000
    for side, column in (("l", "ts BIGINT"), ("r", "ts STRING")):
        text = ", TIMESTAMP_FORMAT='yyyy-MM-dd HH:mm:ss.SSSX'" if side == "r" else ""
        bench.plan(f"""
            CREATE STREAM {name}_{side} (k STRING KEY, n INT, {column})
              WITH (KAFKA_TOPIC='{topic}-{side}', VALUE_FORMAT='JSON', PARTITIONS=2,
                RETENTION_MS=-1, TIMESTAMP='ts'{text});
        """)
    left = [json.dumps({"n": n, "ts": begin_ms + n * 10_000}) for n in range(200)]
    moments = [datetime.fromtimestamp(begin_ms / 1000 + n * 10 + 1, UTC) for n in range(200)]
    right = [
        json.dumps({"n": n, "ts": f"{moment:%Y-%m-%d %H:%M:%S}.000Z"})
        for n, moment in enumerate(moments)
    ]
    unreadable = [Record(b"{")] * 3
    for side, values in (("l", left), ("r", right)):
        rows = [Record(value.encode(), b"k%d" % (n % 7)) for n, value in enumerate(values)]
        bench.load(f"{topic}-{side}", [*rows[:100], *unreadable, *rows[100:]])
    bench.most = most
    bench.sql(f"""
        CREATE STREAM {name}_j AS SELECT l.k AS k, l.n AS ln, r.n AS rn
          FROM {name}_l l LEFT JOIN {name}_r r WITHIN 2 SECONDS GRACE PERIOD 1 SECOND ON l.k = r.k;
    """)
    bench.settle()
    pairs = [(row["LN"], row["RN"]) for _, row in bench.read(f"{name}_J".upper())]
    assert sorted(pairs) == [(n, n) for n in range(200)]


def test_windows_of_long_ago_are_answered(bench: Bench, topic: str) -> None:
    """Kafka deletes by the time of events, which a table's rows must outlive."""
    name = topic.replace("-", "_")
    bench.sql(f"""
        CREATE STREAM {name} (user STRING KEY, ms BIGINT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', TIMESTAMP='ms', PARTITIONS=1);
        CREATE TABLE {name}_all AS SELECT user, COUNT(*) AS n FROM {name}
          WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY user;
        CREATE TABLE {name}_kept AS SELECT user, COUNT(*) AS n FROM {name}
          WINDOW TUMBLING (SIZE 1 MINUTE, RETENTION 1 HOUR, GRACE PERIOD 1 MINUTE) GROUP BY user;
    """)
    minute = 60_000
    moments = [0, 1, 30 * minute, 61 * minute]
    bench.write(topic, [("u", b'{"ms": %d}' % moment) for moment in moments])
    bench.settle()
    for made in ("ALL", "KEPT"):
        configs = bench.app.topics.configs(f"{name.upper()}_{made}")
        assert configs["cleanup.policy"].value == "compact"
        # Nor does an event of 1970 make a segment old, behind which all would be compacted at once.
        assert int(configs["segment.ms"].value or 0) > time.time() * 1000
    views = Views(bench.app.connection, None)
    try:
        ask = "SELECT WINDOWSTART, n FROM {} WHERE user = 'u';"
        every = [[0, 2], [30 * minute, 1], [61 * minute, 1]]
        assert bench.ask(ask.format(f"{name}_all"), views) == every
        # Its first window began more than an hour before the newest one.
        assert bench.ask(ask.format(f"{name}_kept"), views) == every[1:]
    finally:
        views.close()


def test_a_lost_or_older_state_is_named_and_made_anew(
    bench: Bench, topic: str, tmp_path: Path
) -> None:
    name = topic.replace("-", "_")
    bench.sql(f"""
        CREATE STREAM {name} (user STRING KEY, ms INT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=2);
        CREATE TABLE {name}_users AS SELECT user, COUNT(*) AS n, MAX(ms) AS most FROM {name}
          WINDOW TUMBLING (SIZE 1000 DAYS) GROUP BY user;
    """)
    rows: list[tuple[str | None, bytes | None]] = [
        (f"u{n % 3}", json.dumps({"ms": n}).encode()) for n in range(12)
    ]
    state, copy = tmp_path / bench.queries[-1], tmp_path / "copy"
    bench.write(topic, rows[:3])
    bench.settle()
    bench.order("stop")
    shutil.copytree(state, copy)
    bench.order("restart")
    bench.write(topic, [*rows[3:6], ("u0", b"{no json")])
    bench.settle()
    bench.order("stop")
    shutil.rmtree(state)
    shutil.copytree(copy, state)
    begun_ms = bench.status().started_ms
    bench.order("restart")
    assert bench.status().state is State.FAILED
    assert bench.status().started_ms > begun_ms
    assert re.search(r"is of batch \d+, but batch \d+ is to run", bench.status().error)
    shutil.rmtree(state)
    bench.order("restart")
    assert bench.status().state is State.FAILED
    assert f"orion queries rebuild {bench.queries[-1]}" in bench.status().error
    bench.order("rebuild")
    bench.write(topic, rows[6:])
    bench.settle()
    found = bench.read(f"{name.upper()}_USERS")
    assert sorted(row["N"] for _, row in found) == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    assert max(row["MOST"] for _, row in found) == 11
    letters = DeadLetters(bench.app.connection, bench.app.settings.engine.dead_letter_suffix)
    assert len(_letters(bench, letters.topic(bench.queries[-1]))) == 1
    wait_until(lambda: bench.status().state_entries >= 3, timeout_s=20, what="The state's size")
    assert bench.status().watermark_ms is not None


def _letters(bench: Bench, topic: str) -> list[Record]:
    with Tail(bench.app.connection, topic, from_beginning=True) as tail:
        ends, records = tail.ends(), list[Record]()
        while not tail.has_reached(ends):
            records += tail.read(0.1)
    return records


def test_records_that_are_gone_are_named_and_passed_over_only_by_order(
    bench: Bench, topic: str
) -> None:
    name = topic.replace("-", "_")
    bench.sql(f"""
        CREATE STREAM {name} (user STRING KEY, ms INT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);
        CREATE TABLE {name}_users AS SELECT user, SUM(ms) AS ms FROM {name} GROUP BY user;
    """)
    made = f"{name.upper()}_USERS"

    def lose(ms: int) -> str:
        """Write three records and delete them before they are read; return what is said."""
        bench.order("stop")
        bench.write(topic, [("u", b'{"ms": %d}' % ms)] * 3)
        admin = bench.app.connection.admin()
        for future in admin.delete_records([TopicPartition(topic, 0, OFFSET_END)]).values():
            future.result(20)
        bench.order("restart")
        wait_until(lambda: bench.status().state is State.FAILED, timeout_s=60, what="The failure")
        return bench.status().error

    bench.write(topic, [("u", b'{"ms": 1}')] * 2)
    bench.settle()
    query = bench.queries[0]
    assert f"{topic}/0 offsets 2 to 4; 3 in all" in lose(100)
    bench.order("skip")
    bench.write(topic, [("u", b'{"ms": 5}')])
    wait_until(lambda: bench.read(made)[-1] == (b"u", {"MS": 7}), timeout_s=60, what="The sum")
    # The order was for what was lost then, not for what will be.
    assert f"{topic}/0 offsets 6 to 8; 3 in all" in lose(1000)
    assert f"orion queries restart {query} --skip-lost" in bench.status().error

    bench.app.topics.delete(topic)
    bench.app.topics.create(topic, partitions=1)
    bench.order("restart")
    wait_until(lambda: "made anew" in bench.status().error, timeout_s=60, what="The failure")
    assert f"orion queries rebuild {query}" in bench.status().error
    bench.order("rebuild")
    bench.write(topic, [("u", b'{"ms": 9}')])
    wait_until(lambda: bench.read(made)[-1] == (b"u", {"MS": 9}), timeout_s=60, what="The sum")


def test_a_stream_keeps_its_records_as_long_as_where_they_come_from(
    bench: Bench, topic: str
) -> None:
    name = topic.replace("-", "_")
    bench.sql(f"""
        CREATE STREAM {name} (user STRING KEY, ms INT) WITH (KAFKA_TOPIC='{topic}',
          VALUE_FORMAT='JSON', PARTITIONS=1, RETENTION_MS=-1);
        CREATE STREAM {name}_same AS SELECT * FROM {name};
        CREATE STREAM {name}_own WITH (RETENTION_MS=5000000) AS SELECT * FROM {name}_same;
        CREATE TABLE {name}_rows AS SELECT user, COUNT(*) AS n FROM {name} GROUP BY user;
    """)
    kept = {
        made: bench.app.topics.configs(f"{name.upper()}_{made}")["retention.ms"]
        for made in ("SAME", "OWN", "ROWS")
    }
    assert kept["SAME"].value == "-1"
    assert kept["OWN"].value == "5000000"
    assert not kept["ROWS"].is_overridden


def test_a_query_that_ends_leaves_nothing_but_what_it_wrote(bench: Bench, topic: str) -> None:
    name = topic.replace("-", "_")
    bench.sql(f"""
        CREATE STREAM {name} (user STRING KEY, ms INT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);
        CREATE STREAM {name}_all AS SELECT * FROM {name};
        CREATE STREAM {name}_slow AS SELECT * FROM {name} WHERE ms > 10;
    """)
    bench.write(topic, [("u", b'{"ms": 1}')])
    bench.settle()
    _, with_letters = bench.queries
    letters = DeadLetters(bench.app.connection, bench.app.settings.engine.dead_letter_suffix)
    bench.write(letters.topic(with_letters), [(None, b"a letter")])
    bench.stop()
    assert not {*bench.queries} & {*Groups(bench.app.connection).names()}
    kept = [query for query in bench.queries if bench.app.topics.exists(letters.topic(query))]
    assert kept == [with_letters]
    assert len(bench.read(f"{name.upper()}_ALL")) == 1


def test_late_records_go_to_their_topic_as_they_came(bench: Bench, topic: str) -> None:
    name = topic.replace("-", "_")
    # Records of 1970 would be gone at the broker's next look at its topics' retention.
    bench.sql(f"""
        CREATE STREAM {name} (user STRING KEY, ms BIGINT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1, TIMESTAMP='ms');
        CREATE TABLE {name}_late WITH (LATE_TOPIC='{topic}.late', RETENTION_MS=-1) AS
          SELECT user, COUNT(*) AS n FROM {name}
          WINDOW HOPPING (SIZE 20 SECONDS, ADVANCE BY 10 SECONDS, GRACE PERIOD 5 SECONDS)
          GROUP BY user;
    """)
    bench.write(topic, [("a", b'{"ms": 60000}'), ("b", b'{ "MS":  31000}')])
    bench.settle()
    bench.write(topic, [("b", b'{"ms": 61000}'), ("c", b'{"ms": 39999}')])
    bench.settle()
    found = _letters(bench, f"{topic}.late")
    assert [(letter.key, letter.value) for letter in found] == [
        (b"b", b'{ "MS":  31000}'),
        (b"c", b'{"ms": 39999}'),
    ]
    own = dict(found[0].headers)
    assert own["orion.query"] == bench.queries[-1].encode()
    assert (own["orion.topic"], own["orion.offset"]) == (topic.encode(), b"1")
    assert (own["orion.event_time"], own["orion.watermark"]) == (b"31000", b"60000")
    assert (own["orion.window_end"], own["orion.missed"]) == (b"50000", b"2")
    assert (dict(found[1].headers)["orion.missed"], len(bench.read(f"{name.upper()}_LATE"))) == (
        b"2",
        4,
    )
    # Made anew, the query tells nobody a second time.
    bench.order("rebuild")
    bench.write(topic, [("d", b'{"ms": 1}')])
    bench.settle()
    assert [letter.key for letter in _letters(bench, f"{topic}.late")] == [b"b", b"c", b"d"]


def test_a_table_gets_the_rows_of_the_query_that_takes_its_place(
    bench: Bench, topic: str, tmp_path: Path
) -> None:
    name = topic.replace("-", "_")
    declared = f"CREATE STREAM {name} (id STRING KEY, n INT) WITH (KAFKA_TOPIC='{topic}', {{}});"
    bench.sql(declared.format("VALUE_FORMAT='JSON', PARTITIONS=1"))
    select = f"AS SELECT id, COUNT(*) AS c FROM {name} GROUP BY id;"
    old = bench.plan(f"CREATE TABLE {name}_made WITH (KAFKA_TOPIC='{topic}.made') {select}")
    with_topic = f"WITH (KAFKA_TOPIC='{topic}.made', REBUILD=true)"
    new = bench.plan(f"CREATE OR REPLACE TABLE {name}_made {with_topic} {select}")
    assert isinstance(old, Started)
    assert isinstance(new, Started)
    succession = Succession(new, tmp_path / new.query, bench.app.connection)
    succession.create_topic()
    bench.write(f"{topic}.made", [("a", b"1"), ("b", b"1"), ("c", b"1"), ("d", None), ("a", b"2")])
    bench.write(succession.topic, [("a", b"9"), ("b", b"1"), ("e", b"5"), ("c", b"0"), ("c", None)])
    assert succession.phase is Phase.BESIDE
    succession.note(Phase.TAKING)
    # Killed behind the transaction, the engine does this again and changes nothing.
    assert [succession.write_differences() for _ in range(2)] == [3, 0]
    rows = {key: value for key, value in bench.read(f"{topic}.made") if key is not None}
    assert rows == {b"a": 9, b"b": 1, b"c": None, b"d": None, b"e": 5}
    succession.note(Phase.DONE)
    assert Succession(new, tmp_path / new.query, bench.app.connection).phase is Phase.DONE
    succession.drop_topic()


def test_a_query_reads_schemas_that_come_up_while_it_runs(bench: Bench, topic: str) -> None:
    name = topic.replace("-", "_")
    bench.sql(f"""
        CREATE STREAM {name} (id INT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='AVRO', PARTITIONS=1, WRAP_SINGLE_VALUE=true);
        CREATE STREAM {name}_ids WITH (VALUE_FORMAT='JSON', WRAP_SINGLE_VALUE=true)
          AS SELECT * FROM {name};
        CREATE TABLE {name}_n WITH (VALUE_FORMAT='JSON') AS SELECT 1 AS k, COUNT(*) AS n FROM {name}
          GROUP BY 1;
    """)
    (first,) = bench.schemas.versions(f"{topic}-value")
    # Null or an int, whose value 7 is the byte 14.
    bench.write(topic, [(None, header(first.id) + b"\2\16")])
    bench.settle()
    second = bench.schemas.register(
        f"{topic}-value", _avro("Later", {"extra": "int", "ID": "long"})
    )
    elsewhere = bench.schemas.register("elsewhere", _avro("Elsewhere", {"Id": "string"}))
    bench.write(topic, [(None, header(second) + b"\2\20"), (None, header(99) + b"\2")])
    bench.settle()
    bench.write(topic, [(None, header(elsewhere) + b"\0029"), (None, header(first.id) + b"\2\24")])
    bench.settle()
    ids = [row["ID"] for _, row in bench.read(f"{name.upper()}_IDS")]
    assert ids == [7, 8, 9, 10]
    assert bench.read(f"{name.upper()}_N")[-1][1] == {"N": 4}
    letters = DeadLetters(bench.app.connection, bench.app.settings.engine.dead_letter_suffix)
    for query in bench.queries:
        assert [record.value for record in _letters(bench, letters.topic(query))] == [
            header(99) + b"\2"
        ]


def test_groups_tell_of_a_batch_once_where_that_is_asked_for(bench: Bench, topic: str) -> None:
    name = topic.replace("-", "_")
    bench.sql(f"""
        CREATE STREAM {name} (user STRING KEY, ms INT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=2);
    """)
    bench.write(topic, [(f"u{n % 3}", b'{"ms": %d}' % n) for n in range(30)])
    bench.set("cache.max.bytes.buffering", "10000000")
    bench.sql(f"""
        CREATE TABLE {name}_sums WITH (KAFKA_TOPIC='{topic}_sums') AS SELECT user, SUM(ms) AS ms
          FROM {name} GROUP BY user;
        CREATE TABLE {name}_few WITH (KAFKA_TOPIC='{topic}_few') AS SELECT user, COUNT(*) AS n
          FROM {name} GROUP BY user HAVING COUNT(*) <= 10;
    """)
    bench.settle()
    first = {f"u{n}".encode(): sum(range(n, 30, 3)) for n in range(3)}
    assert dict(bench.read(f"{topic}_sums")) == {user: {"MS": ms} for user, ms in first.items()}
    # All were there when the query began: a batch, and no change but its last.
    assert len(bench.read(f"{topic}_sums")) == 3
    assert [row for _, row in bench.read(f"{topic}_few")] == [{"N": 10}] * 3
    # A group that held before the batch is taken back, however often it changed since.
    bad = [b"{", b'{"ms": 1.5}', b"\xff"]
    bench.write(topic, [("u0", b'{"ms": 1}'), *(("u0", body) for body in bad), ("u0", b"null")])
    bench.write(topic, [("u0", b'{"ms": 1}'), ("u0", None)])
    bench.settle()
    assert bench.read(f"{topic}_few")[3:] == [(b"u0", None)]
    assert dict(bench.read(f"{topic}_sums"))[b"u0"] == {"MS": first[b"u0"] + 2}
    # They are added up where they are decoded; what cannot be read comes back from there.
    letters = DeadLetters(bench.app.connection, bench.app.settings.engine.dead_letter_suffix)
    for query in bench.queries:
        found = _letters(bench, letters.topic(query))
        assert [(record.key, record.value) for record in found] == [(b"u0", body) for body in bad]
        reasons = [dict(record.headers)["orion.reason"] for record in found]
        assert all(reasons), reasons


def test_records_of_a_partition_are_taken_as_they_lie(bench: Bench, topic: str) -> None:
    """Whatever their times say: the last one of a key is the one behind all others."""
    name = topic.replace("-", "_")
    bench.sql(f"""
        CREATE STREAM {name} (id STRING KEY, v STRING)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);
        CREATE TABLE {name}_rows (id STRING PRIMARY KEY, v STRING)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');
        CREATE TABLE {name}_words (v STRING PRIMARY KEY, word STRING)
          WITH (KAFKA_TOPIC='{topic}_words', VALUE_FORMAT='JSON', PARTITIONS=3);
    """)
    words = [f"word {number}" for number in range(20)]
    bench.write(f"{topic}_words", [(word, b'{"word": "%s"}' % word.encode()) for word in words])
    now = int(time.time() * 1000)
    given = [("a", b"one", 100), ("b", b"x", 90), ("a", b"two", 50), ("a", b"three", 10)]
    bench.send(
        topic,
        [Record(b'{"v": "%s"}' % v, key.encode(), timestamp_ms=now + at) for key, v, at in given],
    )
    bench.sql(f"""
        CREATE TABLE {name}_last WITH (KAFKA_TOPIC='{topic}_last') AS
          SELECT id, LATEST_BY_OFFSET(v) AS v FROM {name} GROUP BY id;
        CREATE TABLE {name}_held WITH (KAFKA_TOPIC='{topic}_held') AS
          SELECT v, COUNT(*) AS n FROM {name}_rows GROUP BY v;
    """)
    # Each word is a foreign key, and with others some task's of their own.
    bench.write(topic, [("c", b'{"v": "%s"}' % word.encode()) for word in words])
    bench.sql(f"""
        CREATE TABLE {name}_told WITH (KAFKA_TOPIC='{topic}_told') AS
          SELECT r.id AS id, w.word AS word FROM {name}_rows r JOIN {name}_words w ON r.v = w.v;
    """)
    bench.settle()
    assert [row["V"] for key, row in bench.read(f"{topic}_last") if key == b"a"] == [
        "one",
        "two",
        "three",
    ]
    assert dict(bench.read(f"{topic}_held"))[b"three"] == {"N": 1}
    assert [row["WORD"] for key, row in bench.read(f"{topic}_told") if key == b"c"] == words


def test_windows_tell_of_a_batch_once_and_drop_what_they_would(bench: Bench, topic: str) -> None:
    """However their records are added up, windows come to the same, and as many are late."""
    name = topic.replace("-", "_")
    declared = "WITH (KAFKA_TOPIC='{}', VALUE_FORMAT='JSON', PARTITIONS=1{})"
    bench.sql(f"""
        CREATE STREAM {name} (user STRING KEY, ms INT) {declared.format(topic, "")};
        CREATE STREAM {name}_stamped (user STRING KEY, ms INT, moment BIGINT)
          {declared.format(topic, ", TIMESTAMP='moment'")};
    """)
    windows = "WINDOW HOPPING (SIZE 20 SECONDS, ADVANCE BY 10 SECONDS, GRACE PERIOD 5 SECONDS)"
    select = f"SELECT user, COUNT(*) AS n, SUM(ms) AS ms FROM {name}"
    ways = {
        "columns": f"{select} {windows}",
        "rows": f"{select} {windows} WHERE ms >= 0",
        "stamped": f"{select}_stamped {windows}",
    }
    late: dict[str, list[int]] = {}
    for way, asked in {"every": ways["columns"], **ways}.items():
        bench.set("cache.max.bytes.buffering", "0" if way == "every" else "10000000")
        made = f"{name}_by_{way}"
        bench.sql(f"CREATE TABLE {made} WITH (KAFKA_TOPIC='{made}') AS {asked} GROUP BY user;")
        late[way] = []
    rng, base = random.Random(5), int(time.time()) // 60 * 60_000 - 3_600_000
    for batch in range(2):
        at = [
            base + batch * 40_000 + rng.randrange(-60_000 * (batch > 0), 40_000) for _ in range(40)
        ]
        bodies = [b'{"ms": %d, "moment": %d}' % (n, when) for n, when in enumerate(at)]
        keys = [f"u{rng.randrange(3)}".encode() for _ in at]
        given = zip(bodies, keys, at, strict=True)
        bench.send(topic, [Record(body, key, timestamp_ms=when) for body, key, when in given])
        bench.settle()
        tables = {way: dict(bench.read(f"{name}_by_{way}")) for way in late}
        assert all(table == tables["every"] for table in tables.values())
        for way, query in zip(late, bench.queries, strict=True):
            late[way].append(bench.status(query).late_records)
    assert late["every"][-1] > 0
    assert all(counts == late["every"] for counts in late.values()), late


def test_what_cannot_be_computed_or_the_sink_cannot_hold_is_told(bench: Bench, topic: str) -> None:
    name = topic.replace("-", "_")
    strict = bench.schemas.register(f"{topic}_ids-value", _avro("Strict", {"ID": "int"}))
    bench.sql(f"""
        CREATE STREAM {name} (id INT, day STRING)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);
    """)
    # Ahead of the queries, which tell of every batch: this way there is one.
    bench.write(
        topic,
        [
            (None, b'{"id": 7, "day": "1970-01-02"}'),
            (None, b'{"day": "1969-12-31"}'),
            (None, b'{"id": 8, "day": "1970-01-03"}'),
        ],
    )
    bench.sql(f"""
        CREATE STREAM {name}_ids WITH (KAFKA_TOPIC='{topic}_ids', VALUE_FORMAT='AVRO',
          VALUE_SCHEMA_ID={strict}, WRAP_SINGLE_VALUE=true) AS SELECT id FROM {name};
        CREATE STREAM {name}_days WITH (KAFKA_TOPIC='{topic}_days', VALUE_FORMAT='JSON',
          TIMESTAMP='day', TIMESTAMP_FORMAT='yyyy-MM-dd', RETENTION_MS=-1)
          AS SELECT * FROM {name};
        CREATE STREAM {name}_dates WITH (KAFKA_TOPIC='{topic}_dates', VALUE_FORMAT='JSON')
          AS SELECT id, PARSE_DATE(day, 'yyyy/MM/dd') AS d, CAST(day AS INT) AS n, id / 0 AS q,
            CASE WHEN id < 0 THEN id / 0 ELSE id END AS c,
            CASE WHEN id > 0 THEN URL_DECODE_PARAM('%z' + day) END AS u
          FROM {name} WHERE id IS NOT NULL AND (id = 7 OR 1 / (id - 8) > 0);
        CREATE TABLE {name}_counts WITH (KAFKA_TOPIC='{topic}_counts', FORMAT='JSON') AS
          SELECT id % 0 AS m, COUNT(CAST(day AS DOUBLE)) AS n FROM {name} GROUP BY id % 0;
    """)
    bench.settle()
    with Tail(bench.app.connection, f"{topic}_ids", from_beginning=True) as tail:
        written = [record.value for record in tail.read(2)]
    assert written == [header(strict) + b"\16", header(strict) + b"\20"]
    assert [row["ID"] for _, row in bench.read(f"{topic}_days")] == [7, 8]
    letters = DeadLetters(bench.app.connection, bench.app.settings.engine.dead_letter_suffix)
    first, second, *_ = (list(letters.read(query)) for query in bench.queries)
    assert [(letter.is_row, letter.record.value) for letter in first] == [(True, b'{"ID":null}')]
    assert first[0].reason.startswith("Field 'ID' cannot be written with its schema: it is null")
    assert [letter.reason for letter in second] == ["the timestamp column 'DAY' lies before 1970"]
    nothing = dict.fromkeys("DNQU")
    assert bench.read(f"{topic}_dates") == [(None, {"ID": 7, **nothing, "C": 7})]
    assert bench.read(f"{topic}_counts") == []
    told = _told(bench, bench.queries[2])
    (date,) = (message for message in told if message.startswith("PARSE_DATE could not be"))
    day = {"DAY": "1970-01-02"}
    assert told == {
        date: [day],
        "A cast could not be computed: the text is no INTEGER, in 1 row(s)": [day],
        # One of the selected column, one of the condition, whose first half decides for 7.
        "A quotient could not be computed: division by zero, in 1 row(s)": [{"ID": 7}, {"ID": 8}],
        "URL_DECODE_PARAM could not be computed: it takes no such value, in 1 row(s)": [day],
    }
    assert _told(bench, bench.queries[3]) == {
        "A quotient could not be computed: division by zero, in 2 row(s)": [{"ID": 8}],
        "A cast could not be computed: the text is no DOUBLE, in 3 row(s)": [{"DAY": "1970-01-03"}],
    }


def test_events_ahead_of_the_present_are_taken_and_other_units_set_aside(
    bench: Bench, topic: str
) -> None:
    name = topic.replace("-", "_")
    bench.app.topics.create(f"{topic}_strict", partitions=1)
    bench.sql(f"""
        CREATE STREAM {name} (k STRING KEY, n INT, moment BIGINT)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', TIMESTAMP='moment', PARTITIONS=1);
        CREATE STREAM {name}_copy WITH (KAFKA_TOPIC='{topic}_copy') AS SELECT k, n FROM {name};
        CREATE TABLE {name}_days WITH (KAFKA_TOPIC='{topic}_days') AS
          SELECT k, COUNT(*) AS n FROM {name} WINDOW TUMBLING (SIZE 1 DAY) GROUP BY k;
        CREATE TABLE {name}_rows WITH (KAFKA_TOPIC='{topic}_rows') AS
          SELECT k, COUNT(*) AS n FROM {name}
          WINDOW SESSION (1 HOUR, GRACE PERIOD 1 HOUR) WHERE n > 0 GROUP BY k EMIT FINAL;
    """)
    now, day = int(time.time() * 1000), 86_400_000
    times = [now, now * 1_000, now + 2 * day, 2**63 - 1, now + 30 * day]
    bench.write(
        topic, [("k", b'{"n": %d, "moment": %d}' % (n + 1, t)) for n, t in enumerate(times)]
    )
    bench.settle()
    assert [row["N"] for _, row in bench.read(f"{topic}_copy")] == [1, 3, 5]
    assert [row["N"] for _, row in bench.read(f"{topic}_days")] == [1, 1, 1]
    assert [row["N"] for _, row in bench.read(f"{topic}_rows")] == [1, 1]
    letters = DeadLetters(bench.app.connection, bench.app.settings.engine.dead_letter_suffix)
    reason = "the timestamp column 'MOMENT' lies behind the year 9999, as milliseconds since 1970"
    for query in bench.queries:
        assert [letter.reason for letter in letters.read(query)] == [reason] * 2
    # A topic that others made keeps its limit, and says what it is.
    bench.sql(f"CREATE STREAM strict WITH (KAFKA_TOPIC='{topic}_strict') AS SELECT * FROM {name};")
    wait_until(lambda: bench.status().state is State.FAILED, timeout_s=60, what="The failure")
    allowed = "orion topics config set TOPIC message.timestamp.after.max.ms=100000d"
    assert allowed in bench.status().error
    assert bench.status().restarts == 0


def test_rows_outgrow_what_kafka_takes_by_itself(bench: Bench, topic: str) -> None:
    name = topic.replace("-", "_")
    configs = {"max.message.bytes": str(1 << 20)}
    bench.app.topics.create(f"{topic}_strict", partitions=1, configs=configs)
    bench.sql(f"""
        CREATE STREAM {name} (k STRING KEY, word STRING)
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);
        CREATE TABLE {name}_all WITH (KAFKA_TOPIC='{topic}_all') AS
          SELECT k, COLLECT_LIST(word) AS words FROM {name} GROUP BY k;
        CREATE TABLE strict WITH (KAFKA_TOPIC='{topic}_strict') AS
          SELECT k, COLLECT_LIST(word) AS words FROM {name} GROUP BY k;
    """)
    # What would be no larger than the limit, if it were compressed, is no test of it.
    rng = random.Random(3)
    words = [rng.randbytes(300_000).hex() for _ in range(6)]
    bench.write(topic, [("k", json.dumps({"word": word}).encode()) for word in words])
    wait_until(lambda: bench.status().state is State.FAILED, timeout_s=60, what="The failure")
    assert "orion topics config set TOPIC max.message.bytes=64m" in bench.status().error
    bench.app.topics.set_configs(f"{topic}_strict", {"max.message.bytes": str(64 << 20)})
    bench.order("restart")
    bench.settle()
    for made in ("all", "strict"):
        found = bench.read(f"{topic}_{made}")
        assert [len(row["WORDS"]) for _, row in found] == [1, 2, 3, 4, 5, 6]
        assert found[-1][1]["WORDS"] == words


def test_what_cannot_be_added_up_or_be_a_key_of_a_map_stops_nothing(
    bench: Bench, topic: str
) -> None:
    name = topic.replace("-", "_")
    bench.sql(f"""
        CREATE STREAM {name} (k STRING KEY, word STRING, price DECIMAL(4, 2))
          WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON', PARTITIONS=1);
        CREATE TABLE {name}_sums WITH (KAFKA_TOPIC='{topic}_sums') AS
          SELECT k, SUM(price) AS total, HISTOGRAM(word) AS words FROM {name} GROUP BY k;
        CREATE STREAM {name}_maps WITH (KAFKA_TOPIC='{topic}_maps') AS
          SELECT k, MAP('one' := 1, word := 2) AS m FROM {name};
    """)
    bodies = [
        b'{"price": 99.99, "word": "a"}',
        b'{"price": 0.01}',
        b'{"price": -0.02, "word": "a"}',
    ]
    for body in bodies:
        bench.write(topic, [("k", body)])
    bench.settle()
    assert [row for _, row in bench.read(f"{topic}_sums")] == [
        {"TOTAL": 99.99, "WORDS": {"a": 1}},
        {"TOTAL": None, "WORDS": {"a": 1}},
        {"TOTAL": 99.98, "WORDS": {"a": 2}},
    ]
    found = {"one": 1, "a": 2}
    assert [row["M"] for _, row in bench.read(f"{topic}_maps")] == [found, None, found]
    (message,) = _told(bench, bench.queries[0])
    assert message == "SUM could not be computed: 100.00 does not fit DECIMAL(4, 2)."
    assert _told(bench, bench.queries[1]) == {
        "A map could not be computed: one of its keys is NULL, in 1 row(s)": [{"WORD": None}]
    }


def _told(bench: Bench, query: str) -> dict[str, list[Any]]:
    """Return what the processing log says of a query's expressions, with the rows it shows."""
    logger = f"processing.{query}.expression"
    entries = [entry for _, entry in bench.read(PROCESSING_LOG_TOPIC) if entry["LOGGER"] == logger]
    assert {entry["MESSAGE"]["type"] for entry in entries} == {1}
    found = [entry["MESSAGE"]["recordProcessingError"] for entry in entries]
    told: dict[str, list[Any]] = {}
    for failure in sorted(found, key=lambda each: str(each["record"])):
        told.setdefault(failure["errorMessage"], []).append(json.loads(failure["record"]))
    return told


def _avro(name: str, fields: dict[str, str]) -> Schema:
    listed = [{"name": field, "type": kind} for field, kind in fields.items()]
    return Schema(SchemaKind.AVRO, json.dumps({"type": "record", "name": name, "fields": listed}))
