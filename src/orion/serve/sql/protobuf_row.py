"""Rows of answers as Protobuf: the header tells the message, each row is its bytes in base64."""

import base64
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from orion.formats import Format, FormatSpec, codec_of, schema_of
from orion.model import Field, Scalar, Type
from orion.serve.sql.request import BadRequestError
from orion.serve.sql.value import dump

PROTOBUF_TYPE = "application/vnd.ksql.v1+protobuf"


class ProtobufRows:
    """Turns the rows of one answer into messages."""

    def __init__(self, columns: Sequence[tuple[str, Type | None]]) -> None:
        fields = tuple(Field(name, kind or Scalar.STRING) for name, kind in columns)
        self._names = [field.name for field in fields]
        spec = FormatSpec(format=Format.PROTOBUF_NOSR, columns=fields)
        self.schema_text = schema_of(spec).text
        self._encoder = codec_of(spec)
        # Rows come as JSON shows them; the tolerant reader gives every column its type back.
        self._reader = codec_of(FormatSpec(format=Format.JSON, columns=fields, wrap=True))

    def header(self, query: str, schema: str) -> bytes:
        """Return the first element of an answer."""
        body = {"queryId": query, "schema": schema, "protoSchema": self.schema_text}
        return dump({"header": body})

    def row(self, values: Sequence[Any]) -> bytes:
        """Return one row of an answer."""
        text = dump(dict(zip(self._names, values, strict=True)))
        decoded = self._reader.decode(pa.array([text], pa.binary()))
        reason = decoded.reasons[0].as_py()
        if reason:
            raise BadRequestError(f"A row cannot be written as Protobuf: {reason}.")
        message = self._encoder.encode(decoded.rows)[0].as_py()
        return dump({"row": {"protobufBytes": base64.b64encode(message or b"").decode()}})
