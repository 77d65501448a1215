"""Records of a topic become rows by key, with the time that the source says."""

import math
import struct
from typing import Any

from orion.command import FormatRules
from orion.log import Record
from orion.sql import Catalogue, Declared, Planner, Source, built_in_functions, parse_statements
from orion.views.reader import RowReader

FUNCTIONS = built_in_functions()


def declared(text: str) -> Source:
    (statement,) = parse_statements(text)
    change = Planner(FUNCTIONS, FormatRules(None), {}).plan(statement, Catalogue(), number=1)
    assert isinstance(change, Declared)
    return change.source


def read(text: str, *records: Record) -> list[tuple[Any, Any, Any]]:
    reader = RowReader(declared(text), None)
    return [(c.key, c.window, c.row) for c in reader.read(list(records))]


def test_a_table_has_keys_tombstones_and_leaves_out_what_it_cannot_read() -> None:
    text = """CREATE SOURCE TABLE t (id STRING PRIMARY KEY, n INT)
      WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');"""
    found = read(
        text,
        Record(b'{"n": 1}', b"a", timestamp_ms=5, partition=0, offset=3),
        Record(b"{no", b"b", timestamp_ms=5),
        Record(b'{"n": 1}', None, timestamp_ms=5),
        Record(None, b"a", timestamp_ms=6),
    )
    row = {"ID": "a", "N": 1, "ROWTIME": 5, "ROWPARTITION": 0, "ROWOFFSET": 3}
    assert found == [(("a",), (), row), (("a",), (), None)]


def test_a_body_that_holds_nothing_is_a_tombstone() -> None:
    text = """CREATE SOURCE TABLE t (id STRING PRIMARY KEY, n INT)
      WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');"""
    found = read(text, Record(b"null", b"a", timestamp_ms=5), Record(b"{no", b"b", timestamp_ms=5))
    assert found == [(("a",), (), None)]
    only_key = text.replace(", n INT", "")
    found = read(only_key, Record(b"{}", b"a", timestamp_ms=5), Record(None, b"a", timestamp_ms=6))
    assert [row and row["ID"] for _, _, row in found] == ["a", None]


def test_moments_far_away_are_read() -> None:
    """Microseconds taken for milliseconds are beyond Python's calendar."""
    text = """CREATE SOURCE TABLE t (id TIMESTAMP PRIMARY KEY, seen TIMESTAMP, dates ARRAY<DATE>)
      WITH (KAFKA_TOPIC='t', KEY_FORMAT='JSON', VALUE_FORMAT='JSON');"""
    far = 1_700_000_000_000_000
    body = b'{"seen": %d, "dates": [%d]}' % (far, 2**31 - 1)
    ((key, _, row),) = read(text, Record(body, b"%d" % far, timestamp_ms=5))
    assert (key, row["SEEN"], row["DATES"]) == ((far,), far, [2**31 - 1])


def test_windows_come_from_the_key() -> None:
    text = """CREATE STREAM s (id STRING KEY, n INT) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON',
      WINDOW_TYPE='TUMBLING', WINDOW_SIZE='1 SECOND');"""
    ((_, _, row),) = read(text, Record(b'{"n": 1}', b"a" + struct.pack(">q", 2000), timestamp_ms=1))
    assert (row["ID"], row["WINDOWSTART"], row["WINDOWEND"]) == ("a", 2000, 3000)


def test_a_key_that_is_no_number_is_one_key() -> None:
    text = """CREATE SOURCE TABLE t (id DOUBLE PRIMARY KEY, n INT)
      WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');"""
    nan = struct.pack(">d", math.nan)
    keys = [at for at, _, _ in read(text, *[Record(b'{"n": 1}', nan, timestamp_ms=5)] * 2)]
    assert len({*keys}) == 1


def test_an_event_without_a_key_has_columns_without_values() -> None:
    text = """CREATE STREAM s (id INT KEY, n INT) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');"""
    ((_, _, row),) = read(text, Record(b'{"n": 1}', None, timestamp_ms=1))
    assert (row["ID"], row["N"]) == (None, 1)
    windowed = text.replace(");", ", WINDOW_TYPE='TUMBLING', WINDOW_SIZE='1 SECOND');")
    ((_, _, row),) = read(windowed, Record(b'{"n": 1}', None, timestamp_ms=1))
    assert (row["ID"], row["WINDOWSTART"], row["WINDOWEND"]) == (None, None, None)


def test_an_event_whose_key_cannot_be_read_is_left_out() -> None:
    text = """CREATE STREAM s (id INT KEY, n INT) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');"""
    assert read(text, Record(b'{"n": 1}', b"three", timestamp_ms=1)) == []


def test_a_column_may_hold_the_time() -> None:
    number = """CREATE STREAM s (id STRING KEY, moment BIGINT)
      WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON', TIMESTAMP='moment');"""
    found = read(
        number,
        Record(b'{"moment": 7}', b"a", timestamp_ms=1),
        Record(b'{"moment": null}', b"a", timestamp_ms=1),
    )
    assert [row["ROWTIME"] for _, _, row in found] == [7]
    text = """CREATE STREAM s (id STRING KEY, moment STRING) WITH (KAFKA_TOPIC='t',
      VALUE_FORMAT='JSON', TIMESTAMP='moment', TIMESTAMP_FORMAT='yyyy-MM-dd');"""
    ((_, _, row),) = read(text, Record(b'{"moment": "1970-01-02"}', b"a", timestamp_ms=1))
    assert row["ROWTIME"] == 86_400_000


def test_headers_are_columns() -> None:
    text = """CREATE STREAM s (id STRING KEY, all_of_them ARRAY<STRUCT<key STRING, value BYTES>>
      HEADERS) WITH (KAFKA_TOPIC='t', VALUE_FORMAT='JSON');"""
    ((_, _, row),) = read(text, Record(b"{}", b"a", (("h", b"1"),), timestamp_ms=1))
    assert row["ALL_OF_THEM"] == [{"KEY": "h", "VALUE": b"1"}]
