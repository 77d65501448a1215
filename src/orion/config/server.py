"""Settings of the HTTP server: which doors open, where, and for whom."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from orion.config.field import options, setting
from orion.model import InvalidInputError


class OpenDoorError(InvalidInputError):
    """Raised when the server would be reachable from elsewhere by anyone."""

    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(
            f"Setting 'server.host' is '{host}', which other machines reach, and nobody would have"
            " to give a password.",
            fix="Name users under [server.passwords] in orion.toml, or bind to 127.0.0.1.",
        )


@dataclass(frozen=True)
class ServerSettings:
    """The one process that answers HTTP."""

    enabled: bool = setting(True, "Whether `orion up` starts the HTTP server")
    host: str = setting("127.0.0.1", "Address the server binds to; another one needs passwords")
    registry_port: int = setting(8081, "Port of the schema registry")
    rest_port: int = setting(8082, "Port of the REST proxy")
    sql_port: int = setting(8088, "Port of the SQL API")
    processing_log: bool = setting(
        False, "Whether the stream KSQL_PROCESSING_LOG is declared over what queries could not read"
    )
    passwords: Mapping[str, str] = options("Passwords by user name; given: every request needs one")

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def check_server(server: ServerSettings) -> None:
    """Refuse to open the doors to other machines without a lock."""
    if server.enabled and not server.is_local and not server.passwords:
        raise OpenDoorError(server.host)
