"""A project's files of functions: found, run, added, and refused with a reason."""

from decimal import Decimal as Number
from pathlib import Path

import pytest
from pyspark import cloudpickle

from orion.model import Decimal, Field, Scalar, Struct
from orion.user_function import (
    DuplicateFunctionError,
    FunctionFileError,
    MissingFunctionsError,
    load_functions,
)

SHOUT = """
import orion

SUFFIX = "!"


@orion.udf
def shout(text: str) -> str:
    return text + SUFFIX
"""


def test_a_project_without_files_has_the_built_in_functions(tmp_path: Path) -> None:
    assert "ABS" in load_functions(tmp_path)


def test_files_add_functions(tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text(SHOUT)
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "more.py").write_text(SHOUT.replace("shout", "call"))
    functions = load_functions(tmp_path)
    assert functions.resolve("shout", [Scalar.STRING]).apply("hey") == "hey!"
    assert functions.resolve("call", [Scalar.STRING]).apply("hey") == "hey!"


def test_they_travel_to_tasks_that_do_not_have_the_file(tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text(SHOUT)
    found = load_functions(tmp_path).resolve("shout", [Scalar.STRING])
    (tmp_path / "functions.py").unlink()
    packed = cloudpickle.dumps(found)  # type: ignore[no-untyped-call]
    assert cloudpickle.loads(packed).apply("hey") == "hey!"


def test_the_example_of_the_docs_works(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "user-functions.md").read_text()
    example = page.partition("```python\n")[2].partition("```")[0]
    (tmp_path / "functions.py").write_text(example)
    functions = load_functions(tmp_path)
    assert functions.resolve("initials", [Scalar.STRING]).apply("ada lovelace") == "al"
    assert functions.resolve("words", [Scalar.STRING]).apply("a b") == ["a", "b"]
    price = functions.resolve("taxed", [Decimal(6, 2), Scalar.DOUBLE])
    assert price.apply(Number("10.00"), 0.5) == 15.0
    assert functions.resolve("taxed", [Decimal(6, 2)]).returns == Decimal(12, 2)
    steps = functions.resolve("product", [Scalar.DOUBLE]).aggregation()
    assert steps.undo is not None
    assert steps.result(steps.undo(steps.add(steps.initial(), 4.0), 4.0)) == 1.0


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text(SHOUT.replace("shout", "abs"))
    with pytest.raises(DuplicateFunctionError, match="'ABS'"):
        load_functions(tmp_path)


SIZES = """
from decimal import Decimal
from typing import TypedDict
import orion


class Box(TypedDict):
    W: int
    H: int


@orion.udf(name="size")
def size_of_text(text: str) -> int:
    return len(text)


@orion.udf(name="size")
def size_of_box(box: Box) -> int:
    return box["W"] * box["H"]


@orion.udf(name="size", returns="DECIMAL(8, 1)")
def size_of_number(number: Decimal) -> Decimal:
    return number
"""


def test_functions_of_one_name_are_its_variants(tmp_path: Path) -> None:
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "sizes.py").write_text(SIZES)
    more = SHOUT.replace("@orion.udf", "@orion.udf(name='size')").replace("text: str", "n: int")
    (tmp_path / "functions" / "more.py").write_text(more)
    functions = load_functions(tmp_path)
    assert functions.resolve("size", [Scalar.STRING]).apply("four") == 4
    box = Struct((Field("W", Scalar.BIGINT), Field("H", Scalar.BIGINT)))
    assert functions.resolve("size", [box]).apply({"W": 2, "H": 3}) == 6
    assert functions.resolve("size", [Decimal(4, 1)]).returns == Decimal(8, 1)
    assert functions.resolve("size", [Scalar.BIGINT]).returns is Scalar.STRING
    assert len(functions.get("size").variants) == 4


@pytest.mark.parametrize("first", ["@orion.udf(name='call')", "@orion.udtf(name='call')"])
def test_variants_that_cannot_be_told_apart_are_refused(tmp_path: Path, first: str) -> None:
    (tmp_path / "functions").mkdir()
    returns = "-> list[str]" if "udtf" in first else "-> str"
    (tmp_path / "functions" / "a.py").write_text(
        SHOUT.replace("@orion.udf", first).replace("-> str", returns)
    )
    (tmp_path / "functions" / "b.py").write_text(SHOUT.replace("def shout", "def call"))
    with pytest.raises(DuplicateFunctionError, match="'CALL'") as caught:
        load_functions(tmp_path)
    assert caught.value.path == tmp_path / "functions" / "b.py"


@pytest.mark.parametrize("place", ["own.py", "own", "nested"])
def test_the_place_is_a_file_or_a_folder(tmp_path: Path, place: str) -> None:
    (tmp_path / "own.py").write_text(SHOUT)
    (tmp_path / "nested").mkdir()
    (tmp_path / "nested" / "one.py").write_text(SHOUT)
    assert "SHOUT" in load_functions(tmp_path, place)
    with pytest.raises(MissingFunctionsError, match="elsewhere"):
        load_functions(tmp_path, "elsewhere")


def test_a_file_that_fails_is_named(tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text("import nothing_like_this")
    with pytest.raises(FunctionFileError, match=r"functions\.py cannot be read") as caught:
        load_functions(tmp_path)
    assert isinstance(caught.value.cause, ModuleNotFoundError)
