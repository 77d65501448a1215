"""Run a pipeline file in this process: start it, wait, stop it in order."""

import logging
import os
import runpy
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from orion.cli.output import errors, say
from orion.model import State

if TYPE_CHECKING:
    from orion.app import App
    from orion.model import QueryStatus


def run_pipeline(app: "App", file: Path, name: str, *, once: bool) -> int:
    """Run the file, then wait for its queries; return the exit code."""
    from orion import pipeline

    _set_up()
    own = pipeline.Pipeline(app, name, once=once)
    pipeline.begin(own)
    say(f"Starting Spark for app '{name}' on {app.settings.spark.master} …")
    # A detached app stays, so that a stopped query can be started again.
    stays = os.environ.get("ORION_APP") == "detached"
    statuses: list[QueryStatus] = []
    try:
        own.runtime.watch()
        _execute(file)
        statuses = own.runtime.statuses()
        _announce(statuses)
        statuses = own.runtime.wait(until_stopped=not (stays and statuses))
    except KeyboardInterrupt:
        errors.print("Stopping after the current batch …")
    finally:
        _ignore_signals()
        own.stop()
    failed = [status for status in statuses if status.state is State.FAILED]
    for status in failed:
        errors.print(f"Query '{status.name}' FAILED: {status.error}", style="red", markup=False)
    return 1 if failed else 0


def run_engine(app: "App") -> None:
    """Be the engine: one warm Spark application that stays until it is told to stop."""
    _set_up()
    runtime = None
    try:
        # Spark starts while the brokers do; whoever is ready first waits for the other.
        runtime = app.start_engine()
        say(f"The engine is ready on {app.settings.spark.master}.")
        runtime.wait(until_stopped=False)
    except KeyboardInterrupt:
        say("The engine stops.")
    finally:
        _ignore_signals()
        if runtime is not None:
            runtime.stop()


def run_server(app: "App") -> None:
    """Be the HTTP server until it is told to stop."""
    _set_up()
    try:
        server = app.start_server()
        server.run(lambda: say("The server is ready."))
    except KeyboardInterrupt:
        pass
    say("The server stops.")


def _set_up() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("orion").setLevel(logging.INFO)
    # Its records repeat in pages what a query's error says in a line.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(lambda record: "py4j" not in record.pathname)
    signal.signal(signal.SIGTERM, _as_interrupt)


def _ignore_signals() -> None:
    """Let the stop run to its end; it is bounded by itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _execute(file: Path) -> None:
    """Run the file as `python file` would: its folder first on the path, its name in argv."""
    sys.argv = [str(file)]
    sys.path.insert(0, str(file.resolve().parent))
    runpy.run_path(str(file), run_name="__main__")


def _announce(statuses: "list[QueryStatus]") -> None:
    for status in statuses:
        sources = ", ".join(status.sources) or "its source"
        say(f"Query '{status.name}' runs ({status.mode}): {sources} -> {status.sink}")
    if not statuses:
        say("The file started no query with orion.to_topic or orion.to_table.")


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
