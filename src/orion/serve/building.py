"""Every door of the server, built from the rooms; a new API gets its line here."""

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from orion.serve import registry, rest_proxy, sql
from orion.serve.door import Door, open_door

if TYPE_CHECKING:
    from orion.app import App


def build_doors(app: "App") -> list[Door]:
    """Return the doors that this project's server opens."""
    server = app.settings.server
    doors = []
    if not app.settings.registry.url:
        door = open_door(
            "registry",
            server.registry_port,
            registry.routes(app),
            media_type=registry.MEDIA_TYPE,
            passwords=server.passwords,
        )
        doors.append(replace(door, asgi=registry.Rewrite(door.asgi)))
    doors.append(
        open_door(
            "rest proxy",
            server.rest_port,
            rest_proxy.routes(app),
            media_type=rest_proxy.MEDIA_TYPE,
            passwords=server.passwords,
            # A stream of records has no end; single bodies and records are bounded there.
            max_body_bytes=sys.maxsize,
        )
    )
    api = sql.open_api(app)
    door = open_door(
        "sql",
        server.sql_port,
        sql.routes(api),
        media_type=sql.MEDIA_TYPE,
        passwords=server.passwords,
        # Rows may be inserted for as long as a client likes; other bodies are bounded there.
        max_body_bytes=sys.maxsize,
    )
    # Passwords are asked for by the door, which the short way goes past.
    way = None if server.passwords else sql.ShortPull(api)
    doors.append(replace(door, short_way=way))
    return doors
