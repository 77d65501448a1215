"""All settings of a project, and their description for people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from orion.config.cluster import KafkaSettings
from orion.config.field import setting
from orion.config.lake import LakeSettings
from orion.config.process import EngineSettings, SparkSettings
from orion.config.registry import RegistrySettings
from orion.config.server import ServerSettings
from orion.model import InvalidInputError, join_login

# A server bound to all addresses is reached by any of them.
_EVERYWHERE = ("0.0.0.0", "::", "localhost")
SECTIONS = ("kafka", "spark", "engine", "lake", "server", "registry", "jars")
SECRET_WORDS = ("password", "secret", "token", "jaas", "credential", "private.key", "access.key")


@dataclass(frozen=True)
class JarSettings:
    """Where the pinned jars come from and are kept."""

    cache: str = setting(
        "", "Folder of downloaded jars, shared by projects; empty: the user's cache"
    )
    mirror: str = setting("", "Address of a Maven mirror to download from; empty: Maven Central")


@dataclass(frozen=True)
class Settings:
    """Everything a command needs to know, read once."""

    project: Path
    data: str = setting(".orion", "Folder of the project's data, relative to the project")
    functions: str = setting(
        "functions", "Your own functions of SQL: a file, whose .py may be left out, or a folder"
    )
    kafka: KafkaSettings = field(default_factory=KafkaSettings)
    spark: SparkSettings = field(default_factory=SparkSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    lake: LakeSettings = field(default_factory=LakeSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    registry: RegistrySettings = field(default_factory=RegistrySettings)
    jars: JarSettings = field(default_factory=JarSettings)
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def data_dir(self) -> Path:
        """Where brokers, checkpoints, tables and logs of this project are kept."""
        return (self.project / self.data).resolve()

    @property
    def checkpoints_path(self) -> str:
        """Where queries keep their progress."""
        return self.engine.checkpoints or str(self.data_dir / "checkpoints")

    @property
    def state_path(self) -> Path:
        """Where the operators of SQL queries keep their state."""
        if "://" in self.engine.state:
            raise InvalidInputError(
                f"engine.state is '{self.engine.state}': state lies in files, not at an address.",
                fix="Give a folder that the driver and all workers see under the same path.",
            )
        return self.project / self.engine.state if self.engine.state else self.data_dir / "state"

    @property
    def lake_path(self) -> str:
        """The address of the lake."""
        return self.lake.path or str(self.data_dir / "lake")

    @property
    def registry_url(self) -> str:
        """The address of the schema registry without a last slash, a login included."""
        return self.registry.url.rstrip("/") or self._own_url(self.server.registry_port)

    @property
    def sql_url(self) -> str:
        """The address of the SQL API, a login included."""
        return self._own_url(self.server.sql_port)

    def _own_url(self, port: int) -> str:
        server = self.server
        host = server.host if server.host not in _EVERYWHERE else "127.0.0.1"
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        # Any of the users will do for the project's own commands and processes.
        login = next(iter(server.passwords.items()), None)
        return url if login is None else join_login(url, *login)

    @property
    def door_ports(self) -> tuple[int, ...]:
        """The ports that the server opens; a registry elsewhere needs none here."""
        server = self.server
        own = () if self.registry.url else (server.registry_port,)
        return (*own, server.rest_port, server.sql_port)


def top_fields() -> Sequence[Field[Any]]:
    """Return the settings that stand in no section."""
    return [item for item in fields(Settings) if "meaning" in item.metadata]


@dataclass(frozen=True)
class Described:
    """One setting as `orion config show` prints it."""

    key: str
    value: str
    origin: str
    meaning: str


def describe(settings: Settings) -> Iterator[Described]:
    """Yield every setting with its value, where it came from and what it means."""
    for item in top_fields():
        yield _described(
            settings, item.name, getattr(settings, item.name), item.metadata["meaning"]
        )
    for section in SECTIONS:
        part = getattr(settings, section)
        for item in fields(part):
            value, meaning = getattr(part, item.name), item.metadata["meaning"]
            key = f"{section}.{item.name}"
            yield _described(settings, key, value, meaning)
            if isinstance(value, Mapping):
                for name, text in value.items():
                    yield _described(settings, f"{key}.{name}", text, "passed through")


def _described(settings: Settings, key: str, value: Any, meaning: str) -> Described:
    if isinstance(value, Mapping):
        text = f"{len(value)} set" if value else "none"
    elif isinstance(value, tuple):
        text = " ".join(str(item) for item in value)
    else:
        text = str(value)
    if any(word in key.lower() for word in SECRET_WORDS):
        text = "***"
    return Described(key, text, settings.origins.get(key, "default"), meaning)
