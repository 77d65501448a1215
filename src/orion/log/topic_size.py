"""The bytes replicas hold, asked from brokers by Kafka's DescribeLogDirs request, version 1.

The client library has no call for it, so the request is written here. Only listeners without
encryption and authentication are asked; elsewhere sizes are unknown.
"""

import socket
import struct
from collections.abc import Iterable, Mapping

_DESCRIBE_LOG_DIRS, _VERSION, _CLIENT = 35, 1, b"orion"

PartitionKey = tuple[str, int]


def read_sizes(
    brokers: Iterable[tuple[str, int]],
    wanted: Mapping[str, Iterable[int]],
    *,
    timeout_s: float = 2.0,
) -> dict[PartitionKey, int]:
    """Return the bytes of each partition's largest replica; silent brokers are left out."""
    sizes: dict[PartitionKey, int] = {}
    request = _encode_request(wanted)
    for address in brokers:
        try:
            answer = _exchange(address, request, timeout_s)
            found = decode_response(answer)
        except (OSError, struct.error):
            continue
        for key, size in found.items():
            sizes[key] = max(size, sizes.get(key, 0))
    return sizes


def decode_response(answer: bytes) -> dict[PartitionKey, int]:
    """Read a response: correlation id, throttle time, then folders with their topics."""
    reader = _Reader(answer, position=8)
    sizes: dict[PartitionKey, int] = {}
    for _ in range(reader.number(">i")):
        reader.number(">h")
        reader.text()
        for _ in range(reader.number(">i")):
            topic = reader.text()
            for _ in range(reader.number(">i")):
                partition, size = reader.number(">i"), reader.number(">q")
                reader.number(">q")
                is_future = reader.number(">b")
                if not is_future:
                    sizes[topic, partition] = size
    return sizes


class _Reader:
    """Kafka's big-endian numbers and length-prefixed texts, one after the other."""

    def __init__(self, data: bytes, *, position: int) -> None:
        self._data, self._position = data, position

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self._data, self._position)
        self._position += struct.calcsize(form)
        return int(value)

    def text(self) -> str:
        length = self.number(">h")
        start, self._position = self._position, self._position + length
        return self._data[start : self._position].decode()


def _encode_request(wanted: Mapping[str, Iterable[int]]) -> bytes:
    head = struct.pack(">hhih", _DESCRIBE_LOG_DIRS, _VERSION, 1, len(_CLIENT)) + _CLIENT
    body = struct.pack(">i", len(wanted))
    for topic, partitions in wanted.items():
        name, numbers = topic.encode(), list(partitions)
        body += struct.pack(">h", len(name)) + name
        body += struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)
    return struct.pack(">i", len(head) + len(body)) + head + body


def _exchange(address: tuple[str, int], request: bytes, timeout_s: float) -> bytes:
    with socket.create_connection(address, timeout=timeout_s) as connection:
        connection.sendall(request)
        (length,) = struct.unpack(">i", _receive(connection, 4))
        return _receive(connection, length)


def _receive(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise ConnectionError("the broker closed the connection")
        data += part
    return data
