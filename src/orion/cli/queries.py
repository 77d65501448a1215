"""`orion queries`: how every query is, and orders to stop, restart, rebuild and forget it."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from orion.app import App, load_settings
from orion.cli.confirm import confirm
from orion.cli.output import JsonFlag, print_json, say, warn
from orion.cli.query_order import QueryOrders, find_query
from orion.cli.query_view import print_queries, print_query, query_json
from orion.model import InvalidInputError, OrionError, QueryStatus

if TYPE_CHECKING:
    from orion.log import DeadLetterSummary, Group

commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Running pipelines: state, lag, guarantee; stop, restart, forget.",
)

# A person waits for the shell: rather no names than late ones.
_COMPLETION_TIMEOUT_S = 0.8


def complete_query(incomplete: str) -> list[str]:
    """Return the queries that begin so; silent where no broker answers."""
    try:
        app = App(load_settings())
        app.connection.require(timeout_s=_COMPLETION_TIMEOUT_S)
        names = app.statuses.read()
    except OrionError:
        return []
    return [name for name in names if name.startswith(incomplete)]


QueryName = Annotated[str, typer.Argument(help="The query.", autocompletion=complete_query)]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0.0, help="Seconds to wait until it is done.")
]


@commands.command("list")
def list_queries(as_json: bool = JsonFlag) -> None:
    """List queries with state, path, lag, rate and restarts.

    LAG is in records, BEHIND the age of the oldest record not yet read. A query is LOST when its
    process has fallen silent.

    Example: `orion queries list`
    """
    app = App(load_settings())
    statuses = app.statuses.read()
    groups = {group.name: group for group in app.groups.list(seconds=True)} if statuses else {}
    found = [(status, groups.get(name)) for name, status in statuses.items()]
    if as_json:
        print_json([query_json(status, group) for status, group in found])
    elif found:
        print_queries(found)
    else:
        say("No queries yet. Start some with: orion run pipeline.py --detach")


@commands.command("describe")
def describe_query(query: QueryName, as_json: bool = JsonFlag) -> None:
    """Show a query's guarantee, progress, offsets, dead letters and last error.

    Example: `orion queries describe shop-big_orders`
    """
    app = App(load_settings())
    status = find_query(app.statuses.read(), query)
    group, letters = _group(app, query), _letters(app, query)
    if as_json:
        found = group.partitions if group else ()
        partitions = [asdict(p) | {"lag_records": p.lag_records} for p in found]
        body = query_json(status, group) | {
            "partitions": partitions,
            "dead_letters_total": letters.total if letters else 0,
            "dead_letters_waiting": letters.waiting if letters else 0,
        }
        print_json(body)
        return
    print_query(status, group, letters)


@commands.command("stop")
def stop_query(query: QueryName, timeout: Timeout = 30.0, as_json: bool = JsonFlag) -> None:
    """Stop a query after its current batch; its app and other queries go on.

    Example: `orion queries stop shop-big_orders`
    """
    orders = QueryOrders(App(load_settings()), timeout_s=timeout)
    was_active = orders.get(query).state.is_active
    status = orders.stop(query)
    done = "" if was_active else " already; nothing was changed"
    _tell(status, as_json, f"Query '{query}' is {status.state}{done}.")


@commands.command("restart")
def restart_query(
    query: QueryName,
    timeout: Timeout = 90.0,
    skip_lost: bool = typer.Option(
        False, "--skip-lost", help="Go on without records that were deleted before it read them."
    ),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = JsonFlag,
) -> None:
    """Start a query again, stopped or running; it goes on where it was.

    When its process is gone and the app is supervised, the whole app is started again. A query
    whose topics have lost what it was to read (retention, a deletion) has failed and names it;
    --skip-lost lets an SQL query go on behind that, and the engine's log tells what was left out.

    Example: `orion queries restart shop-big_orders`

    Example: `orion queries restart CTAS_TOTALS_3 --skip-lost`
    """
    orders = QueryOrders(App(load_settings()), timeout_s=timeout)
    before = orders.get(query)
    if skip_lost:
        confirm(f"Leave records out of the results of '{query}' for good?", yes=yes)
        status = orders.skip_lost(query)
        _tell(status, as_json, f"Query '{query}' is {status.state} behind what was lost.")
        return
    status = orders.restart(query)
    fresh = f" in a new process (pid {status.pid})" if status.pid != before.pid else ""
    _tell(status, as_json, f"Query '{query}' is {status.state}{fresh}.")


@commands.command("rebuild")
def rebuild_query(
    query: QueryName,
    timeout: Timeout = 90.0,
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = JsonFlag,
) -> None:
    """Make the state of an SQL query anew from its topics, when it was lost or damaged.

    The query reads its topics from their beginning and writes nothing until it is where it had
    been; results that wait for time to pass (EMIT FINAL, joins with GRACE) are written again.

    Example: `orion queries rebuild CTAS_TOTALS_3`
    """
    confirm(f"Drop the state of '{query}' and read its topics from their beginning?", yes=yes)
    status = QueryOrders(App(load_settings()), timeout_s=timeout).rebuild(query)
    _tell(status, as_json, f"Query '{query}' is {status.state} and reads its topics again.")


@commands.command("forget")
def forget_query(
    query: Annotated[
        str | None, typer.Argument(help="The query.", autocompletion=complete_query)
    ] = None,
    app_name: Annotated[
        str | None, typer.Option("--app", help="An app with all its queries; it is ended.")
    ] = None,
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = JsonFlag,
) -> None:
    """Remove a stopped query from the list, or a detached app from the platform.

    Topics, tables, offsets and the checkpoint stay: started again, it goes on where it was.

    Example: `orion queries forget shop-big_orders`, `orion queries forget --app shop`
    """
    if (query is None) == (app_name is None):
        raise InvalidInputError(
            "One query or one app can be forgotten at a time.",
            fix="Give a query, or --app and an app.",
        )
    orders = QueryOrders(App(load_settings()), timeout_s=0)
    if app_name is not None:
        confirm(f"End app '{app_name}' and forget its queries?", yes=yes)
        names = orders.forget_app(app_name)
        text = f"App '{app_name}' is gone; forgot {len(names)} of its queries."
    else:
        assert query is not None
        status = orders.forget(query)
        names, text = [query], f"Forgot query '{query}'."
        if orders.is_supervised(status.app):
            warn(
                f"App '{status.app}' still has it: it is back when the app starts again. "
                f"End the app with: orion queries forget --app {status.app}"
            )
    if as_json:
        print_json({"forgotten": names})
    else:
        say(text)


def _tell(status: QueryStatus, as_json: bool, text: str) -> None:
    if as_json:
        print_json(status.to_dict())
    else:
        say(text)


def _group(app: App, query: str) -> "Group | None":
    """Return the query's consumer group; none before its first batch."""
    from orion.log import GroupNotFoundError

    try:
        return app.groups.get(query)
    except GroupNotFoundError:
        return None


def _letters(app: App, query: str) -> "DeadLetterSummary | None":
    if not app.topics.exists(app.dead_letters.topic(query)):
        return None
    return app.dead_letters.summarize(query)
