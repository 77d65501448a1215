"""Checked SQL plans as DataFrames: expressions, sources, steps, and the records that go out."""

from orion.process.sql.batch import BatchRunner, GivenRecord
from orion.process.sql.compile import compile_query
from orion.process.sql.engine import SqlEngine
from orion.process.sql.live import LiveSql
from orion.process.sql.read import Surroundings
from orion.process.sql.session import sql_session

__all__ = [
    "BatchRunner",
    "GivenRecord",
    "LiveSql",
    "SqlEngine",
    "Surroundings",
    "compile_query",
    "sql_session",
]
