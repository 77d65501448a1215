"""Open tables (Delta): written by Spark batches exactly once, read by anything.

In:  a batch of rows with the number of its batch; a table's name.
Out: tables, their history, their files compacted.
Never: Kafka, or a row written twice for one batch.
"""

from orion.lake.table import Lake, TableFacts, TableNotFoundError, Version
from orion.lake.write import TableColumnsError, TableWrite, check_columns, write_batch

__all__ = [
    "Lake",
    "TableColumnsError",
    "TableFacts",
    "TableNotFoundError",
    "TableWrite",
    "Version",
    "check_columns",
    "write_batch",
]
