"""Keyed state inside of tasks: groups, windows, sessions, joins.

In:  the rows of one partition of keys, in their order, and the number of their batch.
Out: rows; the state that the next batch begins with. A repeated batch gives the same again.
Never: DataFrames or the log; a task loads this room and little else.
"""

from orion.state.change import ChangeOperator
from orion.state.collapse import CollapsedOperator
from orion.state.fact import ABSENT, FACTS, HEADERS, ORIGIN, SEQUENCE, TIME
from orion.state.failure import Failures, noting_failures_in
from orion.state.file import (
    StateDamagedError,
    StateMismatchError,
    read_number,
    restore_fix,
    write_number,
)
from orion.state.foreign_key import OWN_KEY, FollowOperator, ForeignKeyOperator
from orion.state.gather import RECORD, WHY_NOT, OwnTime, RecordParts
from orion.state.group import GroupOperator, WindowOperator
from orion.state.interval_join import IntervalOperator
from orion.state.join import StreamTableOperator, TableTableOperator
from orion.state.late import LateRow, read_late_rows
from orion.state.layout import (
    HAD_OLD,
    JOIN_KEY,
    LEFT,
    OLD,
    RIGHT,
    SIDE,
    SIGN,
    GroupLayout,
    JoinLayout,
)
from orion.state.partial import Parts, Slots, merged_layout
from orion.state.rank import RankOperator
from orion.state.rank_table import RankTableOperator
from orion.state.session import SessionOperator
from orion.state.summary import StateSummary, summarize_state
from orion.state.task import (
    BATCH_PROPERTY,
    MOST_BYTES_PROPERTY,
    Operator,
    OutputTooLargeError,
    StatePlace,
    Task,
    make_task,
    order_task,
)
from orion.state.turn import turns_of_task
from orion.state.window import DEFAULT_GRACE_MS, SessionWindows, TimeWindows

__all__ = [
    "ABSENT",
    "BATCH_PROPERTY",
    "DEFAULT_GRACE_MS",
    "FACTS",
    "HAD_OLD",
    "HEADERS",
    "JOIN_KEY",
    "LEFT",
    "MOST_BYTES_PROPERTY",
    "OLD",
    "ORIGIN",
    "OWN_KEY",
    "RECORD",
    "RIGHT",
    "SEQUENCE",
    "SIDE",
    "SIGN",
    "TIME",
    "WHY_NOT",
    "ChangeOperator",
    "CollapsedOperator",
    "Failures",
    "FollowOperator",
    "ForeignKeyOperator",
    "GroupLayout",
    "GroupOperator",
    "IntervalOperator",
    "JoinLayout",
    "LateRow",
    "Operator",
    "OutputTooLargeError",
    "OwnTime",
    "Parts",
    "RankOperator",
    "RankTableOperator",
    "RecordParts",
    "SessionOperator",
    "SessionWindows",
    "Slots",
    "StateDamagedError",
    "StateMismatchError",
    "StatePlace",
    "StateSummary",
    "StreamTableOperator",
    "TableTableOperator",
    "Task",
    "TimeWindows",
    "WindowOperator",
    "make_task",
    "merged_layout",
    "noting_failures_in",
    "order_task",
    "read_late_rows",
    "read_number",
    "restore_fix",
    "summarize_state",
    "turns_of_task",
    "write_number",
]
