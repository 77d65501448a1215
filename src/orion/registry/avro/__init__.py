"""Avro schemas: text to tree, tree to text, and who can read whom."""

from orion.registry.avro.parse import AvroSchema, parse_avro
from orion.registry.avro.render import render_avro, render_resolved
from orion.registry.avro.resolution import find_conflicts

__all__ = ["AvroSchema", "find_conflicts", "parse_avro", "render_avro", "render_resolved"]
