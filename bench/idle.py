"""What the platform costs when nothing happens."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from bench.measure import tree_cpu_s, tree_rss
from bench.platform import ORION
from orion.supervise import RunFolder

WATCH_S = 20.0
QUERIES = 20

_APP = """
import orion
for number in range({count}):
    rows = orion.stream(f"idle-{{number}}", "a BIGINT")
    orion.to_topic(rows, f"idle-out-{{number}}", name=f"idle-{{number}}")
"""


def run_idle(project: Path) -> dict[str, Any]:
    """Watch the platform alone, then with twenty queries that have nothing to read."""
    pid = RunFolder(project / ".orion").supervisor_pid()
    if pid is None:
        raise RuntimeError("the platform does not run")
    result: dict[str, Any] = {
        "idle_rss_mb": round(tree_rss(pid) / 1e6),
        "idle_cores": cores(pid),
    }
    for number in range(QUERIES):
        _orion(project, "topics", "create", f"idle-{number}")
    app = project / "idle.py"
    app.write_text(_APP.format(count=QUERIES))
    _orion(project, "run", str(app), "--detach")
    deadline = time.monotonic() + 180
    while _running(project) < QUERIES:
        if time.monotonic() > deadline:
            raise RuntimeError("the idle queries did not start")
        time.sleep(0.5)
    result["idle_cores_with_20_queries"] = cores(pid)
    result["rss_mb_with_20_queries"] = round(tree_rss(pid) / 1e6)
    return result


def cores(pid: int) -> float:
    """Cores that a process tree uses while nothing is asked of it."""
    time.sleep(5)
    before = tree_cpu_s(pid)
    time.sleep(WATCH_S)
    return round((tree_cpu_s(pid) - before) / WATCH_S, 3)


def _running(project: Path) -> int:
    found = json.loads(_orion(project, "queries", "list", "--json"))
    return sum(1 for query in found if query["state"] == "RUNNING" and query["batch"] >= -1)


def _orion(project: Path, *words: str) -> str:
    done = subprocess.run([*ORION, *words], check=True, cwd=project, capture_output=True, text=True)
    return done.stdout
