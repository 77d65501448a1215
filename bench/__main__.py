"""`make bench`: start a platform of its own, measure, print, and keep the figures as JSON."""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.formats import run_formats
from bench.idle import run_idle
from bench.large_state import run_large_state
from bench.latency import run_latency
from bench.operators import run_operators
from bench.platform import platform, server_pid
from bench.pull import run_pull
from bench.rest import run_rest
from bench.sql import run_sql
from bench.sql_idle import run_sql_idle
from bench.sql_state import run_sql_state
from bench.throughput import run_throughput
from orion import pipeline
from orion.app import App, load_settings
from orion.cli.main import leave

console = Console()
CHOICES = (
    "operators",
    "large-state",
    "throughput",
    "latency",
    "idle",
    "formats",
    "rest",
    "pull",
    "sql",
    "state",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=30, help="of each latency run")
    parser.add_argument("--only", choices=CHOICES)
    parser.add_argument("--operator", default="", help="part of the name of what to measure")
    given = parser.parse_args()
    # As Ctrl-C does: the platform is stopped on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results: dict[str, Any] = {"cores": os.cpu_count(), "records": given.records}
    if given.only in (None, "operators"):
        results["operators"] = run_operators(only=given.operator)
    if given.only in (None, "large-state"):
        results["large state"] = run_large_state()
    if given.only not in ("operators", "large-state"):
        _measure_platform(given, results)
    show(results)
    target = Path("bench/results") / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(results, indent=2))
    console.print(f"Kept in {target}")


def _measure_platform(given: argparse.Namespace, results: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory(prefix="orion-bench-") as folder:
        os.environ["ORION_PROJECT"] = folder
        with platform(Path(folder)) as ready_s:
            results["platform"] = {"up_s": round(ready_s, 1)}
            if given.only in (None, "idle"):
                results["platform"] |= run_idle(Path(folder))
            _measure(given, results)


def _measure(given: argparse.Namespace, results: dict[str, Any]) -> None:
    app = App(load_settings())
    addresses = app.settings.kafka.addresses
    if given.only in (None, "throughput"):
        pipeline.begin(pipeline.Pipeline(app, "bench", once=True))
        results["throughput"] = run_throughput(
            addresses, records=given.records, rounds=given.rounds
        )
        pipeline.current().stop()
    if given.only in (None, "formats"):
        pipeline.begin(pipeline.Pipeline(app, "bench-formats", once=True))
        results["formats"] = run_formats(
            pipeline.current().runtime.spark, records=given.records, rounds=given.rounds
        )
        pipeline.current().stop()
    if given.only in (None, "rest"):
        results["rest"] = run_rest(
            app.connection,
            app.settings.server.rest_port,
            records=given.records // 10,
            server=server_pid(app.settings.server.rest_port),
        )
    if given.only in (None, "pull"):
        port = app.settings.server.sql_port
        results["pull"] = run_pull(app, seconds=given.seconds, server=server_pid(port))
    if given.only in (None, "sql"):
        _measure_sql(app, given, results)
    if given.only in (None, "state"):
        pipeline.begin(pipeline.Pipeline(app, "bench-state"))
        results["state"] = run_sql_state(
            app, records=given.records, rounds=given.rounds, only=given.operator
        )
        pipeline.current().stop()
    if given.only in (None, "latency"):
        pipeline.begin(pipeline.Pipeline(app, "bench-latency"))
        results["latency_ms"] = run_latency(addresses, seconds=given.seconds, only=given.operator)
        pipeline.current().stop()


def _measure_sql(app: App, given: argparse.Namespace, results: dict[str, Any]) -> None:
    pipeline.begin(pipeline.Pipeline(app, "bench-sql"))
    results["sql"] = run_sql(app, records=given.records, rounds=given.rounds, only=given.operator)
    pipeline.current().stop()
    if not given.operator:
        results["sql at rest"] = run_sql_idle(app)


def show(results: dict[str, Any]) -> None:
    for title in (
        "operators",
        "large state",
        "throughput",
        "formats",
        "rest",
        "pull",
        "sql",
        "sql at rest",
        "state",
        "latency_ms",
    ):
        if title in results:
            wide = _columns(title, results[title])
            needed = console.measure(wide, options=console.options.update(width=1_000)).minimum
            is_too_wide = needed > console.width
            console.print(_lines(title, results[title]) if is_too_wide else wide)
    if "platform" in results:
        console.print(results["platform"])


def _columns(title: str, rows: dict[str, Any]) -> Table:
    """Return figures as a table with a column for each kind of them."""
    table = Table(title=title)
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    for column in ("", *columns):
        table.add_column(column, justify="right" if column else "left", no_wrap=bool(column))
    for name, row in rows.items():
        table.add_row(name, *(str(row.get(column, "")) for column in columns))
    return table


def _lines(title: str, rows: dict[str, Any]) -> Table:
    """Return the figures of each thing beside its name, for a terminal that is too narrow."""
    table = Table("", "", title=title, show_header=False)
    for name, row in rows.items():
        table.add_row(name, ", ".join(f"{figure} {value}" for figure, value in row.items()))
    return table


if __name__ == "__main__":
    main()
    leave(0)
