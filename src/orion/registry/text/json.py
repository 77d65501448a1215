"""JSON records: the text itself, once its schema takes it."""

import json
from typing import Any

from jsonschema.exceptions import ValidationError
from jsonschema.validators import Draft7Validator, validator_for

from orion.registry.parsed import Parsed


class JsonText:
    """Texts of one JSON Schema."""

    def __init__(self, parsed: Parsed) -> None:
        document = parsed.tree.document
        cls = validator_for(document, default=Draft7Validator)
        self._validator: Any = cls(document, _resolver=parsed.tree.root.resolver)

    def encode(self, text: str) -> bytes:
        """Return the bytes of a JSON text."""
        value = json.loads(text)
        try:
            self._validator.validate(value)
        except ValidationError as error:
            raise ValueError(error.message) from error
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    def decode(self, body: bytes) -> str:
        """Return bytes as JSON."""
        return json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":"))
