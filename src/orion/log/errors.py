"""What Kafka refuses, in Orion's words: the client's error codes become leaves of the tree."""

from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import Any, NoReturn

from confluent_kafka import KafkaException

from orion.log.connection import BrokerUnreachableError
from orion.model import ConflictError, InvalidInputError, NotFoundError, UnavailableError, nearest

# A request that no broker answers within this time is given up.
REQUEST_TIMEOUT_S = 15.0

# By name, since the client marks its local codes as private.
_UNREACHABLE = {
    "_TIMED_OUT",
    "_TRANSPORT",
    "_ALL_BROKERS_DOWN",
    "_RESOLVE",
    "_TIMED_OUT_QUEUE",
    "REQUEST_TIMED_OUT",
}


class TopicNotFoundError(NotFoundError):
    """Raised when a topic does not exist."""

    def __init__(self, topic: str, known: Iterable[str] = ()) -> None:
        self.topic = topic
        hint = nearest(topic, known)
        create = f"Create it with: orion topics create {topic}"
        super().__init__(f"Topic '{topic}' does not exist.", fix=f"{hint} {create}".strip())


class TopicExistsError(ConflictError):
    """Raised when a topic to be created is there already."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        super().__init__(
            f"Topic '{topic}' exists already; nothing was changed.",
            fix=f"Look at it with: orion topics describe {topic}",
        )


class TopicRefusedError(InvalidInputError):
    """Raised when Kafka refuses the name, shape or configuration asked for."""

    def __init__(self, topic: str, reason: str) -> None:
        self.topic, self.reason = topic, reason
        super().__init__(
            f"Kafka refused the request for topic '{topic}': {reason.rstrip('.')}.",
            fix="Nothing was changed. Correct the value and try again.",
        )


class UnknownConfigError(InvalidInputError):
    """Raised when a topic has no configuration of that name."""

    def __init__(self, topic: str, name: str, known: Iterable[str]) -> None:
        self.topic, self.name = topic, name
        every = f"List every name with: orion topics config show {topic} --all"
        super().__init__(
            f"'{name}' is not a configuration of a topic.",
            fix=f"{nearest(name, known)} {every}".strip(),
        )


class ProtectedTopicError(ConflictError):
    """Raised when a topic that Kafka or Orion keeps its own state in would be harmed."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        super().__init__(
            f"Topic '{topic}' is internal: Kafka or Orion keeps its own state in it. "
            "Nothing was changed.",
            fix="Add --internal if this is really meant.",
        )


class PartitionNotFoundError(NotFoundError):
    """Raised when a topic has no partition of that number."""

    def __init__(self, topic: str, partition: int, count: int) -> None:
        self.topic, self.partition, self.count = topic, partition, count
        super().__init__(
            f"Topic '{topic}' has no partition {partition}.",
            fix=f"Its partitions are 0 to {count - 1}."
            if count > 1
            else "Its only partition is 0.",
        )


class OffsetOutOfRangeError(InvalidInputError):
    """Raised when reading would start before the first or after the last record."""

    def __init__(self, topic: str, partition: int, offset: int, bounds: tuple[int, int]) -> None:
        self.topic, self.partition, self.offset, self.bounds = topic, partition, offset, bounds
        super().__init__(
            f"Offset {offset} is not in partition {partition} of topic '{topic}'.",
            fix=f"Give an offset from {bounds[0]} to {bounds[1]}.",
        )


class GroupNotFoundError(NotFoundError):
    """Raised when a consumer group does not exist."""

    def __init__(self, group: str, known: Iterable[str] = ()) -> None:
        self.group = group
        every = "List the groups with: orion groups list"
        super().__init__(
            f"Consumer group '{group}' does not exist.",
            fix=f"{nearest(group, known)} {every}".strip(),
        )


class GroupActiveError(ConflictError):
    """Raised when a group with running members would be changed."""

    def __init__(self, group: str, members: Sequence[str]) -> None:
        self.group, self.members = group, tuple(members)
        more = f" and {len(members) - 3} more" if len(members) > 3 else ""
        shown = ", ".join(members[:3]) or "it is rebalancing"
        super().__init__(
            f"Group '{group}' has {len(members)} active member(s): {shown}{more}. "
            "Nothing was changed.",
            fix="Stop them, wait until the state is Empty, and try again.",
        )


class GroupOfQueryError(ConflictError):
    """Raised when the offsets of an Orion query would be moved: they are part of its books."""

    def __init__(self, group: str) -> None:
        self.group = group
        super().__init__(
            f"Group '{group}' belongs to an Orion query: its offsets tell what is written."
            " Nothing was changed.",
            fix="To read again from elsewhere, start the query under a new name=….",
        )


class KafkaRefusedError(UnavailableError):
    """Raised when Kafka answers with an error that has no better word here."""

    def __init__(self, action: str, code: str, reason: str) -> None:
        self.action, self.code, self.reason = action, code, reason
        super().__init__(
            f"Kafka could not {action}: {reason.rstrip('.')} ({code}).",
            fix="Look at the broker with: orion status, or at its log with: orion logs broker",
        )


def wait(future: "Future[Any]", action: str, *, addresses: str) -> Any:
    """Return what the future gives; a refusal or a missing broker becomes its leaf."""
    try:
        return future.result(timeout=REQUEST_TIMEOUT_S)
    except KafkaException as error:
        refuse(error, action, addresses=addresses)
    except TimeoutError as error:
        raise BrokerUnreachableError(
            addresses, f"no answer in {REQUEST_TIMEOUT_S:.0f} s"
        ) from error


def refuse(error: KafkaException, action: str, *, addresses: str) -> NoReturn:
    """Raise the general leaf for a client error."""
    cause = error.args[0]
    if cause.name() in _UNREACHABLE:
        raise BrokerUnreachableError(addresses, cause.str()) from error
    raise KafkaRefusedError(action, cause.name(), cause.str()) from error
