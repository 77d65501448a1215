"""Plans of questions that were asked before, also of those that differ in one literal only."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from orion.model import Scalar
from orion.sql import Catalogue, tree, typed
from orion.views.pull import PullPlan

_MOST_PLANS = 1_000
_LONGEST_TEXT = 2_000
# A text or a number of at most nine digits, which is an INTEGER whatever its digits are.
_LITERAL = re.compile(r"'((?:[^']|'')*)'|(?<![\w.$@-])(\d{1,9})(?![\w.])")
# Quoted names, comments and variables may hold what looks like a literal.
_DOUBTFUL = re.compile(r'["`$]|--|/\*')
_Shape = tuple[str, ...]
Keys = tuple[tuple[Any, ...], ...] | None


class PlanCache:
    """Plans by the shape of their text, for as long as the catalogue stays as it is.

    Threads may share it: at worst two of them plan the same question.
    """

    def __init__(self) -> None:
        # Replaced together, so that nobody sees plans of another catalogue.
        self._kept: tuple[Catalogue | None, dict[_Shape, PullPlan]] = (None, {})

    def find(
        self, text: str, properties: Mapping[str, str], catalogue: Catalogue
    ) -> tuple[PullPlan, Keys] | None:
        """Return the plan of a question, and the keys it asks for, if one of its kind was kept."""
        known, plans = self._kept
        if catalogue is not known or len(text) > _LONGEST_TEXT:
            return None
        exact = plans.get(_exactly(text, properties))
        if exact is not None:
            return exact, exact.keys
        split = _split(text)
        kept = plans.get((*split[0], *_flat(properties))) if split else None
        return None if kept is None or split is None else (kept, ((split[1],),))

    def keep(
        self, text: str, properties: Mapping[str, str], catalogue: Catalogue, plan: PullPlan
    ) -> None:
        """Remember a plan; one that looks up a literal serves for others in its place."""
        if len(text) > _LONGEST_TEXT or _has_computed_keys(plan):
            return
        known, plans = self._kept
        if catalogue is not known or len(plans) >= _MOST_PLANS:
            plans = {}
            self._kept = (catalogue, plans)
        split = _split(text)
        if split is not None and _is_look_up(plan, split[1]):
            # The look-up is the condition: rows that it finds fulfil it.
            plans[(*split[0], *_flat(properties))] = replace(plan, where=None)
        else:
            plans[_exactly(text, properties)] = plan


def _exactly(text: str, properties: Mapping[str, str]) -> _Shape:
    return ("whole", text, *_flat(properties))


def _flat(properties: Mapping[str, str]) -> _Shape:
    return tuple(part for pair in sorted(properties.items()) for part in pair)


def _split(text: str) -> tuple[_Shape, str | int] | None:
    """Return a text around its only literal, and that literal."""
    found = list(_LITERAL.finditer(text))
    if len(found) != 1 or _DOUBTFUL.search(text):
        return None
    (match,) = found
    string, digits = match.groups()
    value = int(digits) if string is None else string.replace("''", "'")
    kind = "number" if string is None else "text"
    return (kind, text[: match.start()], text[match.end() :]), value


def _has_computed_keys(plan: PullPlan) -> bool:
    """Tell whether other keys may be asked for the next time, as by what is the day of today."""
    if plan.keys is None or plan.where is None:
        return False
    return any(isinstance(part, typed.Applied) for part in typed.walk(plan.where))


def _is_look_up(plan: PullPlan, literal: str | int) -> bool:
    """Tell whether a plan asks for the row whose only key column equals the literal."""
    where, key = plan.where, plan.source.key
    if not isinstance(where, typed.Compared) or plan.keys != ((literal,),):
        return False
    sides = [where.left, where.right]
    own = typed.Input(key[0].type, key[0].name)
    if where.operator is not tree.ComparisonOperator.EQUAL or own not in sides:
        return False
    sides.remove(own)
    (other,) = sides
    if isinstance(other, typed.Converted):
        other = other.value
    fitting = (Scalar.STRING,) if isinstance(literal, str) else (Scalar.INTEGER, Scalar.BIGINT)
    return isinstance(other, typed.Constant) and key[0].type in fitting
