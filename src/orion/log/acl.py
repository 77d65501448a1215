"""Access control: who may do what, as Kafka's authorizer keeps it."""

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from orion.log.connection import Connection
from orion.log.errors import wait
from orion.model import InvalidInputError, UnavailableError, nearest

_REFUSED = {"INVALID_REQUEST", "INVALID_PRINCIPAL_TYPE", "_INVALID_ARG"}


@dataclass(frozen=True)
class Acl:
    """A permission, or a filter for some: the word ANY and an empty text match everything."""

    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission: str


class AclWordError(InvalidInputError):
    """Raised when a word of an ACL is not known."""

    def __init__(self, field: str, word: str, known: Iterable[str]) -> None:
        self.field, self.word, self.known = field, word, tuple(known)
        hint = nearest(word.upper(), self.known) or f"Use one of {', '.join(self.known)}."
        super().__init__(f"Field '{field}' is '{word}', which is not known.", fix=hint)


class AclRefusedError(InvalidInputError):
    """Raised when an ACL cannot be as it is given."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"The ACL is refused: {reason.rstrip('.')}.")


class AclsDisabledError(UnavailableError):
    """Raised when the brokers have no authorizer."""

    def __init__(self) -> None:
        super().__init__(
            "The brokers keep no access control: they run without an authorizer.",
            fix="Set authorizer.class.name on the brokers.",
        )


class Acls:
    """The access control of one Kafka."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @cached_property
    def _admin(self) -> AdminClient:
        return self._connection.admin()

    def find(self, wanted: Acl) -> list[Acl]:
        """Return the permissions that a filter matches."""
        found = self._wait(self._admin.describe_acls(_filter(wanted)), "list ACLs")
        return sorted(map(_acl, found), key=repr)

    def create(self, acls: Iterable[Acl]) -> None:
        """Grant or deny; what is there already stays."""
        bindings = [_binding(acl) for acl in acls]
        for future in self._admin.create_acls(bindings).values() if bindings else ():
            self._wait(future, "create an ACL")

    def delete(self, wanted: Acl) -> list[Acl]:
        """Delete the permissions that a filter matches and return them."""
        futures = self._admin.delete_acls([_filter(wanted)])
        found = [acl for f in futures.values() for acl in self._wait(f, "delete ACLs")]
        return sorted(map(_acl, found), key=repr)

    def _wait(self, future: "Future[Any]", action: str) -> Any:
        try:
            return wait(future, action, addresses=self._connection.addresses)
        except UnavailableError as error:
            cause = error.__cause__
            code = cause.args[0].name() if isinstance(cause, KafkaException) else ""
            if code == "SECURITY_DISABLED":
                raise AclsDisabledError from cause
            if code in _REFUSED and cause is not None:
                raise AclRefusedError(cause.args[0].str()) from cause
            raise


def _words(acl: Acl) -> tuple[Any, ...]:
    kinds = {
        "resource_type": (ResourceType, acl.resource_type),
        "pattern_type": (ResourcePatternType, acl.pattern_type),
        "operation": (AclOperation, acl.operation),
        "permission": (AclPermissionType, acl.permission),
    }
    found = {}
    for field, (kind, word) in kinds.items():
        try:
            found[field] = kind[word.upper()]
        except KeyError as error:
            raise AclWordError(field, word, [each.name for each in kind]) from error
    return tuple(found.values())


def _binding(acl: Acl) -> AclBinding:
    resource, pattern, operation, permission = _words(acl)
    try:
        return AclBinding(
            resource, acl.resource_name, pattern, acl.principal, acl.host, operation, permission
        )
    except ValueError as error:
        raise AclRefusedError(str(error)) from error


def _filter(acl: Acl) -> AclBindingFilter:
    resource, pattern, operation, permission = _words(acl)
    # The client's stub knows nothing of None, which stands for any.
    name, principal, host = (text or None for text in (acl.resource_name, acl.principal, acl.host))
    words: list[Any] = [resource, name, pattern, principal, host, operation, permission]
    try:
        return AclBindingFilter(*words)
    except ValueError as error:
        raise AclRefusedError(str(error)) from error


def _acl(found: Any) -> Acl:
    return Acl(
        found.restype.name,
        found.name,
        found.resource_pattern_type.name,
        found.principal,
        found.host,
        found.operation.name,
        found.permission_type.name,
    )
