"""`orion jars`: the pinned jars in the cache, fetched and checked."""

from typing import TYPE_CHECKING

import typer

from orion.cli.output import JsonFlag, errors, print_json, print_table, say
from orion.model import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orion.app import App

commands = typer.Typer(
    help="The pinned jars of Kafka and Spark: list, fetch, verify.", no_args_is_help=True
)


def fetch_with_progress(app: "App", bundles: "Iterable[str]") -> int:
    """Download missing jars behind a progress bar; return how many were missing."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    missing = app.jars.missing(bundles)
    if not missing:
        return 0
    columns = (TextColumn("Fetching jars"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=errors) as bar:
        task = bar.add_task("", total=len(missing))
        app.jars.fetch(
            app.java,
            bundles=bundles,
            progress=lambda done, _total, name: bar.update(task, completed=done, description=name),
        )
    return len(missing)


@commands.command("list")
def list_jars(as_json: bool = JsonFlag) -> None:
    """List every pinned jar and whether it is in the cache.

    Example: orion jars list --json
    """
    from orion.app import App, load_settings
    from orion.jvm import read_pins

    jars = App(load_settings()).jars
    rows = [
        (pin.bundle, pin.artifact, pin.version, jars.path(pin).is_file()) for pin in read_pins()
    ]
    if as_json:
        names = ("bundle", "artifact", "version", "cached")
        print_json(
            {"folder": jars.folder, "jars": [dict(zip(names, r, strict=True)) for r in rows]}
        )
        return
    words = ((*row[:3], "yes" if row[3] else "no") for row in rows)
    print_table(("BUNDLE", "ARTIFACT", "VERSION", "CACHED"), words)
    say(f"\n{sum(row[3] for row in rows)} of {len(rows)} in {jars.folder}")


@commands.command()
def fetch() -> None:
    """Download the jars that are not in the cache yet, and check their SHA-256.

    Then start a broker and Spark once and keep the classes that they load beside the jars, so
    that later starts take a third less.

    Example: orion jars fetch
    """
    from orion.app import App, load_settings
    from orion.cli.rehearsal import rehearse
    from orion.jvm import BUNDLES

    app = App(load_settings())
    count = fetch_with_progress(app, BUNDLES)
    say(f"{count} jars fetched into {app.jars.folder}" if count else "All jars are in the cache.")
    rehearse(app.settings)


@commands.command()
def verify(as_json: bool = JsonFlag) -> None:
    """Check every cached jar against its pinned SHA-256; exit code 5 when one differs.

    Example: orion jars verify
    """
    from orion.app import App, load_settings
    from orion.jvm import read_pins

    jars = App(load_settings()).jars
    missing = [pin.file_name for pin in jars.missing()]
    damaged = [pin.file_name for pin in jars.damaged()]
    good = len(read_pins()) - len(missing) - len(damaged)
    if as_json:
        print_json({"good": good, "missing": missing, "damaged": damaged})
    else:
        say(f"{good} good, {len(missing)} missing, {len(damaged)} damaged in {jars.folder}")
    if damaged:
        names = ", ".join(damaged[:3])
        raise UnavailableError(
            f"{len(damaged)} jar(s) differ from their pin: {names}.",
            fix=f"Delete them from {jars.folder} and run: orion jars fetch",
        )
    if missing:
        raise UnavailableError(f"{len(missing)} jar(s) are missing.", fix="Run: orion jars fetch")
