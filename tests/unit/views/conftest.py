"""The engine that answers are held against."""

import sqlite3
from collections.abc import Iterator

import pytest
from tests.unit.views.given import ORDERS, USERS


@pytest.fixture(scope="module")
def other() -> Iterator[sqlite3.Connection]:
    """Give another engine with the same rows."""
    link = sqlite3.connect(":memory:")
    link.execute("CREATE TABLE users (id TEXT, city TEXT, age INTEGER)")
    link.execute("CREATE TABLE orders (id INTEGER, buyer TEXT, amount INTEGER)")
    link.executemany("INSERT INTO users VALUES (?, ?, ?)", USERS)
    link.executemany("INSERT INTO orders VALUES (?, ?, ?)", ORDERS)
    yield link
    link.close()
