"""Protobuf schemas: text or descriptor to a compiled file, and whose bytes the other reads."""

from orion.registry.protobuf.comparison import find_conflicts
from orion.registry.protobuf.parse import ProtobufSchema, parse_protobuf
from orion.registry.protobuf.render import render_protobuf

__all__ = ["ProtobufSchema", "find_conflicts", "parse_protobuf", "render_protobuf"]
