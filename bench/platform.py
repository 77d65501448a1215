"""A platform for the benchmark: `orion up` in a folder of its own, on free ports."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orion.supervise import free_ports

ORION = [sys.executable, "-m", "orion.cli.main"]


@contextmanager
def platform(project: Path) -> Iterator[float]:
    """Start it, tell how many seconds it took, stop it."""
    port, controller = free_ports(2)
    (project / "orion.toml").write_text(
        f"[kafka]\nports = [{port}]\ncontroller_ports = [{controller}]\n"
    )
    begun = time.monotonic()
    subprocess.run([*ORION, "up", "--detach"], check=True, cwd=project, stdout=subprocess.DEVNULL)
    try:
        yield time.monotonic() - begun
    finally:
        subprocess.run([*ORION, "down"], check=True, cwd=project, stdout=subprocess.DEVNULL)
