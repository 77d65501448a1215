"""The schema registry's API, by the paths, media types and codes of Confluent's."""

from orion.serve.registry.call import BadFieldError, BadQueryError
from orion.serve.registry.context import Rewrite
from orion.serve.registry.media import NotAcceptableError
from orion.serve.registry.route import MEDIA_TYPE, registry_routes, routes
from orion.serve.registry.table import OPERATIONS

__all__ = [
    "MEDIA_TYPE",
    "OPERATIONS",
    "BadFieldError",
    "BadQueryError",
    "NotAcceptableError",
    "Rewrite",
    "registry_routes",
    "routes",
]
