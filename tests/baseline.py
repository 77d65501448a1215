"""Which cases of the suite beside this clone hold: kept as hashes, since the cases are not ours.

`python -m tests.baseline REPORT…` writes the list anew from reports of `orion test --report`, run
in the project's folder, whose `orion.toml` names the functions that cases call.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from orion.cases import Case, Outcome, judge, read_cases

ROOT = Path(__file__).parents[1]
SUITE = ROOT.parent / "shared" / "qtt" / "cases"
BASELINE = ROOT / "tests" / "cases" / "sql-baseline.txt"
# An eighteenth of the suite: less than a minute even on two cores that others use as well.
# Over HTTP a case takes two to three seconds.
_SAMPLE_BELOW = {"query": "0e", "rest": "07"}
_DIGITS = 16


def case_hash(name: str) -> str:
    """Return what stands for a case in the list."""
    return hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]


def sample_of(cases: Iterable[Case]) -> list[Case]:
    """Return the same small part of the cases every time."""
    return [case for case in cases if case_hash(case.id) < _SAMPLE_BELOW[case.kind]]


def read_baseline(path: Path = BASELINE) -> frozenset[str]:
    """Return the hashes of the cases that held."""
    return frozenset(path.read_text(encoding="ascii").split())


def write_baseline(hashes: Iterable[str], path: Path = BASELINE) -> None:
    """Write hashes in order, so that a change of the list reads well."""
    path.write_text("".join(f"{each}\n" for each in sorted(hashes)), encoding="ascii")


def held(cases: Sequence[Case], outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield the hashes of the cases that hold by their outcomes."""
    by_name = {case.id: case for case in cases}
    for outcome in outcomes:
        case = by_name.get(outcome.id)
        if case is not None and judge(case, outcome).passed:
            yield case_hash(case.id)


def read_report(path: Path) -> Iterator[Outcome]:
    """Yield the outcomes of a report, numbers with every digit."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield Outcome(**json.loads(line, parse_float=Decimal))


def main(reports: Sequence[Path]) -> str:
    """Write the list from reports; return what has changed by it."""
    before = read_baseline() if BASELINE.exists() else frozenset()
    outcomes = [outcome for report in reports for outcome in read_report(report)]
    cases = read_cases(SUITE)
    after = frozenset(held(cases, outcomes))
    write_baseline(after)
    return (
        f"{len(after)} of {len(outcomes)} cases in the reports hold; the suite has {len(cases)}."
        f" {len(after - before)} are new, {len(before - after)} no longer in the list."
    )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Give the reports: python -m tests.baseline REPORT…")
    sys.stdout.write(main([Path(name) for name in sys.argv[1:]]) + "\n")
