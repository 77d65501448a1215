"""What people see of queries and dead letters fits a terminal and is safe to print."""

import pytest

from orion.cli.dlq import preview
from orion.cli.output import console
from orion.cli.query_view import print_queries
from orion.model import Mode, QueryStatus, State


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (b"", "empty"),
        (b"plain [b]text[/b]", "plain [b]text[/b]"),
        (b"a\nb\x00\x1b[31m", "a\\nb\\x00\\x1b[31m"),
        ("é…".encode(), "é…"),
        (b"\xff\x00", "hex ff00"),
        (b"x" * 2_048, "x" * 160 + " … (2.0 KiB)"),
        (b"\xff" * 2_048, "hex " + "ff" * 80 + " … (2.0 KiB)"),
    ],
)
def test_bytes_are_shown_on_one_line(value: bytes | None, shown: str) -> None:
    assert preview(value) == shown


def _status(name: str, state: State = State.RUNNING, error: str = "") -> QueryStatus:
    return QueryStatus(
        name=name,
        app="shop",
        state=state,
        mode=Mode.EXACTLY_ONCE,
        sources=("orders",),
        sink="topic big",
        error=error,
    )


@pytest.mark.parametrize("name", ["a", "shop-big_orders", "x" * 35, "x" * 75])
def test_a_list_fits_eighty_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_width", 80)
    with console.capture() as capture:
        print_queries([(_status(name), None), (_status("b", State.FAILED, "why"), None)])
    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["QUERY", "STATE", "LAG", "BEHIND", "RATE", "RESTARTS"]
    assert "  orders -> topic big, exactly_once, app shop" in lines
    assert lines[-1] == "  why"
    states = [line.index(word) for line in lines for word in ("RUNNING", "FAILED") if word in line]
    assert states == [lines[0].index("STATE")] * 2
