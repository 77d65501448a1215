"""What held of the suite beside this clone still holds; without it, the project's own cases do."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from orion.cases import Case, Finished, read_cases, run_suite
from orion.pipeline import Pipeline
from orion.process import sql_session
from orion.user_function import load_functions
from tests.baseline import SUITE, case_hash, read_baseline, sample_of

CASES = Path(__file__).parents[1] / "cases"
OWN = CASES / "sql"


def test_what_held_still_holds(spark_app: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    cases, known = _chosen()
    spark = spark_app.runtime.spark
    finished = list(run_suite(cases, lambda: sql_session(spark), load_functions(CASES)))
    lost = [run for run in finished if case_hash(run.case.id) in known and not run.verdict.passed]
    with capsys.disabled():
        sys.stdout.write(f"\n{_told(finished, lost)}\n")
    assert [f"{run.case.id}: {run.verdict.reason[:300]}" for run in lost] == []


def _chosen() -> tuple[Sequence[Case], frozenset[str]]:
    """Return the cases to run, and the hashes of those that must hold."""
    if SUITE.is_dir():
        return sample_of(read_cases(SUITE, kind="query")), read_baseline()
    own = read_cases(OWN)
    return own, frozenset(case_hash(case.id) for case in own)


def _told(finished: Sequence[Finished], lost: Sequence[Finished]) -> str:
    whose = "of the suite's sample" if SUITE.is_dir() else "of our own (the suite is not there)"
    hold = sum(run.verdict.passed for run in finished)
    return f"{hold} of {len(finished)} cases {whose} hold; {len(lost)} held before and do not now."
