"""A project's own functions of SQL: Python files beside its settings, read when SQL begins.

In:  `functions.py` and the files of the folder `functions` in the project, or the setting's place.
Out: the built-in functions and those that the files' decorators made.
"""

from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from orion.model import ConflictError, InvalidInputError, NotFoundError
from orion.sql import (
    Function,
    FunctionExistsError,
    Functions,
    built_in_functions,
    joined,
    user_functions,
)

USUAL = "functions"


class FunctionFileError(InvalidInputError):
    """Raised when a file of functions cannot be run."""

    def __init__(self, path: Path, cause: BaseException) -> None:
        self.path, self.cause = path, cause
        super().__init__(
            f"The functions of {path} cannot be read: {type(cause).__name__}: {cause}",
            fix="Run the file with Python to see where it fails.",
        )


class MissingFunctionsError(NotFoundError):
    """Raised when the setting names a place where nothing is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(
            f"There are no functions at '{path}'.",
            fix="Set functions (ORION_FUNCTIONS) to a Python file, or to a folder of such files.",
        )


class DuplicateFunctionError(ConflictError):
    """Raised when a function of a project cannot be told from another of its name."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        super().__init__(
            f"Function '{name}' of {path} exists already with these parameters.",
            fix="Give it other parameters, or another name: @orion.udf(name='...').",
        )


def load_functions(project: Path, place: str = USUAL) -> Functions:
    """Return the built-in functions and those of a project.

    Args:
        project: The project's folder.
        place: A file of functions in it, whose .py may be left out, or a folder of such files.
    """
    files = function_files(project / place)
    if not files and place != USUAL:
        raise MissingFunctionsError(project / place)
    built_in, own = built_in_functions(), dict[str, Function]()
    for path in files:
        for function in user_functions(_run(path)):
            name = function.name
            try:
                if name in built_in:
                    raise FunctionExistsError(name)
                own[name] = joined(own[name], function) if name in own else function
            except FunctionExistsError as error:
                raise DuplicateFunctionError(name, path) from error
    return Functions((*built_in, *own.values()))


def function_files(place: Path) -> Sequence[Path]:
    """Return the file of that name, or the one beside the folder and those in it."""
    if place.is_file():
        return [place]
    beside = place.with_suffix(".py")
    return [*([beside] if beside.is_file() else []), *sorted(place.glob("*.py"))]


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
