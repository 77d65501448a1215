"""The answer to a size request, byte by byte, and brokers that do not answer."""

import socket
import struct

from orion.log.topic_size import decode_response, read_sizes


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def _response(sizes: list[tuple[int, int, bool]]) -> bytes:
    partitions = b"".join(struct.pack(">iqqb", p, size, 0, future) for p, size, future in sizes)
    topics = struct.pack(">i", 1) + _text("orders") + struct.pack(">i", len(sizes)) + partitions
    return struct.pack(">iiih", 1, 0, 1, 0) + _text("/data") + topics


def test_sizes_are_read_and_moving_replicas_left_out() -> None:
    answer = _response([(0, 100, False), (1, 7, False), (1, 3, True)])
    assert decode_response(answer) == {("orders", 0): 100, ("orders", 1): 7}


def test_a_broker_that_does_not_answer_leaves_sizes_unknown() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = probe.getsockname()
        assert read_sizes([address], {"orders": [0]}, timeout_s=0.5) == {}
