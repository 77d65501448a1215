"""The REST proxy's API, versions 2 and 3, by the paths, media types and codes of Confluent's."""

from orion.serve.rest_proxy.errors import WIRES
from orion.serve.rest_proxy.media import MEDIA_TYPE
from orion.serve.rest_proxy.proxy import Limits, Proxy
from orion.serve.rest_proxy.route import proxy_routes, routes

__all__ = ["MEDIA_TYPE", "WIRES", "Limits", "Proxy", "proxy_routes", "routes"]
