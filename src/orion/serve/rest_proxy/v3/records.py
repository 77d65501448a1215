"""POST /records: one JSON object a record, as many as the client sends, answered one by one."""

import base64
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import orjson
from starlette.requests import Request

from orion.log import Record, Written
from orion.model import OrionError
from orion.serve.rest_proxy.call import MAX_BODY_BYTES, text, whole
from orion.serve.rest_proxy.embedded import (
    UnusableDocumentError,
    encode_plain,
    encode_registered,
    register,
)
from orion.serve.rest_proxy.errors import WIRES, BadFieldError, BadRequestError
from orion.serve.rest_proxy.proxy import Proxy

# Records of one client that may be under way at a time.
_WINDOW = 500
_KINDS = {"AVRO": "AVRO", "JSONSCHEMA": "JSON", "PROTOBUF": "PROTOBUF"}
_PLAIN = {"BINARY": "binary", "JSON": "json"}
_REFUSED, _UNAVAILABLE = 422, 503


class RecordStream:
    """Turns the chunks of a request's body into answers; one for each record, in order."""

    def __init__(self, proxy: Proxy, cluster: str, topic: str) -> None:
        self._proxy, self._cluster, self._topic = proxy, cluster, topic

    async def answer(self, request: Request) -> AsyncIterator[bytes]:
        """Yield a line of JSON for each record of the body."""
        parser = _Objects()
        async for chunk in request.stream():
            try:
                found = parser.feed(chunk, is_last=not chunk)
            except UnusableDocumentError as error:
                yield _line({"error_code": 400, "message": str(error)})
                return
            for start in range(0, len(found), _WINDOW):
                for answer in await self._write(found[start : start + _WINDOW]):
                    yield _line(answer)

    async def _write(self, given: list[Any]) -> list[dict[str, Any]]:
        """Write records that came together; each has an answer of its own."""
        answers: list[dict[str, Any] | None] = [None] * len(given)
        records, places = [], []
        for place, fields in enumerate(given):
            try:
                records.append(await self._proxy.run(self._record, fields))
                places.append(place)
            except (OrionError, UnusableDocumentError) as error:
                answers[place] = _failure(error)
        try:
            outcomes = await self._proxy.write(self._topic, records)
        except OrionError as error:
            return [_failure(error) for _ in given]
        for place, record, outcome in zip(places, records, outcomes, strict=True):
            if isinstance(outcome, Written):
                answers[place] = self._success(given[place], record, outcome)
            else:
                code = _UNAVAILABLE if outcome.can_retry else _REFUSED
                answers[place] = {"error_code": code, "message": outcome.reason}
        return [answer for answer in answers if answer is not None]

    def _success(self, given: Any, record: Record, written: Written) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "error_code": 200,
            "cluster_id": self._cluster,
            "topic_name": self._topic,
            "partition_id": written.partition,
            "offset": written.offset,
            "timestamp": written.timestamp_ms,
        }
        for part, body in (("key", record.key), ("value", record.value)):
            if body is not None:
                kind = (given.get(part) or {}).get("type", "JSON")
                answer[part] = {"type": kind, "size": len(body)}
        return answer

    def _record(self, fields: Any) -> Record:
        if not isinstance(fields, dict):
            raise UnusableDocumentError("a record is an object")
        partition, timestamp = fields.get("partition_id"), fields.get("timestamp")
        return Record(
            self._body(fields, "value"),
            self._body(fields, "key"),
            headers=_headers(fields.get("headers")),
            timestamp_ms=None if timestamp is None else whole(timestamp, "timestamp"),
            partition=None if partition is None else _partition(partition),
        )

    def _body(self, fields: Mapping[str, Any], part: str) -> bytes | None:
        given = fields.get(part)
        if given is None:
            return None
        if not isinstance(given, dict) or "data" not in given:
            raise BadFieldError(part, "an object with data")
        kind, document = given.get("type"), given["data"]
        if any(name in given for name in ("schema_id", "schema", "schema_version")) or (
            kind in _KINDS
        ):
            return self._registered(given, part)
        if kind == "STRING":
            return text(document, f"{part}.data").encode() if document is not None else None
        if kind is not None and kind not in _PLAIN:
            raise BadFieldError(f"{part}.type", f"one of {', '.join([*_PLAIN, 'STRING', *_KINDS])}")
        return encode_plain(document, _PLAIN[kind or "JSON"])

    def _registered(self, given: Mapping[str, Any], part: str) -> bytes | None:
        documents, subject = self._proxy.documents, given.get("subject") or f"{self._topic}-{part}"
        schema_id = given.get("schema_id")
        if schema_id is None and "schema" in given:
            kind = _KINDS.get(str(given.get("type")))
            if kind is None:
                raise BadFieldError(f"{part}.type", f"one of {', '.join(_KINDS)}")
            raw = text(given["schema"], f"{part}.schema")
            schema_id = register(documents, text(subject, f"{part}.subject"), kind, raw)
        elif schema_id is None:
            schema_id = self._known(given, text(subject, f"{part}.subject"))
        return encode_registered(documents, whole(schema_id, "schema_id"), given["data"])

    def _known(self, given: Mapping[str, Any], subject: str) -> int:
        schemas, version = self._proxy.documents.schemas, given.get("schema_version")
        if version is not None:
            return schemas.version(subject, whole(version, "schema_version")).id
        found = schemas.latest(subject)
        if found is None:
            raise BadRequestError(f"Subject '{subject}' has no schema.")
        return found.id


class _Objects:
    """JSON objects one after another, in chunks that end anywhere."""

    def __init__(self) -> None:
        self._decoder = json.JSONDecoder()
        self._rest = b""

    def feed(self, chunk: bytes, *, is_last: bool) -> list[Any]:
        """Return the objects that are whole now."""
        self._rest += chunk
        if len(self._rest) > MAX_BODY_BYTES:
            raise UnusableDocumentError(f"a record is larger than {MAX_BODY_BYTES} bytes")
        try:
            left = self._rest.decode()
        except UnicodeDecodeError as error:
            if is_last or len(self._rest) - error.start > 4:
                raise UnusableDocumentError("the body is not UTF-8") from error
            return []
        found: list[Any] = []
        at = 0
        while True:
            while at < len(left) and left[at] in " \t\r\n":
                at += 1
            try:
                document, at = self._decoder.raw_decode(left, at)
            except (json.JSONDecodeError, RecursionError) as error:
                if at < len(left) and (is_last or left[at] != "{"):
                    raise UnusableDocumentError(f"the body is not JSON: {error}") from error
                break
            found.append(document)
        self._rest = left[at:].encode()
        return found


def _headers(given: Any) -> tuple[tuple[str, bytes | None], ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise BadFieldError("headers", "a list of objects")
    return tuple((text(h.get("name"), "name"), _header_value(h.get("value"))) for h in given)


def _header_value(value: Any) -> bytes | None:
    if value is None:
        return None
    try:
        return base64.b64decode(text(value, "value"), validate=True)
    except ValueError as error:
        raise BadFieldError("headers.value", "base64") from error


def _partition(given: Any) -> int:
    found = whole(given, "partition_id")
    if found >= 1 << 31:
        raise BadFieldError("partition_id", "the number of a partition")
    return found


def _failure(error: Exception) -> dict[str, Any]:
    for kind in type(error).__mro__:
        if kind in WIRES:
            return {"error_code": WIRES[kind][1], "message": str(error)}
    return {"error_code": 400, "message": str(error)}


def _line(answer: Mapping[str, Any]) -> bytes:
    return orjson.dumps(answer) + b"\r\n"
