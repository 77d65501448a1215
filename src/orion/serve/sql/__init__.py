"""The SQL API, by the paths, entities and codes of ksqlDB's."""

from orion.serve.sql.request import MEDIA_TYPE
from orion.serve.sql.route import routes

__all__ = ["MEDIA_TYPE", "routes"]
