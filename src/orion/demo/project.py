"""The demo's own project: a folder, free ports, and a platform started by Orion's commands."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from orion.app import ENGINE, App
from orion.config import FILE_NAME, read_settings
from orion.model import ConflictError, UnavailableError
from orion.supervise import free_ports

# The app that keeps the lake; what SQL says runs in the engine.
APP_NAME = "music"
SCRIPT, PIPELINE = "music.sql", "lake.py"
_SOURCES = {SCRIPT: "music.sql", PIPELINE: "music_lake.py"}
_COMMAND_TIMEOUT_S = 180.0
# Where jars come from holds for every project; all else of the user's settings stays out.
_KEPT = "ORION_JARS_"
# The platform lives a minute or two: the JVM's second compiler would not earn back its time. With
# `--keep` it lives on, and needs more room for code than the JVM gives to one compiler.
_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"}
_SETTINGS = """\
# The project of `orion demo music`. Every setting and its meaning: orion config show

[kafka]
ports = [{port}]
controller_ports = [{controller_port}]
heap = "512m"

[lake]
path = "{lake}"

[spark]
master = "local[4]"
memory = "1500m"
shuffle_partitions = 1

[engine]
max_batch_records = 30000
trigger = "1s"

[server]
registry_port = {registry_port}
rest_port = {rest_port}
sql_port = {sql_port}
"""


class FolderTakenError(ConflictError):
    """Raised when the folder for the demo holds something already."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(
            f"Folder {folder} is not empty; the demo begins with a project of its own.",
            fix="Give --project a new or an empty folder.",
        )


class CommandFailedError(UnavailableError):
    """Raised when a command of the demo's platform ended with an error."""

    def __init__(self, words: tuple[str, ...], output: str) -> None:
        self.words, self.output = words, output
        super().__init__(
            f"`orion {' '.join(words)}` failed: {output.strip() or 'it said nothing'}",
            fix="Look at what this machine lacks with: orion doctor",
        )


class DemoProject:
    """A folder with an Orion of its own; a temporary one is removed at the end."""

    def __init__(self, folder: Path, *, is_temporary: bool) -> None:
        self.folder = folder
        self.is_temporary = is_temporary
        self._environ = clean_environ(os.environ)
        self.app = App(read_settings(folder, environ=self._environ))
        self._starting: subprocess.Popen[str] | None = None

    @classmethod
    def create(cls, folder: Path | None) -> "DemoProject":
        """Make the project's files in a new folder, or in the given empty one."""
        if folder is not None and folder.exists() and any(folder.iterdir()):
            raise FolderTakenError(folder)
        place = folder or Path(tempfile.mkdtemp(prefix="orion-music-"))
        place.mkdir(parents=True, exist_ok=True)
        place = place.resolve()
        names = ("port", "controller_port", "registry_port", "rest_port", "sql_port")
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        text = _SETTINGS.format(**ports, lake=(place / "lake").as_posix())
        (place / FILE_NAME).write_text(text)
        for name, source in _SOURCES.items():
            code = files("orion.demo").joinpath(source).read_text(encoding="utf-8")
            (place / name).write_text(code, encoding="utf-8")
        return cls(place, is_temporary=folder is None)

    def begin_start(self) -> None:
        """Start the platform; `finish_start` waits for it."""
        self._starting = self._popen("up", "--detach")

    def finish_start(self) -> None:
        """Wait until the platform is ready."""
        assert self._starting is not None
        self._finish(self._starting, ("up", "--detach"))

    def start_lake(self) -> None:
        """Hand the lake's pipeline to the platform, as anyone would."""
        self.command("run", PIPELINE, "--name", APP_NAME, "--detach")

    def start_queries(self) -> None:
        """Carry out the script; returns when its queries run."""
        self.command("run", SCRIPT)

    def ask(self, statement: str) -> list[dict[str, Any]]:
        """Return the rows of a pull query."""
        output = self.command("sql", "--output", "json", "--execute", statement)
        return [json.loads(line) for line in output.splitlines()]

    def kill_engine(self) -> None:
        """Kill the process of every SQL query as a crash would."""
        self.app.supervisor.kill(ENGINE)

    def command(self, *words: str) -> str:
        """Run a command of Orion in the project and return what it prints."""
        return self._finish(self._popen(*words), words)

    def stop(self, *, remove: bool) -> None:
        """Stop every process; remove the folder if asked to and if it is a temporary one."""
        if self._starting is not None:
            # A platform that is half started cannot be stopped yet.
            self._starting.communicate(timeout=_COMMAND_TIMEOUT_S)
        if self.app.run_folder.is_running():
            self.command("down")
        if remove and self.is_temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _popen(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "orion.cli.main", *words],
            cwd=self.folder,
            env={**self._environ, **_JAVA, "ORION_PROJECT": str(self.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Ctrl-C is for the demo alone, which then stops the platform in order.
            start_new_session=True,
        )

    def _finish(self, process: "subprocess.Popen[str]", words: tuple[str, ...]) -> str:
        output, _ = process.communicate(timeout=_COMMAND_TIMEOUT_S)
        if process is self._starting:
            self._starting = None
        if process.returncode:
            raise CommandFailedError(words, output)
        return output


def clean_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without settings of the user's own project."""
    return {
        name: value
        for name, value in environ.items()
        if not name.startswith("ORION_") or name.startswith(_KEPT)
    }
