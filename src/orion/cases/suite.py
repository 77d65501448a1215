"""Many cases on one warm engine, several at a time; each outcome is told as it comes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orion.cases.case import Case
from orion.cases.run import Outcome, run_case
from orion.cases.verdict import Verdict, judge
from orion.sql import Functions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Finished:
    """A case that has run."""

    case: Case
    outcome: Outcome
    verdict: Verdict


def run_suite(
    cases: Sequence[Case],
    spark: "Callable[[], SparkSession]",
    functions: Functions,
    *,
    jobs: int = 2,
) -> Iterator[Finished]:
    """Run cases and yield each when it is done; not in their order.

    Args:
        spark: Gives each worker a session of its own on the same application.
    """
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        sessions = [spark() for _ in range(jobs)]
        waiting = [
            pool.submit(run_case, case, sessions[number % jobs], functions)
            for number, case in enumerate(cases)
        ]
        by_future = dict(zip(waiting, cases, strict=True))
        for future in as_completed(waiting):
            case, outcome = by_future[future], future.result()
            yield Finished(case, outcome, judge(case, outcome))
