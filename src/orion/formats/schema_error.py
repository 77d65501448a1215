"""What can be wrong with a schema, for every language of schemas."""

from orion.model import InvalidInputError


class UnreadableSchemaError(InvalidInputError):
    """Raised when a schema's text is not of its language."""

    def __init__(self, kind: str, why: str) -> None:
        self.kind, self.why = kind, why
        super().__init__(f"The schema is not valid {kind}: {why}.", fix="Correct its text.")


class UnmappedTypeError(InvalidInputError):
    """Raised when a part of a schema has no SQL type."""

    def __init__(self, path: str, found: str) -> None:
        self.path, self.found = path, found
        super().__init__(
            f"Field '{path}' of the schema is {found}, for which there is no column type.",
            fix="Declare the columns in the statement instead of taking them from the schema.",
        )


class SchemaColumnsError(InvalidInputError):
    """Raised when rows of these columns cannot be written with a given schema."""

    def __init__(self, column: str, why: str) -> None:
        self.column, self.why = column, why
        super().__init__(
            f"Column '{column}' cannot be written with the schema: {why}.",
            fix="Change the column or use another schema id.",
        )


class UnwritableRowError(InvalidInputError):
    """Raised when a row has a value that its schema cannot hold."""

    def __init__(self, path: str, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(
            f"Field '{path}' cannot be written with its schema: {why}.",
            fix="Give the field a value that fits, or let the schema have null or a default.",
        )
