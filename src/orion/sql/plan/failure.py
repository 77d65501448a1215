"""What fails on a row while the others go on: who is told, and what happens instead."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any

from orion.sql.function import Aggregation

Tell = Callable[[str, Mapping[str, Any], Exception], None]
_teller: ContextVar[Tell | None] = ContextVar("teller", default=None)


@contextmanager
def telling_failures(tell: Tell) -> Iterator[None]:
    """Let somebody know what fails meanwhile: the function or kind of expression, row, why."""
    token = _teller.set(tell)
    try:
        yield
    finally:
        _teller.reset(token)


def tell_failure(name: str, row: Mapping[str, Any], error: Exception) -> None:
    """Say that something failed on a row, if anybody wants to know."""
    tell = _teller.get()
    if tell is not None:
        tell(name, row, error)


def results_or_null(made: Aggregation, name: str) -> Aggregation:
    """Return an aggregate that is null where it has no result."""

    def result(state: Any) -> Any:
        try:
            return made.result(state)
        except Exception as error:  # noqa: BLE001  whatever it raises, the others have results
            return tell_failure(name, {"state": state}, error)

    return replace(made, result=result)


def failing_alone(made: Aggregation, name: str) -> Aggregation:
    """Return an aggregate that passes over what it cannot take: a user's own may raise anything."""

    def take(change: Callable[..., Any], state: Any, *given: Any) -> Any:
        try:
            return change(state, *given)
        except Exception as error:  # noqa: BLE001  whatever it raises, other rows go on
            tell_failure(name, {f"argument {n}": one for n, one in enumerate(given, 1)}, error)
            return state

    return replace(
        results_or_null(made, name),
        add=partial(take, made.add),
        merge=partial(take, made.merge),
        undo=None if made.undo is None else partial(take, made.undo),
    )
