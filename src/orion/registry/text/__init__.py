"""Records as JSON text by their registered schemas: what console tools read and print."""

from orion.registry.text.codec import TextCodec, UnreadableRecordError

__all__ = ["TextCodec", "UnreadableRecordError"]
