"""The SQL API, by the paths, entities and codes of ksqlDB's."""

from orion.serve.sql.request import MEDIA_TYPE
from orion.serve.sql.route import open_api, routes
from orion.serve.sql.short_pull import ShortPull

__all__ = ["MEDIA_TYPE", "ShortPull", "open_api", "routes"]
