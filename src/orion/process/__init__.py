"""PROCESS: pipelines on Spark, from the log to the log or the lake, exactly once.

In:  settings, streaming DataFrames that read topics, where their rows should go.
Out: running queries that are consumer groups, their statuses, dead letters.
Never: HTTP, SQL text, or a batch that is visible in part.
"""

from orion.process.definition import check_name
from orion.process.encode import TopicWrite
from orion.process.format import RegistryAccess, choose_spec, registered_format, spark_columns
from orion.process.query import Query
from orion.process.rehearsal import rehearse_queries
from orion.process.runtime import Rooms, Runtime
from orion.process.scratch import own_scratch
from orion.process.session import (
    Shipment,
    end_session,
    is_remote,
    session_options,
    start_session,
)
from orion.process.shipping import pack_python
from orion.process.source import TopicRead, parse_columns
from orion.process.sql import BatchRunner, GivenRecord, LiveSql, SqlEngine, sql_session

__all__ = [
    "BatchRunner",
    "GivenRecord",
    "LiveSql",
    "Query",
    "RegistryAccess",
    "Rooms",
    "Runtime",
    "Shipment",
    "SqlEngine",
    "TopicRead",
    "TopicWrite",
    "check_name",
    "choose_spec",
    "end_session",
    "is_remote",
    "own_scratch",
    "pack_python",
    "parse_columns",
    "registered_format",
    "rehearse_queries",
    "session_options",
    "spark_columns",
    "sql_session",
    "start_session",
]
