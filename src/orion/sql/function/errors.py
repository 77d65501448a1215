"""What can be wrong with a call of a function."""

from collections.abc import Sequence

from orion.model import ConflictError, InvalidInputError, NotFoundError, nearest


class UnknownFunctionError(NotFoundError):
    """Raised when there is no function of a name; names the nearest one."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        hint = nearest(name.upper(), known) or "See every function with: SHOW FUNCTIONS;"
        super().__init__(f"Function '{name}' does not exist.", fix=hint)


class WrongArgumentsError(InvalidInputError):
    """Raised when no variant of a function takes the arguments; lists those there are."""

    def __init__(self, name: str, given: Sequence[str], variants: Sequence[str]) -> None:
        self.name, self.given, self.variants = name, tuple(given), tuple(variants)
        super().__init__(
            f"Function '{name}' does not take ({', '.join(given)}).",
            fix=f"It takes: {'; '.join(variants)}.",
        )


class AmbiguousCallError(InvalidInputError):
    """Raised when several variants of a function fit the arguments equally well."""

    def __init__(self, name: str, given: Sequence[str], variants: Sequence[str]) -> None:
        self.name, self.given, self.variants = name, tuple(given), tuple(variants)
        super().__init__(
            f"Function '{name}' takes ({', '.join(given)}) in several ways: {'; '.join(variants)}.",
            fix="CAST an argument to the type that is meant.",
        )


class FunctionExistsError(ConflictError):
    """Raised when a function would hide another of the same name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"Function '{name}' exists already.", fix="Give yours another name.")


class FunctionFailure(Exception):  # noqa: N818 - a row's failure is no error of the program
    """A row's arguments have no result: the column is NULL, and the log says why."""
