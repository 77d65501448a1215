import socket
import struct
import threading

from orion.cluster import accepts_connections, knows_broker


def answer_once(server: socket.socket, body: bytes) -> None:
    link, _ = server.accept()
    with link:
        link.recv(4096)
        link.sendall(struct.pack(">i", len(body)) + body)


def metadata(*brokers: tuple[int, str, str | None]) -> bytes:
    body = struct.pack(">ii", 1, len(brokers))
    for number, host, rack in brokers:
        body += struct.pack(">ih", number, len(host)) + host.encode() + struct.pack(">i", 9092)
        body += struct.pack(">h", -1 if rack is None else len(rack)) + (rack or "").encode()
    return body + struct.pack(">ii", 1, 0)


def ask(body: bytes, broker_id: int) -> bool:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer_once, args=(server, body))
        thread.start()
        try:
            return knows_broker(server.getsockname()[1], broker_id)
        finally:
            thread.join()


def test_a_broker_among_the_living_serves() -> None:
    body = metadata((101, "127.0.0.1", None), (103, "localhost", "rack-a"), (102, "h", None))
    assert ask(body, 102)
    assert not ask(body, 104)


def test_a_broken_answer_means_no() -> None:
    assert not ask(b"\x00\x00", 1)


def test_nobody_there_means_no() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert accepts_connections(port)
    assert not accepts_connections(port)
    assert not knows_broker(port, 1)
