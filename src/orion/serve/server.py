"""The server: every door in one event loop, until it is told to stop."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Sequence

from hypercorn.asyncio import serve
from hypercorn.config import Config

from orion.serve.door import Door
from orion.serve.listen import Listener

logger = logging.getLogger(__name__)

# Requests under way get this long at the stop; connections that only stay open get nothing.
_GRACE_S = 3.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Server:
    """Serves doors; made and run by the main thread of its process."""

    def __init__(self, doors: Sequence[Door], *, host: str) -> None:
        self._doors, self._host = tuple(doors), host

    def run(self, on_ready: Callable[[], None] = lambda: None) -> None:
        """Serve until SIGTERM or SIGINT; `on_ready` is called when every port answers."""
        asyncio.run(self._run(on_ready))

    async def _run(self, on_ready: Callable[[], None]) -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        serving = [
            asyncio.create_task(_serve(door, self._config(door), stop)) for door in self._doors
        ]
        ready = asyncio.create_task(self._announce(on_ready))
        try:
            # One door that ends by itself takes the others along: the supervisor starts all anew.
            await asyncio.wait(serving, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
            stop.set()
            await asyncio.gather(*serving)

    async def _announce(self, on_ready: Callable[[], None]) -> None:
        for door in self._doors:
            while not await asyncio.to_thread(_answers, self._host, door.port):
                await asyncio.sleep(0.05)
        on_ready()

    def _config(self, door: Door) -> Config:
        config = Config()
        config.bind = [_address(host, door.port) for host in self._hosts()]
        config.graceful_timeout = _GRACE_S
        config.shutdown_timeout = _GRACE_S
        config.keep_alive_timeout = 60
        config.keep_alive_max_requests = 1_000_000
        config.include_server_header = False
        config.loglevel = "WARNING"
        return config

    def _hosts(self) -> list[str]:
        """Return the addresses to bind: `localhost` may mean either loopback address."""
        if self._host not in _LOOPBACK:
            return [self._host]
        return ["127.0.0.1", "::1"] if _has_ipv6() else ["127.0.0.1"]


async def _serve(door: Door, config: Config, stop: asyncio.Event) -> None:
    if door.short_way is not None:
        await Listener(door.asgi, config, door.short_way).serve(stop.wait)
        return
    await serve(door.asgi, config, shutdown_trigger=stop.wait)  # type: ignore[arg-type]


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def _answers(host: str, port: int) -> bool:
    reached = "127.0.0.1" if host in (*_LOOPBACK, "0.0.0.0", "::") else host
    try:
        with socket.create_connection((reached, port), timeout=1.0):
            return True
    except OSError:
        return False
