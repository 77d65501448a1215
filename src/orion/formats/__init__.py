"""Bytes to columns and back, a batch at a time.

In:  Arrow arrays of bytes, the wanted columns as an Arrow schema.
Out: Arrow columns, and for each record that cannot be read a reason.
Never: the network, Spark, or Python per record where a batch is clean.
"""

from orion.formats.json import JsonDecoder, UnsupportedTypeError
from orion.formats.worker import REASON, decoding

__all__ = ["REASON", "JsonDecoder", "UnsupportedTypeError", "decoding"]
