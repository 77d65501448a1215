"""Settings of the schema registry: the own one of the server, or an existing one."""

from dataclasses import dataclass

from orion.config.field import setting


@dataclass(frozen=True)
class RegistrySettings:
    """Where schemas are kept and how they may change."""

    url: str = setting("", "Address of an existing schema registry; empty: the local server's")
    topic: str = setting("_schemas", "Compacted topic that holds the schemas of the local registry")
    compatibility: str = setting(
        "BACKWARD", "How schemas may change where nothing else is set: NONE, BACKWARD, FORWARD, …"
    )
