"""The REST proxy on a real broker, asked as its clients ask."""

import base64
import json
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import httpx
import pytest

from orion.formats import MemorySchemas
from orion.log import Connection, Selection, Topics, consume
from orion.serve import open_door
from orion.serve.rest_proxy import MEDIA_TYPE, Limits, Proxy, proxy_routes
from orion.testing.kafka import KafkaServer
from orion.testing.server import HttpServer
from orion.testing.wait import wait_until

pytestmark = pytest.mark.timeout(120)
V2 = "application/vnd.kafka.v2+json"


def embedded(format: str) -> str:
    return f"application/vnd.kafka.{format}.v2+json"


@pytest.fixture(scope="module")
def http(server: HttpServer) -> Iterator[httpx.Client]:
    wait_until(lambda: _answers(server.rest_url), what="The REST proxy")
    with httpx.Client(base_url=server.rest_url, timeout=30) as client:
        yield client


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/v3/clusters").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def cluster(http: httpx.Client) -> str:
    found: str = http.get("/v3/clusters").json()["data"][0]["cluster_id"]
    return found


@pytest.fixture
def topic(kafka: KafkaServer) -> str:
    name = f"rest-{uuid.uuid4().hex[:8]}"
    Topics(kafka.connection).create(name, partitions=2)
    return name


def produce(
    http: httpx.Client, topic: str, records: list[Any], format: str = "json", **more: Any
) -> httpx.Response:
    headers = {"Content-Type": embedded(format), "Accept": V2}
    body = json.dumps({"records": records, **more})
    return http.post(f"/topics/{topic}", content=body, headers=headers)


Reader = Callable[..., str]


@pytest.fixture
def instance(http: httpx.Client, topic: str) -> Iterator[Reader]:
    made: list[str] = []

    def make(format: str = "json", **settings: str) -> str:
        group = f"group-{uuid.uuid4().hex[:8]}"
        body = {"format": format, "auto.offset.reset": "earliest", **settings}
        headers = {"Content-Type": V2}
        answer = http.post(f"/consumers/{group}", content=json.dumps(body), headers=headers)
        assert answer.status_code == 200, answer.text
        path = httpx.URL(answer.json()["base_uri"]).path
        made.append(path)
        return path

    yield make
    for path in made:
        http.delete(path)


def post(http: httpx.Client, path: str, body: Any = None) -> httpx.Response:
    content = "" if body is None else json.dumps(body)
    return http.post(path, content=content, headers={"Content-Type": V2})


def read(http: httpx.Client, path: str, format: str = "json", **query: int) -> list[Any]:
    answer = http.get(f"{path}/records", params=query, headers={"Accept": embedded(format)})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == embedded(format)
    found: list[Any] = answer.json()
    return found


def read_all(http: httpx.Client, path: str, count: int, format: str = "json") -> list[Any]:
    found: list[Any] = []

    def is_complete() -> bool:
        found.extend(read(http, path, format, timeout=200))
        return len(found) >= count

    wait_until(is_complete, what="The records")
    return found


def test_json_records_go_out_and_come_back(
    http: httpx.Client, topic: str, instance: Reader
) -> None:
    answer = produce(http, topic, [{"key": "k", "value": {"a": [1.5, None]}}, {"value": "text"}])
    assert (answer.status_code, answer.headers["content-type"]) == (200, V2)
    offsets = answer.json()["offsets"]
    assert [(o["error_code"], o["error"]) for o in offsets] == [(None, None)] * 2
    assert answer.json()["key_schema_id"] is None
    path = instance()
    assert post(http, f"{path}/subscription", {"topics": [topic]}).status_code == 204
    assert http.get(f"{path}/subscription").json() == {"topics": [topic]}
    found = read_all(http, path, 2)
    assert {json.dumps([r["key"], r["value"]]) for r in found} == {
        json.dumps(["k", {"a": [1.5, None]}]),
        json.dumps([None, "text"]),
    }
    assert set(found[0]) == {"topic", "key", "value", "partition", "offset"}


def test_bytes_go_out_to_a_partition_and_come_back(
    http: httpx.Client, topic: str, instance: Reader, kafka: KafkaServer
) -> None:
    body = base64.b64encode(b"\0\xff").decode()
    headers = {"Content-Type": embedded("binary")}
    content = json.dumps({"records": [{"value": body}, {"key": body, "value": None}]})
    answer = http.post(f"/topics/{topic}/partitions/1", content=content, headers=headers)
    assert [o["partition"] for o in answer.json()["offsets"]] == [1, 1]
    records = list(consume(kafka.connection, Selection(topic)))
    assert [(r.key, r.value) for r in records] == [(None, b"\0\xff"), (b"\0\xff", None)]
    path = instance("binary")
    post(http, f"{path}/assignments", {"partitions": [{"topic": topic, "partition": 1}]})
    assert [r["value"] for r in read_all(http, path, 2, "binary")] == [body, None]


SCHEMAS = {
    "avro": '{"type":"record","name":"R","fields":[{"name":"id","type":"int"}]}',
    "jsonschema": '{"type":"object","properties":{"id":{"type":"integer"}}}',
    "protobuf": 'syntax = "proto3"; message R { int32 id = 1; }',
}


@pytest.mark.parametrize("format", list(SCHEMAS))
def test_records_with_a_schema(
    http: httpx.Client, topic: str, instance: Reader, server: HttpServer, format: str
) -> None:
    text = SCHEMAS[format]
    first = produce(http, topic, [{"value": {"id": 1}}], format, value_schema=text)
    assert first.status_code == 200, first.text
    schema_id = first.json()["value_schema_id"]
    latest = httpx.get(f"{server.registry_url}/subjects/{topic}-value/versions/latest").json()
    assert latest["id"] == schema_id
    again = produce(http, topic, [{"value": {"id": 2}}], format, value_schema_id=schema_id)
    assert again.json()["value_schema_id"] == schema_id
    wrong = produce(http, topic, [{"value": {"id": "x"}}], format, value_schema_id=schema_id)
    assert (wrong.status_code, wrong.json()["error_code"]) == (422, 42203)
    path = instance(format)
    post(http, f"{path}/subscription", {"topics": [topic]})
    found = read_all(http, path, 2, format)
    assert sorted(r["value"]["id"] for r in found) == [1, 2]


def test_a_consumer_is_moved_and_commits(http: httpx.Client, topic: str, instance: Reader) -> None:
    produce(http, topic, [{"value": n, "partition": 0} for n in range(5)])
    path = instance(**{"auto.commit.enable": "false"})
    place = {"topic": topic, "partition": 0}
    assert post(http, f"{path}/assignments", {"partitions": [place]}).status_code == 204
    assert http.get(f"{path}/assignments").json() == {"partitions": [place]}
    assert [r["value"] for r in read_all(http, path, 5)] == [0, 1, 2, 3, 4]
    seek = {"offsets": [{**place, "offset": 3}]}
    assert post(http, f"{path}/positions", seek).status_code == 204
    assert [r["value"] for r in read_all(http, path, 2)] == [3, 4]
    assert post(http, f"{path}/positions/beginning", {"partitions": [place]}).status_code == 204
    assert [r["value"] for r in read_all(http, path, 1)][:1] == [0]
    committed = {**place, "offset": 1, "metadata": "mine"}
    assert post(http, f"{path}/offsets", {"offsets": [committed]}).status_code == 200
    asked = json.dumps({"partitions": [place]})
    answer = http.request("GET", f"{path}/offsets", content=asked, headers={"Content-Type": V2})
    assert answer.json() == {"offsets": [{**place, "offset": 2, "metadata": "mine"}]}
    assert post(http, f"{path}/positions/end", {"partitions": [place]}).status_code == 204
    assert read(http, path, timeout=100) == []


def test_max_bytes_keeps_the_rest_for_later(
    http: httpx.Client, topic: str, instance: Reader
) -> None:
    produce(http, topic, [{"value": "x" * 100, "partition": 0} for _ in range(5)])
    path = instance()
    post(http, f"{path}/subscription", {"topics": [topic]})
    sizes: list[int] = []

    def is_complete() -> bool:
        sizes.append(len(read(http, path, timeout=200, max_bytes=220)))
        return sum(sizes) == 5

    wait_until(is_complete, what="The records")
    assert max(sizes) == 2


def test_only_the_first_request_waits_for_a_topic_that_is_not_there(
    http: httpx.Client, topic: str, instance: Reader
) -> None:
    path = instance()
    post(http, f"{path}/subscription", {"topics": [f"{topic}-none"]})
    started = time.monotonic()
    assert read(http, path, timeout=100) == []
    first_s = time.monotonic() - started
    for _ in range(3):
        assert read(http, path, timeout=100) == []
    assert time.monotonic() - started - first_s < 8


def test_a_record_that_is_no_json_is_told_and_passed_by_a_seek(
    http: httpx.Client, topic: str, instance: Reader
) -> None:
    bad = base64.b64encode(b"{").decode()
    produce(http, topic, [{"value": bad, "partition": 0}], "binary")
    produce(http, topic, [{"value": 1, "partition": 0}])
    path, place = instance(), {"topic": topic, "partition": 0}
    post(http, f"{path}/assignments", {"partitions": [place]})
    answers: list[httpx.Response] = []

    def is_told() -> bool:
        answers.append(http.get(f"{path}/records", headers={"Accept": embedded("json")}))
        return answers[-1].status_code != 200

    wait_until(is_told, what="The error")
    assert (answers[-1].status_code, answers[-1].json()["error_code"]) == (422, 42206)
    assert f"offset 0 of partition 0 of topic '{topic}'" in answers[-1].json()["message"]
    post(http, f"{path}/positions", {"offsets": [{**place, "offset": 1}]})
    assert [r["value"] for r in read_all(http, path, 1)] == [1]


@pytest.mark.parametrize(
    ("method", "path", "body", "media", "status", "code"),
    [
        ("GET", "/topics/none", None, V2, 404, 40401),
        ("POST", "/topics/none", {"records": []}, embedded("json"), 404, 40401),
        ("POST", "/topics/{topic}", {"records": []}, "text/plain", 415, 415),
        ("POST", "/topics/{topic}", {"records": 1}, embedded("json"), 422, 422),
        ("POST", "/topics/{topic}", "{", embedded("json"), 400, 400),
        ("POST", "/topics/{topic}", {"records": [{"value": "?"}]}, embedded("binary"), 422, 42203),
        ("POST", "/topics/{topic}", {"records": [{"value": 1}]}, embedded("avro"), 422, 42202),
        ("POST", "/topics/{topic}", {"records": [{"key": 1}]}, embedded("avro"), 422, 42201),
        (
            "POST",
            "/topics/{topic}",
            {"records": [{"value": 1}], "value_schema": "{"},
            embedded("avro"),
            422,
            42205,
        ),
        ("POST", "/topics/{topic}/partitions/9", {"records": []}, embedded("json"), 404, 40402),
        ("GET", "/topics/{topic}/partitions/9", None, V2, 404, 40402),
        ("GET", "/consumers/g/instances/i/records", None, V2, 404, 40403),
        ("DELETE", "/consumers/g/instances/i", None, V2, 404, 40403),
        ("POST", "/consumers/g", {"format": "xml"}, V2, 422, 42204),
        ("GET", "/v3/clusters/none", None, V2, 404, 404),
        ("GET", "/v3/clusters/{cluster}/topics/none", None, V2, 404, 40403),
        ("POST", "/v3/clusters/{cluster}/topics", {"topic_name": ""}, V2, 400, 40002),
        ("POST", "/v3/clusters/{cluster}/topics", {"topic_name": "{topic}"}, V2, 400, 40002),
        ("GET", "/v3/clusters/{cluster}/brokers/99", None, V2, 404, 404),
        ("GET", "/v3/clusters/{cluster}/consumer-groups/none", None, V2, 404, 404),
        ("GET", "/v3/clusters/{cluster}/topics/{topic}/configs/none", None, V2, 404, 404),
        ("GET", "/nowhere", None, V2, 404, 404),
        ("PUT", "/topics", None, V2, 405, 405),
    ],
)
def test_what_is_wrong_is_told_by_its_code(
    http: httpx.Client,
    topic: str,
    cluster: str,
    method: str,
    path: str,
    body: Any,
    media: str,
    status: int,
    code: int,
) -> None:
    content = body if isinstance(body, str) else json.dumps(body) if body is not None else ""
    content = content.replace("{topic}", topic)
    target = path.replace("{topic}", topic).replace("{cluster}", cluster)
    answer = http.request(method, target, content=content, headers={"Content-Type": media})
    assert (answer.status_code, answer.json()["error_code"]) == (status, code), answer.text
    assert answer.json()["message"]


def test_instances_are_one_of_a_name_and_of_a_format(
    http: httpx.Client, topic: str, instance: Reader
) -> None:
    path = instance(name="same")
    group = path.split("/")[2]
    again = post(http, f"/consumers/{group}", {"name": "same"})
    assert (again.status_code, again.json()["error_code"]) == (409, 40902)
    answer = http.get(f"{path}/records", headers={"Accept": embedded("avro")})
    assert (answer.status_code, answer.json()["error_code"]) == (406, 40601)
    post(http, f"{path}/subscription", {"topics": [topic]})
    partitions = {"partitions": [{"topic": topic, "partition": 0}]}
    both = post(http, f"{path}/assignments", partitions)
    assert (both.status_code, both.json()["error_code"]) == (409, 40903)
    assert http.delete(path).status_code == 204
    assert http.delete(path).status_code == 404


def test_version_3_makes_and_changes_topics(http: httpx.Client, cluster: str) -> None:
    name = f"rest-{uuid.uuid4().hex[:8]}"
    base = f"/v3/clusters/{cluster}/topics"
    configs = [{"name": "retention.ms", "value": "1000"}]
    made = http.post(base, json={"topic_name": name, "partitions_count": 5, "configs": configs})
    assert (made.status_code, made.json()["partitions_count"]) == (201, 5)
    assert made.json()["kind"] == "KafkaTopic"
    assert made.json()["metadata"]["resource_name"] == f"crn:///kafka={cluster}/topic={name}"
    assert http.get(made.json()["metadata"]["self"]).json()["topic_name"] == name
    assert name in [t["topic_name"] for t in http.get(base).json()["data"]]
    assert http.get(f"/topics/{name}").json()["configs"]["retention.ms"] == "1000"
    config = f"{base}/{name}/configs/retention.ms"
    assert http.get(config).json()["source"] == "DYNAMIC_TOPIC_CONFIG"
    assert http.put(config, json={"value": "2000"}).status_code == 204
    assert http.get(config).json()["value"] == "2000"
    assert http.delete(config).status_code == 204
    assert http.get(config).json()["is_default"] is True
    data = [{"name": "cleanup.policy", "value": "compact"}, {"name": "retention.ms"}]
    data[1]["operation"] = "DELETE"
    assert http.post(f"{base}/{name}/configs:alter", json={"data": data}).status_code == 204
    listed = {c["name"]: c["value"] for c in http.get(f"{base}/{name}/configs").json()["data"]}
    assert listed["cleanup.policy"] == "compact"
    assert (
        http.patch(f"{base}/{name}", json={"partitions_count": 6}).json()["partitions_count"] == 6
    )
    partitions = http.get(f"{base}/{name}/partitions").json()["data"]
    replicas = http.get(partitions[5]["replicas"]["related"]).json()["data"]
    assert replicas[0]["is_leader"] is True
    assert http.get(replicas[0]["metadata"]["self"]).json() == replicas[0]
    assert http.delete(f"{base}/{name}").status_code == 204
    assert http.get(f"{base}/{name}").status_code == 404


def test_version_3_tells_of_brokers_and_groups(
    http: httpx.Client, cluster: str, topic: str, instance: Reader
) -> None:
    base = f"/v3/clusters/{cluster}"
    broker = http.get(f"{base}/brokers").json()["data"][0]
    assert http.get(broker["metadata"]["self"]).json() == broker
    configs = http.get(broker["configs"]["related"]).json()["data"]
    assert any(each["name"] == "log.retention.hours" for each in configs)
    produce(http, topic, [{"value": n} for n in range(4)])
    path = instance()
    group = f"{base}/consumer-groups/{path.split('/')[2]}"
    post(http, f"{path}/subscription", {"topics": [topic]})
    read_all(http, path, 4)
    post(http, f"{path}/offsets")
    assert http.get(group).json()["state"] == "STABLE"
    (member,) = http.get(f"{group}/consumers").json()["data"]
    assignments = http.get(member["assignments"]["related"]).json()["data"]
    assert {(a["topic_name"], a["partition_id"]) for a in assignments} == {(topic, 0), (topic, 1)}
    assert http.get(f"{group}/lag-summary").json()["total_lag"] == 0
    lags = http.get(f"{group}/lags").json()["data"]
    assert sum(lag["log_end_offset"] for lag in lags) == 4
    assert http.get(lags[0]["metadata"]["self"]).json() == lags[0]


def test_version_3_changes_brokers(http: httpx.Client, cluster: str) -> None:
    base = f"/v3/clusters/{cluster}"
    broker = http.get(f"{base}/brokers").json()["data"][0]["broker_id"]
    one, every = f"{base}/brokers/{broker}/configs", f"{base}/broker-configs"
    name = "message.max.bytes"
    assert http.put(f"{one}/{name}", json={"value": "2000000"}).status_code == 204
    wait_until(lambda: http.get(f"{one}/{name}").json()["value"] == "2000000", what="The value")
    refused = http.put(f"{one}/{name}", json={"value": "many"})
    assert (refused.status_code, refused.json()["error_code"]) == (400, 40002)
    assert name in [each["name"] for each in http.get(every).json()["data"]]
    assert http.get(f"{every}/{name}").json()["value"] == "2000000"
    reset = {"data": [{"name": name, "operation": "DELETE"}]}
    assert http.post(f"{every}:alter", json=reset).status_code == 204
    wait_until(lambda: http.get(f"{every}/{name}").status_code == 404, what="The reset")


def test_version_3_keeps_acls(http: httpx.Client, cluster: str, topic: str) -> None:
    base = f"/v3/clusters/{cluster}/acls"
    acl = {
        "resource_type": "TOPIC",
        "resource_name": topic,
        "pattern_type": "LITERAL",
        "principal": "User:alice",
        "host": "*",
        "operation": "READ",
        "permission": "ALLOW",
    }
    assert http.post(base, json=acl).status_code == 201
    more = {"data": [{**acl, "operation": "WRITE"}]}
    assert http.post(f"{base}:batch", json=more).status_code == 201
    wanted = {"resource_name": topic, "resource_type": "topic"}

    def operations() -> list[str]:
        found = http.get(base, params=wanted).json()["data"]
        assert all(each["principal"] == "User:alice" for each in found)
        return sorted(each["operation"] for each in found)

    wait_until(lambda: operations() == ["READ", "WRITE"], what="The ACLs")
    careless = http.delete(base, params=wanted)
    assert careless.status_code == 400
    named = {**wanted, "pattern_type": "LITERAL", "operation": "READ", "permission": "ANY"}
    deleted = http.delete(base, params=named).json()["data"]
    assert [each["operation"] for each in deleted] == ["READ"]
    wait_until(lambda: operations() == ["WRITE"], what="The deletion")
    wrong = http.get(base, params={"operation": "LOOK"})
    assert wrong.status_code == 400


def test_records_are_a_stream(
    http: httpx.Client, cluster: str, topic: str, kafka: KafkaServer
) -> None:
    lines = [
        {"key": {"type": "STRING", "data": "k"}, "value": {"type": "JSON", "data": {"n": 1}}},
        {"value": {"type": "BINARY", "data": "AAE="}, "headers": [{"name": "h", "value": "eA=="}]},
        {"value": {"type": "NOTHING", "data": 1}},
        {"partition_id": 1, "timestamp": 1_700_000_000_000, "value": {"data": [1]}},
    ]
    text = "\n".join(json.dumps(line) for line in lines).encode()
    # In pieces that end anywhere.
    chunks = [text[at : at + 7] for at in range(0, len(text), 7)]
    answer = http.post(
        f"/v3/clusters/{cluster}/topics/{topic}/records",
        content=iter(chunks),
        headers={"Content-Type": "application/json"},
    )
    answers = [json.loads(line) for line in answer.text.splitlines()]
    assert [a["error_code"] for a in answers] == [200, 200, 422, 200]
    assert answers[0]["key"] == {"type": "STRING", "size": 1}
    assert answers[3]["partition_id"] == 1
    found = list(consume(kafka.connection, Selection(topic)))
    assert {(r.key, r.value, r.headers) for r in found} == {
        (b"k", b'{"n":1}', ()),
        (None, b"\0\1", (("h", b"x"),)),
        (None, b"[1]", ()),
    }
    broken = http.post(f"/v3/clusters/{cluster}/topics/{topic}/records", content="[1")
    assert json.loads(broken.text)["error_code"] == 400


def test_many_clients_lose_nothing(http: httpx.Client, topic: str, kafka: KafkaServer) -> None:
    clients, batches, size = 32, 5, 50
    failures: list[str] = []

    def send(client: int) -> None:
        with httpx.Client(base_url=http.base_url, timeout=60) as own:
            for batch in range(batches):
                records = [{"value": [client, batch, n]} for n in range(size)]
                answer = produce(own, topic, records)
                offsets = answer.json().get("offsets", [])
                if answer.status_code != 200 or any(o["error_code"] for o in offsets):
                    failures.append(answer.text)

    threads = [threading.Thread(target=send, args=(n,)) for n in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert _values(kafka.connection, topic) == {
        (c, b, n) for c in range(clients) for b in range(batches) for n in range(size)
    }


def _values(connection: Connection, topic: str) -> set[tuple[int, ...]]:
    return {tuple(json.loads(r.value or b"")) for r in consume(connection, Selection(topic))}


def test_slow_and_dead_clients_block_nobody(
    http: httpx.Client, topic: str, instance: Reader, server: HttpServer
) -> None:
    head = f"POST /topics/{topic} HTTP/1.1\r\nHost: x\r\nContent-Type: {embedded('json')}\r\n"
    slow = [socket.create_connection(("127.0.0.1", server.rest_port)) for _ in range(40)]
    for link in slow:
        link.sendall(f'{head}Content-Length: 1000\r\n\r\n{{"records"'.encode())
    waiting = []
    for _ in range(10):
        path = instance()
        post(http, f"{path}/subscription", {"topics": [topic]})
        link = socket.create_connection(("127.0.0.1", server.rest_port))
        link.sendall(f"GET {path}/records?timeout=20000 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        waiting.append(link)
    # Half of those that wait for records are gone before the answer.
    for link in waiting[::2]:
        link.close()
    start = time.monotonic()
    assert produce(http, topic, [{"value": n} for n in range(100)]).status_code == 200
    assert http.get("/topics").status_code == 200
    assert time.monotonic() - start < 5
    for link in (*slow, *waiting[1::2]):
        link.close()


def test_a_body_that_is_too_large_is_refused(http: httpx.Client, topic: str) -> None:
    body = b'{"records": [{"value": "' + b"x" * (17 << 20) + b'"}]}'
    headers = {"Content-Type": embedded("json")}
    answer = http.post(f"/topics/{topic}", content=body, headers=headers)
    assert (answer.status_code, answer.json()["error_code"]) == (413, 413)


def test_the_description_is_there(http: httpx.Client) -> None:
    found = http.get("/openapi.json").json()
    assert found["openapi"] == "3.0.3"
    assert "/consumers/{group}/instances/{instance}/records" in found["paths"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
async def test_limits_are_told_and_idle_instances_leave(kafka: KafkaServer, topic: str) -> None:
    limits = Limits(instances=1, idle_s=0.5, waiting_records=5)
    proxy = Proxy(kafka.connection, MemorySchemas, limits)
    door = open_door("rest proxy", 0, proxy_routes(proxy), media_type=MEDIA_TYPE)
    transport = httpx.ASGITransport(app=door.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as own:
        made = await own.post("/consumers/idle", json={"name": "one"})
        assert made.status_code == 200
        many = await own.post("/consumers/idle", json={"name": "two"})
        assert (many.status_code, many.json()["error_code"]) == (429, 42901)
        body = json.dumps({"records": [{"value": n} for n in range(6)]})
        headers = {"Content-Type": embedded("json")}
        full = await own.post(f"/topics/{topic}", content=body, headers=headers)
        assert (full.status_code, full.json()["error_code"]) == (429, 42902)
        with anyio.fail_after(10):
            while (await own.get("/consumers/idle/instances/one/subscription")).status_code != 404:
                # Asking keeps it alive: ask more seldom than it may be idle.
                await anyio.sleep(0.8)
        again = await own.post("/consumers/idle", json={"name": "one"})
        assert again.status_code == 200
        await own.delete("/consumers/idle/instances/one")
