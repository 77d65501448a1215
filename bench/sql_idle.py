"""Many persistent SQL queries with nothing to read: how soon they run, what they cost."""

import json
import time
import urllib.request
from typing import Any

from bench.idle import cores
from bench.measure import tree_rss
from orion.app import App

QUERIES = 50
_LONGEST_S = 180.0
_SOURCE = (
    "CREATE STREAM quiet (k STRING KEY, n BIGINT)"
    " WITH (KAFKA_TOPIC='quiet', PARTITIONS=1, VALUE_FORMAT='JSON');"
)


def run_sql_idle(app: App) -> dict[str, Any]:
    """Send the statements to the platform's SQL API, wait until all run, watch them rest."""
    pid = app.run_folder.supervisor_pid()
    if pid is None:
        raise RuntimeError("the platform does not run")
    url = f"http://127.0.0.1:{app.settings.server.sql_port}/ksql"
    before = cores(pid)
    _send(url, _SOURCE)
    begun = time.monotonic()
    for number in range(QUERIES):
        select = f"SELECT k, n + {number} AS n FROM quiet WHERE n > {number} EMIT CHANGES"
        _send(url, f"CREATE STREAM quiet_{number} AS {select};")
    accepted_s = time.monotonic() - begun
    while _running(app) < QUERIES:
        if time.monotonic() - begun > _LONGEST_S:
            raise RuntimeError("the queries did not start")
        time.sleep(0.2)
    running_s = time.monotonic() - begun
    return {
        f"{QUERIES} idle queries": {
            "accepted_s": round(accepted_s, 1),
            "running_s": round(running_s, 1),
            "cores_without": before,
            "cores": cores(pid),
            "rss_mb": round(tree_rss(pid) / 1e6),
        }
    }


def _send(url: str, text: str) -> None:
    body = json.dumps({"ksql": text}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        answer.read()


def _running(app: App) -> int:
    statuses = app.statuses.read()
    return sum(
        1
        for name, status in statuses.items()
        if name.startswith("CSAS_QUIET_") and status.state.value == "RUNNING"
    )
