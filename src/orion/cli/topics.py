"""`orion topics`: list, create, describe, grow, delete and configure topics; their records."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from orion.app import App, load_settings
from orion.cli import consume, produce, topic_config
from orion.cli.completion import complete_topic
from orion.cli.confirm import confirm
from orion.cli.output import JsonFlag, console, print_json, print_table, say, warn
from orion.model import format_bytes, format_count

if TYPE_CHECKING:
    from orion.log import Topic, TopicConfig

commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Topics and their records: list, create, describe, configure, produce, consume.",
)
TopicName = Annotated[str, typer.Argument(help="The topic.", autocompletion=complete_topic)]


@commands.command("list")
def list_topics(
    every: bool = typer.Option(False, "--all", "-a", help="Show internal topics (`_…`) too."),
    as_json: bool = JsonFlag,
) -> None:
    """List topics with their partitions, records and size.

    Example: `orion topics list --all`
    """
    topics = App(load_settings()).topics.list(internal=every)
    if as_json:
        print_json([_summary(topic) for topic in topics])
        return
    rows = [
        (t.name, len(t.partitions), t.replication, _count(t.records), _size(t.size_bytes))
        for t in topics
    ]
    empty = "No topics yet. Create one with: orion topics create orders --partitions 3"
    print_table(("TOPIC", "PARTITIONS>", "COPIES>", "RECORDS>", "SIZE>"), rows, empty=empty)


@commands.command("create")
def create_topic(
    topic: Annotated[str, typer.Argument(help="The new topic's name.")],
    partitions: int = typer.Option(
        None, "--partitions", "-p", min=1, help="How many; default: the broker's."
    ),
    replication: int = typer.Option(
        None, "--replication", "-r", min=1, help="Copies of each; default: the broker's."
    ),
    config: list[str] = typer.Option(
        None, "--config", "-c", help="name=value, like retention.ms=7d; repeatable."
    ),
    if_not_exists: bool = typer.Option(False, "--if-not-exists", help="Be content if it is there."),
    as_json: bool = JsonFlag,
) -> None:
    """Create a topic.

    Example: `orion topics create orders --partitions 3 --config retention.ms=7d`
    """
    from orion.log import TopicExistsError, parse_config

    topics = App(load_settings()).topics
    configs = dict(parse_config(text) for text in config or ())
    created = True
    try:
        topics.create(topic, partitions=partitions, replication=replication, configs=configs)
    except TopicExistsError:
        if not if_not_exists:
            raise
        created = False
    found = topics.get(topic)
    if as_json:
        print_json({"created": created, **_summary(found)})
    elif created:
        say(
            f"Created topic '{topic}': partitions {len(found.partitions)}, "
            f"copies {found.replication}."
        )
    else:
        say(f"Topic '{topic}' exists already; nothing was changed.")


@commands.command("describe")
def describe_topic(topic: TopicName, as_json: bool = JsonFlag) -> None:
    """Show a topic's partitions, configuration and risks.

    Example: `orion topics describe orders`
    """
    from orion.log import find_risks

    topics = App(load_settings()).topics
    found, configs = topics.get(topic), topics.configs(topic)
    risks = find_risks(found, configs, brokers=topics.broker_count())
    overridden = {name: c for name, c in configs.items() if c.is_overridden}
    if as_json:
        body = _summary(found) | {
            "partitions": [asdict(p) | {"records": p.records} for p in found.partitions],
            "configs": {name: c.value for name, c in overridden.items()},
            "risks": [asdict(risk) for risk in risks],
        }
        print_json(body)
        return
    _print_facts(found, configs)
    _print_partitions(found)
    if overridden:
        console.print()
        rows = [(c.name, c.readable, c.value) for c in overridden.values()]
        print_table(("CONFIGURATION", "VALUE", "AS KAFKA KEEPS IT"), rows)
    for risk in risks:
        console.print()
        console.print(Text.assemble(("warning: ", "bold yellow"), risk.meaning))
        console.print(Text.assemble(("    fix: ", "bold"), risk.fix))


@commands.command("add-partitions")
def add_partitions(
    topic: TopicName,
    total: Annotated[int, typer.Argument(min=1, help="How many it has afterwards.")],
    as_json: bool = JsonFlag,
) -> None:
    """Grow a topic to a number of partitions; it can never shrink.

    Example: `orion topics add-partitions orders 6`
    """
    topics = App(load_settings()).topics
    topics.add_partitions(topic, total)
    warn("Keys may fall into other partitions from now on: order holds within a partition only.")
    if as_json:
        print_json({"topic": topic, "partitions": total})
    else:
        say(f"Topic '{topic}' now has {total} partitions.")


@commands.command("delete")
def delete_topics(
    names: Annotated[
        list[str], typer.Argument(metavar="TOPIC…", help="Topics.", autocompletion=complete_topic)
    ],
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    internal: bool = typer.Option(False, "--internal", help="Allow internal topics (`_…`)."),
    as_json: bool = JsonFlag,
) -> None:
    """Delete topics with all their records; asks first.

    Example: `orion topics delete orders --yes`
    """
    from orion.log import ProtectedTopicError, is_internal

    topics = App(load_settings()).topics
    found = [topics.get(name) for name in dict.fromkeys(names)]
    for topic in found:
        if is_internal(topic.name) and not internal:
            raise ProtectedTopicError(topic.name)
    shown = ", ".join(f"'{t.name}' ({_count(t.records)} records)" for t in found)
    confirm(f"Delete topic {shown} for good?", yes=yes)
    for topic in found:
        topics.delete(topic.name, internal=internal)
        if not as_json:
            say(f"Deleted topic '{topic.name}'.")
    if as_json:
        print_json({"deleted": [topic.name for topic in found]})


commands.add_typer(topic_config.commands, name="config")
commands.command("produce")(produce.produce_records)
commands.command("consume")(consume.consume_records)


def _summary(topic: "Topic") -> dict[str, Any]:
    return {
        "topic": topic.name,
        "partitions": len(topic.partitions),
        "replication": topic.replication,
        "records": topic.records,
        "size_bytes": topic.size_bytes,
        "internal": topic.is_internal,
    }


def _print_facts(topic: "Topic", configs: "dict[str, TopicConfig]") -> None:
    def shown(name: str) -> str:
        return configs[name].readable if name in configs else "-"

    limit = shown("retention.bytes")
    kept = shown("retention.ms") + (
        f", at most {limit} a partition" if limit != "unlimited" else ""
    )
    facts = (
        ("Topic", topic.name),
        ("Partitions", str(len(topic.partitions))),
        (
            "Copies",
            f"{topic.replication}, at least {shown('min.insync.replicas')} in sync to write",
        ),
        ("Records", _count(topic.records)),
        ("Size", _size(topic.size_bytes)),
        ("Retention", kept),
        ("Cleanup", shown("cleanup.policy")),
        ("Compression", shown("compression.type")),
    )
    for name, value in facts:
        console.print(Text.assemble((f"{name:<13}", "bold"), value))
    console.print()


def _print_partitions(topic: "Topic") -> None:
    rows = [
        (
            p.number,
            "none" if p.leader is None else p.leader,
            ",".join(map(str, p.replicas)),
            ",".join(map(str, p.in_sync)) or "none",
            p.start_offset,
            p.end_offset,
            _size(p.size_bytes),
        )
        for p in topic.partitions
    ]
    columns = ("PARTITION>", "LEADER>", "REPLICAS", "IN SYNC", "START>", "END>", "SIZE>")
    print_table(columns, rows)


def _count(number: int | None) -> str:
    return "-" if number is None else format_count(number)


def _size(number: int | None) -> str:
    return "-" if number is None else format_bytes(number)
