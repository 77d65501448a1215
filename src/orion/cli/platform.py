"""`orion up`, `down`, `status`, `logs` and `reset`: the platform of a project as a whole."""

import shutil
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orion.cli.confirm import confirm
from orion.cli.options import with_options
from orion.cli.output import JsonFlag, console, print_json, print_table, say
from orion.model import (
    ConflictError,
    InvalidInputError,
    UnavailableError,
    format_bytes,
    format_duration,
)

if TYPE_CHECKING:
    from orion.app import App

commands = typer.Typer()
_DOWN_TIMEOUT_S = 15.0


@dataclass(frozen=True)
class UpOptions:
    """What the platform is started with."""

    brokers: Annotated[
        int | None, typer.Option("--brokers", help="1, or 3 brokers with 3 controllers.")
    ] = None
    port: Annotated[int | None, typer.Option("--port", help="Port of the one broker.")] = None
    ports: Annotated[str | None, typer.Option("--ports", help="Ports of the brokers: a,b,c.")] = (
        None
    )
    controller_ports: Annotated[
        str | None, typer.Option("--controller-ports", help="Ports of the controllers: a,b,c.")
    ] = None
    registry_port: Annotated[
        int | None, typer.Option("--registry-port", help="Port of the schema registry.")
    ] = None
    rest_port: Annotated[
        int | None, typer.Option("--rest-port", help="Port of the REST proxy.")
    ] = None
    sql_port: Annotated[int | None, typer.Option("--sql-port", help="Port of the SQL API.")] = None

    def settings(self) -> dict[str, Any]:
        """Return what was chosen, by the names of settings."""
        return {
            "kafka.brokers": self.brokers,
            "kafka.ports": str(self.port) if self.port else self.ports,
            "kafka.controller_ports": self.controller_ports,
            "server.registry_port": self.registry_port,
            "server.rest_port": self.rest_port,
            "server.sql_port": self.sql_port,
        }

    def arguments(self) -> list[str]:
        """Return what was chosen as arguments of another `orion up`."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return [
            f"--{name.replace('_', '-')}={value}"
            for name, value in given.items()
            if value is not None
        ]


@commands.command()
@with_options
def up(
    options: UpOptions,
    detach: bool = typer.Option(False, "--detach", "-d", help="Run in the background."),
) -> None:
    """Start the platform: brokers, engine, HTTP server and every detached app, supervised.

    Stays in the foreground until Ctrl-C; with --detach returns when all is ready. What was
    chosen here holds for every later command in the project while it runs.

    Example: orion up --detach --brokers 3
    """
    from orion.app import App, load_settings
    from orion.cli.jars import fetch_with_progress
    from orion.cli.startup import run_behind, run_here
    from orion.supervise import AlreadyRunningError, check_disk

    if options.port and (options.ports or options.brokers == 3):
        raise InvalidInputError(
            "--port moves a single broker.", fix="Give --ports a,b,c for three brokers."
        )
    app = App(load_settings())
    if app.run_folder.is_running():
        raise AlreadyRunningError(app.run_folder.supervisor_pid())
    app = App(load_settings(options.settings()))
    check_disk(app.settings.data_dir)
    if app.settings.kafka.is_local:
        fetch_with_progress(app, ("kafka",))
    if not detach:
        run_here(app, attached=console.is_terminal)
        return
    run_behind(app, options.arguments())


@commands.command()
def down() -> None:
    """Stop every process of the project in order, within ten seconds.

    Example: orion down
    """
    from orion.supervise import NotRunningError

    app = _app()
    started = time.monotonic()
    try:
        app.supervisor.shut_down()
    except NotRunningError as error:
        say(error.text)
        return
    while app.run_folder.is_running():
        if time.monotonic() - started > _DOWN_TIMEOUT_S:
            pid = app.run_folder.supervisor_pid()
            raise UnavailableError(
                f"The supervisor (pid {pid}) is still stopping.",
                fix=f"Wait a moment, or end it with: kill -9 {pid}",
            )
        time.sleep(0.05)
    say(f"Stopped after {format_duration((time.monotonic() - started) * 1_000)}.")


@commands.command()
def status(as_json: bool = JsonFlag) -> None:
    """Show every process: state, pid, ports, uptime, restarts, memory; exit code 3 when down.

    Example: orion status --json
    """
    from orion.supervise import NotRunningError

    app = _app()
    try:
        found = app.supervisor.statuses()
    except NotRunningError:
        if as_json:
            print_json({"running": False, "processes": []})
            raise typer.Exit(3) from None
        raise
    if as_json:
        pid = app.run_folder.supervisor_pid()
        bodies = [item.to_json() for item in found]
        print_json({"running": True, "supervisor_pid": pid, "processes": bodies})
        return
    rows = [
        (
            item.name,
            str(item.state),
            item.pid,
            " ".join(str(port) for port in item.ports) or None,
            format_duration(item.uptime_s * 1_000) if item.uptime_s is not None else None,
            item.restarts,
            format_bytes(item.memory_bytes) if item.memory_bytes else None,
        )
        for item in found
    ]
    columns = ("PROCESS", "STATE", "PID>", "PORTS", "UPTIME>", "RESTARTS>", "MEMORY>")
    print_table(columns, rows)
    for item in found:
        if item.last_exit:
            say(f"{item.name} last ended with: {item.last_exit}; see: orion logs {item.name}")
    total = format_bytes(sum(item.memory_bytes or 0 for item in found))
    say(f"\nKafka at {app.settings.kafka.addresses}; {total} of memory in all.")


@commands.command()
def logs(
    process: str = typer.Argument("", help="A process of `orion status`; none: all of them."),
    follow: bool = typer.Option(False, "--follow", "-f", help="Go on with new lines."),
    lines: int = typer.Option(20, "--lines", "-n", min=0, help="Lines from the end of each log."),
) -> None:
    """Show what processes wrote; each line begins with its process unless one is named.

    Example: orion logs broker-1 -f
    """
    from orion.cli.log_view import LogView
    from orion.supervise import UnknownProcessError

    folder = _app().run_folder.logs
    known = sorted(path.stem for path in folder.glob("*.log"))
    if process and process not in known:
        raise UnknownProcessError(process, known)
    view = LogView(folder, [process] if process else known)
    view.print_tail(lines)
    if follow:
        view.follow()


@commands.command()
def reset(yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask.")) -> None:
    """Delete the project's data: topics, checkpoints, tables and logs. Asks first.

    Example: orion reset --yes
    """
    app = _app()
    folder = app.settings.data_dir
    if app.settings.project.is_relative_to(folder):
        raise ConflictError(
            f"The data folder {folder} holds the project itself; nothing was deleted.",
            fix="Set data to a folder of its own in orion.toml.",
        )
    if not folder.is_dir():
        say(f"There is no data in {folder}.")
        return
    with app.run_folder.acquire():
        parts = {path: _size_bytes(path) for path in sorted(folder.iterdir())}
        say(f"This deletes everything in {folder}:")
        print_table(("PART", "SIZE>"), [(p.name, format_bytes(size)) for p, size in parts.items()])
        confirm("Delete it?", yes=yes)
        shutil.rmtree(folder)
    say(f"Deleted {format_bytes(sum(parts.values()))}.")


def _app() -> "App":
    from orion.app import App, load_settings

    return App(load_settings())


def _size_bytes(path: Path) -> int:
    """Return the space a file or a folder takes on the disk; index files are mostly holes."""
    files: list[Any] = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(file.lstat().st_blocks * 512 for file in files)
