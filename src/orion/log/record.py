"""A record of the log, and its form as one line of JSON that gives the same bytes back."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orion.model import InvalidInputError, nearest

Header = tuple[str, bytes | None]

FIELDS = (
    "topic",
    "partition",
    "offset",
    "timestamp_ms",
    "key",
    "key_base64",
    "value",
    "value_base64",
    "headers",
)


@dataclass(frozen=True)
class Record:
    """One record; a value of None is a tombstone. Where it lies is unknown until it is read."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    timestamp_ms: int | None = None
    topic: str = ""
    partition: int | None = None
    offset: int | None = None


class RecordLineError(InvalidInputError):
    """Raised when a line is not a record in JSON."""

    def __init__(self, line: int, reason: str, hint: str = "") -> None:
        self.line, self.reason = line, reason
        example = (
            'Write it like {"key": "k", "value": "v", "headers": [{"name": "n", "value": "v"}]}.'
        )
        super().__init__(f"Line {line} is not a record: {reason}.", fix=f"{hint} {example}".strip())


def encode_line(record: Record) -> str:
    r"""Return a record as one line of JSON without its line end.

    Bytes that are UTF-8 stand as text under `key` and `value`, others in base64 under
    `key_base64` and `value_base64`; what is unknown is left out.

    >>> encode_line(Record(b'{"a": 1}', key=b"\xff"))
    '{"key_base64": "/w==", "value": "{\\"a\\": 1}"}'
    """
    place = {
        "topic": record.topic or None,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
    }
    line: dict[str, Any] = {name: value for name, value in place.items() if value is not None}
    line |= _encode_bytes("key", record.key) | _encode_bytes("value", record.value)
    if record.headers:
        line["headers"] = [{"name": n, **_encode_bytes("value", v)} for n, v in record.headers]
    return json.dumps(line, ensure_ascii=False)


def decode_line(text: str | bytes, *, line: int = 1) -> Record:
    """Read one line of JSON as a record.

    A text becomes its UTF-8 bytes, null stays null, and any other JSON value becomes its compact
    JSON. A value must be given; a key may be left out.

    Args:
        text: One JSON object with the fields of `encode_line`.
        line: The number of the line, for errors.

    """
    fields = _decode_object(text, line)
    unknown = [name for name in fields if name not in FIELDS]
    if unknown:
        raise RecordLineError(
            line, f"field '{unknown[0]}' is not known", nearest(unknown[0], FIELDS)
        )
    if "value" not in fields and "value_base64" not in fields:
        raise RecordLineError(line, "it has neither 'value' nor 'value_base64'")
    return Record(
        value=_decode_bytes("value", fields, line),
        key=_decode_bytes("key", fields, line),
        headers=_decode_headers(fields.get("headers"), line),
        timestamp_ms=_decode_int("timestamp_ms", fields, line),
        topic=_decode_topic(fields, line),
        partition=_decode_int("partition", fields, line),
        offset=_decode_int("offset", fields, line),
    )


def _encode_bytes(name: str, value: bytes | None) -> dict[str, str | None]:
    if value is None:
        return {name: None}
    try:
        return {name: value.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(value).decode("ascii")}


def _decode_object(text: str | bytes, line: int) -> Mapping[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise RecordLineError(line, "it is not UTF-8") from error
    except RecursionError as error:
        raise RecordLineError(line, "it is nested too deeply") from error
    except ValueError as error:
        raise RecordLineError(line, f"it is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise RecordLineError(line, f"a JSON object was expected, not {_kind(value)}")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _decode_bytes(name: str, fields: Mapping[str, Any], line: int) -> bytes | None:
    encoded = f"{name}_base64"
    if encoded in fields:
        if name in fields:
            raise RecordLineError(line, f"it has both '{name}' and '{encoded}'")
        try:
            return base64.b64decode(fields[encoded], validate=True)
        except (binascii.Error, TypeError, ValueError) as error:
            raise RecordLineError(line, f"'{encoded}' is not base64") from error
    value = fields.get(name)
    if value is None:
        return None
    text = value if isinstance(value, str) else _compact(value)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise RecordLineError(line, f"'{name}' holds half a surrogate pair") from error


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _decode_headers(headers: Any, line: int) -> tuple[Header, ...]:
    if headers is None:
        return ()
    if isinstance(headers, dict):
        headers = [{"name": name, "value": value} for name, value in headers.items()]
    if not isinstance(headers, list):
        raise RecordLineError(line, f"'headers' is {_kind(headers)}, not a list")
    return tuple(_decode_header(header, line) for header in headers)


def _decode_header(header: Any, line: int) -> Header:
    if not isinstance(header, dict) or not isinstance(header.get("name"), str):
        raise RecordLineError(line, "a header has no 'name'")
    unknown = [field for field in header if field not in ("name", "value", "value_base64")]
    if unknown:
        raise RecordLineError(line, f"field '{unknown[0]}' of a header is not known")
    _decode_bytes("name", header, line)
    return header["name"], _decode_bytes("value", header, line)


def _decode_int(name: str, fields: Mapping[str, Any], line: int) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not -(1 << 63) <= value < 1 << 63:
        raise RecordLineError(line, f"'{name}' is {_kind(value)}, not a 64-bit whole number")
    return value


def _decode_topic(fields: Mapping[str, Any], line: int) -> str:
    topic = fields.get("topic") or ""
    if not isinstance(topic, str):
        raise RecordLineError(line, f"'topic' is {_kind(topic)}, not a text")
    return topic


def _kind(value: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "a truth value",
        type(None): "null",
    }
    return names.get(type(value), "a number")
