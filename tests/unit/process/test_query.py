"""What a query says of an error, and how long it waits."""

import pytest

from orion.config import EngineSettings
from orion.model import InvalidInputError, Mode, QueryStatus, State
from orion.process.definition import check_name
from orion.process.query import RestartPolicy, first_line


def test_the_line_that_says_most_is_found() -> None:
    trace = "[STREAM_FAILED] terminated\n" + "  at scala\n" * 60 + "ValueError: five is too much\n"
    assert first_line(RuntimeError(trace)) == "five is too much"
    assert first_line(RuntimeError("short\nsecond")) == "short"
    assert first_line(RuntimeError("")) == "RuntimeError"


def test_waits_double_up_to_a_minute() -> None:
    policy = RestartPolicy.from_settings(EngineSettings(backoff="1s"))
    assert [policy.wait_s(n) for n in (0, 1, 2, 10)] == [1.0, 2.0, 4.0, 60.0]


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "x" * 201])
def test_names_that_no_group_or_folder_can_have_are_refused(name: str) -> None:
    with pytest.raises(InvalidInputError):
        check_name(name)


def test_a_status_survives_its_json() -> None:
    status = QueryStatus("q", "a", State.RUNNING, Mode.REALTIME, sources=("t",), batch=3)
    assert QueryStatus.from_dict({**status.to_dict(), "from_a_later_version": 1}) == status
