"""Operators over whole columns: the same rows and state as row by row, at many times the speed.

In:  a table of rows in their order, and a store.
Out: a table of rows; None where only rows will do.
Never: another meaning than that of the operators, which random tests compare them with.
"""

from orion.state.columns.change import run_changes
from orion.state.columns.collapse import last_changes
from orion.state.columns.fact import sorted_table
from orion.state.columns.group import run_groups
from orion.state.columns.interval import Event, Reach, run_interval
from orion.state.columns.join import run_stream_table
from orion.state.columns.session import Session, SessionColumns
from orion.state.columns.window import close_windows, run_windows

__all__ = [
    "Event",
    "Reach",
    "Session",
    "SessionColumns",
    "close_windows",
    "last_changes",
    "run_changes",
    "run_groups",
    "run_interval",
    "run_stream_table",
    "run_windows",
    "sorted_table",
]
