"""A dataclass of options becomes options of the command."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from orion.cli.options import with_options


@dataclass(frozen=True)
class Many:
    limit: Annotated[int | None, typer.Option("--max", "-n")] = None
    header: Annotated[list[str] | None, typer.Option("--header")] = None
    loud: Annotated[bool, typer.Option("--loud")] = False


def test_fields_arrive_as_the_dataclass() -> None:
    app, seen = typer.Typer(), []

    @app.command()
    @with_options
    def read(topic: str, many: Many, as_json: bool = typer.Option(False, "--json")) -> None:
        seen.append((topic, many, as_json))

    arguments = ["orders", "-n", "3", "--header", "a", "--header", "b", "--json"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert CliRunner().invoke(app, ["orders", "--loud"]).exit_code == 0
    assert seen == [("orders", Many(3, ["a", "b"]), True), ("orders", Many(loud=True), False)]


def test_an_unknown_option_is_refused() -> None:
    app = typer.Typer()

    @app.command()
    @with_options
    def read(many: Many) -> None:
        raise AssertionError(many)

    assert CliRunner().invoke(app, ["--min", "3"]).exit_code == 2
