"""What is seen to before the first start: ports that are free, a disk that takes writes."""

import errno
import random
import shutil
import socket
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import psutil

from orion.supervise.errors import DiskError, DiskFullError, PortTakenError
from orion.supervise.spec import ProcessSpec

LEAST_FREE_BYTES = 256 << 20
# Below the ports that systems give to outgoing connections, which come and go by themselves.
_CHOICE = range(20_000, 29_000)


def hold_ports(specs: Iterable[ProcessSpec]) -> list[socket.socket]:
    """Keep every port for its process; raise for the first one in use, naming who holds it.

    A port is bound without listening. Else, while its process is down, the system may give one
    above 32768 to an outgoing connection, and the process cannot come back until that one ends.
    """
    held = []
    for spec in specs:
        for port in spec.ports:
            if not is_free(port):
                raise PortTakenError(spec.name, port, port_holder(port), spec.port_flag)
            held.append(_reusable_socket())
            held[-1].bind(("127.0.0.1", port))
    return held


def is_free(port: int) -> bool:
    """Tell whether a process could listen on a local port now."""
    with _reusable_socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except OSError:
            return False
    return True


def port_holder(port: int) -> str:
    """Name the process that listens on a port or speaks from it, as far as the system tells."""
    try:
        links = psutil.net_connections("tcp")
        holders = [link for link in links if link.laddr and link.laddr.port == port and link.pid]
        holders.sort(key=lambda link: link.status != psutil.CONN_LISTEN)
        if holders:
            return f"{psutil.Process(holders[0].pid).name()} (pid {holders[0].pid})"
    except psutil.Error:
        pass
    return "a process of another user"


def _reusable_socket() -> socket.socket:
    """Return a socket that others may bind as well while nobody listens."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made


def check_disk(folder: Path) -> None:
    """Raise unless the folder exists or can be made, takes a write, and has space left."""
    probe = folder / ".probe"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"x" * 4096)
        probe.unlink()
    except OSError as error:
        raise disk_error(folder, error) from error
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE_BYTES:
        raise DiskFullError(folder, free)


def disk_error(folder: Path, error: OSError) -> DiskError:
    """Say in words why the system refused a write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFullError(folder, 0)
    move = "Move the data with the setting data (ORION_DATA)."
    if error.errno == errno.EROFS:
        return DiskError(folder, "the disk is read-only", f"Mount it writable. {move}")
    if error.errno in (errno.EACCES, errno.EPERM):
        return DiskError(folder, "permission is denied", f"Change its owner or mode. {move}")
    return DiskError(folder, error.strerror or str(error), move)


def free_ports(count: int) -> list[int]:
    """Return ports that were free a moment ago, by chance: two who ask at once get others."""
    shuffled = random.sample(_CHOICE, len(_CHOICE))
    return list(islice((port for port in shuffled if is_free(port)), count))
