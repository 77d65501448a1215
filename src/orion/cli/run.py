"""`orion run`: a PySpark pipeline as a process and Spark application of its own."""

import time
from pathlib import Path

import typer

from orion.cli.output import say
from orion.model import ConflictError, InvalidInputError, NotFoundError, State, UnavailableError

commands = typer.Typer()
_SQL_TIMEOUT_S, _SQL_POLL_S = 60.0, 0.3


@commands.command()
def run(
    file: Path = typer.Argument(help="The pipeline, a Python file; or a script of SQL."),
    name: str = typer.Option("", help="Name of the app; else the file's name."),
    once: bool = typer.Option(False, "--once", help="Read what is there now, then end."),
    detach: bool = typer.Option(False, "--detach", "-d", help="Hand it to the running platform."),
    replace: bool = typer.Option(
        False, "--replace", help="With --detach: end the running app of this name first."
    ),
) -> None:
    """Run a PySpark pipeline until it is stopped; Ctrl-C ends it after the current batch.

    Exit code 0 when every query was stopped or has read all, 1 when one has FAILED. A detached
    app runs with the platform, starts again after a crash and with every `orion up`, and stays
    when its queries are stopped. End it for good with: orion queries forget --app NAME

    Example: orion run pipeline.py --detach
    """
    if not file.is_file():
        raise NotFoundError(f"File '{file}' does not exist.", fix="Give the path of a Python file.")
    if once and detach:
        raise InvalidInputError(
            "--once ends by itself, --detach keeps an app running.", fix="Give one of the two."
        )
    if file.suffix == ".sql":
        _run_sql(file)
        return
    app_name = name or file.stem
    if detach:
        _hand_over(file, app_name, replace=replace)
        return
    from orion.app import App, load_settings
    from orion.cli.foreground import run_pipeline

    raise typer.Exit(run_pipeline(App(load_settings()), file, app_name, once=once))


def _run_sql(file: Path) -> None:
    """Carry out a script and return once the queries it started run."""
    from orion.app import App, load_settings
    from orion.cli.sql import open_session
    from orion.cli.sql_output import Form

    session = open_session("", Form.TABLE)
    session.run_file(file)
    statuses = App(load_settings()).statuses
    deadline = time.monotonic() + _SQL_TIMEOUT_S
    waiting = set(session.started)
    while waiting:
        for query, status in statuses.read().items():
            if query in waiting and status.state is State.FAILED:
                raise UnavailableError(f"Query '{query}' FAILED: {status.error}")
            if status.state is State.RUNNING:
                waiting.discard(query)
        if waiting and time.monotonic() > deadline:
            raise UnavailableError(
                f"Not running after {_SQL_TIMEOUT_S:.0f} s: {', '.join(sorted(waiting))}.",
                fix="Look at the engine with: orion logs engine",
            )
        time.sleep(_SQL_POLL_S if waiting else 0)
    if session.started:
        say(f"Running: {', '.join(session.started)}")


class AppExistsError(ConflictError):
    """Raised when a detached app of the name runs already."""

    def __init__(self, name: str, file: Path) -> None:
        self.name = name
        super().__init__(
            f"App '{name}' is already running.",
            fix=f"Run the file anew with: orion run {file} --detach --replace, or give --name.",
        )


@commands.command(hidden=True)
def engine() -> None:
    """Be the engine of the platform; `orion up` starts this."""
    from orion.app import App, load_settings
    from orion.cli.foreground import run_engine

    run_engine(App(load_settings()))


@commands.command(hidden=True)
def server() -> None:
    """Be the HTTP server of the platform; `orion up` starts this."""
    from orion.app import App, load_settings
    from orion.cli.foreground import run_server

    run_server(App(load_settings()))


def _hand_over(file: Path, name: str, *, replace: bool) -> None:
    """Give the app to the supervisor, which starts it now and with every later `orion up`."""
    import sys

    from orion.app import App, load_settings
    from orion.process import check_name
    from orion.supervise import AppSpec

    _check_syntax(file)
    app = App(load_settings())
    spec = AppSpec(
        name=check_name(name),
        argv=(sys.executable, "-m", "orion.cli.main", "run", str(file.resolve()), "--name", name),
        env={"ORION_APP": "detached", "ORION_PROJECT": str(app.settings.project)},
        cwd=str(app.settings.project),
    )
    supervisor = app.supervisor
    known = [status for status in supervisor.statuses() if status.name == name]
    if any(status.pid and not status.required for status in known):
        if not replace:
            raise AppExistsError(name, file)
        supervisor.remove(name)
    supervisor.add(spec)
    say(f"App '{name}' is supervised now; its queries begin when Spark is up, in some seconds.")
    say(f"See them with: orion queries list, and what it prints with: orion logs {name}")


def _check_syntax(file: Path) -> None:
    """Refuse here what would only be seen in the log of a detached app."""
    try:
        compile(file.read_bytes(), str(file), "exec")
    except (SyntaxError, ValueError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise InvalidInputError(
            f"{file} is not valid Python: {reason}{line}.", fix="Correct it and run it again."
        ) from error
