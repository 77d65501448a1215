"""Batches that make more than the driver can hold: their tasks write files, read piece by piece."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from orion.model import UnavailableError
from orion.state import MOST_BYTES_PROPERTY, OutputTooLargeError

# Of one task. Spark holds what tasks give several times over before the driver gets it.
MOST_BYTES = 64 << 20
_ROWS_A_FILE = 100_000
_ROW_GROUP_BYTES = 16 << 20
# The bits of Spark's increasing ids that count the rows of one task.
_ROW_OF_TASK = (1 << 33) - 1
# What Spark leaves beside files that are complete.
_WRITTEN = "_SUCCESS"
# As tasks tell of it, and Spark of all of them together.
_TOO_LARGE = re.compile(rf"\b{OutputTooLargeError.__name__}: |spark\.driver\.maxResultSize")


class NotSharedError(UnavailableError):
    """Raised when the driver does not see what tasks have written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(
            f"A batch was too large to bring together, and its files are not seen at {folder}.",
            fix="Put checkpoints on a disk that driver and executors share, or lower"
            " engine.max_batch_records.",
        )


def is_too_large(error: BaseException) -> bool:
    """Tell whether a batch failed because of how much it makes."""
    return _TOO_LARGE.search(str(error)) is not None


def limit_tasks(rows: DataFrame, most_bytes: int | None) -> None:
    """Let the tasks of this thread's batches give up when they make more; None: let them go on."""
    limit = None if most_bytes is None else str(most_bytes)
    rows.sparkSession.sparkContext.setLocalProperty(MOST_BYTES_PROPERTY, limit)  # type: ignore[arg-type]


def limit_rows(rows: DataFrame, most_bytes: int) -> DataFrame:
    """Return the rows of a batch, whose tasks give up when Spark itself makes too much of them.

    It goes by the number of a row in its task and by its own length, as if all were like it: what
    went before is not known to an expression, and a wrong guess costs a run, not a record.
    """
    number = F.monotonically_increasing_id().bitwiseAND(F.lit(_ROW_OF_TASK))
    too_large = number * F.length("value") > most_bytes
    refusal = F.raise_error(F.lit(f"{OutputTooLargeError.__name__}: more than {most_bytes} bytes"))
    return rows.where(F.when(too_large, refusal).otherwise(F.lit(True)))


@dataclass(frozen=True)
class LargeOutput:
    """What a batch makes, in a folder that driver and tasks share."""

    folder: Path

    def write(self, rows: DataFrame) -> int:
        """Run a batch into files; what an earlier run has left there goes. Return how many rows."""
        writer = rows.write.mode("overwrite").option("maxRecordsPerFile", _ROWS_A_FILE)
        writer.option("parquet.block.size", _ROW_GROUP_BYTES).parquet(str(self.folder))
        if not (self.folder / _WRITTEN).exists():
            raise NotSharedError(self.folder)
        return sum(pq.read_metadata(path).num_rows for path in self._paths())

    def tables(self) -> Iterator[pa.Table]:
        """Give the rows in their order, a file at a time, and remove the files."""
        try:
            for path in self._paths():
                yield pq.read_table(path)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"), key=_place)


def _place(path: Path) -> tuple[int, int]:
    """Return the task that wrote a file, and which of its files it is.

    >>> _place(Path("part-00003-0c5f-a0c1-c1002.snappy.parquet"))
    (3, 1002)
    """
    task, *_, number = path.name.removeprefix("part-").partition(".")[0].split("-")
    return int(task), int(number.removeprefix("c"))
