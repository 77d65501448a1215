"""`orion sql`: a shell for SQL, statements from the command line, scripts."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from orion.cli.sql_output import Form

if TYPE_CHECKING:
    from orion.cli.sql_session import SqlSession

commands = typer.Typer()


@commands.command()
def sql(
    execute: list[str] = typer.Option(
        None, "--execute", "-e", help="A statement instead of the shell; repeatable."
    ),
    file: Path = typer.Option(None, "--file", "-f", help="A script instead of the shell."),
    output: Form = typer.Option(Form.TABLE, "--output", "-o", help="How answers look."),
    server: str = typer.Option("", "--server", "-s", help="Address; default: the project's."),
) -> None:
    """Ask in streaming SQL: a shell with history and completion, or statements to carry out.

    In the shell a statement ends with `;`. Ctrl-C ends a running query, Ctrl-D the shell.

    Example: orion sql -e "SHOW STREAMS;"
    """
    session = open_session(server, output)
    for text in execute or ():
        session.run(text)
    if file is not None:
        session.run_file(file)
    if execute or file is not None:
        return
    if not sys.stdin.isatty():
        session.run(sys.stdin.read())
        return
    from orion.app import App, load_settings
    from orion.cli.sql_shell import Shell

    Shell(session, App(load_settings()).settings.data_dir / "sql_history").run()


def open_session(server: str, output: Form) -> "SqlSession":
    """Return a session with a server that answers."""
    from orion.app import load_settings
    from orion.cli.sql_client import SqlClient
    from orion.cli.sql_output import Printer
    from orion.cli.sql_session import SqlSession

    return SqlSession(SqlClient(server or load_settings().sql_url), Printer(output))
