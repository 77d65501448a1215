"""The registry's API as an OpenAPI description, made from the table of its operations."""

from importlib.metadata import version
from typing import Any

from orion.registry import Kind, Level, Mode
from orion.serve.registry.table import OPERATIONS, Operation

VERSION = version("orion-streams")
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_TEXT: dict[str, Any] = {"type": "string"}
_OBJECT: dict[str, Any] = {"type": "object"}
_REFERENCE = {
    "type": "object",
    "required": ["name", "subject", "version"],
    "properties": {"name": _TEXT, "subject": _TEXT, "version": {"type": "integer"}},
}
_SHAPES: dict[str, Any] = {
    "SchemaRequest": {
        "type": "object",
        "required": ["schema"],
        "additionalProperties": False,
        "properties": {
            "schema": _TEXT,
            "schemaType": {"type": "string", "enum": [str(kind) for kind in Kind]},
            "references": {"type": "array", "items": _REFERENCE},
            "metadata": _OBJECT,
            "ruleSet": _OBJECT,
            "id": {"type": "integer"},
            "version": {"type": "integer"},
        },
    },
    "ConfigRequest": {
        "type": "object",
        "properties": {
            "compatibility": {"type": "string", "enum": [str(level) for level in Level]},
            "normalize": {"type": "boolean"},
            "alias": _TEXT,
            "compatibilityGroup": _TEXT,
        },
    },
    "ModeRequest": {
        "type": "object",
        "required": ["mode"],
        "properties": {"mode": {"type": "string", "enum": [str(mode) for mode in Mode]}},
    },
    "Error": {
        "type": "object",
        "required": ["error_code", "message"],
        "properties": {"error_code": {"type": "integer"}, "message": _TEXT},
    },
}


def describe() -> dict[str, Any]:
    """Return the description."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        path = operation.path.replace("{id:int}", "{id}")
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation, path)
    return {
        "openapi": "3.0.3",
        "info": {"title": "Orion schema registry", "version": VERSION},
        "paths": paths,
        "components": {"schemas": _SHAPES},
    }


def _operation(operation: Operation, path: str) -> dict[str, Any]:
    summary = (operation.act.__doc__ or "").partition("\n")[0]
    body: dict[str, Any] = {
        "summary": summary,
        "parameters": [*_path_parameters(path), *map(_query_parameter, operation.query)],
        "responses": {
            "200": {"description": "Done.", "content": _content({})},
            "default": {"description": "Not done.", "content": _content(_refer("Error"))},
        },
    }
    if operation.body:
        body["requestBody"] = {"required": True, "content": _content(_refer(operation.body))}
    return body


def _path_parameters(path: str) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer" if name == "id" else "string"},
        }
        for name in names
    ]


def _query_parameter(text: str) -> dict[str, Any]:
    name, _, kind = text.partition(":")
    return {"name": name, "in": "query", "schema": {"type": kind or "boolean"}}


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {MEDIA_TYPE: {"schema": schema}}


def _refer(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}
