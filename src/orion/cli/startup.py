"""What `orion up` shows while processes start, in this terminal or behind `--detach`."""

import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from orion.cli.output import console, errors, say
from orion.model import format_duration, split_login

if TYPE_CHECKING:
    from orion.app import App
    from orion.config import Settings
    from orion.supervise import ProcessStatus, StartError

_TAIL_HEADER = "Last lines of"
_POLL_S = 0.1


def remembered(settings: "Settings") -> dict[str, object]:
    """Return what later commands must know to find the processes of this start."""
    kafka, server = settings.kafka, settings.server
    return {
        "kafka.brokers": kafka.brokers,
        "kafka.ports": kafka.broker_ports,
        "kafka.controller_ports": kafka.quorum_ports,
        "server.registry_port": server.registry_port,
        "server.rest_port": server.rest_port,
        "server.sql_port": server.sql_port,
    }


def run_here(app: "App", *, attached: bool) -> None:
    """Supervise in this process until Ctrl-C, a signal or `orion down`."""
    from orion.supervise import Foreground, StartError, Supervisor

    supervisor = Supervisor(
        app.run_folder,
        settings=remembered(app.settings),
        on_change=print_change if attached else _log_change,
    )
    foreground = Foreground(
        supervisor,
        app.prepare_processes,
        on_ready=lambda: print_summary(app, attached=attached),
        on_stop=lambda: say("Stopping …"),
    )
    try:
        foreground.run()
    except StartError as error:
        _print_tail(error)
        raise
    say("Stopped.")


def run_behind(app: "App", arguments: list[str]) -> None:
    """Start a supervisor of its own session and return when it is ready, or with its error."""
    from orion.supervise import open_log

    with open_log(app.run_folder.logs, "supervisor") as output:
        before = output.tell()
        path = Path(output.name)
        child = subprocess.Popen(
            [sys.executable, "-m", "orion.cli.main", "up", *arguments],
            env={**os.environ, "COLUMNS": str(console.width)},
            cwd=app.settings.project,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    if not _watch(app, child):
        _print_failure(path, before)
        raise typer.Exit(child.returncode or 1)
    print_summary(app, attached=False)


def print_change(status: "ProcessStatus") -> None:
    """Print one line for a change of a process's state."""
    from orion.supervise import State

    words = {
        State.STARTING: f"starting   pid {status.pid}" if status.pid else "starting",
        State.READY: f"ready      after {format_duration((status.uptime_s or 0) * 1_000)}",
        State.BACKING_OFF: f"restarting ({status.last_exit})",
        State.STOPPED: "stopped",
        State.FAILED: f"failed     ({status.last_exit})",
    }
    say(f"  {status.name:<14}{words[status.state]}")


def _log_change(status: "ProcessStatus") -> None:
    """Print a change with its time, for a log that is read later."""
    console.print(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}", end="", markup=False)
    print_change(status)


def print_summary(app: "App", *, attached: bool) -> None:
    """Print where everything is and what to do next."""
    settings = app.settings
    say("\nOrion is ready.")
    say(f"  Kafka   {settings.kafka.addresses}")
    if settings.server.enabled:
        say(f"  schemas {split_login(settings.registry_url)[0]}")
        say(f"  SQL     {split_login(settings.sql_url)[0]}")
    say(f"  data    {settings.data_dir}")
    say("\nNext:")
    for command, meaning in (
        ("orion status", "every process, its ports and memory"),
        ("orion topics --help", "make topics, write and read records"),
        ("orion demo music", "a whole pipeline on generated events"),
        ("orion down", "stop everything" + (" (or Ctrl-C)" if attached else "")),
    ):
        say(f"  {command:<21}{meaning}")


def _watch(app: "App", child: "subprocess.Popen[bytes]") -> bool:
    """Print changes until the platform is ready; return False when the supervisor ended."""
    from orion.supervise import NotRunningError

    shown: dict[str, tuple[object, ...]] = {}
    while child.poll() is None:
        try:
            ready = app.supervisor.is_ready()
            for status in app.supervisor.statuses():
                now = (status.state, status.restarts)
                if shown.get(status.name) != now:
                    shown[status.name] = now
                    print_change(status)
            if ready:
                return True
        except NotRunningError:
            pass
        time.sleep(_POLL_S)
    return False


def _print_tail(error: "StartError") -> None:
    if not error.tail:
        return
    errors.print(f"{_TAIL_HEADER} {error.log}:", markup=False)
    for line in error.tail:
        errors.print(f"  {line}", markup=False)


def _print_failure(path: Path, start: int) -> None:
    """Repeat what the supervisor wrote about its failure, without its progress lines."""
    with path.open(errors="replace") as file:
        file.seek(start)
        lines = file.read().splitlines()
    heads = (_TAIL_HEADER, "error:", "Traceback")
    first = next((n for n, line in enumerate(lines) if line.startswith(heads)), 0)
    for line in lines[first:]:
        sys.stderr.write(line + "\n")
