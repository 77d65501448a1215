"""Media types of the REST proxy: embedded formats of version 2, plain JSON of version 3."""

import re

from orion.serve.body import MediaTypeError
from orion.serve.rest_proxy.errors import FormatMismatchError

MEDIA_TYPE = "application/vnd.kafka.v2+json"
FORMATS = ("json", "binary", "avro", "jsonschema", "protobuf")
_EMBEDDED = re.compile(r"application/vnd\.kafka\.([a-z]+)(?:\.v[12])?\+json")
_NAMELESS = ("", "application/json", "application/octet-stream", MEDIA_TYPE, "*/*")


def embedded(format: str) -> str:
    """Return the media type of records in a format."""
    return f"application/vnd.kafka.{format}.v2+json"


def format_of_body(content_type: str) -> str:
    """Return the embedded format of records that are sent."""
    name = content_type.partition(";")[0].strip().lower()
    match = _EMBEDDED.fullmatch(name)
    if match is None or match[1] not in FORMATS:
        raise MediaTypeError(name, [embedded(format) for format in FORMATS])
    return match[1]


def require_format(accept: str, format: str) -> None:
    """Raise unless a request accepts records in an instance's format."""
    names = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    if not any(name in _NAMELESS or name in (embedded(format), "application/*") for name in names):
        raise FormatMismatchError(accept, format)
