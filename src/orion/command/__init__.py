"""Statements that count: checked, numbered, and what they add up to.

In:  texts of statements, the session's properties.
Out: the catalogue after them, and what each has changed.
Never: Spark or HTTP; who runs queries and who answers clients stand above.
"""

from orion.command.format import (
    FormatRules,
    format_spec,
    key_spec,
    register_columns,
    value_spec,
)

__all__ = ["FormatRules", "format_spec", "key_spec", "register_columns", "value_spec"]
