"""`orion test`: statements and records in, the records that must come out; no broker needed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from orion.cli.options import with_options
from orion.cli.output import console, say
from orion.model import NotFoundError

if TYPE_CHECKING:
    from orion.cases import Case, Finished

commands = typer.Typer()
_LONGEST_REASON = 2_000


@dataclass(frozen=True)
class CaseOptions:
    """Which cases are run."""

    suite: Annotated[Path | None, typer.Option(help="The same, by name.")] = None
    kind: Annotated[str, typer.Option(help="Only these: query, or rest for those over HTTP.")] = ""
    match: Annotated[str, typer.Option(help="Only cases whose name holds this text.")] = ""


@commands.command("test")
@with_options
def run_cases(
    options: CaseOptions,
    path: Path | None = typer.Argument(None, help="A file of cases, or a folder of such files."),
    report: Path | None = typer.Option(None, help="Write a JSON line a case to this file."),
    jobs: int = typer.Option(2, min=1, help="Cases at a time."),
    functions: Path | None = typer.Option(
        None, exists=True, help="Functions that cases may call; otherwise the project's own."
    ),
) -> None:
    """Run cases of streaming SQL on the engine and say which hold.

    A case gives statements, the records of their topics, and the records that must come out; see
    docs/sql-tests.md. Cases of kind query need no broker; those of kind rest get a platform of
    their own. Exit code 0 when every case holds, 1 when one does not.

    Example: orion test tests/ --match "per user"
    """
    folder = path or options.suite
    if folder is None or not folder.exists():
        raise NotFoundError(
            f"There are no cases at '{folder or ''}'.", fix="Give a file or folder of cases."
        )
    from orion.cases import read_cases

    cases = read_cases(folder, match=options.match, kind=options.kind)
    tally: Counter[str] = Counter()
    with ExitStack() as stack:
        lines = stack.enter_context(report.open("w", encoding="utf-8")) if report else None
        bar = stack.enter_context(Progress(console=console, transient=True))
        task = bar.add_task("cases", total=len(cases))
        for finished in _run(cases, jobs, _place(functions)):
            tally[finished.verdict.grade.value] += 1
            bar.advance(task)
            _tell(finished)
            if lines is not None:
                lines.write(finished.outcome.to_line() + "\n")
                lines.flush()
    held = tally["exact"] + tally["equivalent"]
    say(f"{held} of {len(cases)} cases hold, {tally['exact']} of them record by record.")
    raise typer.Exit(0 if held == len(cases) else 1)


def _place(functions: Path | None) -> str:
    """Return where the functions are, or nothing if there are none."""
    from orion.app import load_settings
    from orion.user_function import function_files

    settings = load_settings({})
    place = (functions or settings.project / settings.functions).resolve()
    return str(place) if function_files(place) else ""


def _run(cases: "Sequence[Case]", jobs: int, functions: str) -> "Iterator[Finished]":
    in_memory = [case for case in cases if case.kind != "rest"]
    over_http = [case for case in cases if case.kind == "rest"]
    if in_memory:
        yield from _run_in_memory(in_memory, jobs, functions)
    if over_http:
        yield from _run_over_http(over_http, functions)


def _run_in_memory(cases: "Sequence[Case]", jobs: int, functions: str) -> "Iterator[Finished]":
    from orion.app import App, load_settings
    from orion.cases import run_suite
    from orion.process import sql_session

    own = {"functions": functions} if functions else {}
    app = App(load_settings({"spark.master": f"local[{jobs}]", **own}))
    spark = app.start_spark("test", tells_lines=False)
    try:
        yield from run_suite(cases, lambda: sql_session(spark), app.functions, jobs=jobs)
    finally:
        spark.stop()


def _run_over_http(cases: "Sequence[Case]", functions: str) -> "Iterator[Finished]":
    from orion.cases import Finished, Platform, judge, run_http_case
    from orion.cli.test_platform import own_platform

    with own_platform(functions) as app:
        server = app.settings.server
        platform = Platform(
            app.connection,
            app.schemas,
            app.functions,
            f"http://127.0.0.1:{server.sql_port}",
            f"http://127.0.0.1:{server.registry_port}",
        )
        for case in cases:
            outcome = run_http_case(case, platform)
            yield Finished(case, outcome, judge(case, outcome))


def _tell(finished: "Finished") -> None:
    if not finished.verdict.passed:
        say(f"✗ {finished.case.id}: {finished.verdict.reason[:_LONGEST_REASON]}")
