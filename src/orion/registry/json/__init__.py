"""JSON Schemas: text to tree, tree to text, and which documents of one the other takes."""

from orion.registry.json.comparison import find_conflicts
from orion.registry.json.parse import JsonSchema, parse_json_schema, render_json_schema

__all__ = ["JsonSchema", "find_conflicts", "parse_json_schema", "render_json_schema"]
