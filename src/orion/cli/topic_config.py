"""`orion topics config`: show, set and unset the configuration of a topic."""

from dataclasses import asdict
from typing import Annotated

import typer

from orion.app import App, load_settings
from orion.cli.completion import complete_topic
from orion.cli.output import JsonFlag, print_json, print_table, say

commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The configuration of a topic: show, set, unset.",
)

TopicName = Annotated[str, typer.Argument(help="The topic.", autocompletion=complete_topic)]


def _complete_config(ctx: typer.Context, incomplete: str) -> list[str]:
    from orion.model import OrionError

    try:
        names = App(load_settings()).topics.configs(ctx.params.get("topic") or "")
    except OrionError:
        return []
    return [name for name in names if name.startswith(incomplete)]


@commands.command("show")
def show_config(
    topic: TopicName,
    every: bool = typer.Option(False, "--all", "-a", help="Show what is not overridden too."),
    as_json: bool = JsonFlag,
) -> None:
    """Show what a topic overrides, or every configuration in force.

    Example: `orion topics config show orders --all`
    """
    configs = App(load_settings()).topics.configs(topic)
    shown = [config for config in configs.values() if every or config.is_overridden]
    if as_json:
        print_json([asdict(config) for config in shown])
        return
    rows = [(config.name, config.readable, config.source) for config in shown]
    empty = (
        f"Topic '{topic}' overrides nothing. See all with: orion topics config show {topic} --all"
    )
    print_table(("CONFIGURATION", "VALUE", "SOURCE"), rows, empty=empty)


@commands.command("set")
def set_config(
    topic: TopicName,
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE…", help="Like retention.ms=7d.", autocompletion=_complete_config
        ),
    ],
    as_json: bool = JsonFlag,
) -> None:
    """Set configurations of a topic; durations and sizes may be written like 7d and 64m.

    Example: `orion topics config set orders retention.ms=7d segment.bytes=64m`
    """
    from orion.log import parse_config

    topics = App(load_settings()).topics
    values = dict(parse_config(text) for text in settings)
    topics.set_configs(topic, values)
    if as_json:
        print_json({"topic": topic, "set": values})
        return
    for name, value in values.items():
        say(f"Set {name}={value} on topic '{topic}'.")


@commands.command("unset")
def unset_config(
    topic: TopicName,
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME…", help="Names.", autocompletion=_complete_config),
    ],
    as_json: bool = JsonFlag,
) -> None:
    """Give configurations of a topic back to the broker's default.

    Example: `orion topics config unset orders retention.ms`
    """
    topics = App(load_settings()).topics
    topics.set_configs(topic, {}, unset=names)
    configs = topics.configs(topic)
    if as_json:
        print_json({"topic": topic, "unset": {name: configs[name].value for name in names}})
        return
    for name in names:
        say(f"Unset {name} on topic '{topic}': now {configs[name].readable}.")
