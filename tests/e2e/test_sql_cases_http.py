"""Cases over HTTP, by the command that runs them: statements and records in, answers out.

Our own all hold; of the suite beside this clone, if it is there, a sample that held before.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from orion.cases import judge, read_cases
from orion.testing.project import Project
from tests.baseline import SUITE, case_hash, read_baseline, read_report, sample_of

pytestmark = [pytest.mark.timeout(300), pytest.mark.slow]
CASES = Path(__file__).parents[1] / "cases"
OWN = CASES / "sql-answers"


def test_answers_over_http(make_project: Callable[[str], Project]) -> None:
    project = replace(make_project("cases"), env={})
    folder, report = project.folder / "cases", project.folder / "report.jsonl"
    folder.mkdir()
    (folder / "own.json").write_text((OWN / "answers.json").read_text())
    if SUITE.is_dir():
        (folder / "sample.json").write_text(json.dumps({"cases": _sample()}))
    cases = {case.id: case for case in read_cases(folder)}
    words = ("--report", str(report), "--functions", str(CASES))
    done = project.orion("test", str(folder), *words)
    assert "cases hold" in done.stdout, done.stdout + done.stderr
    outcomes = list(read_report(report))
    assert [outcome.id for outcome in outcomes if outcome.internal] == []
    assert {outcome.id for outcome in outcomes} == cases.keys()
    must_hold = {case.id for case in read_cases(OWN)}
    known = read_baseline()
    must_hold |= {name for name in cases if case_hash(name) in known}
    verdicts = {outcome.id: judge(cases[outcome.id], outcome) for outcome in outcomes}
    assert {n: verdicts[n].reason for n in must_hold if not verdicts[n].passed} == {}


def _sample() -> list[object]:
    """Return cases as the suite spells them."""
    chosen = {case.id for case in sample_of(read_cases(SUITE, kind="rest"))}
    files = (json.loads(path.read_text())["cases"] for path in SUITE.glob("*.json"))
    return [case for cases in files for case in cases if case["id"] in chosen]
