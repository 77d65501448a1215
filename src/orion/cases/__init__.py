"""Cases of streaming SQL: given statements and records, the records that must come out.

In:  files of cases, a Spark session.
Out: what each case really gave, compared with what it wants, and a report of all.
Never: a broker; the engine that runs a case is the one that runs live queries.
"""

from orion.cases.case import Case, CaseFileError
from orion.cases.folder import read_cases
from orion.cases.http import Platform, run_http_case
from orion.cases.run import Outcome, run_case
from orion.cases.suite import Finished, run_suite
from orion.cases.verdict import Grade, Verdict, judge

__all__ = [
    "Case",
    "CaseFileError",
    "Finished",
    "Grade",
    "Outcome",
    "Platform",
    "Verdict",
    "judge",
    "read_cases",
    "run_case",
    "run_http_case",
    "run_suite",
]
