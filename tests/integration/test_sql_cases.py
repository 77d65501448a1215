"""The project's own cases of SQL, on a real Spark session and no broker."""

import json
from pathlib import Path

import pytest

from orion.cases import Finished, read_cases, run_suite
from orion.pipeline import Pipeline
from orion.process import sql_session
from orion.user_function import load_functions

FOLDER = Path(__file__).parents[1] / "cases"
CASES = FOLDER / "sql"


@pytest.fixture(scope="module")
def finished(spark_app: Pipeline) -> dict[str, Finished]:
    spark = spark_app.runtime.spark
    runs = run_suite(read_cases(CASES), lambda: sql_session(spark), load_functions(FOLDER))
    return {run.case.id: run for run in runs}


@pytest.mark.parametrize("name", [case.id for case in read_cases(CASES)])
def test_a_case_holds_record_by_record(name: str, finished: dict[str, Finished]) -> None:
    run = finished[name]
    assert run.verdict.grade.value == "exact", run.verdict.reason


def test_a_report_line_is_json(finished: dict[str, Finished]) -> None:
    for run in finished.values():
        line = json.loads(run.outcome.to_line())
        assert line["id"] == run.case.id
        assert (line["error"] is not None) == run.case.fails
