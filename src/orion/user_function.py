"""A project's own functions of SQL: Python files beside its settings, read when SQL begins.

In:  `functions.py`, and every file of the folder `functions`, in the project.
Out: the built-in functions and those that the files' decorators made.
"""

from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from orion.model import ConflictError, InvalidInputError
from orion.sql import Functions, built_in_functions, user_functions

FILE, FOLDER = "functions.py", "functions"


class FunctionFileError(InvalidInputError):
    """Raised when a file of functions cannot be run."""

    def __init__(self, path: Path, cause: BaseException) -> None:
        self.path, self.cause = path, cause
        super().__init__(
            f"The functions of {path} cannot be read: {type(cause).__name__}: {cause}.",
            fix="Run the file with Python to see where it fails.",
        )


class DuplicateFunctionError(ConflictError):
    """Raised when a function of a project has the name of another."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        super().__init__(
            f"Function '{name}' of {path} exists already.",
            fix="Give it another name: @orion.udf(name='...').",
        )


def load_functions(project: Path) -> Functions:
    """Return the built-in functions and those of a project."""
    functions = built_in_functions()
    for path in _files(project):
        for function in user_functions(_run(path)):
            if function.name in functions:
                raise DuplicateFunctionError(function.name, path)
            functions.add(function)
    return functions


def _files(project: Path) -> Iterator[Path]:
    if (project / FILE).is_file():
        yield project / FILE
    yield from sorted((project / FOLDER).glob("*.py"))


def _run(path: Path) -> ModuleType:
    # Python never hears of the module by name: its functions travel to tasks as they are, and need
    # not be installed there.
    spec = spec_from_file_location(f"orion_functions_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise FunctionFileError(path, error) from error
    return module
