"""Which format and columns a topic has: what the caller says, else what the registry knows."""

from dataclasses import dataclass

from pyspark.sql.types import StructType

from orion.formats import (
    ANONYMOUS_KEY,
    ANONYMOUS_VALUE,
    Format,
    FormatSpec,
    RegisteredSchema,
    SchemaKind,
    SchemaSource,
    columns_of,
    format_named,
)
from orion.model import InvalidInputError, UnavailableError
from orion.process.format.type import sql_columns

_FORMATS = {
    SchemaKind.AVRO: Format.AVRO,
    SchemaKind.JSON: Format.JSON_SR,
    SchemaKind.PROTOBUF: Format.PROTOBUF,
}


@dataclass(frozen=True)
class RegistryAccess:
    """The way to a registry.

    Args:
        is_required: Whether its silence is an error; else it counts as empty.
    """

    schemas: SchemaSource
    is_required: bool

    def latest(self, subject: str) -> RegisteredSchema | None:
        """Return a subject's newest schema, if there is one."""
        try:
            return self.schemas.latest(subject)
        except UnavailableError:
            if self.is_required:
                raise
            return None


class NoColumnsError(InvalidInputError):
    """Raised when nobody says which columns a format has."""

    def __init__(self, subject: str, format: Format) -> None:
        self.subject, self.format = subject, format
        super().__init__(
            f"Format {format} needs columns, and the registry has no schema for '{subject}'.",
            fix="Give a schema like: user_id STRING, amount DOUBLE.",
        )


def choose_spec(
    topic: str,
    columns: StructType | None,
    format: str | None,
    registry: RegistryAccess,
    *,
    is_key: bool = False,
) -> FormatSpec | None:
    """Return how a topic's keys or values are read; None: as the bytes they are, or plain JSON."""
    subject = f"{topic}-{'key' if is_key else 'value'}"
    wanted = format_named(format) if format else None
    found = registry.latest(subject) if wanted is None or wanted.has_schema else None
    if found is not None and wanted is None:
        wanted = _FORMATS[found.schema.kind]
    if wanted is None:
        return None
    if columns is not None:
        fields = sql_columns(columns)
    elif found is not None:
        anonymous = ANONYMOUS_KEY if is_key else ANONYMOUS_VALUE
        fields = columns_of(found.schema, registry.schemas, anonymous=anonymous)
    else:
        raise NoColumnsError(subject, wanted)
    is_record = found is None or columns is not None or _is_record(found)
    wrap = None if is_record or not wanted.can_choose_wrapping else False
    return FormatSpec(wanted, fields, subject=subject, is_key=is_key, wrap=wrap)


def registered_format(topic: str, registry: RegistryAccess) -> str | None:
    """Return the format of a topic's values by its newest schema, if it has one."""
    found = registry.latest(f"{topic}-value")
    return None if found is None else str(_FORMATS[found.schema.kind])


def _is_record(found: RegisteredSchema) -> bool:
    names = [field.name for field in columns_of(found.schema)]
    return names != [ANONYMOUS_VALUE]
