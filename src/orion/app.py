"""The one place that builds rooms from settings and joins them; heavy rooms are imported when built."""

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orion.config import Settings, find_project, read_settings

if TYPE_CHECKING:
    from orion.jvm import Java, JarStore
    from orion.log import Connection


def load_settings(flags: Mapping[str, Any] | None = None, *, project: Path | None = None) -> Settings:
    """Read the settings of the project around the current folder, or of ORION_PROJECT."""
    given = os.environ.get("ORION_PROJECT")
    start = project or (Path(given) if given else find_project(Path.cwd()))
    return read_settings(start, environ=os.environ, flags=flags)


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
