"""A project's files of functions: found, run, added, and refused with a reason."""

from decimal import Decimal as Number
from pathlib import Path

import pytest
from pyspark import cloudpickle

from orion.model import Decimal, Scalar
from orion.user_function import DuplicateFunctionError, FunctionFileError, load_functions

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
    steps = functions.resolve("product", [Scalar.DOUBLE]).aggregation()
    assert steps.undo is not None
    assert steps.result(steps.undo(steps.add(steps.initial(), 4.0), 4.0)) == 1.0


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text(SHOUT.replace("shout", "abs"))
    with pytest.raises(DuplicateFunctionError, match="'ABS'"):
        load_functions(tmp_path)


def test_a_file_that_fails_is_named(tmp_path: Path) -> None:
    (tmp_path / "functions.py").write_text("import nothing_like_this")
    with pytest.raises(FunctionFileError, match=r"functions\.py cannot be read") as caught:
        load_functions(tmp_path)
    assert isinstance(caught.value.cause, ModuleNotFoundError)
