"""Paths of a context, `/contexts/.eu/subjects/…`, as the paths they stand for."""

from urllib.parse import quote, unquote_to_bytes, urlencode

from starlette.types import ASGIApp, Receive, Scope, Send

from orion.serve.registry.call import SLASH

_NAMED = ("subjects", "config", "mode", "compatibility")


class Rewrite:
    """Splits paths before their slashes are decoded, and moves contexts into the names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request under the path it stands for."""
        if scope["type"] == "http":
            raw = scope.get("raw_path") or quote(scope["path"]).encode()
            parts = [_decode(part) for part in raw.partition(b"?")[0].split(b"/")]
            query = scope["query_string"]
            if len(parts) > 3 and parts[1] == "contexts":
                parts, query = _move(parts[2], parts[3:], query)
            scope = {**scope, "path": "/".join(parts), "query_string": query}
        await self._app(scope, receive, send)


def _decode(part: bytes) -> str:
    return unquote_to_bytes(part).decode(errors="replace").replace("/", SLASH)


def _move(context: str, rest: list[str], query: bytes) -> tuple[list[str], bytes]:
    prefix = f":{context}:"
    word, place = rest[0], 2 if rest[0] == "compatibility" else 1
    if word in _NAMED and len(rest) > place:
        rest = [*rest[:place], f"{prefix}{rest[place]}", *rest[place + 1 :]]
    elif word in ("config", "mode"):
        rest = [word, prefix]
    elif word in ("subjects", "schemas"):
        name = "subject" if len(rest) > 1 else "subjectPrefix"
        query = b"&".join(filter(None, [query, urlencode({name: prefix}).encode()]))
    return ["", *rest], query
