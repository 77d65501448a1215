"""Parts of URLs, and parameters written for them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote_plus, unquote, unquote_plus

from orion.sql.function.errors import FunctionFailure
from orion.sql.function.function import Example, Function, variant

_CATEGORY = "URL"
# The parts of a URI, by the expression of RFC 3986, appendix B.
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_AUTHORITY = re.compile(r"(?:[^@]*@)?(\[[^\]]*\]|[A-Za-z0-9.-]*)(?::(\d*))?")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNFIT = re.compile(r"[\s<>\"{}|\\^`]")


@dataclass(frozen=True)
class _Url:
    scheme: str | None
    host: str | None
    port: int | None
    path: str | None
    query: str | None
    fragment: str | None


def _read(text: str) -> _Url:
    found = _PARTS.fullmatch(text)
    if found is None or _UNFIT.search(text) or _BROKEN_ESCAPE.search(text):
        raise FunctionFailure(f"'{text}' is not a URL.")
    scheme, authority, path, query, fragment = found.groups()
    if scheme is not None and not _SCHEME.fullmatch(scheme):
        raise FunctionFailure(f"'{text}' has a scheme that is none.")
    if scheme is not None and authority is None and not path.startswith("/"):
        # `mailto:someone` has neither path nor query, only something to hand over.
        return _Url(scheme, None, None, None, None, _decoded(fragment))
    place = _AUTHORITY.fullmatch(authority or "")
    host = (place.group(1) or None) if place else None
    port = int(place.group(2)) if place and place.group(2) else None
    return _Url(scheme, host, port, unquote(path), _decoded(query), _decoded(fragment))


def _decoded(text: str | None) -> str | None:
    return None if text is None else unquote(text)


def _parameter(text: str, name: str) -> str | None:
    query = _read(text).query
    if query is None:
        return None
    for pair in query.split("&"):
        key, _, value = pair.partition("=")
        if key == name:
            return value
    return None


def _encode(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")


def _decode(text: str) -> str:
    if _BROKEN_ESCAPE.search(text):
        raise FunctionFailure(f"'{text}' has a % without two hexadecimal digits.")
    return unquote_plus(text)


def _part(name: str, words: str, meaning: Callable[[str], str | None], result: str) -> Function:
    return Function(
        f"URL_EXTRACT_{name}",
        _CATEGORY,
        f"{words}; NULL if it has none.",
        (variant("url STRING", "STRING", meaning),),
        (Example(f"URL_EXTRACT_{name}('https://a.org:8080/p/q?x=1&y#top')", result),),
    )


FUNCTIONS = (
    Function(
        "URL_DECODE_PARAM",
        _CATEGORY,
        "A parameter of a URL with its escapes undone.",
        (variant("text STRING", "STRING", _decode),),
        (Example("URL_DECODE_PARAM('a+b%3D1')", "a b=1"),),
    ),
    Function(
        "URL_ENCODE_PARAM",
        _CATEGORY,
        "A text written so that it can be a parameter of a URL.",
        (variant("text STRING", "STRING", _encode),),
        (Example("URL_ENCODE_PARAM('a b=1')", "a+b%3D1"),),
    ),
    _part("FRAGMENT", "What follows the # of a URL", lambda url: _read(url).fragment, "top"),
    _part("HOST", "The host of a URL", lambda url: _read(url).host, "a.org"),
    _part("PATH", "The path of a URL", lambda url: _read(url).path, "/p/q"),
    _part("PROTOCOL", "The protocol of a URL", lambda url: _read(url).scheme, "https"),
    _part("QUERY", "What follows the ? of a URL", lambda url: _read(url).query, "x=1&y"),
    Function(
        "URL_EXTRACT_PORT",
        _CATEGORY,
        "The port of a URL; NULL if it has none.",
        (variant("url STRING", "INT", lambda url: _read(url).port),),
        (Example("URL_EXTRACT_PORT('https://a.org:8080/')", 8080),),
    ),
    Function(
        "URL_EXTRACT_PARAMETER",
        _CATEGORY,
        "The parameter of a name in a URL; empty if it has no value, NULL if it is not there.",
        (variant("url STRING, name STRING", "STRING", _parameter),),
        (Example("URL_EXTRACT_PARAMETER('https://a.org/?x=1&y', 'x')", "1"),),
    ),
)
