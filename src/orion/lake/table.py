"""The tables of a lake, read without a JVM: facts, history, compaction, rows."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.exceptions import TableNotFoundError as NoDeltaLogError
from pyarrow.fs import FileSystem, LocalFileSystem, SubTreeFileSystem

from orion.model import ConflictError, InvalidInputError, NotFoundError, nearest


class TableNotFoundError(NotFoundError):
    """Raised when the lake has no such table."""

    def __init__(self, name: str, lake: str, known: list[str]) -> None:
        self.name, self.lake = name, lake
        hint = nearest(name, known) or "See what is there with: orion tables list"
        super().__init__(f"Table '{name}' is not in the lake at {lake}.", fix=hint)


class VersionNotFoundError(NotFoundError):
    """Raised when a table never had that version, or its files are gone."""

    def __init__(self, name: str, version: int, newest: int) -> None:
        self.name, self.version, self.newest = name, version, newest
        super().__init__(
            f"Table '{name}' cannot be read as of version {version}; its newest is {newest}.",
            fix=f"See its versions with: orion tables history {name}",
        )


class CompactionRefusedError(ConflictError):
    """Raised when a query rewrote the same files while they were being joined."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"Table '{name}' was changed by a query while its files were being joined.",
            fix="Nothing was changed. Try again, or stop the query for a moment.",
        )


@dataclass(frozen=True)
class TableFacts:
    """A table as it is now."""

    name: str
    path: str
    version: int
    rows: int
    files: int
    size_bytes: int
    columns: tuple[tuple[str, str], ...]
    partition_by: tuple[str, ...]


@dataclass(frozen=True)
class Version:
    """One commit of a table; `rows` were added, changed or deleted by it, None: not recorded."""

    version: int
    timestamp_ms: int
    operation: str
    rows: int | None


class Lake:
    """A folder of tables, one Delta table a name."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def is_local(self) -> bool:
        """Whether the lake is a folder of this machine."""
        return "://" not in self.path

    def table_path(self, name: str) -> str:
        """Return the folder of a table, whether it exists or not."""
        if not name or name.startswith((".", "/")) or ".." in name:
            raise InvalidInputError(
                f"Table name '{name}' is not usable.", fix="Use letters, digits, '_', '-' and '/'."
            )
        return f"{self.path.rstrip('/')}/{name}"

    def names(self) -> list[str]:
        """Return the tables of a local lake, by name; those of a remote one are not known."""
        root = Path(self.path)
        logs = (log for log in root.glob("**/_delta_log") if any(log.glob("*.json")))
        return sorted(str(log.parent.relative_to(root)) for log in logs)

    def get(self, name: str) -> TableFacts:
        """Return the facts of one table, from its log alone."""
        table = self._open(name)
        adds = pa.table(table.get_add_actions(flatten=True))
        counts = adds.column("num_records").to_pylist() if adds.num_rows else []
        sizes = adds.column("size_bytes").to_pylist() if adds.num_rows else []
        return TableFacts(
            name=name,
            path=self.table_path(name),
            version=table.version(),
            rows=sum(count or 0 for count in counts),
            files=adds.num_rows,
            size_bytes=sum(sizes),
            columns=tuple((f.name, _type_name(f.type)) for f in table.schema().fields),
            partition_by=tuple(table.metadata().partition_columns),
        )

    def history(self, name: str, *, limit: int | None = None) -> list[Version]:
        """Return the commits of a table, newest first."""
        return [_version(entry) for entry in self._open(name).history(limit)]

    def compact(self, name: str, *, keep_hours: int | None = None) -> dict[str, Any]:
        """Join small files into large ones; remove files unused for that long, if asked.

        A query may write at the same time; when both touch the same files, one is refused.
        """
        table = self._open(name)
        try:
            done: dict[str, Any] = dict(table.optimize.compact())
        except CommitFailedError as error:
            raise CompactionRefusedError(name) from error
        if keep_hours is not None:
            # The library refuses less than a week by itself; here the caller has decided.
            gone = table.vacuum(keep_hours, dry_run=False, enforce_retention_duration=False)
            done["filesVacuumed"] = len(gone)
        return done

    def read(self, name: str, *, limit: int | None = None, version: int | None = None) -> pa.Table:
        """Return rows of a table as Arrow, of now or of an earlier version."""
        table = self._open(name)
        newest = table.version()
        try:
            if version is not None:
                table.load_as_version(version)
            data = table.to_pyarrow_dataset(filesystem=self._filesystem(name))
            if limit is None:
                return data.to_table()
            # No read-ahead: a thread that still reads when the process ends aborts it.
            return data.head(limit, use_threads=False, batch_readahead=0, fragment_readahead=0)
        except (DeltaError, FileNotFoundError) as error:
            raise VersionNotFoundError(
                name, newest if version is None else version, newest
            ) from error

    def _filesystem(self, name: str) -> FileSystem | None:
        """Return Arrow's own way to a local table; the library's calls Python for each read."""
        path = Path(self.table_path(name))
        return SubTreeFileSystem(str(path), LocalFileSystem()) if path.is_dir() else None

    def query(self, sql: str, **tables: str) -> pa.Table:
        """Answer a SQL question over tables, each given as `alias=table name`, with DuckDB."""
        with duckdb.connect(":memory:") as connection:
            for alias, name in tables.items():
                connection.register(alias, self._open(name).to_pyarrow_dataset())
            return connection.sql(sql).to_arrow_table()

    def _open(self, name: str) -> DeltaTable:
        try:
            return DeltaTable(self.table_path(name))
        except NoDeltaLogError as error:
            raise TableNotFoundError(name, self.path, self.names()) from error


# A commit counts rows under the names of its operation and its writer.
_ROW_METRICS = (
    ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"),
    ("numOutputRows",),
    ("num_added_rows",),
)


def _version(entry: dict[str, Any]) -> Version:
    metrics = entry.get("operationMetrics") or {}
    names = next((names for names in _ROW_METRICS if names[0] in metrics), None)
    return Version(
        version=entry["version"],
        timestamp_ms=entry["timestamp"],
        operation=entry.get("operation", "?"),
        rows=None if names is None else sum(int(metrics.get(name, 0)) for name in names),
    )


def _type_name(kind: Any) -> str:
    return str(getattr(kind, "type", kind))
