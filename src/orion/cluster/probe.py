"""Ask a Kafka node itself whether it serves; one request, no client library.

The supervisor asks several times a second while nodes start: a client would bring threads,
caches and back-off of its own.
"""

import socket
import struct

_METADATA = 3
_VERSION = 1
_TIMEOUT_S = 1.0


def accepts_connections(port: int) -> bool:
    """Tell whether something listens on a local port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S):
            return True
    except OSError:
        return False


def knows_broker(port: int, broker_id: int) -> bool:
    """Tell whether the broker at a port answers and counts a broker id among the living ones.

    A broker answers a moment before the controller lets it serve, so its answer alone says little.
    """
    try:
        return broker_id in _living_brokers(port)
    except (OSError, struct.error):
        return False


def _living_brokers(port: int) -> set[int]:
    """Send a Metadata request for no topics and read the broker ids of the answer."""
    client = b"orion-probe"
    header = struct.pack(">hhih", _METADATA, _VERSION, 1, len(client)) + client
    request = header + struct.pack(">i", 0)
    with socket.create_connection(("127.0.0.1", port), timeout=_TIMEOUT_S) as link:
        link.sendall(struct.pack(">i", len(request)) + request)
        with link.makefile("rb") as answer:
            (size,) = struct.unpack(">i", answer.read(4))
            body = answer.read(size)
    (count,) = struct.unpack_from(">i", body, 4)
    found, at = set(), 8
    for _ in range(count):
        broker_id, host_length = struct.unpack_from(">ih", body, at)
        at += 6 + host_length + 4
        (rack_length,) = struct.unpack_from(">h", body, at)
        at += 2 + max(rack_length, 0)
        found.add(broker_id)
    return found
