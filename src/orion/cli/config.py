"""`orion config`: every setting, its value and where it came from."""

import typer

from orion.cli.output import JsonFlag, print_json, print_table, say

commands = typer.Typer(help="The settings in force and where they come from.", no_args_is_help=True)


@commands.command()
def show(as_json: bool = JsonFlag) -> None:
    """Show every setting with its value, its origin and its meaning; secrets print as ***.

    A setting comes from orion.toml, from a variable (kafka.ports is ORION_KAFKA_PORTS) or from a
    flag; while Orion runs, the ports it was started with count as flags.

    Example: ORION_KAFKA_PORTS=9192 orion config show
    """
    from dataclasses import asdict

    from orion.app import load_settings
    from orion.config import describe

    found = list(describe(load_settings()))
    if as_json:
        print_json([asdict(item) for item in found])
        return
    rows = ((item.key, item.value or "-", item.origin, item.meaning) for item in found)
    print_table(("SETTING", "VALUE", "FROM", "MEANING"), rows)


@commands.command()
def path(as_json: bool = JsonFlag) -> None:
    """Print the orion.toml of this project and the folder of its data.

    Example: orion config path
    """
    from orion.app import load_settings
    from orion.config import FILE_NAME

    settings = load_settings()
    file = settings.project / FILE_NAME
    if as_json:
        print_json({"file": file, "exists": file.is_file(), "data": settings.data_dir})
        return
    say(f"settings  {file}{'' if file.is_file() else ' (not there: defaults are used)'}")
    say(f"data      {settings.data_dir}")
