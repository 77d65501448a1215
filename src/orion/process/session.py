"""One Spark application with the defaults that make small batches fast on few cores."""

import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from orion.config import SparkSettings
from orion.model import UnavailableError
from orion.process.scratch import socket_folder
from orion.process.shipping import FOLDER

_LOCAL_CHECKPOINTS = (
    "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
)
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_STATE = "spark.sql.streaming.stateStore"

# Each with the reason it is not Spark's own default; figures in docs/decisions/engine-defaults.md.
_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # What has run is remembered for a page that nobody sees: a thousand plans, as text and graph.
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.scheduler.mode": "FAIR",  # a large batch of one query does not hold up the others
    "spark.locality.wait": "0s",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "5",
    # How long a query with nothing to read waits before it asks Kafka again; with records coming
    # it never waits, so only the first one after a pause sees it.
    "spark.sql.streaming.pollingDelay": "150ms",
    "spark.sql.streaming.stopTimeout": "5s",  # forever, if a task hangs
    f"{_STATE}.providerClass": _ROCKSDB,
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    f"{_STATE}.rocksdb.trackTotalNumberOfRows": "false",
    f"{_STATE}.rocksdb.boundedMemoryUsage": "true",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # A small batch is mostly planning: no plan for the UI, no second opinion on each rule, and
    # nothing to adapt where no stage is shuffled.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.adaptive.streaming.stateless.enabled": "false",
    # Compiled code is kept for this many expressions and stages, of which a query has a dozen: with
    # Spark's 100, ten busy queries would compile theirs again for every batch.
    "spark.sql.codegen.cache.maxEntries": "2000",
    "spark.databricks.delta.snapshotPartitions": "1",  # 50 tasks to read a log of a few files
    "spark.python.daemon.module": "orion.worker",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",  # each batch costs DuckDB a plan
    # This number means no limit. With one, Spark measures all rows written so far after each row:
    # the square of their number, where there are headers. Our batches have a limit of their own.
    "spark.sql.execution.arrow.maxBytesPerBatch": "2147483647",
    "spark.sql.files.maxPartitionBytes": "64m",
    # A batch that makes more goes by way of files.
    "spark.driver.maxResultSize": "512m",
}
_LOCAL_ONLY = {
    # Renames on a local disk are atomic; Spark's default starts a process for each of them, and
    # Hadoop's own file system one more, `chmod`, for each file that it makes.
    "spark.sql.streaming.checkpointFileManagerClass": _LOCAL_CHECKPOINTS,
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    # Between JVM and Python on one machine: 15 ms less a batch than over TCP.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
_CLASS_PATHS = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")
# The code that a JVM ends with when it is told to, see below.
_OUT_OF_MEMORY = 3
# Arrow asks at every value whether its buffer is still held and large enough; Spark's own code is
# the only one that writes and reads them.
_ARROW_OPTIONS = "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
# Kafka's clients read files and call addresses named in their options unless told not to.
_JAVA_OPTIONS = (
    f"{_ARROW_OPTIONS} -XX:+UseSerialGC -Dorg.apache.kafka.automatic.config.providers=none"
    # A thread of Spark's that died of it would leave its batch waiting for ever.
    " -XX:+ExitOnOutOfMemoryError"
)


class SparkEndedError(UnavailableError):
    """Raised when the JVM of this process's Spark has ended by itself."""

    def __init__(self, code: int) -> None:
        self.code = code
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        if code == _OUT_OF_MEMORY:
            how = "ran out of memory"
        super().__init__(
            f"Spark's JVM {how}.",
            fix="What it ran goes on where it was when it is started again. If this comes back,"
            " give it more memory (spark.memory) or smaller batches (engine.max_batch_records).",
        )


class SparkStartError(UnavailableError):
    """Raised when Spark cannot be started, or its cluster does not answer."""

    def __init__(self, master: str, log: Path) -> None:
        self.master, self.log = master, log
        super().__init__(
            f"Spark did not start on {master}.",
            fix="See whether a master answers there (spark.master in orion.toml). Spark's own"
            f" words are in {log}.",
        )


@dataclass(frozen=True)
class Shipment:
    """What driver and executors need: jars, and on other machines the Python packages.

    Args:
        disk: The jars of the local file system.
        python: The packages, as an archive.
        java_options: What the driver's JVM is told besides.
    """

    jars: Sequence[Path]
    disk: Sequence[Path]
    python: Path | None = None
    java_options: Sequence[str] = ()

    @property
    def class_path(self) -> list[Path]:
        """What the JVM of a Spark without other processes has ahead of Spark's own jars."""
        return [*self.disk, *self.jars]


def session_options(
    settings: SparkSettings,
    shipment: Shipment,
    *,
    scratch: Path,
    name: str,
    tells_lines: bool = True,
) -> dict[str, str]:
    """Return every option of the Spark application; the user's own win.

    Args:
        scratch: A folder of this process alone, for all that need not outlive it.
        tells_lines: Whether errors name the line of Python that made a column.
    """
    cores = os.cpu_count() or 2
    log_config = files("orion.process").joinpath("log4j2.properties")
    # In quotes, since a path may hold spaces.
    paths = {
        "log4j2.configurationFile": log_config,
        "derby.system.home": scratch,
        "java.io.tmpdir": scratch,
    }
    java_options = [f"-D{name}={path}" for name, path in paths.items()]
    quoted = " ".join(f'"{option}"' for option in (*java_options, *shipment.java_options))
    options = {
        **_DEFAULTS,
        "spark.app.name": name,
        "spark.master": settings.master,
        "spark.driver.memory": settings.memory,
        "spark.sql.shuffle.partitions": str(settings.shuffle_partitions or cores),
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch.parent / "warehouse"),
        "spark.python.unix.domain.socket.dir": str(socket_folder(scratch)),
        "spark.driver.extraJavaOptions": f"{_JAVA_OPTIONS} {quoted}",
        "spark.executor.extraJavaOptions": _ARROW_OPTIONS,
        # PySpark looks its caller up for each column, and asks the JVM twice.
        "spark.python.sql.dataFrameDebugging.enabled": str(tells_lines).lower(),
    }
    if not is_remote(settings.master):
        # Of jars that Spark hands out itself, each start would make copies.
        options |= _LOCAL_ONLY | {_CLASS_PATHS[0]: _joined(shipment.class_path, ":")}
    else:
        options["spark.jars"] = _joined(shipment.jars, ",")
    if "//127.0.0.1" in settings.master:
        options |= _LOCAL_ONLY | dict.fromkeys(_CLASS_PATHS, _joined(shipment.disk, ":"))
    options["spark.pyspark.python"] = executor_python(settings)
    options["spark.pyspark.driver.python"] = sys.executable
    if shipment.python is not None:
        # As an address: Spark takes the mark for a part of a path that holds a space.
        options["spark.archives"] = f"{shipment.python.as_uri()}#{FOLDER}"
        options["spark.executorEnv.PYTHONPATH"] = f"./{FOLDER}"
    return {**options, **_joined_class_paths(options, settings.options)}


def _joined(paths: Sequence[Path], mark: str) -> str:
    return mark.join(str(path) for path in paths)


def _joined_class_paths(ours: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the user's options; their class paths come before ours instead of in its place."""
    joined = {
        name: f"{given[name]}:{ours[name]}" for name in _CLASS_PATHS if name in {*given} & {*ours}
    }
    return {**given, **joined}


def is_remote(master: str) -> bool:
    """Tell whether tasks run in other processes than the driver's, perhaps elsewhere."""
    return not master.startswith("local")


def executor_python(settings: SparkSettings) -> str:
    """Return the interpreter of the tasks: this one, or of the same version by name elsewhere."""
    if settings.python:
        return settings.python
    major, minor = sys.version_info[:2]
    return f"python{major}.{minor}" if is_remote(settings.master) else sys.executable


def start_session(options: Mapping[str, str], *, log: Path) -> SparkSession:
    """Start the Spark application of this process; a plain `getOrCreate` then returns it.

    Args:
        log: The file that the JVM's own words go to.
    """
    # PySpark takes the tasks' interpreter from the environment alone.
    os.environ["PYSPARK_PYTHON"] = options["spark.pyspark.python"]
    # PySpark prints every error that it raises, with the JVM's stack; raising it is enough.
    logging.getLogger("DataFrameQueryContextLogger").setLevel(logging.CRITICAL + 1)
    builder = SparkSession.builder
    for name, value in options.items():
        builder = builder.config(name, value)
    with _stderr_to(log):
        try:
            session = builder.getOrCreate()
        except Py4JError as error:
            raise SparkStartError(options["spark.master"], log) from error
    # It prints a trace of the stack when the JVM ends before this process does.
    server = session.sparkContext._accumulatorServer  # noqa: SLF001
    vars(server)["handle_error"] = lambda *_: None
    return session


def end_session(session: SparkSession, *, timeout_s: float) -> int:
    """Stop Spark and its JVM, and return how the JVM ended once it has."""
    process = session.sparkContext._gateway.proc  # type: ignore[union-attr]  # noqa: SLF001
    session.stop()
    # The JVM ends when nobody can write to it any more.
    process.stdin.close()
    return int(process.wait(timeout=timeout_s))


def jvm_end(session: SparkSession) -> int | None:
    """Return how the JVM that this process has started ended; None: it has not."""
    process = getattr(session.sparkContext._gateway, "proc", None)  # noqa: SLF001
    return None if process is None else process.poll()


def require_jvm(session: SparkSession) -> None:
    """Raise an error if the JVM that this process has started is gone."""
    code = jvm_end(session)
    if code is not None:
        raise SparkEndedError(code)


@contextmanager
def _stderr_to(path: Path) -> Iterator[None]:
    """Give processes started meanwhile this file as their standard error, for good."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = os.dup(2)
    with path.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
