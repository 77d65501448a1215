"""How many rows go from Python to Spark at once: by their size, since Spark holds them whole."""

import pyarrow as pa

# Spark's JVM has a gigabyte, of which every task of every query takes its part.
_PIECE_BYTES = 16 << 20


def rows_a_piece(rows: int, size_bytes: int) -> int:
    """Return how many rows make a piece, if so many have that size.

    >>> rows_a_piece(100, 64 << 20), rows_a_piece(1, 1 << 30)
    (25, 1)
    """
    return max(1, rows * _PIECE_BYTES // max(1, size_bytes))


def pieces_of(table: pa.Table | pa.RecordBatch) -> list[pa.RecordBatch]:
    """Return a table as batches that are not too large."""
    whole = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
    count = rows_a_piece(whole.num_rows, whole.nbytes)
    found: list[pa.RecordBatch] = whole.to_batches(max_chunksize=count)
    return found
