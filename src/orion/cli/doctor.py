"""`orion doctor`: can Orion run on this machine, and if not, what to do."""

import typer
from rich.table import Table
from rich.text import Text

from orion.cli.output import JsonFlag, console, print_json

commands = typer.Typer(invoke_without_command=True)
_COLOURS = {"OK": "green", "WARN": "yellow", "FAIL": "bold red"}


@commands.callback()
def doctor(as_json: bool = JsonFlag) -> None:
    """Check Java, Python, packages, memory, disk, ports and jars; exit code 1 when one fails.

    Example: orion doctor --json
    """
    from orion.app import App, load_settings
    from orion.observe import Level, examine

    app = App(load_settings())
    findings = []
    for finding in examine(app.settings, find_java=lambda: app.java, jars=app.jars):
        findings.append(finding)
        if as_json:
            continue
        fix = f"\nfix: {finding.fix}" if finding.fix and finding.level != Level.OK else ""
        row = Table.grid(padding=(0, 1))
        row.add_column(width=5, style=_COLOURS[finding.level])
        row.add_column(width=9)
        row.add_column(overflow="fold")
        row.add_row(finding.level.value, finding.check, Text(finding.text + fix))
        console.print(row)
    if as_json:
        bodies = [
            {"check": f.check, "level": f.level, "text": f.text, "fix": f.fix} for f in findings
        ]
        print_json(bodies)
    if any(finding.level == Level.FAIL for finding in findings):
        raise typer.Exit(1)
