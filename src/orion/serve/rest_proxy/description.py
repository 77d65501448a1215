"""The proxy's API as an OpenAPI description, made from the table of its operations."""

import re
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

from orion.serve.rest_proxy.media import FORMATS, MEDIA_TYPE, embedded
from orion.serve.rest_proxy.table import RECORDS_PATH, Operation

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "integer", "minimum": 0}
_NAMED_VALUE = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": _TEXT,
        "value": {"type": "string", "nullable": True},
        "operation": {"type": "string", "enum": ["SET", "DELETE"]},
    },
}
_ACL_FIELDS = (
    "resource_type",
    "resource_name",
    "pattern_type",
    "principal",
    "host",
    "operation",
    "permission",
)


def _object(required: Iterable[str] = (), **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": properties}
    return {**found, "required": list(required)} if required else found


def _list_of(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


_PLACE = _object(("topic", "partition"), topic=_TEXT, partition=_NUMBER)
_ACL = _object(_ACL_FIELDS, **dict.fromkeys(_ACL_FIELDS, _TEXT))
_SHAPES: dict[str, Any] = {
    "ProduceRequest": _object(
        ("records",),
        records=_list_of(_object(key={}, value={}, partition={**_NUMBER, "nullable": True})),
        key_schema=_TEXT,
        key_schema_id=_NUMBER,
        value_schema=_TEXT,
        value_schema_id=_NUMBER,
    ),
    "InstanceRequest": _object(
        name=_TEXT,
        format={"type": "string", "enum": list(FORMATS)},
        **{
            "auto.offset.reset": {"type": "string", "enum": ["earliest", "latest", "none"]},
            "auto.commit.enable": {"type": "string", "enum": ["true", "false"]},
        },
    ),
    "Topics": _object(topics=_list_of(_TEXT), topic_pattern=_TEXT),
    "Partitions": _object(("partitions",), partitions=_list_of(_PLACE)),
    "Offsets": _object(
        ("offsets",),
        offsets=_list_of(
            _object(
                ("topic", "partition", "offset"),
                topic=_TEXT,
                partition=_NUMBER,
                offset=_NUMBER,
                metadata=_TEXT,
            )
        ),
    ),
    "TopicRequest": _object(
        ("topic_name",),
        topic_name=_TEXT,
        partitions_count=_NUMBER,
        replication_factor=_NUMBER,
        configs=_list_of(_NAMED_VALUE),
        validate_only={"type": "boolean"},
    ),
    "GrowRequest": _object(("partitions_count",), partitions_count=_NUMBER),
    "Changes": _object(("data",), data=_list_of(_NAMED_VALUE)),
    "Value": _object(("value",), value=_TEXT),
    "Acl": _ACL,
    "Acls": _object(("data",), data=_list_of(_ACL)),
    "Record": _object(key=_object(), value=_object(), partition_id=_NUMBER, timestamp=_NUMBER),
    "Error": _object(("error_code", "message"), error_code={"type": "integer"}, message=_TEXT),
}


def describe(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the description."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    paths[RECORDS_PATH] = {"post": _records()}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Orion REST proxy", "version": version("orion-streams")},
        "paths": paths,
        "components": {"schemas": _SHAPES},
    }


def _operation(operation: Operation) -> dict[str, Any]:
    is_version_3 = operation.path.startswith("/v3")
    found: dict[str, Any] = {
        "summary": (operation.act.__doc__ or "").partition("\n")[0],
        "parameters": [
            *_path_parameters(operation.path),
            *({"name": name, "in": "query", "schema": _TEXT} for name in operation.query),
        ],
        "responses": {
            str(operation.status): {"description": "Done."},
            "default": _failure(),
        },
    }
    if operation.body:
        media = [embedded("json"), embedded("binary")]
        if operation.media != "records":
            media = ["application/json" if is_version_3 else MEDIA_TYPE]
        content = {name: {"schema": _refer(operation.body)} for name in media}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _records() -> dict[str, Any]:
    return {
        "summary": "Write records, one JSON object each, and answer each with a line of JSON.",
        "parameters": _path_parameters(RECORDS_PATH),
        "requestBody": {"content": {"application/json": {"schema": _refer("Record")}}},
        "responses": {"200": {"description": "Answers."}, "default": _failure()},
    }


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": _TEXT}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _failure() -> dict[str, Any]:
    content = {"application/json": {"schema": _refer("Error")}}
    return {"description": "Not done.", "content": content}


def _refer(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
