"""Ask before something is lost."""

import sys

import typer

from orion.model import InvalidInputError


class ConfirmationMissingError(InvalidInputError):
    """Raised when nobody is there to be asked."""

    def __init__(self, question: str) -> None:
        self.question = question
        super().__init__(
            f"{question} This needs an answer, and no terminal is there to give it.",
            fix="Nothing was changed. Add --yes to go on without asking.",
        )


def confirm(question: str, *, yes: bool) -> None:
    """Return if the answer is yes; otherwise the command ends and nothing was changed."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise ConfirmationMissingError(question)
    typer.confirm(question, abort=True, err=True)
