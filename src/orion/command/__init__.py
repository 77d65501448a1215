"""Statements that count: checked, numbered, and what they add up to.

In:  trees of statements, the session's properties.
Out: the catalogue after them, and what each has changed.
Never: Spark or HTTP; who runs queries and who answers clients stand above.
"""

from orion.command.command import Accepted, CommandLog, Commands, Listener
from orion.command.event_time import own_time, time_reader
from orion.command.format import (
    FormatRules,
    format_spec,
    key_spec,
    register_columns,
    value_spec,
)
from orion.command.record import Command
from orion.command.topic import Preparation

__all__ = [
    "Accepted",
    "Command",
    "CommandLog",
    "Commands",
    "FormatRules",
    "Listener",
    "Preparation",
    "format_spec",
    "key_spec",
    "own_time",
    "register_columns",
    "time_reader",
    "value_spec",
]
