"""`orion demo music`: a whole pipeline on generated events that checks its own books."""

import signal
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import typer

from orion.cli.output import JsonFlag, console, errors, print_json, say

if TYPE_CHECKING:
    from orion.demo import MusicDemo, Outcome, View

commands = typer.Typer()
demos = typer.Typer(no_args_is_help=True)
commands.add_typer(demos, name="demo")

INTERRUPTED = 130


@demos.callback()
def _demos() -> None:
    """Run a demonstration on a platform of its own."""


@demos.command()
def music(
    plays: int = typer.Option(80_000, min=100, max=2_000_000, help="How many plays to generate."),
    seed: int = typer.Option(7, help="The same seed gives the same events."),
    project: Path | None = typer.Option(None, help="A new folder for it; else a temporary one."),
    kill: bool = typer.Option(False, "--kill", help="Kill the engine in the middle of its work."),
    keep: bool = typer.Option(False, "--keep", help="Leave the platform running at the end."),
    as_json: bool = JsonFlag,
) -> None:
    """Run a music service: plays in, top songs and sessions out, and every record accounted for.

    Starts a platform of its own on free ports, and stops it at the end. Exit code 0 when the books
    balance, 1 when they do not.

    Example: orion demo music --kill
    """
    from orion.demo import MusicDemo, Options

    options = Options(plays=plays, seed=seed, project=project, kill=kill)
    signal.signal(signal.SIGTERM, _as_interrupt)
    signal.signal(signal.SIGHUP, _as_interrupt)
    demo = MusicDemo(options, _view(as_json))
    raise typer.Exit(_run(demo, keep=keep, as_json=as_json))


def _run(demo: "MusicDemo", *, keep: bool, as_json: bool) -> int:
    """Run the demo and stop what it started, however it ends; return the exit code."""
    keeps_running, remove = False, False
    try:
        outcome = demo.run()
        keeps_running, remove = keep, not outcome.books.differences
        _report(outcome, as_json=as_json)
    except KeyboardInterrupt:
        errors.print("Interrupted; stopping everything …")
        remove = True
        return INTERRUPTED
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if not keeps_running:
            demo.stop(remove=remove)
    _farewell(demo, keeps_running=keeps_running, removed=remove, as_json=as_json)
    return 1 if outcome.books.differences else 0


def _view(as_json: bool) -> "View":
    from orion.demo import LinesView, LiveView, SilentView

    if as_json:
        return SilentView()
    return LiveView(console) if console.is_terminal else LinesView(console)


def _report(outcome: "Outcome", *, as_json: bool) -> None:
    from orion.demo import print_sheet

    if as_json:
        print_json(outcome.to_json())
    else:
        print_sheet(console, outcome)


def _farewell(demo: "MusicDemo", *, keeps_running: bool, removed: bool, as_json: bool) -> None:
    from orion.demo import print_tour

    if as_json:
        return
    folder = demo.project.folder
    if keeps_running:
        print_tour(console, demo.project.app, folder)
    elif removed and demo.project.is_temporary:
        say("Stopped; nothing is left behind. To look around afterwards: orion demo music --keep")
    else:
        say(f"Stopped. Its files are in {folder}")


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
