"""The page of functions says what the functions say."""

from pathlib import Path

from orion.sql.function import built_in_functions
from orion.sql.function.reference import write_reference

PAGE = Path(__file__).parents[4] / "docs" / "sql-functions.md"


def test_the_page_of_functions_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_reference(built_in_functions()), (
        "run: make reference"
    )
