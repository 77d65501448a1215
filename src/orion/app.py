"""The one place that builds rooms from settings and joins them; heavy ones when first used."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orion.config import Settings, find_project, read_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from orion.cluster import LocalKafka
    from orion.command import Commands, Listener
    from orion.formats import SchemaSource
    from orion.jvm import ClassArchive, JarStore, Java
    from orion.lake import Lake
    from orion.log import Connection, DeadLetters, Groups, OrderLog, StatusLog, Topics
    from orion.process import Runtime
    from orion.registry import Registry
    from orion.serve import Server
    from orion.sql import Functions
    from orion.supervise import ProcessSpec, RunFolder, SupervisorClient


ENGINE = "engine"
SERVER = "server"
# Engine and server start beside the brokers, which they wait for, and stop before them: a query's
# last words go to the log.
_CONTROLLER_ORDER, _BROKER_ORDER, _CLIENT_ORDER = 0, 1, 2
_ENGINE_TIMEOUT_S, _SERVER_TIMEOUT_S = 120.0, 60.0
COMMAND_TOPIC = "_orion_commands"


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
    def kafka_classes(self) -> "ClassArchive":
        """What makes the start of a broker shorter, once it has been rehearsed."""
        return self._archive(self.jars.paths("kafka"))

    @cached_property
    def spark_classes(self) -> "ClassArchive":
        """The same for Spark."""
        from orion.jvm import pyspark_home

        own = [*self.jars.paths("disk"), *self.jars.paths("spark")]
        return self._archive([*own, *sorted((pyspark_home() / "jars").glob("*.jar"))])

    def _archive(self, class_path: Sequence[Path]) -> "ClassArchive":
        from orion.jvm import ClassArchive

        return ClassArchive(self.jars.folder / "classes", self.java, class_path)

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

    def start_spark(
        self, name: str, *, java_options: Sequence[str] | None = None, tells_lines: bool = True
    ) -> "SparkSession":
        """Start Spark alone, for work that needs no log.

        Args:
            java_options: What its JVM is told besides; None: where its classes are archived.
            tells_lines: Whether its errors name the lines of Python that they come from.
        """
        from orion.process import start_session

        options = self._session_options(name, java_options, tells_lines)
        return start_session(options, log=self._spark_log(name))

    @cached_property
    def registry(self) -> "Registry":
        """The schemas of the log; read to their end when first used."""
        from orion.log import StateLog
        from orion.registry import Registry, parse_level

        settings = self.settings.registry
        registry = Registry(
            lambda apply: StateLog(self.connection, settings.topic, apply),
            level=parse_level(settings.compatibility),
        )
        registry.open()
        return registry

    def start_runtime(self, name: str, *, tells_lines: bool = True) -> "Runtime":
        """Start the Spark application of this process; takes some seconds."""
        from orion.process import Rooms, Runtime

        self.connection.require()
        rooms = Rooms(
            spark=self.start_spark(name, tells_lines=tells_lines),
            connection=self.connection,
            lake=self.lake,
            settings=self.settings.engine,
            checkpoints=self.settings.checkpoints_path,
        )
        return Runtime(rooms, app=name)

    def start_engine(self) -> "Runtime":
        """Start the engine: Spark first, since the brokers may still be starting."""
        self.start_spark(ENGINE, tells_lines=False)
        self.connection.wait(timeout_s=_ENGINE_TIMEOUT_S)
        runtime = self.start_runtime(ENGINE, tells_lines=False)
        runtime.warm_up()
        runtime.watch()
        self._start_sql(runtime)
        self._engine_mark.write_text(str(os.getpid()))
        return runtime

    def _start_sql(self, runtime: "Runtime") -> None:
        """Start every query of the command log and follow it."""
        from orion.log import RequestLog
        from orion.process import LiveSql, SqlEngine, sql_session

        live = LiveSql(
            sql_session(runtime.spark),
            self.connection,
            self.functions,
            self.schemas,
            runtime.batch_limit,
            partitions=lambda topic: len(self.topics.get(topic).partitions),
            state_folder=str(self.settings.state_path),
            checkpoints=runtime.checkpoints,
        )
        engine = SqlEngine(runtime, live)
        commands = self.open_commands(self.schemas, listener=engine.take)
        requests = RequestLog(self.connection)
        requests.create()
        engine.begin(commands, requests)

    @cached_property
    def functions(self) -> "Functions":
        """The functions of SQL, the project's own among them."""
        from orion.user_function import load_functions

        return load_functions(self.settings.project, self.settings.functions)

    @cached_property
    def schemas(self) -> "SchemaSource":
        """The schema registry, as processes other than the server see it."""
        from orion.formats import HttpSchemas

        return HttpSchemas(self.settings.registry_url)

    def open_commands(
        self, schemas: "SchemaSource", *, listener: "Listener | None" = None
    ) -> "Commands":
        """Open the command log and read it to its end."""
        from orion.command import Commands, FormatRules, Preparation
        from orion.log import StateLog

        logs: list[StateLog] = []

        def make_log(apply: "Callable[[bytes | None, bytes | None], None]") -> StateLog:
            logs.append(StateLog(self.connection, COMMAND_TOPIC, apply))
            return logs[0]

        commands = Commands(
            make_log,
            self.functions,
            FormatRules(schemas),
            prepare=Preparation(self.topics, schemas).prepare,
            listener=listener,
        )
        logs[0].open()
        return commands

    def _session_options(
        self, name: str, java_options: Sequence[str] | None, tells_lines: bool
    ) -> dict[str, str]:
        from orion.process import Shipment, is_remote, own_scratch, pack_python, session_options

        self.jars.fetch(self.java, bundles=("spark", "disk"), progress=lambda *_: None)
        run = self.settings.data_dir / "run"
        scratch = own_scratch(run / "spark")
        remote = is_remote(self.settings.spark.master)
        if java_options is None:
            # On a cluster the driver has another class path.
            java_options = () if remote else self.spark_classes.options()
        python = pack_python(run) if remote else None
        jars = self.jars.paths("spark"), self.jars.paths("disk")
        shipment = Shipment(*jars, python, java_options)
        return session_options(
            self.settings.spark,
            shipment,
            scratch=scratch,
            name=f"orion {name}",
            tells_lines=tells_lines,
        )

    def _spark_log(self, name: str) -> Path:
        return self.settings.data_dir / "logs" / f"{name}.spark.log"

    @property
    def _engine_mark(self) -> Path:
        """Holds the pid of the engine that has got ready."""
        return self.settings.data_dir / "run" / "engine.pid"

    def _engine_spec(self) -> "ProcessSpec":
        from orion.supervise import ProcessSpec

        def is_ready() -> bool:
            from orion.supervise import process_exists

            mark = self._engine_mark
            return mark.is_file() and process_exists(int(mark.read_text() or 0))

        return ProcessSpec(
            name=ENGINE,
            argv=(sys.executable, "-m", "orion.cli.main", "engine"),
            env={"ORION_PROJECT": str(self.settings.project)},
            ready=is_ready,
            ready_timeout_s=_ENGINE_TIMEOUT_S,
            order=_CLIENT_ORDER,
            starts_early=True,
        )

    def start_server(self) -> "Server":
        """Build the HTTP server; waits for Kafka, since its doors stand on topics."""
        # Imported while the brokers start.
        from orion.serve import Server, build_doors

        self.connection.wait(timeout_s=_SERVER_TIMEOUT_S)
        return Server(build_doors(self), host=self.settings.server.host)

    def _server_spec(self) -> "ProcessSpec":
        from orion.cluster import accepts_connections
        from orion.supervise import ProcessSpec

        ports = self.settings.door_ports
        return ProcessSpec(
            name=SERVER,
            argv=(sys.executable, "-m", "orion.cli.main", SERVER),
            env={"ORION_PROJECT": str(self.settings.project), "MALLOC_ARENA_MAX": "2"},
            ports=ports,
            port_flag="--registry-port, --rest-port or --sql-port",
            ready=lambda: all(accepts_connections(port) for port in ports),
            ready_timeout_s=_SERVER_TIMEOUT_S,
            order=_CLIENT_ORDER,
            starts_early=True,
        )

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
            java_options=self.kafka_classes.options(),
        )

    def prepare_processes(self) -> "list[ProcessSpec]":
        """Make the project ready to start, then return its processes; needs the project's lock."""
        if self.settings.kafka.is_local:
            self.jars.fetch(self.java, bundles=("kafka",), progress=lambda *_: None)
            self.local_kafka.prepare()
        return self.process_specs()

    def process_specs(self) -> "list[ProcessSpec]":
        """Return every process of this project: brokers unless Kafka is elsewhere, …."""
        from orion.supervise import read_apps

        brokers = self._broker_specs() if self.settings.kafka.is_local else []
        engine = [self._engine_spec()] if self.settings.engine.warm else []
        server = [self._server_spec()] if self.settings.server.enabled else []
        apps = [app.to_process_spec() for app in read_apps(self.run_folder.apps)]
        return [*brokers, *engine, *server, *apps]

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
                order=_BROKER_ORDER if node.is_broker else _CONTROLLER_ORDER,
            )
            for node in self.local_kafka.processes()
        ]
