"""Addresses of brokers as sheets write them: a host that only they know means the local one."""

import socket
import sys
from collections.abc import Iterator, Sequence

from orion.app import App

_OPTIONS = ("--bootstrap-server", "--broker-list")


def known_addresses(app: App, given: str) -> str:
    """Return addresses as they are, or the running platform's where their host is not known."""
    host = given.split(",")[0].rpartition(":")[0]
    try:
        socket.getaddrinfo(host, None)
    except OSError:
        if app.run_folder.is_running():
            own = app.settings.kafka.addresses
            sys.stderr.write(
                f"note: host '{host}' is not known here; using {own} of this project\n"
            )
            return own
    return given


def with_known_addresses(app: App, words: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of a tool, with addresses that are known here."""
    before = ""
    for word in words:
        option, equals, value = word.partition("=")
        if before in _OPTIONS:
            yield known_addresses(app, word)
        elif equals and option in _OPTIONS:
            yield f"{option}={known_addresses(app, value)}"
        else:
            yield word
        before = word
