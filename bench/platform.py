"""A platform for the benchmark: `orion up` in a folder of its own, on free ports."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from orion.supervise import free_ports

ORION = [sys.executable, "-m", "orion.cli.main"]


@contextmanager
def platform(project: Path) -> Iterator[float]:
    """Start it, tell how many seconds it took, stop it."""
    port, controller, registry, rest, sql = free_ports(5)
    (project / "orion.toml").write_text(
        # What the bench runs by itself is to have what the engine has.
        '[spark.options]\n"spark.python.sql.dataFrameDebugging.enabled" = "false"\n'
        f"[kafka]\nports = [{port}]\ncontroller_ports = [{controller}]\n"
        f"[server]\nregistry_port = {registry}\nrest_port = {rest}\nsql_port = {sql}\n"
    )
    begun = time.monotonic()
    subprocess.run([*ORION, "up", "--detach"], check=True, cwd=project, stdout=subprocess.DEVNULL)
    try:
        yield time.monotonic() - begun
    finally:
        subprocess.run([*ORION, "down"], check=True, cwd=project, stdout=subprocess.DEVNULL)


def server_pid(port: int) -> int:
    """Return the process that listens on one of the server's ports."""
    for link in psutil.net_connections("inet"):
        if (
            link.laddr
            and link.laddr.port == port
            and link.status == psutil.CONN_LISTEN
            and link.pid
        ):
            return int(link.pid)
    raise RuntimeError(f"nobody listens on port {port}")
