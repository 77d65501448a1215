"""`orion schemas`: list, show, register, check, compare and delete schemas; their rules."""

import difflib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from orion.app import App, load_settings
from orion.cli.completion import complete_level, complete_subject
from orion.cli.confirm import confirm
from orion.cli.output import JsonFlag, console, print_json, print_table, say
from orion.model import InvalidInputError

if TYPE_CHECKING:
    from orion.registry import Breach, Level, RegistryClient, Schema, Version

commands = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Schemas of records: list, show, register, check, compare, delete.",
)
Subject = Annotated[str, typer.Argument(help="The subject.", autocompletion=complete_subject)]
File = Annotated[Path, typer.Argument(help="The schema: .avsc, .json or .proto; `-`: the input.")]
Type = Annotated[
    str, typer.Option("--type", "-t", help="AVRO, JSON or PROTOBUF; default: by the file's name.")
]
References = Annotated[
    list[str] | None,
    typer.Option("--reference", "-r", help="name=subject:version; repeatable."),
]
_KINDS = {".avsc": "AVRO", ".avro": "AVRO", ".json": "JSON", ".proto": "PROTOBUF"}


@commands.command("list")
def list_schemas(
    prefix: Annotated[str, typer.Argument(help="Only subjects that begin so.")] = "",
    deleted: bool = typer.Option(False, "--deleted", help="Soft deleted ones, too."),
    as_json: bool = JsonFlag,
) -> None:
    """List subjects with their versions, kind and compatibility.

    Example: `orion schemas list orders`
    """
    client = _client()
    by_subject: dict[str, list[Version]] = {}
    for version in client.schemas(prefix or ":*:", deleted=deleted):
        by_subject.setdefault(version.subject, []).append(version)
    rows: list[dict[str, Any]] = [
        {
            "subject": subject,
            "versions": [version.version for version in versions],
            "id": versions[-1].id,
            "type": str(versions[-1].schema.kind),
            "compatibility": client.level(subject),
        }
        for subject, versions in by_subject.items()
    ]
    if as_json:
        print_json(rows)
        return
    print_table(
        ("SUBJECT", "VERSIONS", "LATEST ID>", "TYPE", "COMPATIBILITY"),
        [
            (r["subject"], _spans(r["versions"]), r["id"], r["type"], r["compatibility"])
            for r in rows
        ],
        empty="No schemas yet. Register one with: orion schemas register SUBJECT FILE",
    )


@commands.command("show")
def show_schema(
    subject: Subject,
    version: Annotated[str, typer.Argument(help="A number, or latest.")] = "latest",
    as_json: bool = JsonFlag,
) -> None:
    """Show a schema; without a version the latest one.

    Example: `orion schemas show orders-value 1`
    """
    found = _client().version(subject, version)
    if as_json:
        print_json(_entity(found))
        return
    refers = "".join(f", refers to {r.subject} {r.version}" for r in found.schema.references)
    about = f"{subject} version {found.version}, id {found.id}, {found.schema.kind}{refers}"
    console.print(Text(about, style="bold"))
    sys.stdout.write(_readable(found.schema) + "\n")


@commands.command("register")
def register_schema(
    subject: Subject,
    file: File,
    kind: Type = "",
    reference: References = None,
    normalize: bool = typer.Option(False, "--normalize", help="In its normal form."),
    as_json: bool = JsonFlag,
) -> None:
    """Register a schema as the next version of a subject; one that is there already stays.

    Example: `orion schemas register orders-value order.avsc`
    """
    client, schema = _client(), _read(file, kind, reference)
    identity = client.register(subject, schema, normalize=normalize)
    found = client.find(subject, schema) if not normalize else client.version(subject)
    if as_json:
        print_json({"subject": subject, "version": found.version, "id": identity})
    else:
        say(f"{file.name} is version {found.version} of '{subject}', id {identity}.")


@commands.command("check")
def check_schema(
    subject: Subject,
    file: File,
    kind: Type = "",
    reference: References = None,
    as_json: bool = JsonFlag,
) -> None:
    """Tell whether a change is safe, why not, and who is upgraded first; registers nothing.

    Exit code 4 when the level in force refuses it.

    Example: `orion schemas check orders-value order.avsc`
    """
    from orion.registry import Level, RegistryNotFoundError, parse_level

    client, schema = _client(), _read(file, kind, reference)
    level = parse_level(client.level(subject))
    try:
        numbers = client.versions(subject)
    except RegistryNotFoundError:
        numbers = []
    breaches = {each: _breaches(client, subject, numbers, schema, each) for each in Level}
    satisfied = [str(each) for each in Level if not breaches[each]]
    if as_json:
        print_json(
            {
                "subject": subject,
                "safe": not breaches[level],
                "level": str(level),
                "reasons": [breach.text for breach in breaches[level]],
                "advice": breaches[level][0].advice if breaches[level] else level.advice,
                "satisfies": satisfied,
            }
        )
    else:
        _tell(file, subject, level, breaches[level])
        if numbers:
            say(f"It satisfies: {', '.join(satisfied)}.")
    if breaches[level]:
        raise typer.Exit(4)


def _tell(file: Path, subject: str, level: "Level", breaches: "list[Breach]") -> None:
    if not breaches:
        console.print(
            Text.assemble(("safe: ", "bold green"), f"{file.name} may follow in '"), end=""
        )
        say(f"{subject}' by {level}. {level.advice}")
        return
    console.print(Text.assemble(("not safe: ", "bold red"), f"{level} refuses {file.name}:"))
    for text in dict.fromkeys(breach.text for breach in breaches):
        say(f"  - {text}")
    say(f"{breaches[0].advice}")
    say(f"By {level}: {level.advice}")


@commands.command("diff")
def compare_versions(
    subject: Subject,
    old: Annotated[str, typer.Argument(help="A version.")],
    new: Annotated[str, typer.Argument(help="Another version.")] = "latest",
    as_json: bool = JsonFlag,
) -> None:
    """Show what changed between two versions, and who can read whose data.

    Example: `orion schemas diff orders-value 1 2`
    """
    from orion.registry import find_conflicts

    client = _client()
    pair = [client.version(subject, number) for number in (old, new)]
    before, after = (client.parse(version.schema) for version in pair)
    backward, forward = find_conflicts(after, before), find_conflicts(before, after)
    texts = [_readable(version.schema).splitlines() for version in pair]
    names = [f"version {version.version}" for version in pair]
    lines = list(difflib.unified_diff(texts[0], texts[1], names[0], names[1], lineterm=""))
    if as_json:
        verdicts = {"backward": not backward, "forward": not forward}
        print_json({"subject": subject, **verdicts, "diff": lines})
        return
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines:
        console.print(Text(line, style=styles.get(line[:1], "")))
    numbers = [version.version for version in pair]
    for reader, writer, found in (
        (numbers[1], numbers[0], backward),
        (numbers[0], numbers[1], forward),
    ):
        word = "cannot read" if found else "reads"
        say(f"Version {reader} {word} data of version {writer}.")
        for conflict in found:
            say(f"  - {conflict.rule} at {conflict.path}: {conflict.text}")


@commands.command("delete")
def delete_schema(
    subject: Subject,
    version: str = typer.Option("", "--version", help="Only this version; default: all."),
    permanent: bool = typer.Option(False, "--permanent", help="For good, after a soft deletion."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    as_json: bool = JsonFlag,
) -> None:
    """Delete a subject or one version: softly first, then for good.

    Example: `orion schemas delete orders-value --version 1 --yes`
    """
    client = _client()
    what = f"version {version} of '{subject}'" if version else f"subject '{subject}'"
    confirm(f"Delete {what}{' for good' if permanent else ''}?", yes=yes)
    if version:
        gone = [client.delete_version(subject, version, permanent=permanent)]
    else:
        gone = client.delete_subject(subject, permanent=permanent)
    if as_json:
        print_json({"subject": subject, "deleted": gone, "permanent": permanent})
    else:
        how = "for good" if permanent else "softly; records that use it can still be read"
        say(f"Deleted version {_spans(gone)} of '{subject}' {how}.")


@commands.command("compat")
def compatibility(
    subject: Annotated[
        str, typer.Argument(help="A subject; none: all.", autocompletion=complete_subject)
    ] = "",
    level: Annotated[
        str, typer.Argument(help="The new level.", autocompletion=complete_level)
    ] = "",
    unset: bool = typer.Option(False, "--unset", help="Let the general level count again."),
    as_json: bool = JsonFlag,
) -> None:
    """Show or set how schemas may change: of a subject, or of all that have no level of their own.

    Example: `orion schemas compat orders-value FULL`, or for all: `orion schemas compat FULL`
    """
    from orion.registry import Level, parse_level

    client = _client()
    scope: str | None = subject
    if subject.upper() in list(Level) and not level:
        scope, level = None, subject
    elif not subject:
        scope = None
    if unset and level:
        raise InvalidInputError("--unset takes no level.", fix="Leave one of the two out.")
    if unset or level:
        client.set_level(scope, None if unset else str(parse_level(level)))
    found = parse_level(client.level(scope))
    if as_json:
        print_json({"subject": scope, "compatibility": str(found)})
    else:
        whom = f"'{scope}'" if scope else "Every subject without a level of its own"
        say(f"{whom}: {found}. {found.advice}")


def _client() -> "RegistryClient":
    from orion.registry import RegistryClient

    return RegistryClient(App(load_settings()).settings.registry_url)


def _breaches(
    client: "RegistryClient", subject: str, numbers: list[int], schema: "Schema", level: "Level"
) -> "list[Breach]":
    from orion.registry import Earlier, find_breaches

    counted = numbers if level.is_transitive else numbers[-1:]
    earlier = [
        Earlier(number, client.parse(client.version(subject, str(number)).schema))
        for number in counted
    ]
    return find_breaches(client.parse(schema), earlier, level)


def _read(file: Path, kind: str, references: list[str] | None) -> "Schema":
    from orion.registry import Kind, Schema

    word = kind.upper() or _KINDS.get(file.suffix.lower(), "AVRO")
    if word not in list(Kind):
        raise InvalidInputError(f"'{kind}' is no kind of schema.", fix=f"Give {', '.join(Kind)}.")
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"File '{file}' cannot be read: {error}.", fix="Give the path of a schema."
        ) from error
    return Schema(text, Kind(word), tuple(_reference(given) for given in references or ()))


def _reference(text: str) -> Any:
    from orion.registry import Reference

    name, equals, rest = text.partition("=")
    subject, colon, version = rest.rpartition(":")
    if not (equals and colon and name and subject and version.isdigit()):
        raise InvalidInputError(
            f"Reference '{text}' is not understood.", fix="Write it as name=subject:version."
        )
    return Reference(name, subject, int(version))


def _entity(version: "Version") -> dict[str, Any]:
    from orion.registry import schema_fields

    return {
        "subject": version.subject,
        "version": version.version,
        "id": version.id,
        "schemaType": str(version.schema.kind),
        **schema_fields(version.schema),
    }


def _readable(schema: "Schema") -> str:
    """Return a schema's text on several lines."""
    if schema.kind == "PROTOBUF":
        return schema.text.strip()
    return json.dumps(json.loads(schema.text), indent=2, ensure_ascii=False)


def _spans(numbers: list[int]) -> str:
    """Return numbers in short: 1-3, 5."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
