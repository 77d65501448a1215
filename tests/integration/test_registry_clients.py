"""Clients nobody here wrote: confluent-kafka's registry client and serializers, and curl."""

import json
import subprocess
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
    topic_subject_name_strategy,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message_factory import GetMessageClass

from orion.testing.server import HttpServer

pytestmark = pytest.mark.timeout(120)
ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "note", "type": ["null", "string"], "default": None},
        ],
    }
)
ITEM = json.dumps(
    {
        "title": "Item",
        "type": "object",
        "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
        "additionalProperties": False,
    }
)
STRATEGIES = [
    (topic_subject_name_strategy, "{topic}-value"),
    (topic_record_subject_name_strategy, "{topic}-{record}"),
    (record_subject_name_strategy, "{record}"),
]


@pytest.fixture
def client(server: HttpServer) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": server.registry_url})


@pytest.fixture
def name() -> str:
    return f"t{uuid.uuid4().hex[:8]}"


def test_the_client_manages_schemas(
    server: HttpServer, client: SchemaRegistryClient, name: str
) -> None:
    subject = f"{name}-value"
    identity = client.register_schema(subject, Schema(ORDER, "AVRO"))
    assert client.register_schema(subject, Schema(ORDER, "AVRO")) == identity
    assert json.loads(client.get_schema(identity).schema_str or "")["name"] == "Order"
    assert client.lookup_schema(subject, Schema(ORDER, "AVRO")).version == 1
    assert client.get_latest_version(subject).schema_id == identity
    assert client.get_version(subject, 1).subject == subject
    assert client.get_versions(subject) == [1]
    assert subject in client.get_subjects()
    fields = '[{"name": "x", "type": "int"}]'
    wrong = Schema(f'{{"type": "record", "name": "Order", "fields": {fields}}}', "AVRO")
    assert not client.test_compatibility(subject, wrong)
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(subject, wrong)
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 409)
    client.set_compatibility(subject, "NONE")
    assert client.get_compatibility(subject) == "NONE"
    client.register_schema(subject, wrong)
    assert client.delete_version(subject, 1) == 1
    assert client.delete_subject(subject) == [2]
    client.delete_subject(subject, permanent=True)
    # The client itself remembers the latest version, so another one asks.
    fresh = SchemaRegistryClient({"url": server.registry_url})
    with pytest.raises(SchemaRegistryError) as missing:
        fresh.get_latest_version(subject)
    assert (missing.value.http_status_code, missing.value.error_code) == (404, 40401)


@pytest.mark.parametrize(("strategy", "subject"), STRATEGIES)
def test_avro_goes_round(
    client: SchemaRegistryClient, name: str, strategy: Callable[..., Any], subject: str
) -> None:
    schema = ORDER.replace('"Order"', f'"Order_{name}"')
    write = AvroSerializer(client, schema, conf={"subject.name.strategy": strategy})
    place = SerializationContext(name, MessageField.VALUE)
    body = write({"id": 7, "note": "tea"}, place)
    assert body is not None
    assert body[0] == 0
    assert AvroDeserializer(client)(body, place) == {"id": 7, "note": "tea"}
    expected = subject.format(topic=name, record=f"shop.Order_{name}")
    assert expected in client.get_subjects()


def test_the_identity_may_ride_in_a_header(
    server: HttpServer, client: SchemaRegistryClient, name: str
) -> None:
    conf = {"schema.id.serializer": header_schema_id_serializer}
    place = SerializationContext(name, MessageField.VALUE, headers=[])
    body = AvroSerializer(client, ORDER, conf=conf)({"id": 7, "note": "tea"}, place)
    # The id is no part of the body: a reader that knows neither asks by the header's identity.
    assert body is not None
    assert body[:1] == b"\x0e"
    fresh = SchemaRegistryClient({"url": server.registry_url})
    assert AvroDeserializer(fresh)(body, place) == {"id": 7, "note": "tea"}


@pytest.mark.parametrize(("strategy", "subject"), STRATEGIES)
def test_json_goes_round(
    client: SchemaRegistryClient, name: str, strategy: Callable[..., Any], subject: str
) -> None:
    schema = ITEM.replace('"Item"', f'"Item_{name}"')
    write = JSONSerializer(schema, client, conf={"subject.name.strategy": strategy})
    place = SerializationContext(name, MessageField.VALUE)
    body = write({"name": "tea", "count": 2}, place)
    assert body is not None
    read = JSONDeserializer(None, schema_registry_client=client)
    assert read(body, place) == {"name": "tea", "count": 2}
    assert subject.format(topic=name, record=f"Item_{name}") in client.get_subjects()


def _field(name: str, number: int, kind: int, type_name: str = "") -> FieldDescriptorProto:
    label = FieldDescriptorProto.LABEL_OPTIONAL
    return FieldDescriptorProto(
        name=name, number=number, type=kind, label=label, type_name=type_name or None
    )


@pytest.fixture(scope="module")
def cart() -> Any:
    """Give a message class whose file imports another one, as generated code has them."""
    package = f"shop{uuid.uuid4().hex[:6]}"
    item = FileDescriptorProto(name=f"{package}/item.proto", package=package, syntax="proto3")
    message = item.message_type.add(name="Item")
    message.field.append(_field("name", 1, FieldDescriptorProto.TYPE_STRING))
    main = FileDescriptorProto(name=f"{package}/cart.proto", package=package, syntax="proto3")
    main.dependency.append(item.name)
    message = main.message_type.add(name="Cart")
    message.field.append(_field("item", 1, FieldDescriptorProto.TYPE_MESSAGE, f".{package}.Item"))
    message.field.append(_field("count", 2, FieldDescriptorProto.TYPE_INT32))
    pool = descriptor_pool.Default()
    for file in (item, main):
        pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName(f"{package}.Cart"))


@pytest.mark.parametrize(("strategy", "subject"), STRATEGIES)
def test_protobuf_goes_round(
    client: SchemaRegistryClient,
    name: str,
    cart: Any,
    strategy: Callable[..., Any],
    subject: str,
) -> None:
    write = ProtobufSerializer(cart, client, {"subject.name.strategy": strategy})
    place = SerializationContext(name, MessageField.VALUE)
    sent = cart(item={"name": "tea"}, count=2)
    body = write(sent, place)
    assert body is not None
    assert ProtobufDeserializer(cart, {}, client)(body, place) == sent
    full = cart.DESCRIPTOR.full_name
    found = client.get_latest_version(subject.format(topic=name, record=full))
    assert found.schema is not None
    assert found.schema.schema_type == "PROTOBUF"
    assert [r.name for r in found.schema.references or []] == [
        f"{cart.DESCRIPTOR.file.package}/item.proto"
    ]


def test_serializers_can_be_told_not_to_register(client: SchemaRegistryClient, name: str) -> None:
    place = SerializationContext(name, MessageField.VALUE)
    shy = AvroSerializer(client, ORDER, conf={"auto.register.schemas": False})
    with pytest.raises(SchemaRegistryError) as unknown:
        shy({"id": 1, "note": None}, place)
    assert unknown.value.http_status_code == 404
    wider = json.loads(ORDER)
    wider["fields"].append({"name": "more", "type": "int", "default": 3})
    client.register_schema(f"{name}-value", Schema(ORDER, "AVRO"))
    client.register_schema(f"{name}-value", Schema(json.dumps(wider), "AVRO"))
    latest = AvroSerializer(
        client, ORDER, conf={"auto.register.schemas": False, "use.latest.version": True}
    )
    body = latest({"id": 1, "note": None, "more": 9}, place)
    assert body is not None
    assert AvroDeserializer(client)(body, place) == {"id": 1, "note": None, "more": 9}


def test_references_are_resolved_by_readers(client: SchemaRegistryClient, name: str) -> None:
    client.register_schema(f"{name}-order", Schema(ORDER, "AVRO"))
    cart = json.dumps(
        {
            "type": "record",
            "name": "Cart",
            "namespace": "shop",
            "fields": [{"name": "orders", "type": {"type": "array", "items": "shop.Order"}}],
        }
    )
    schema = Schema(cart, "AVRO", [SchemaReference("shop.Order", f"{name}-order", 1)])
    place = SerializationContext(name, MessageField.VALUE)
    body = AvroSerializer(client, schema)({"orders": [{"id": 1, "note": None}]}, place)
    assert body is not None
    assert AvroDeserializer(client)(body, place) == {"orders": [{"id": 1, "note": None}]}
    assert client.get_latest_version(f"{name}-value").schema_id in client_users(client, name)


def test_json_references_are_resolved_by_readers(client: SchemaRegistryClient, name: str) -> None:
    client.register_schema(f"{name}-item", Schema(ITEM, "JSON"))
    cart = '{"title": "Cart", "type": "array", "items": {"$ref": "item.json"}}'
    schema = Schema(cart, "JSON", [SchemaReference("item.json", f"{name}-item", 1)])
    place = SerializationContext(name, MessageField.VALUE)
    sent: Any = [{"name": "tea", "count": 2}]
    body = JSONSerializer(schema, client)(sent, place)
    assert body is not None
    assert JSONDeserializer(None, schema_registry_client=client)(body, place) == sent
    broken = JSONSerializer(schema, client, conf={"validate": True})
    with pytest.raises(Exception, match="integer"):
        broken([{"name": "tea", "count": "two"}], place)


def client_users(client: SchemaRegistryClient, name: str) -> list[int]:
    found: list[int] = client.get_referenced_by(f"{name}-order", 1)
    return found


def test_curl_gets_what_it_expects(server: HttpServer, name: str) -> None:
    def curl(*words: str) -> str:
        done = subprocess.run(["curl", "-s", *words], capture_output=True, text=True, check=True)
        return done.stdout

    header = "Content-Type: application/vnd.schemaregistry.v1+json"
    url = server.registry_url
    body = json.dumps({"schema": '"string"'})
    answer = curl("-X", "POST", "-H", header, "-d", body, f"{url}/subjects/{name}/versions")
    identity = json.loads(answer)["id"]
    assert json.loads(curl(f"{url}/schemas/ids/{identity}")) == {"schema": '"string"'}
    assert curl("-w", "%{http_code}", "-o", "/dev/null", f"{url}/subjects/nobody/versions") == "404"
