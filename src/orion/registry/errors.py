"""What the registry refuses, each with the values it talks about and the way on."""

from collections.abc import Iterable, Sequence

from orion.model import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    UnavailableError,
    nearest,
)


class SubjectNotFoundError(NotFoundError):
    """Raised when no schema was ever registered under a subject, or all were deleted."""

    def __init__(self, subject: str, known: Iterable[str] = ()) -> None:
        self.subject = subject
        super().__init__(f"Subject '{subject}' not found.", fix=nearest(subject, known) or None)


class VersionNotFoundError(NotFoundError):
    """Raised when a subject has no such version."""

    def __init__(self, subject: str, version: int | str) -> None:
        self.subject, self.version = subject, version
        super().__init__(f"Version {version} of subject '{subject}' not found.")


class SchemaNotFoundError(NotFoundError):
    """Raised when no schema has that id, or that content in a subject."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"Schema {what} not found.")


class SubjectDeletedError(NotFoundError):
    """Raised when a subject that is softly deleted would be so again."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        super().__init__(
            f"Subject '{subject}' was soft deleted already.",
            fix="Set permanent=true to delete it for good.",
        )


class SubjectNotDeletedError(NotFoundError):
    """Raised when a subject would be deleted for good without a soft deletion before."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        super().__init__(
            f"Subject '{subject}' was not soft deleted first before being permanently deleted.",
            fix="Delete it without permanent=true first.",
        )


class VersionDeletedError(NotFoundError):
    """Raised when a version that is softly deleted would be so again."""

    def __init__(self, subject: str, version: int) -> None:
        self.subject, self.version = subject, version
        super().__init__(
            f"Version {version} of subject '{subject}' was soft deleted already.",
            fix="Set permanent=true to delete it for good.",
        )


class VersionNotDeletedError(NotFoundError):
    """Raised when a version would be deleted for good without a soft deletion before."""

    def __init__(self, subject: str, version: int) -> None:
        self.subject, self.version = subject, version
        super().__init__(
            f"Version {version} of subject '{subject}' was not soft deleted first before being "
            "permanently deleted.",
            fix="Delete it without permanent=true first.",
        )


class CompatibilityNotSetError(NotFoundError):
    """Raised when a subject has no compatibility level of its own."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        super().__init__(
            f"Subject '{subject}' does not have subject-level compatibility configured.",
            fix="Ask with defaultToGlobal=true for the level in force.",
        )


class ModeNotSetError(NotFoundError):
    """Raised when a subject has no mode of its own."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        super().__init__(
            f"Subject '{subject}' does not have subject-level mode configured.",
            fix="Ask with defaultToGlobal=true for the mode in force.",
        )


class IncompatibleSchemaError(ConflictError):
    """Raised when a schema may not follow those of its subject."""

    def __init__(self, subject: str, level: str, reasons: Sequence[str], advice: str) -> None:
        self.subject, self.level, self.reasons = subject, level, tuple(reasons)
        super().__init__(
            f"Schema being registered is incompatible with an earlier schema for subject "
            f"'{subject}' ({level}); nothing was registered. {' '.join(reasons)}",
            fix=advice,
        )


class InvalidSchemaError(InvalidInputError):
    """Raised when a text is no schema of its kind."""

    def __init__(self, kind: str, reason: str) -> None:
        self.kind, self.reason = kind, reason
        word = f"valid {kind}" if kind else "valid"
        super().__init__(f"The schema is not {word}: {reason.rstrip('.')}.")


class InvalidVersionError(InvalidInputError):
    """Raised when a version is neither a number nor `latest`."""

    def __init__(self, version: str) -> None:
        self.version = version
        super().__init__(
            f"The specified version '{version}' is not a valid version id.",
            fix="Give a number from 1 to 2147483647, -1 or latest.",
        )


class InvalidCompatibilityError(InvalidInputError):
    """Raised when a compatibility level is not known."""

    def __init__(self, level: object, known: Iterable[str]) -> None:
        self.level = level
        super().__init__(
            f"'{level}' is not a valid compatibility level.", fix=f"Give {', '.join(known)}."
        )


class InvalidModeError(InvalidInputError):
    """Raised when a mode is not known."""

    def __init__(self, mode: object, known: Iterable[str]) -> None:
        self.mode = mode
        super().__init__(f"'{mode}' is not a valid mode.", fix=f"Give {', '.join(known)}.")


class NotPermittedError(InvalidInputError):
    """Raised when the mode of a subject forbids what was asked."""

    def __init__(self, reason: str, fix: str) -> None:
        self.reason = reason
        super().__init__(reason, fix=fix)


class ReferenceExistsError(InvalidInputError):
    """Raised when a schema that others refer to would be deleted."""

    def __init__(self, subject: str, version: int, users: Sequence[int]) -> None:
        self.subject, self.version, self.users = subject, version, tuple(users)
        ids = ", ".join(map(str, users))
        super().__init__(
            f"One or more references exist to version {version} of subject '{subject}' "
            f"(schema ids {ids}); nothing was deleted.",
            fix="Delete the schemas that refer to it first.",
        )


class IdConflictError(InvalidInputError):
    """Raised when an imported id or version belongs to another schema."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason, fix="Import it with the id it had, or into an empty context.")


class InvalidSubjectError(InvalidInputError):
    """Raised when a subject or context has no usable name."""

    def __init__(self, subject: str, reason: str) -> None:
        self.subject, self.reason = subject, reason
        super().__init__(f"The specified subject '{subject}' is not valid: {reason}.")


class SchemaTooLargeError(InvalidInputError):
    """Raised when a schema is larger than the log takes in a record."""

    def __init__(self, size_bytes: int, limit_bytes: int) -> None:
        self.size_bytes, self.limit_bytes = size_bytes, limit_bytes
        super().__init__(
            f"The schema has {size_bytes} bytes; at most {limit_bytes} can be stored.",
            fix="Split it into schemas that refer to each other.",
        )


class InvalidRuleSetError(InvalidInputError):
    """Raised when metadata or rules have a wrong shape."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The rule set or metadata is not valid: {reason}.")


class ContextNotEmptyError(InvalidInputError):
    """Raised when a context that still has subjects would be deleted."""

    def __init__(self, context: str) -> None:
        self.context = context
        super().__init__(
            f"Context '{context}' is not empty; nothing was deleted.",
            fix="Delete its subjects permanently first.",
        )


class SchemaStoreError(UnavailableError):
    """Raised when the log did not take or give back a change."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"The registry's log did not take the change: {reason.rstrip('.')}.",
            fix="Try again; look at the brokers with: orion status",
        )
