"""What the schema registry's API answers, path by path."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

if TYPE_CHECKING:
    from orion.app import App

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


def routes(_app: "App") -> list[Route]:
    """Return the routes of the registry."""
    return [Route("/", _root)]


async def _root(_request: Request) -> Response:
    return JSONResponse({}, media_type=MEDIA_TYPE)
