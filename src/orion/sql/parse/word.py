"""The words of the language: those that are always keywords, and those that may also be names."""

from orion.sql.parse.tree import TimeUnit

# Never a name unless quoted.
_RESERVED_WORDS = """
    ADVANCE ALL AND AS AT BEGINNING BETWEEN BY CASE CAST CATALOG CONNECTOR CONNECTORS CREATE
    DAYS DECIMAL DELETE DESCRIBE DISTINCT DROP ELSE END EXISTS EXPORT EXTENDED FALSE FROM FULL
    GROUP HAVING HOPPING HOURS IN INNER INSERT INTO IS JOIN LEFT LIKE LIMIT LIST LOAD
    MATERIALIZED MILLISECOND MILLISECONDS MINUTES MONTHS NAMESPACE NOT NULL ON OR OUTER PRINT
    PROPERTIES QUERIES QUERY RENAME RETENTION RIGHT RUN SAMPLE SCRIPT SECONDS SELECT SIZE STREAM
    STREAMS TABLE TERMINATE THEN TO TOPIC TOPICS TRUE TUMBLING UNSET VALUES VIEW WHEN WHERE
    WINDOW WITH WITHIN YEARS
"""
RESERVED = frozenset(_RESERVED_WORDS.split())

# Keywords where the grammar asks for them, names everywhere else.
_NON_RESERVED_WORDS = """
    ADD ALTER ANALYZE ARRAY ASSERT CHANGES COLUMN COLUMNS DATE DAY DEFINE EMIT ESCAPE EXPLAIN
    FINAL FUNCTION FUNCTIONS GRACE HEADER HEADERS HOUR ID IF INTEGER INTERVAL KEY MAP MINUTE
    MONTH PARTITION PARTITIONS PAUSE PERIOD PLUGINS PRIMARY REPLACE RESET RESUME SCHEMA SECOND
    SESSION SET SHOW SINK SOURCE STRING STRUCT SUBJECT SYSTEM TABLES TIME TIMEOUT TIMESTAMP TYPE
    TYPES UNDEFINE VARIABLES YEAR ZONE
"""
NON_RESERVED = frozenset(_NON_RESERVED_WORDS.split())

KEYWORDS = RESERVED | NON_RESERVED

# Both numbers of a unit are the same unit: 1 DAY, 2 DAYS.
TIME_UNITS = {unit.name: unit for unit in TimeUnit} | {unit.name[:-1]: unit for unit in TimeUnit}

# Their first argument is a unit even where its word could be a column: DATEADD(DAY, 1, d).
UNIT_FUNCTIONS = frozenset(
    ("DATEADD", "DATESUB", "TIMEADD", "TIMESUB", "TIMESTAMPADD", "TIMESTAMPSUB")
)

# What other dialects have and this one answers with a reason instead of a puzzle.
FOREIGN_CLAUSES = {
    "ORDER": "ORDER BY is not part of streaming SQL: a stream has no end to sort at",
    "UNION": "UNION is not part of streaming SQL; write both queries INSERT INTO one stream",
    "OVER": "OVER is for ROW_NUMBER in an inner query, which ranks rows; use WINDOW with GROUP BY",
    "OFFSET": "OFFSET is not part of streaming SQL",
}
