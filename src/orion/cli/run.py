"""`orion run`: a PySpark pipeline as a process and Spark application of its own."""

from pathlib import Path

import typer

from orion.cli.output import console, say
from orion.model import NotFoundError

commands = typer.Typer()


@commands.command()
def run(
    file: Path = typer.Argument(help="The pipeline, a Python file."),
    name: str = typer.Option("", help="Name of the app; else the file's name."),
    once: bool = typer.Option(False, "--once", help="Read what is there now, then end."),
    detach: bool = typer.Option(False, "--detach", "-d", help="Hand it to the running platform."),
) -> None:
    """Run a PySpark pipeline until it is stopped; Ctrl-C ends it after the current batch.

    Exit code 0 when every query was stopped or has read all, 1 when one has FAILED.

    Example: orion run pipeline.py --detach
    """
    if not file.is_file():
        raise NotFoundError(f"File '{file}' does not exist.", fix="Give the path of a Python file.")
    app_name = name or file.stem
    if detach:
        _hand_over(file, app_name)
        return
    from orion.app import App, load_settings
    from orion.cli.foreground import run_pipeline

    raise typer.Exit(run_pipeline(App(load_settings()), file, app_name, once=once))


def _hand_over(file: Path, name: str) -> None:
    """Give the app to the supervisor, which starts it now and with every later `orion up`."""
    import sys

    from orion.app import App, load_settings
    from orion.process import check_name
    from orion.supervise import AppSpec

    app = App(load_settings())
    spec = AppSpec(
        name=check_name(name),
        argv=(sys.executable, "-m", "orion.cli.main", "run", str(file.resolve()), "--name", name),
        env={"ORION_APP": "detached", "ORION_PROJECT": str(app.settings.project)},
        cwd=str(app.settings.project),
    )
    app.supervisor.add(spec)
    say(f"App '{name}' is supervised now. See it with: orion queries list, orion logs {name}")
    console.print()
