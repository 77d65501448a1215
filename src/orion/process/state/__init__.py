"""Keyed state inside of Spark's tasks: groups, windows, sessions, joins.

Each operator is a plain class: rows in their order and a store in, rows out. What spreads them by
key, orders them and survives a repeated batch is the same for all.
"""

from orion.process.state.change import ChangeOperator
from orion.process.state.fact import ABSENT, FACTS, HEADERS, ORIGIN, SEQUENCE, TIME
from orion.process.state.foreign_key import OWN_KEY, FollowOperator, ForeignKeyOperator
from orion.process.state.group import (
    HAD_OLD,
    OLD,
    SIGN,
    GroupLayout,
    GroupOperator,
    WindowOperator,
)
from orion.process.state.interval_join import IntervalOperator
from orion.process.state.join import (
    JOIN_KEY,
    LEFT,
    RIGHT,
    SIDE,
    JoinLayout,
    StreamTableOperator,
    TableTableOperator,
)
from orion.process.state.session import SessionOperator
from orion.process.state.store import StateMismatchError
from orion.process.state.task import Operator, StatePlace, apply_operator
from orion.process.state.window import DEFAULT_GRACE_MS, SessionWindows, TimeWindows

__all__ = [
    "ABSENT",
    "DEFAULT_GRACE_MS",
    "FACTS",
    "HAD_OLD",
    "HEADERS",
    "JOIN_KEY",
    "LEFT",
    "OLD",
    "ORIGIN",
    "OWN_KEY",
    "RIGHT",
    "SEQUENCE",
    "SIDE",
    "SIGN",
    "TIME",
    "ChangeOperator",
    "FollowOperator",
    "ForeignKeyOperator",
    "GroupLayout",
    "GroupOperator",
    "IntervalOperator",
    "JoinLayout",
    "Operator",
    "SessionOperator",
    "SessionWindows",
    "StateMismatchError",
    "StatePlace",
    "StreamTableOperator",
    "TableTableOperator",
    "TimeWindows",
    "WindowOperator",
    "apply_operator",
]
