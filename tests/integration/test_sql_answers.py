"""Pull and push queries over HTTP, from a real log; the server alone answers, without an engine."""

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from orion.command import FormatRules
from orion.log import Outbox, Record, Topics
from orion.sql import (
    Catalogue,
    Declared,
    Planner,
    QueryPlan,
    Source,
    built_in_functions,
    parse_statements,
    plan_query,
    tree,
)
from orion.testing.kafka import KafkaServer
from orion.testing.server import HttpServer
from orion.testing.wait import wait_until
from orion.views import ChangedRow, Feeds, FollowedQuery

pytestmark = pytest.mark.timeout(120)
FRESH = {"orion.query.pull.fresh": "true"}
EARLIEST = {"auto.offset.reset": "earliest"}


@pytest.fixture
def name() -> str:
    return f"A{uuid.uuid4().hex[:8]}".upper()


@pytest.fixture
def client(server: HttpServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.sql_url, timeout=30) as made:
        yield made


@pytest.fixture
def users(client: httpx.Client, kafka: KafkaServer, name: str) -> str:
    """Give a read-only table of three users."""
    with_ = f"WITH (KAFKA_TOPIC='{name}', PARTITIONS=2, VALUE_FORMAT='JSON')"
    columns = "(id STRING PRIMARY KEY, city STRING, age BIGINT, born DATE, paid DECIMAL(6, 2))"
    tell(client, f"CREATE SOURCE TABLE {name} {columns} {with_};")
    write(kafka, name, ann={"city": "Rome", "age": 30, "born": 9_000, "paid": 1.50})
    write(kafka, name, bob={"city": "Oslo", "age": 20}, eve={"city": "Rome", "age": 40})
    return name


def write(kafka: KafkaServer, topic: str, **rows: dict[str, Any] | None) -> None:
    """Write rows by their keys; None deletes."""
    outbox = Outbox(kafka.connection)
    records = [
        Record(None if row is None else json.dumps(row).encode(), key.encode())
        for key, row in rows.items()
    ]
    outbox.send(topic, records, lambda _: None)
    outbox.close()


def tell(client: httpx.Client, text: str) -> list[dict[str, Any]]:
    answer = client.post("/ksql", json={"ksql": text})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


def ask(client: httpx.Client, text: str, **properties: str) -> list[Any]:
    """Return the rows of an answer."""
    answer = client.post("/query-stream", json={"sql": text, "properties": properties})
    assert answer.status_code == 200, answer.text
    _header, *rows = [json.loads(line) for line in answer.text.splitlines()]
    return rows


def test_rows_are_looked_up_by_key_again_and_again(client: httpx.Client, users: str) -> None:
    text = f"SELECT * FROM {users} WHERE id = '{{}}';"
    assert ask(client, text.format("ann"), **FRESH) == [["ann", "Rome", 30, "1994-08-23", 1.5]]
    for _ in range(3):
        assert ask(client, text.format("bob")) == [["bob", "Oslo", 20, None, None]]
        assert ask(client, text.format("nobody")) == []
    assert ask(client, f"SELECT id FROM {users} WHERE id IN ('eve', 'ann');") == [["eve"], ["ann"]]
    assert ask(client, f"SELECT id FROM {users} WHERE id >= 'b';") in (
        [["bob"], ["eve"]],
        [["eve"], ["bob"]],
    )


def test_every_form_holds_the_same_rows(client: httpx.Client, users: str) -> None:
    text = f"SELECT id, age FROM {users} ORDER BY age;"
    rows = [["bob", 20], ["ann", 30], ["eve", 40]]
    assert ask(client, text, **FRESH) == rows
    older = client.post("/query", json={"ksql": text}).json()
    assert older[0]["header"]["schema"] == "`ID` STRING, `AGE` BIGINT"
    assert [part["row"]["columns"] for part in older[1:]] == rows
    plain = client.post(
        "/query-stream", json={"sql": text}, headers={"accept": "application/json"}
    ).json()
    assert (plain[0]["columnNames"], plain[1:]) == (["ID", "AGE"], rows)
    with httpx.Client(http1=False, http2=True) as two:
        answer = two.post(f"{client.base_url}/query-stream", json={"sql": text})
    assert [json.loads(line) for line in answer.text.splitlines()][1:] == rows


def test_a_pull_query_is_whole_sql(client: httpx.Client, kafka: KafkaServer, users: str) -> None:
    plays = f"{users}_PLAYS"
    with_ = f"WITH (KAFKA_TOPIC='{plays}', PARTITIONS=1, VALUE_FORMAT='JSON')"
    tell(client, f"CREATE STREAM {plays} (user STRING KEY, ms BIGINT) {with_};")
    for key, ms in (("ann", 5), ("bob", 7), ("ann", 6), ("zoe", 1)):
        write(kafka, plays, **{key: {"ms": ms}})
    assert ask(client, f"SELECT user, ms FROM {plays} LIMIT 2;") == [["ann", 5], ["bob", 7]]
    text = f"""
      WITH per_user AS (SELECT user, COUNT(*) AS n, SUM(ms) AS ms FROM {plays} GROUP BY user)
      SELECT p.user, u.city, p.ms, RANK() OVER (ORDER BY p.ms DESC) AS place
        FROM per_user p LEFT JOIN {users} u ON p.user = u.id
        WHERE p.ms > (SELECT MIN(ms) FROM {plays}) OR u.city IS NULL
        ORDER BY place;"""
    assert ask(client, text, **FRESH) == [
        ["ann", "Rome", 11, 1],
        ["bob", "Oslo", 7, 2],
        ["zoe", None, 1, 3],
    ]
    wrong = client.post("/query-stream", json={"sql": f"SELECT id FROM {users} ORDER BY agee;"})
    assert (wrong.status_code, wrong.json()["error_code"]) == (400, 40001)
    assert "AGEE" in wrong.json()["message"]


def test_changes_show_and_dropped_tables_are_let_go(
    client: httpx.Client, kafka: KafkaServer, users: str
) -> None:
    text = f"SELECT age FROM {users} WHERE id = 'bob';"
    assert ask(client, text, **FRESH) == [[20]]
    write(kafka, users, bob={"age": 21})
    wait_until(lambda: ask(client, text) == [[21]], what="the change", timeout_s=10)
    write(kafka, users, bob=None)
    wait_until(lambda: ask(client, text) == [], what="the deletion", timeout_s=10)
    tell(client, f"DROP TABLE {users};")
    gone = client.post("/query-stream", json={"sql": text})
    assert gone.status_code == 400
    # Another table of the name, over the same topic, sees its own columns.
    tell(
        client,
        f"CREATE SOURCE TABLE {users} (id STRING PRIMARY KEY, city STRING)"
        f" WITH (KAFKA_TOPIC='{users}', VALUE_FORMAT='JSON');",
    )
    found = ask(client, f"SELECT * FROM {users} WHERE id = 'ann';", **FRESH)
    assert found == [["ann", "Rome"]]


def test_a_follower_sees_rows_come_and_go(
    client: httpx.Client, kafka: KafkaServer, users: str
) -> None:
    text = f"SELECT id, age FROM {users} WHERE age > 25 EMIT CHANGES LIMIT 3;"
    write(kafka, users, ann={"age": 10})
    body = {"ksql": text, "streamsProperties": EARLIEST}
    header, *rows, last = client.post("/query", json=body).json()
    assert header["header"]["schema"] == "`ID` STRING, `AGE` BIGINT"
    seen = [part["row"] for part in rows]
    assert {"columns": ["ann", 30]} in seen
    assert {"columns": ["ann", None], "tombstone": True} in seen
    assert last == {"finalMessage": "Limit Reached"}


def test_many_followers_get_every_change_from_their_start_on(
    server: HttpServer, kafka: KafkaServer, users: str
) -> None:
    body = {"sql": f"SELECT id, age FROM {users} EMIT CHANGES LIMIT 2;"}
    with ExitStack() as stack:
        link = stack.enter_context(httpx.Client(base_url=server.sql_url, timeout=30))
        streams = [
            stack.enter_context(link.stream("POST", "/query-stream", json=body)) for _ in range(20)
        ]
        lines = [stream.iter_lines() for stream in streams]
        # The header says that the query has begun, so nothing written now is missed.
        assert all("columnNames" in next(each) for each in lines)
        write(kafka, users, new={"age": 1})
        write(kafka, users, new={"age": 2})
        for each in lines:
            assert [json.loads(line) for line in each] == [["new", 1], ["new", 2]]


def test_followers_of_one_table_share_a_reader(kafka: KafkaServer, topic: str) -> None:
    Topics(kafka.connection).create(topic, partitions=2)
    source = _declared(
        f"CREATE STREAM s (id STRING KEY, n INT) WITH (KAFKA_TOPIC='{topic}', VALUE_FORMAT='JSON');"
    )
    feeds, seen = Feeds(kafka.connection, None), Counter[int]()
    queries = ("SELECT n FROM s EMIT CHANGES;", "SELECT n FROM s WHERE n > 5 EMIT CHANGES;")

    def follow(number: int) -> Callable[[], None]:
        def deliver(rows: list[ChangedRow]) -> None:
            seen[number] += len(rows)

        text = queries[number % 2]
        return feeds.follow(source, text, FollowedQuery(_planned(text, source)), deliver)

    leaves = [follow(number) for number in range(10)]
    assert feeds.readers == 1
    write(kafka, topic, a={"n": 1}, b={"n": 9})
    wanted = {number: 2 - number % 2 for number in range(10)}
    wait_until(lambda: seen == wanted, what="every row to every follower")
    for leave in leaves:
        leave()
    assert feeds.readers == 0


def _declared(text: str) -> Source:
    (statement,) = parse_statements(text)
    planner = Planner(built_in_functions(), FormatRules(None), {})
    change = planner.plan(statement, Catalogue(), number=1)
    assert isinstance(change, Declared)
    return change.source


def _planned(text: str, source: Source) -> QueryPlan:
    (statement,) = parse_statements(text)
    assert isinstance(statement, tree.SelectStatement)
    catalogue = Declared(source).apply(Catalogue())
    return plan_query(statement.query, catalogue, built_in_functions())


def test_a_follower_is_closed_by_its_id(client: httpx.Client, users: str) -> None:
    body = {"sql": f"SELECT * FROM {users} EMIT CHANGES;"}
    with client.stream("POST", "/query-stream", json=body) as stream:
        lines = stream.iter_lines()
        query = json.loads(next(lines))["queryId"]
        assert client.post("/close-query", json={"queryId": query}).status_code == 200
        assert list(lines) == []


def test_queries_tell_how_they_would_be_answered(client: httpx.Client, users: str) -> None:
    looked, grouped, followed = (
        entity["queryDescription"]
        for entity in tell(
            client,
            f"EXPLAIN SELECT * FROM {users} WHERE id = 'ann';"
            f"EXPLAIN SELECT city, COUNT(*) AS n FROM {users} GROUP BY city;"
            f"EXPLAIN SELECT * FROM {users} EMIT CHANGES;",
        )
    )
    assert (looked["queryType"], grouped["queryType"]) == ("PULL", "PULL")
    assert "looked up by key" in looked["executionPlan"]
    assert "grouped by 1 expression" in grouped["executionPlan"]
    assert followed["queryType"] == "PUSH"
    assert "no engine" in followed["topology"]
