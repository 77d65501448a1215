"""`orion broker`: the local brokers one by one, to see what Kafka does when they come and go."""

from typing import TYPE_CHECKING

import typer

from orion.cli.output import JsonFlag, print_json, print_table, say
from orion.model import InvalidInputError, NotFoundError, format_duration

if TYPE_CHECKING:
    from orion.app import App
    from orion.cluster import Node

commands = typer.Typer(
    help="The local brokers one by one: list, stop, start, kill; Kafka's own tools.",
    no_args_is_help=True,
)
Number = typer.Argument(..., min=1, help="Which broker: 1, or 1 to 3 after `up --brokers 3`.")


@commands.command("list")
def list_brokers(as_json: bool = JsonFlag) -> None:
    """List the brokers with their Kafka ids, addresses and states.

    Example: orion broker list
    """
    app = _app()
    states = {status.name: status for status in app.supervisor.statuses()}
    rows = []
    for number, node in enumerate(_brokers(app), start=1):
        status = states[node.name]
        address = f"127.0.0.1:{node.broker_port}"
        rows.append((number, node.id, address, str(status.state), status.pid))
    if as_json:
        names = ("broker", "id", "address", "state", "pid")
        print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    print_table(("BROKER>", "KAFKA ID>", "ADDRESS", "STATE", "PID>"), rows)


@commands.command()
def stop(number: int = Number) -> None:
    """Stop a broker in good order; it stays down until it is started.

    Example: orion broker stop 2
    """
    app = _app()
    app.supervisor.stop(_name(app, number))
    say(f"Broker {number} is stopped. Start it again with: orion broker start {number}")


@commands.command()
def start(number: int = Number) -> None:
    """Start a stopped broker and wait until it serves.

    Example: orion broker start 2
    """
    app = _app()
    status = app.supervisor.start(_name(app, number))
    up_for = format_duration((status.uptime_s or 0) * 1_000)
    say(f"Broker {number} is ready (pid {status.pid}, up for {up_for}).")


@commands.command()
def kill(number: int = Number) -> None:
    """Kill a broker without warning, as a crash would; Orion then restarts it.

    Example: orion broker kill 2
    """
    app = _app()
    name = _name(app, number)
    app.supervisor.kill(name)
    say(f"Broker {number} is killed and will be restarted. Watch it with: orion status")


@commands.command()
def tools(
    path: bool = typer.Option(False, "--path", help="Print the folder only, for PATH."),
    as_json: bool = JsonFlag,
) -> None:
    """Show where kafka-topics and Kafka's other tools are.

    Example: export PATH="$(orion broker tools --path):$PATH"
    """
    import sys
    from pathlib import Path

    from orion.cluster import TOOL_CLASSES

    folder = Path(sys.executable).parent
    if path:
        typer.echo(folder)
    elif as_json:
        print_json({"folder": folder, "tools": list(TOOL_CLASSES)})
    else:
        print_table(("TOOL", "CLASS"), TOOL_CLASSES.items())
        say(f"\nThey are in {folder}, each also with .sh. Put it on PATH with:")
        say('  export PATH="$(orion broker tools --path):$PATH"')


def _app() -> "App":
    from orion.app import App, load_settings

    app = App(load_settings())
    if not app.settings.kafka.is_local:
        raise InvalidInputError(
            f"The brokers at {app.settings.kafka.addresses} are not run by Orion.",
            fix="Unset kafka.bootstrap_servers to use local brokers.",
        )
    return app


def _brokers(app: "App") -> "list[Node]":
    from orion.cluster import plan_nodes

    return [node for node in plan_nodes(app.settings.kafka) if node.broker_port]


def _name(app: "App", number: int) -> str:
    brokers = _brokers(app)
    # The supervisor is asked first: without one, the number of brokers says nothing.
    app.supervisor.statuses()
    if number > len(brokers):
        have = "is 1 broker" if len(brokers) == 1 else f"are {len(brokers)} brokers"
        raise NotFoundError(
            f"There is no broker {number}; there {have}.",
            fix="List them with: orion broker list",
        )
    return brokers[number - 1].name
