"""A platform of its own for cases over HTTP: a temporary project on free ports."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from orion.config import FILE_NAME, read_settings
from orion.model import UnavailableError

if TYPE_CHECKING:
    from orion.app import App

_TIMEOUT_S = 180.0
_SETTINGS = """\
[kafka]
ports = [{0}]
controller_ports = [{1}]

[kafka.broker_options]
# The records of cases are from 1970: Kafka must not find them too old.
"log.retention.ms" = "-1"

[server]
registry_port = {2}
rest_port = {3}
sql_port = {4}

[spark]
shuffle_partitions = 1
"""


class PlatformFailedError(UnavailableError):
    """Raised when the platform for cases does not start."""

    def __init__(self, output: str) -> None:
        self.output = output
        super().__init__(f"The platform did not start: {output.strip()}", fix="See: orion doctor")


@contextmanager
def own_platform(functions: str = "") -> Iterator["App"]:
    """Start a platform that nobody else uses; stop and remove it at the end.

    Args:
        functions: Where the functions are that cases may call, beside the built-in ones.
    """
    from orion.app import App
    from orion.supervise import free_ports

    with tempfile.TemporaryDirectory(prefix="orion-test-") as name:
        folder = Path(name)
        # A text of JSON is one of TOML as well.
        own = f"functions = {json.dumps(functions)}\n" if functions else ""
        (folder / FILE_NAME).write_text(own + _SETTINGS.format(*free_ports(5)))
        environ = {**os.environ, "ORION_PROJECT": name}
        # An order to end is an exception here: what was started is stopped on the way out.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            _run(environ, "up", "--detach")
            yield App(read_settings(folder, environ={}))
        finally:
            signal.signal(signal.SIGTERM, before)
            _run(environ, "down")


def _run(environ: dict[str, str], *words: str) -> None:
    command = [sys.executable, "-m", "orion.cli.main", *words]
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if done.returncode:
        raise PlatformFailedError(done.stdout + done.stderr)
