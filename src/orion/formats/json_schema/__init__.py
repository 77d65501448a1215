"""JSON_SR bodies, and JSON schemas."""

from orion.formats.json_schema.codec import JsonSchemaCodec
from orion.formats.json_schema.column import columns_of_json
from orion.formats.json_schema.schema import json_schema

__all__ = ["JsonSchemaCodec", "columns_of_json", "json_schema"]
