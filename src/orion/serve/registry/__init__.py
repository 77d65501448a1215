"""The schema registry's API, by the paths, media types and codes of Confluent's."""

from orion.serve.registry.route import MEDIA_TYPE, routes

__all__ = ["MEDIA_TYPE", "routes"]
