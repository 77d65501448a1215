"""Every operation of the registry's API in one table: routes and description are made from it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from orion.registry import Registry
from orion.serve.registry import schemas, settings, subjects
from orion.serve.registry.call import Call

Act = Callable[[Registry, Call], Any]
_PAGE = ("offset:integer", "limit:integer")
_SCHEMA, _CONFIG, _MODE = "SchemaRequest", "ConfigRequest", "ModeRequest"
_VERSION = "/subjects/{subject}/versions/{version}"
_ID = "/schemas/ids/{id:int}"
_GUID = "/schemas/guids/{guid}"


@dataclass(frozen=True)
class Operation:
    """One method of one path.

    Args:
        query: Names of parameters, each with its type after a colon unless it is a boolean.
        body: The name of the body's shape in the description.
    """

    method: str
    path: str
    act: Act
    query: tuple[str, ...] = ()
    body: str = ""


OPERATIONS = (
    Operation(
        "GET",
        "/subjects",
        subjects.list_subjects,
        ("subjectPrefix:string", "deleted", "deletedOnly", *_PAGE),
    ),
    Operation("POST", "/subjects/{subject}", subjects.find, ("normalize", "deleted"), _SCHEMA),
    Operation("DELETE", "/subjects/{subject}", subjects.delete_subject, ("permanent",)),
    Operation(
        "GET",
        "/subjects/{subject}/versions",
        subjects.list_versions,
        ("deleted", "deletedOnly", *_PAGE),
    ),
    Operation("POST", "/subjects/{subject}/versions", subjects.register, ("normalize",), _SCHEMA),
    Operation(
        "GET",
        "/subjects/{subject}/metadata",
        subjects.get_by_metadata,
        ("key:string", "value:string", "deleted"),
    ),
    Operation("GET", _VERSION, subjects.get_version, ("deleted", "format:string")),
    Operation("DELETE", _VERSION, subjects.delete_version, ("permanent",)),
    Operation("GET", f"{_VERSION}/schema", subjects.get_version_text, ("deleted", "format:string")),
    Operation("GET", f"{_VERSION}/referencedby", subjects.get_users, _PAGE),
    Operation(
        "GET",
        "/schemas",
        schemas.list_schemas,
        ("subjectPrefix:string", "deleted", "latestOnly", *_PAGE),
    ),
    Operation("GET", "/schemas/types", schemas.list_types),
    Operation("GET", _ID, schemas.get_schema, ("subject:string", "format:string", "fetchMaxId")),
    Operation("GET", f"{_ID}/schema", schemas.get_schema_text, ("subject:string", "format:string")),
    Operation(
        "GET", f"{_ID}/subjects", schemas.list_subjects, ("subject:string", "deleted", *_PAGE)
    ),
    Operation(
        "GET", f"{_ID}/versions", schemas.list_versions, ("subject:string", "deleted", *_PAGE)
    ),
    Operation("GET", _GUID, schemas.get_schema_by_guid, ("format:string",)),
    Operation("GET", f"{_GUID}/ids", schemas.list_ids_of_guid),
    Operation("GET", "/contexts", schemas.list_contexts, _PAGE),
    Operation("DELETE", "/contexts/{context}", schemas.delete_context),
    Operation("GET", "/config", settings.get_config),
    Operation("PUT", "/config", settings.set_config, (), _CONFIG),
    Operation("DELETE", "/config", settings.delete_config),
    Operation("GET", "/config/{subject}", settings.get_config, ("defaultToGlobal",)),
    Operation("PUT", "/config/{subject}", settings.set_config, (), _CONFIG),
    Operation("DELETE", "/config/{subject}", settings.delete_config),
    Operation("GET", "/mode", settings.get_mode),
    Operation("PUT", "/mode", settings.set_mode, ("force",), _MODE),
    Operation("DELETE", "/mode", settings.delete_mode),
    Operation("GET", "/mode/{subject}", settings.get_mode, ("defaultToGlobal",)),
    Operation("PUT", "/mode/{subject}", settings.set_mode, ("force",), _MODE),
    Operation("DELETE", "/mode/{subject}", settings.delete_mode),
    Operation(
        "POST",
        "/compatibility/subjects/{subject}/versions",
        subjects.check_every,
        ("verbose", "normalize"),
        _SCHEMA,
    ),
    Operation(
        "POST",
        "/compatibility/subjects/{subject}/versions/{version}",
        subjects.check_version,
        ("verbose", "normalize"),
        _SCHEMA,
    ),
)
