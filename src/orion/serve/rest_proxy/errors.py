"""What the REST proxy answers with an error of its own, and the codes that its clients know."""

from collections.abc import Sequence

from orion.log import (
    AclRefusedError,
    AclsDisabledError,
    AclWordError,
    BrokerNotFoundError,
    ConfigRefusedError,
    MemberStateError,
    OutboxFullError,
    PartitionNotFoundError,
    TopicExistsError,
    TopicNotFoundError,
    TopicRefusedError,
    UnknownConfigError,
)
from orion.model import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    OrionError,
    UnavailableError,
)


class NoSuchTopicError(NotFoundError):
    """Raised in version 2 when a topic does not exist."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        super().__init__(f"Topic '{topic}' not found.")


class NoSuchPartitionError(NotFoundError):
    """Raised in version 2 when a topic has no such partition."""

    def __init__(self, topic: str, partition: int) -> None:
        self.topic, self.partition = topic, partition
        super().__init__(f"Partition {partition} of topic '{topic}' not found.")


class NoSuchInstanceError(NotFoundError):
    """Raised when a consumer instance does not exist, or not any more."""

    def __init__(self, group: str, instance: str) -> None:
        self.group, self.instance = group, instance
        super().__init__(
            f"Consumer instance '{instance}' of group '{group}' not found.",
            fix="Create it again: instances that are not used for some minutes are deleted.",
        )


class InstanceExistsError(ConflictError):
    """Raised when a consumer instance of that name is there already."""

    def __init__(self, group: str, instance: str) -> None:
        self.group, self.instance = group, instance
        super().__init__(
            f"Consumer instance '{instance}' of group '{group}' exists already.",
            fix="Use it, delete it, or give another name.",
        )


class TooManyInstancesError(UnavailableError):
    """Raised when the server holds as many consumer instances as it may."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        super().__init__(
            f"There are {limit} consumer instances, which is the most that this server holds.",
            fix="Delete instances that are no longer used.",
        )


class FormatMismatchError(InvalidInputError):
    """Raised when records are asked for in another format than the instance's."""

    def __init__(self, accept: str, format: str) -> None:
        self.accept, self.format = accept, format
        super().__init__(
            f"The instance reads format '{format}', the request accepts '{accept}'.",
            fix=f"Send the header Accept: application/vnd.kafka.{format}.v2+json",
        )


class ConsumerConfigError(InvalidInputError):
    """Raised when a setting of a consumer cannot be used."""

    def __init__(self, name: str, value: object, expected: str) -> None:
        self.name, self.value = name, value
        super().__init__(f"Consumer setting '{name}' is '{value}', expected {expected}.")


class BadFieldError(InvalidInputError):
    """Raised when a field of a body or a parameter is missing or of the wrong kind."""

    def __init__(self, name: str, expected: str) -> None:
        self.name, self.expected = name, expected
        super().__init__(f"Field '{name}' must be {expected}.")


class MissingSchemaError(InvalidInputError):
    """Raised when keys or values need a schema and none is given."""

    def __init__(self, part: str) -> None:
        self.part = part
        super().__init__(
            f"The records have {part}s, and neither {part}_schema nor {part}_schema_id is given."
        )


class MissingKeySchemaError(MissingSchemaError):
    """Raised when keys need a schema."""

    def __init__(self) -> None:
        super().__init__("key")


class MissingValueSchemaError(MissingSchemaError):
    """Raised when values need a schema."""

    def __init__(self) -> None:
        super().__init__("value")


class BadRecordError(InvalidInputError):
    """Raised when a record cannot be turned into bytes."""

    def __init__(self, position: int, reason: str) -> None:
        self.position, self.reason = position, reason
        super().__init__(f"Record {position}: {reason}")


class BadSchemaError(InvalidInputError):
    """Raised when a schema is not of its language, or the registry refuses it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class RegistryFailedError(UnavailableError):
    """Raised when the schema registry does not answer."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class UndecodableRecordError(InvalidInputError):
    """Raised when the next record is not of the instance's format; nothing was skipped."""

    def __init__(self, place: tuple[str, int, int], reason: str) -> None:
        self.place, self.reason = place, reason
        topic, partition, offset = place
        super().__init__(
            f"The record at offset {offset} of partition {partition} of topic '{topic}' cannot be"
            f" shown: {reason}",
            fix="Seek behind it with POST positions, or read with format binary.",
        )


class NoSuchClusterError(NotFoundError):
    """Raised in version 3 when a cluster id is not this Kafka's."""

    def __init__(self, cluster: str, known: str) -> None:
        self.cluster, self.known = cluster, known
        super().__init__(f"Cluster '{cluster}' cannot be found.", fix=f"This one is '{known}'.")


class BadRequestError(InvalidInputError):
    """Raised in version 3 when Kafka refuses what was asked for."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class NoSuchTopicPartitionError(NotFoundError):
    """Raised in version 3 when a topic or partition does not exist."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"This server does not host this topic-partition. {reason}")


class NoSuchResourceError(NotFoundError):
    """Raised in version 3 when any other thing does not exist."""

    def __init__(self, kind: str, name: str, known: Sequence[str] = ()) -> None:
        self.kind, self.name = kind, name
        there = f"There are: {', '.join(known[:20])}." if known else None
        super().__init__(f"{kind} '{name}' cannot be found.", fix=there)


# An error's HTTP status and error code.
WIRES: dict[type[OrionError], tuple[int, int]] = {
    NoSuchTopicError: (404, 40401),
    NoSuchPartitionError: (404, 40402),
    NoSuchInstanceError: (404, 40403),
    InstanceExistsError: (409, 40902),
    MemberStateError: (409, 40903),
    FormatMismatchError: (406, 40601),
    ConsumerConfigError: (422, 42204),
    BadFieldError: (422, 422),
    MissingKeySchemaError: (422, 42201),
    MissingValueSchemaError: (422, 42202),
    BadRecordError: (422, 42203),
    BadSchemaError: (422, 42205),
    UndecodableRecordError: (422, 42206),
    RegistryFailedError: (408, 40801),
    TooManyInstancesError: (429, 42901),
    OutboxFullError: (429, 42902),
    NoSuchClusterError: (404, 404),
    NoSuchResourceError: (404, 404),
    NoSuchTopicPartitionError: (404, 40403),
    BadRequestError: (400, 40002),
    AclsDisabledError: (400, 40002),
    BrokerNotFoundError: (404, 404),
}


def of_version_2(error: OrionError) -> OrionError:
    """Return an error of the log as version 2 tells it."""
    match error:
        case TopicNotFoundError():
            return NoSuchTopicError(error.topic)
        case PartitionNotFoundError():
            return NoSuchPartitionError(error.topic, error.partition)
        case _:
            return error


def of_version_3(error: OrionError) -> OrionError:
    """Return an error of the log as version 3 tells it."""
    match error:
        case TopicNotFoundError() | PartitionNotFoundError():
            return NoSuchTopicPartitionError(error.text)
        case TopicExistsError() | TopicRefusedError() | BadFieldError():
            return BadRequestError(error.text)
        case AclWordError() | AclRefusedError() | ConfigRefusedError():
            return BadRequestError(error.text)
        case UnknownConfigError():
            return NoSuchResourceError("Config", error.name)
        case _:
            return error
