"""The list of the cases that hold: names become hashes, a report decides, order is fixed."""

import json
from pathlib import Path

from tests.baseline import (
    BASELINE,
    case_hash,
    held,
    read_baseline,
    read_report,
    sample_of,
    write_baseline,
)

from orion.cases import Case

WANTED = {"topic": "T", "key": "a", "value": {"N": 1.5}}


def _case(name: str) -> Case:
    return Case(name, "query", ("SELECT 1;",), outputs=(WANTED,))


def test_a_report_decides_which_cases_hold(tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    wrong = {**WANTED, "value": {"N": 2}}
    lines = [
        {"id": "good", "error": None, "outputs": [WANTED], "seconds": 0.1},
        {"id": "wrong", "error": None, "outputs": [wrong], "seconds": 0.1},
        {"id": "crashed", "error": "x", "outputs": [], "failed_statement": 0, "internal": True},
        {"id": "unknown", "error": None, "outputs": [WANTED]},
    ]
    report.write_text("".join(json.dumps(line) + "\n" for line in lines))
    cases = [_case(name) for name in ("good", "wrong", "crashed")]
    assert list(held(cases, read_report(report))) == [case_hash("good")]


def test_the_list_is_sorted_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    write_baseline(["b" * 16, "a" * 16], path)
    assert path.read_text() == f"{'a' * 16}\n{'b' * 16}\n"
    assert read_baseline(path) == {"a" * 16, "b" * 16}


def test_the_sample_is_small_and_always_the_same() -> None:
    cases = [_case(f"case {number}") for number in range(900)]
    sample = sample_of(cases)
    assert 30 < len(sample) < 80
    assert sample == sample_of(cases)


def test_the_kept_list_holds_hashes_alone() -> None:
    lines = BASELINE.read_text().splitlines()
    assert lines == sorted(set(lines))
    assert all(len(line) == 16 and int(line, 16) >= 0 for line in lines)
