"""JSON bodies: decoded by DuckDB over whole batches, and row by row where that is not enough."""

from orion.formats.json.codec import JsonCodec

__all__ = ["JsonCodec"]
