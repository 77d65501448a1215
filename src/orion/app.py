"""The one place that builds rooms from settings and joins them; heavy ones when first used."""

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orion.config import Settings, find_project, read_settings

if TYPE_CHECKING:
    from orion.cluster import LocalKafka
    from orion.jvm import JarStore, Java
    from orion.lake import Lake
    from orion.log import Connection, DeadLetters, Groups, OrderLog, StatusLog, Topics
    from orion.process import Runtime
    from orion.supervise import ProcessSpec, RunFolder, SupervisorClient


def load_settings(
    flags: Mapping[str, Any] | None = None, *, project: Path | None = None
) -> Settings:
    """Read the settings of the project around the current folder, or of ORION_PROJECT."""
    given = os.environ.get("ORION_PROJECT")
    start = project or (Path(given) if given else find_project(Path.cwd()))
    settings = read_settings(start, environ=os.environ, flags=flags)
    running = _running_settings(settings.data_dir)
    if not running:
        return settings
    return read_settings(start, environ=os.environ, flags={**running, **(flags or {})})


def _running_settings(data_dir: Path) -> dict[str, Any]:
    """Return what `orion up` was started with while it runs, so that later commands agree."""
    # Most commands run without a supervisor's files: they skip the import.
    if not (data_dir / "run").is_dir():
        return {}
    from orion.supervise import RunFolder

    return RunFolder(data_dir).settings()


class App:
    """The rooms of one project, each built at its first use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def java(self) -> "Java":
        """The java that runs brokers, tools and Spark."""
        from orion.jvm import find_java

        return find_java(os.environ)

    @cached_property
    def jars(self) -> "JarStore":
        """The cache of pinned jars."""
        from orion.jvm import JarStore

        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(self.settings.jars.cache or Path(cache) / "orion" / "jars")
        return JarStore(folder, mirror=self.settings.jars.mirror)

    @cached_property
    def connection(self) -> "Connection":
        """The way to the log."""
        from orion.log import Connection

        return Connection(self.settings.kafka.addresses, self.settings.kafka.options)

    @cached_property
    def topics(self) -> "Topics":
        """The topics of the log."""
        from orion.log import Topics

        return Topics(self.connection)

    @cached_property
    def groups(self) -> "Groups":
        """The consumer groups of the log."""
        from orion.log import Groups

        return Groups(self.connection)

    @cached_property
    def lake(self) -> "Lake":
        """The tables of the project."""
        from orion.lake import Lake

        return Lake(self.settings.lake_path)

    @cached_property
    def dead_letters(self) -> "DeadLetters":
        """The dead letters of every query."""
        from orion.log import DeadLetters

        return DeadLetters(self.connection, self.settings.engine.dead_letter_suffix)

    @cached_property
    def statuses(self) -> "StatusLog":
        """What queries last said of themselves."""
        from orion.log import StatusLog

        self.connection.require()
        return StatusLog(self.connection)

    @cached_property
    def orders(self) -> "OrderLog":
        """Orders to running queries."""
        from orion.log import OrderLog

        return OrderLog(self.connection)

    def start_runtime(self, name: str) -> "Runtime":
        """Start the Spark application of this process; takes some seconds."""
        from orion.process import Rooms, Runtime, Shipment, session_options, start_session

        self.connection.require()
        self.jars.fetch(self.java, bundles=("spark",), progress=lambda *_: None)
        settings = self.settings
        scratch = settings.data_dir / "run" / "spark"
        scratch.mkdir(parents=True, exist_ok=True)
        shipment = Shipment(self.jars.paths("spark"))
        options = session_options(settings.spark, shipment, scratch=scratch, name=f"orion {name}")
        rooms = Rooms(
            spark=start_session(options, log=settings.data_dir / "logs" / f"{name}.spark.log"),
            connection=self.connection,
            lake=self.lake,
            settings=settings.engine,
            checkpoints=settings.checkpoints_path,
        )
        return Runtime(rooms, app=name)

    @cached_property
    def run_folder(self) -> "RunFolder":
        """Where the project's supervisor is found."""
        from orion.supervise import RunFolder

        return RunFolder(self.settings.data_dir)

    @property
    def supervisor(self) -> "SupervisorClient":
        """The running supervisor of the project."""
        from orion.supervise import SupervisorClient

        return SupervisorClient(self.run_folder)

    @cached_property
    def local_kafka(self) -> "LocalKafka":
        """The brokers that `orion up` starts."""
        from orion.cluster import LocalKafka

        return LocalKafka(
            self.settings.kafka,
            self.settings.data_dir / "kafka",
            java_path=self.java.path,
            class_path=self.jars.class_path("kafka"),
        )

    def prepare_processes(self) -> "list[ProcessSpec]":
        """Make the project ready to start, then return its processes; needs the project's lock."""
        if self.settings.kafka.is_local:
            self.jars.fetch(self.java, bundles=("kafka",), progress=lambda *_: None)
            self.local_kafka.prepare()
        return self.process_specs()

    def process_specs(self) -> "list[ProcessSpec]":
        """Return every process of this project: brokers unless Kafka is elsewhere, then apps."""
        from orion.supervise import read_apps

        brokers = self._broker_specs() if self.settings.kafka.is_local else []
        apps = [app.to_process_spec() for app in read_apps(self.run_folder.apps)]
        return [*brokers, *apps]

    def _broker_specs(self) -> "list[ProcessSpec]":
        from orion.supervise import ProcessSpec

        flag = "--port" if self.settings.kafka.brokers == 1 else "--ports and --controller-ports"
        return [
            ProcessSpec(
                name=node.name,
                argv=node.argv,
                env=node.env,
                ports=node.ports,
                port_flag=flag,
                ready=node.ready,
                order=1 if node.is_broker else 0,
            )
            for node in self.local_kafka.processes()
        ]
