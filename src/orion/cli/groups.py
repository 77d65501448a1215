"""`orion groups`: consumer groups, their lag in records and seconds, and moving them."""

import re
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orion.app import App, load_settings
from orion.cli.completion import complete_group, complete_topic
from orion.cli.confirm import confirm
from orion.cli.options import with_options
from orion.cli.output import JsonFlag, console, print_json, print_table, say, warn
from orion.model import InvalidInputError, format_count, format_duration, parse_instant_ms

if TYPE_CHECKING:
    from orion.log import Group, GroupPartition, Move, ResetTarget

commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Consumer groups, queries included: lag, members, reset, delete.",
)

GroupName = Annotated[str, typer.Argument(help="The group.", autocompletion=complete_group)]


@commands.command("list")
def list_groups(as_json: bool = JsonFlag) -> None:
    """List groups with their state and lag.

    Example: `orion groups list`
    """
    groups = App(load_settings()).groups.list(seconds=True)
    if as_json:
        print_json([_summary(group) for group in groups])
        return
    rows = [
        (
            group.name,
            group.state,
            len(group.members),
            _topics(group.topics),
            _count(group.lag_records),
            _behind(group.lag_seconds),
        )
        for group in groups
    ]
    columns = ("GROUP", "STATE", "MEMBERS>", "TOPICS", "LAG>", "BEHIND>")
    print_table(columns, rows, empty="No consumer groups yet: none has read from this Kafka.")


@commands.command("describe")
def describe_group(group: GroupName, as_json: bool = JsonFlag) -> None:
    """Show how far a group is in each partition, and who reads it.

    BEHIND is the age of the oldest record not yet read.

    Example: `orion groups describe billing`
    """
    found = App(load_settings()).groups.get(group)
    if as_json:
        body = _summary(found) | {
            "members": [asdict(member) for member in found.members],
            "partitions": [_partition(p) for p in found.partitions],
        }
        print_json(body)
        return
    lag = f"{_count(found.lag_records)} records, {_behind(found.lag_seconds)}"
    kind = f" ({found.protocol})" if found.protocol else ""
    say(f"Group {found.name}: {found.state}{kind}, coordinator {found.coordinator or '-'}")
    say(f"Lag {lag}")
    console.print()
    _print_offsets(found)
    if found.members:
        console.print()
        _print_members(found)
    missed = sum(p.missed_records for p in found.partitions)
    if missed:
        warn(
            f"{format_count(missed)} record(s) were deleted by retention before the group read "
            "them. Raise the topic's retention.ms, or make the group faster."
        )


@dataclass(frozen=True)
class ResetOptions:
    """Where to move a group: exactly one of these."""

    to_earliest: Annotated[bool, typer.Option("--to-earliest", help="The oldest record.")] = False
    to_latest: Annotated[bool, typer.Option("--to-latest", help="After the newest record.")] = False
    to_offset: Annotated[int | None, typer.Option("--to-offset", min=0, help="An offset.")] = None
    shift_by: Annotated[
        int | None, typer.Option("--shift-by", help="Records forward, or back if below 0.")
    ] = None
    to_datetime: Annotated[
        str | None, typer.Option("--to-datetime", help="10m (ago) or 2026-01-31T18:00.")
    ] = None


@commands.command("reset")
@with_options
def reset_group(
    group: GroupName,
    target: ResetOptions,
    topic: Annotated[
        list[str] | None,
        typer.Option(
            "--topic",
            metavar="TOPIC[:P,…]",
            help="Only these topics or partitions; repeatable.",
            autocompletion=complete_topic,
        ),
    ] = None,
    execute: Annotated[bool, typer.Option("--execute", help="Do it; else only show it.")] = False,
    as_json: bool = JsonFlag,
) -> None:
    """Move a group to other offsets: shows the plan, does it with --execute.

    Refused while members run. Targets outside the log are moved to its nearest end.

    Example: `orion groups reset billing --topic orders:0,1 --to-datetime 2h --execute`
    """
    groups = App(load_settings()).groups
    chosen = [item for text in topic or () for item in _parse_topic(text)]
    moves = groups.plan_reset(group, _target(target), only=chosen)
    if execute and moves:
        groups.reset(group, moves)
    if as_json:
        plan = [asdict(move) | {"difference": move.difference} for move in moves]
        print_json({"group": group, "executed": execute and bool(moves), "moves": plan})
        return
    _print_moves(moves)
    if not moves:
        return
    if execute:
        say(f"Moved group '{group}' in {len(moves)} partition(s).")
    else:
        say("Nothing was changed: this is the plan. Add --execute to do it.")


@commands.command("delete")
def delete_groups(
    names: Annotated[
        list[str], typer.Argument(metavar="GROUP…", help="Groups.", autocompletion=complete_group)
    ],
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = JsonFlag,
) -> None:
    """Delete groups with their offsets; asks first. Records stay.

    Example: `orion groups delete billing --yes`
    """
    groups = App(load_settings()).groups
    found = [groups.get(name).name for name in dict.fromkeys(names)]
    confirm(f"Delete group {', '.join(repr(name) for name in found)} and its offsets?", yes=yes)
    for name in found:
        groups.delete(name)
        if not as_json:
            say(f"Deleted group '{name}'.")
    if as_json:
        print_json({"deleted": found})


def _target(options: ResetOptions) -> "ResetTarget":
    from orion.log import ResetTarget

    targets = []
    if options.to_earliest:
        targets.append(ResetTarget("earliest"))
    if options.to_latest:
        targets.append(ResetTarget("latest"))
    if options.to_offset is not None:
        targets.append(ResetTarget("offset", options.to_offset))
    if options.shift_by is not None:
        targets.append(ResetTarget("shift", options.shift_by))
    if options.to_datetime is not None:
        instant_ms = parse_instant_ms(options.to_datetime, now_ms=int(time.time() * 1_000))
        targets.append(ResetTarget("datetime", instant_ms))
    if len(targets) != 1:
        raise InvalidInputError(
            f"A reset goes to exactly one place, {len(targets)} were given.",
            fix="Give one of --to-earliest, --to-latest, --to-offset, --shift-by, --to-datetime.",
        )
    return targets[0]


def _parse_topic(text: str) -> list[str | tuple[str, int]]:
    name, separator, numbers = text.partition(":")
    if not separator:
        return [name]
    if not re.fullmatch(r"\d+(,\d+)*", numbers):
        raise InvalidInputError(
            f"Topic '{text}' is not understood.", fix="Write it like orders or orders:0,2."
        )
    return [(name, int(number)) for number in numbers.split(",")]


def _summary(group: "Group") -> dict[str, Any]:
    return {
        "group": group.name,
        "state": group.state,
        "protocol": group.protocol,
        "coordinator": group.coordinator,
        "members": len(group.members),
        "topics": group.topics,
        "lag_records": group.lag_records,
        "lag_seconds": group.lag_seconds,
    }


def _partition(found: "GroupPartition") -> dict[str, Any]:
    lag = {
        "lag_records": found.lag_records,
        "lag_seconds": found.lag_seconds,
        "missed_records": found.missed_records,
    }
    member = found.member.id if found.member else None
    return asdict(found) | lag | {"member": member}


def _print_offsets(group: "Group") -> None:
    rows = [
        (
            p.topic,
            p.partition,
            p.committed,
            p.end_offset,
            _count(p.lag_records),
            _behind(p.lag_seconds),
            p.member.client_id if p.member else None,
        )
        for p in group.partitions
    ]
    columns = ("TOPIC", "PART>", "COMMITTED>", "END>", "LAG>", "BEHIND>", "CLIENT")
    print_table(columns, rows, empty="The group has committed no offsets.")


def _print_members(group: "Group") -> None:
    rows = []
    for member in group.members:
        owned: dict[str, list[str]] = {}
        for topic, partition in member.partitions:
            owned.setdefault(topic, []).append(str(partition))
        assigned = " ".join(f"{topic}:{','.join(numbers)}" for topic, numbers in owned.items())
        rows.append((member.client_id, member.host, assigned or None))
    print_table(("CLIENT", "HOST", "PARTITIONS"), rows)


def _print_moves(moves: "list[Move]") -> None:
    rows = [
        (
            move.topic,
            move.partition,
            move.current,
            move.new,
            _difference(move.difference),
            "kept inside the log" if move.clamped else "",
        )
        for move in moves
    ]
    columns = ("TOPIC", "PART>", "CURRENT>", "NEW>", "RECORDS>", "")
    print_table(columns, rows, empty="The group has no offsets to move; name a topic by --topic.")


def _difference(records: int | None) -> str:
    if records is None:
        return "-"
    return f"{records:+,}" if records else "0"


def _topics(topics: tuple[str, ...]) -> str:
    shown = ", ".join(topics[:3])
    return f"{shown} and {len(topics) - 3} more" if len(topics) > 3 else shown or "-"


def _count(number: int | None) -> str:
    return "-" if number is None else format_count(number)


def _behind(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return format_duration(seconds * 1_000) if seconds else "0s"
