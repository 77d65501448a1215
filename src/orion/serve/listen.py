"""Listens for a door with a short way: connections begin there and may go on to the ASGI server."""

import asyncio
from collections.abc import Awaitable, Callable

from hypercorn.asyncio.tcp_server import TCPServer
from hypercorn.asyncio.worker_context import WorkerContext
from hypercorn.config import Config
from hypercorn.utils import wrap_app
from starlette.types import ASGIApp

from orion.serve.lane import Lane, ShortWay


class Listener:
    """Every connection of one door."""

    def __init__(self, app: ASGIApp, config: Config, way: ShortWay) -> None:
        self._config, self._way = config, way
        self._app = wrap_app(app, config.wsgi_max_body_size, "asgi")  # type: ignore[arg-type]
        self._context = WorkerContext(None)
        self._lanes: set[Lane] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, until: Callable[[], Awaitable[object]]) -> None:
        """Serve until told to stop; requests under way get the configured time."""
        loop = asyncio.get_running_loop()
        sockets = self._config.create_sockets().insecure_sockets
        servers = [
            await loop.create_server(self._begin, sock=sock, backlog=self._config.backlog)
            for sock in sockets
        ]
        try:
            await until()
        finally:
            await self._context.terminated.set()
            for server in servers:
                server.close()
            for lane in list(self._lanes):
                lane.close()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=self._config.graceful_timeout)
            for task in self._tasks:
                task.cancel()

    def _begin(self) -> Lane:
        return Lane(self._way, self._pass_on, self._lanes)

    def _pass_on(self, transport: asyncio.Transport, read: bytes) -> None:
        """Give a connection to the ASGI server, as if it had been there from its beginning."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        reader.feed_data(read)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        served = TCPServer(self._app, loop, self._config, self._context, {}, reader, writer)
        task = loop.create_task(served.run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
