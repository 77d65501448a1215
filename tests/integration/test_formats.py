"""Formats as Spark columns: native expressions give what the codecs give."""

import datetime
import json
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal as Exact
from typing import Any

import httpx
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

import orion
from orion import pipeline
from orion.app import App, load_settings
from orion.formats import (
    Format,
    FormatSpec,
    MemorySchemas,
    Schema,
    SchemaKind,
    codec_of,
    header,
    row_type,
)
from orion.log import DeadLetters, Record, Selection, Topics, consume, produce
from orion.model import Array, Decimal, Field, InvalidInputError, Map, Scalar, Struct
from orion.process.format import (
    decode_column,
    encode_column,
    spark_columns,
    unplanned_schema_id,
)
from orion.testing import wait_until
from orion.testing.kafka import KafkaServer
from orion.testing.server import HttpServer

PLAIN = (
    Field("ID", Scalar.BIGINT),
    Field("N", Scalar.INTEGER),
    Field("T", Scalar.STRING),
    Field("D", Scalar.DOUBLE),
    Field("B", Scalar.BOOLEAN),
    Field("M", Decimal(6, 2)),
    Field("AT", Scalar.TIMESTAMP),
    Field("ON", Scalar.DATE),
    Field("BY", Scalar.BYTES),
    Field("TI", Scalar.TIME),
)
NESTED = (
    *PLAIN,
    Field("A", Array(Scalar.DATE)),
    Field("S", Struct((Field("X", Scalar.STRING), Field("Y", Scalar.TIMESTAMP)))),
    Field("L", Array(Struct((Field("Q", Scalar.INTEGER),)))),
    Field("P", Map(Scalar.STRING, Scalar.DOUBLE)),
)
NOON = datetime.datetime(2024, 2, 29, 12, 0, 0, 5_000, tzinfo=datetime.UTC)
DAY = datetime.date(2024, 2, 29)
ROW: dict[str, Any] = {
    "ID": 2**62,
    "N": -1,
    "T": 'a "quoted", é\n',
    "D": 1e10,
    "B": True,
    "M": Exact("-0.05"),
    "AT": NOON,
    "ON": DAY,
    "BY": b"\0\1",
    "TI": 61_000,
    "A": [DAY, None],
    "S": {"X": "x", "Y": NOON},
    "L": [{"Q": 1}, {"Q": None}],
    "P": {"k": 1.5},
}
NULLS: dict[str, Any] = dict.fromkeys(ROW)
KEYS = [
    FormatSpec(Format.KAFKA, (Field(name, kind),), is_key=True)
    for name, kind in (("N", Scalar.INTEGER), ("ID", Scalar.BIGINT), ("D", Scalar.DOUBLE))
]
SPECS = [
    FormatSpec(Format.JSON, NESTED),
    FormatSpec(Format.JSON, NESTED[2:3], wrap=False),
    FormatSpec(Format.JSON, NESTED[-1:], is_key=False, wrap=False),
    FormatSpec(Format.JSON_SR, NESTED, subject="json-value"),
    FormatSpec(Format.AVRO, NESTED, subject="avro-value"),
    FormatSpec(Format.AVRO, PLAIN[:1], subject="avro-key", is_key=True),
    FormatSpec(Format.PROTOBUF, NESTED, subject="proto-value"),
    FormatSpec(Format.PROTOBUF_NOSR, PLAIN),
    FormatSpec(Format.DELIMITED, PLAIN),
    FormatSpec(Format.DELIMITED, PLAIN, delimiter="|"),
    FormatSpec(Format.KAFKA, (Field("T", Scalar.STRING),)),
    *KEYS,
]


@pytest.fixture(scope="module")
def spark(spark_app: pipeline.Pipeline) -> SparkSession:
    return spark_app.runtime.spark


@pytest.fixture(scope="module")
def of_bytes(spark: SparkSession) -> Callable[[list[bytes | None]], DataFrame]:
    return lambda values: spark.createDataFrame(
        [(None if value is None else bytearray(value),) for value in values], "value binary"
    )


def _name(spec: FormatSpec) -> str:
    return f"{spec.format}-{len(spec.columns)}-{spec.delimiter}-{spec.columns[0].type}"


@pytest.mark.parametrize("spec", SPECS, ids=_name)
def test_spark_writes_and_reads_what_the_codec_does(spec: FormatSpec, spark: SparkSession) -> None:
    schemas = MemorySchemas()
    names = [field.name for field in spec.columns]
    given = [{n: row[n] for n in names} for row in (ROW, NULLS)] + [None]
    shape = StructType().add("row", spark_columns(spec.columns))
    rows = spark.createDataFrame([(row,) for row in given], shape)
    encoded = encode_column(F.col("row"), spec, schemas)
    written = rows.select("row", encoded.column.alias("encoded")).coalesce(1)
    written = written.withColumn("value", encoded.body("encoded"))
    read = written.withColumn("found", decode_column(F.col("value"), spec, schemas)).collect()
    codec = codec_of(spec, schemas)
    exact = pa.array([_with_entries(row) for row in given], row_type(spec.columns))
    bodies = codec.encode(exact)
    assert [_bytes(row["value"]) for row in read] == bodies.to_pylist()
    expected = codec.decode(bodies)
    assert [row["found"] and row["found"]["reason"] for row in read] == (
        expected.reasons.to_pylist()
    )
    found = [row["found"] and row["found"]["row"] for row in read]
    for got, want in zip(found, expected.rows.to_pylist(), strict=True):
        assert (got is None) == (want is None)
        if got is not None and want is not None:
            plain = [n for n in names if n in {"ID", "N", "T", "D", "B", "M", "ON", "BY", "TI"}]
            assert {n: got[n] for n in plain} == {n: want[n] for n in plain}


def _with_entries(row: dict[str, Any] | None) -> dict[str, Any] | None:
    return row and {n: list(v.items()) if n == "P" and v else v for n, v in row.items()}


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)


@pytest.mark.parametrize("planned", [False, True])
def test_avro_records_of_many_schemas(
    planned: bool, of_bytes: Callable[[list[bytes | None]], DataFrame]
) -> None:
    schemas = MemorySchemas()
    first = schemas.register("t-value", _record("Old", {"id": "int"}))
    second = schemas.register("t-value", _record("New", {"ID": "string", "extra": "int"}))
    third = schemas.register("t-value", _record("Apart", {"other": "int"}))
    elsewhere = schemas.register("u-value", _record("Elsewhere", {"Id": "long"}))
    bodies = [
        header(first) + b"\x0e",
        header(second) + b"\x028\x02",
        header(third) + b"\x02",
        header(first),
        b"\1\0\0\0\1",
        b"\0\0",
        None,
    ]
    others = [header(elsewhere) + b"\x12", header(99) + b"\x02"]
    spec = FormatSpec(Format.AVRO, (Field("ID", Scalar.STRING),), subject="t-value", wrap=True)
    expected = frozenset({first}) if planned else None
    found = decode_column(F.col("value"), spec, schemas, expected=expected)

    def read(values: list[bytes | None]) -> list[Row]:
        rows = of_bytes(values).select(found.alias("v"))
        return rows.select("v.row.ID", "v.reason", "v.row").collect()

    rows = read(bodies)
    assert [row["ID"] for row in rows] == ["7", "8", *[None] * 5]
    assert [row["row"] is not None for row in rows[:4]] == [True, True, True, False]
    reasons = [row["reason"] for row in rows]
    assert reasons[3].startswith("the body does not follow its schema")
    assert reasons[4] == "the body begins with byte 1, not with the 0 before a schema id"
    assert reasons[5] == "the body has 2 bytes, too few for a schema id"
    assert reasons[6] is None
    if planned:
        for schema_id, body in zip((elsewhere, 99), others, strict=True):
            with pytest.raises(PySparkException) as refused:
                read([*bodies, body])
            assert unplanned_schema_id(refused.value) == schema_id
    else:
        one, other = read([*others])
        assert one["ID"] == "9"
        assert other["reason"] == "schema id 99 is not registered"


def _record(name: str, fields: dict[str, str]) -> Schema:
    listed = [{"name": field, "type": kind} for field, kind in fields.items()]
    tree = {"type": "record", "name": name, "fields": listed}
    return Schema(SchemaKind.AVRO, json.dumps(tree))


def test_a_filter_does_not_decode_twice(
    of_bytes: Callable[[list[bytes | None]], DataFrame],
) -> None:
    schemas = MemorySchemas()
    schemas.register("t-value", _record("R", {"ID": "int"}))
    spec = FormatSpec(Format.AVRO, (Field("ID", Scalar.INTEGER),), subject="t-value")
    found = decode_column(F.col("value"), spec, schemas, expected=frozenset())
    good = of_bytes([None]).select(found.alias("v")).where("v.reason is null and v.row.ID > 1")
    plan = good.select("v.row.ID")._jdf.queryExecution().executedPlan().toString()
    filters = [line for line in plan.splitlines() if "Filter" in line]
    assert not any("from_avro" in line for line in filters)


@pytest.fixture(scope="module")
def registered(
    spark_app: pipeline.Pipeline, server: HttpServer, kafka: KafkaServer
) -> Iterator[pipeline.Pipeline]:
    """Give a pipeline whose project names a registry."""
    flags = {
        "kafka.bootstrap_servers": kafka.addresses,
        "registry.url": f"http://127.0.0.1:{server.registry_port}",
    }
    app = App(load_settings(flags, project=spark_app.app.settings.project))
    own = pipeline.Pipeline(app, "formats", once=True)
    pipeline.begin(own)
    yield own
    own.stop()
    pipeline.begin(spark_app)


def _wait() -> None:
    assert [status.error for status in orion.wait() if status.error] == []


def test_pipelines_read_and_write_by_the_registry(
    registered: pipeline.Pipeline, kafka: KafkaServer, server: HttpServer
) -> None:
    first, second, third = (f"formats-{uuid.uuid4().hex[:8]}" for _ in range(3))
    Topics(kafka.connection).create(first, partitions=1)
    body = b'{"USER": "u1", "seconds": "200", "at": 1500, "price": 1.10}'
    produce(kafka.connection, first, [Record(body, key=b"\0\0\0\7"), Record(b"{", key=b"\0\0\0\1")])
    columns = "user STRING, seconds INT, at TIMESTAMP, price DECIMAL(6, 2)"
    plays = orion.stream(first, columns, key_schema="song INT")
    assert plays.columns[:5] == ["song", "user", "seconds", "at", "price"]
    query = f"avro-{uuid.uuid4().hex[:8]}"
    orion.to_topic(plays, second, key="song", key_format="avro", format="avro", name=query)
    _wait()
    subject = httpx.get(f"{server.registry_url}/subjects/{second}-value/versions/latest").json()
    assert [f["name"] for f in json.loads(subject["schema"])["fields"]] == plays.columns[:5]
    (record,) = consume(kafka.connection, Selection(second))
    assert record.value is not None
    assert record.value[:5] == header(subject["id"])
    (letter,) = DeadLetters(kafka.connection, ".dlq").read(query)
    assert letter.reason == "the body is not valid JSON"
    again = orion.stream(second)
    assert [(f.name, f.dataType.simpleString()) for f in again.schema.fields[:5]] == [
        ("song", "int"),
        ("user", "string"),
        ("seconds", "int"),
        ("at", "timestamp"),
        ("price", "decimal(6,2)"),
    ]
    orion.to_topic(again, third, format="delimited", name=f"lines-{uuid.uuid4().hex[:8]}")
    _wait()
    (line,) = consume(kafka.connection, Selection(third))
    assert line.value == b"7,u1,200,1500,1.10"


def test_a_pipeline_reads_schemas_that_come_up_while_it_runs(
    registered: pipeline.Pipeline, kafka: KafkaServer, topic: str
) -> None:
    schemas = registered.registry.schemas
    Topics(kafka.connection).create(topic, partitions=1)
    first = schemas.register(f"{topic}-value", _record("R", {"id": "long"}))
    rows = orion.stream(topic)
    # Twice the same topic: one of the two gets other identities of its columns in the plan.
    both = rows.where("id < 100").unionByName(
        rows.where("id < 100").select("id", *rows.columns[1:])
    )
    name = f"evolving-{uuid.uuid4().hex[:8]}"
    registered.once = False
    query = orion.to_topic(both, f"{topic}-out", format="json", name=name)

    def written(*bodies: bytes) -> list[int]:
        before = len(_ids(kafka, f"{topic}-out"))
        produce(kafka.connection, topic, [Record(body) for body in bodies])
        good = [body for body in bodies if not body.startswith(header(9_999))]
        wait_until(lambda: len(_ids(kafka, f"{topic}-out")) == before + 2 * len(good), timeout_s=60)
        return _ids(kafka, f"{topic}-out")[before:]

    try:
        assert written(header(first) + b"\2", header(first) + b"\4") == [1, 1, 2, 2]
        wait_until(lambda: bool(query.plan), timeout_s=30)
        assert "ArrowEvalPython" not in query.plan
        second = schemas.register(f"{topic}-value", _optional("R", {"more": "int", "id": "long"}))
        elsewhere = schemas.register(f"{topic}-other", _record("Elsewhere", {"ID": "int"}))
        assert written(header(second) + b"\0\2\6", header(9_999) + b"\2") == [3, 3]
        assert written(header(elsewhere) + b"\x08", header(first) + b"\x0a") == [4, 4, 5, 5]
        assert query.status.restarts == 0
        (letter,) = DeadLetters(kafka.connection, ".dlq").read(name)
        assert letter.reason == "schema id 9999 is not registered"
    finally:
        registered.once = True
        query.stop()


def test_sinks_that_write_before_the_commit_read_new_schemas_too(
    registered: pipeline.Pipeline, kafka: KafkaServer, topic: str
) -> None:
    schemas = registered.registry.schemas
    Topics(kafka.connection).create(topic, partitions=1)
    first = schemas.register(f"{topic}-value", _record("R", {"id": "long"}))
    table, out = topic.replace("-", "_"), f"{topic}-out"
    registered.once = False
    rows = orion.stream(topic)
    kept = orion.to_table(rows.select("id"), table, name=f"{topic}-kept")
    sent = orion.to_topic(rows, out, format="json", mode="at_least_once", name=f"{topic}-sent")
    lake = registered.runtime.lake

    def arrived(ids: list[int]) -> bool:
        in_table = (
            sorted(lake.read(table).column("id").to_pylist()) if table in lake.names() else []
        )
        return in_table == ids and sorted({*_ids(kafka, out)}) == ids

    try:
        produce(kafka.connection, topic, [Record(header(first) + b"\2")])
        wait_until(lambda: arrived([1]) and kept.plan and sent.plan, timeout_s=60)
        assert "ArrowEvalPython" not in kept.plan + sent.plan
        second = schemas.register(f"{topic}-value", _optional("R", {"more": "int", "id": "long"}))
        bodies = [header(first) + b"\4", header(second) + b"\0\2\6", header(9_999) + b"\2"]
        produce(kafka.connection, topic, [Record(body) for body in bodies])
        wait_until(lambda: arrived([1, 2, 3]), timeout_s=60)
        assert kept.status.restarts == sent.status.restarts == 0
        for query in (kept, sent):
            (letter,) = DeadLetters(kafka.connection, ".dlq").read(query.status.name)
            assert letter.reason == "schema id 9999 is not registered"
    finally:
        registered.once = True
        kept.stop()
        sent.stop()


def test_a_pipeline_sets_rows_aside_that_lie_before_1970(
    registered: pipeline.Pipeline, kafka: KafkaServer, topic: str
) -> None:
    Topics(kafka.connection).create(topic, partitions=1)
    times = (b"1970-01-01T00:00:05Z", b"1969-12-31T23:59:55Z")
    produce(kafka.connection, topic, [Record(b'{"at": "%s"}' % time) for time in times])
    name = f"early-{uuid.uuid4().hex[:8]}"
    rows = orion.stream(topic, "at TIMESTAMP", format="json")
    orion.to_topic(rows, f"{topic}-out", timestamp="at", format="json", name=name)
    _wait()
    (record,) = consume(kafka.connection, Selection(f"{topic}-out"))
    assert record.timestamp_ms == 5_000
    (letter,) = DeadLetters(kafka.connection, ".dlq").read(name)
    assert letter.is_row
    assert letter.record.topic == f"{topic}-out"
    assert letter.reason == "the timestamp column 'at' lies before 1970"
    assert b"1969-12-31" in (letter.record.value or b"")
    assert DeadLetters(kafka.connection, ".dlq").redrive(name) == 0
    own = orion.stream(topic, "at TIMESTAMP", format="json", event_time="at")
    orion.to_topic(own, f"{topic}-own", format="json", name=f"{name}-own")
    _wait()
    (letter,) = DeadLetters(kafka.connection, ".dlq").read(f"{name}-own")
    assert (letter.is_row, letter.record.topic) == (False, topic)
    assert letter.reason == "the timestamp column 'at' lies before 1970"


def _ids(kafka: KafkaServer, topic: str) -> list[int]:
    found = consume(kafka.connection, Selection(topic))
    return sorted(json.loads(record.value or b"")["id"] for record in found)


def _optional(name: str, fields: dict[str, str]) -> Schema:
    listed = [{"name": f, "type": ["null", k], "default": None} for f, k in fields.items()]
    return Schema(SchemaKind.AVRO, json.dumps({"type": "record", "name": name, "fields": listed}))


def test_a_format_without_columns_is_refused(registered: pipeline.Pipeline) -> None:
    with pytest.raises(InvalidInputError, match="the registry has no schema for 'nothing-value'"):
        orion.stream("nothing", format="avro")
    with pytest.raises(InvalidInputError, match="Did you mean 'AVRO'"):
        orion.stream("nothing", "a INT", format="avr")
    with pytest.raises(InvalidInputError, match="Real-time mode reads json and raw"):
        orion.stream("nothing", "a INT", format="avro", mode="realtime")
