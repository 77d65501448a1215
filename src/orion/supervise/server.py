"""The supervisor's end of the control socket: a line of JSON in, a line of JSON out."""

import json
import socketserver
import threading
from collections.abc import Callable, Mapping
from typing import Any

from orion.model import InvalidInputError, OrionError, nearest
from orion.supervise.appfile import AppSpec
from orion.supervise.supervisor import Supervisor

_LONGEST_LINE = 1 << 20
# How long a close may have to wait for the server to look up.
_POLL_S = 0.1


class ControlServer:
    """Answer commands on the project's socket until closed."""

    def __init__(self, supervisor: Supervisor, *, on_shutdown: Callable[[], None]) -> None:
        self._supervisor = supervisor
        self._on_shutdown = on_shutdown
        self.ready = False
        path = supervisor.socket_path
        path.unlink(missing_ok=True)
        self._server = _Server(str(path), _Request)
        self._server.answer = self._answer
        path.chmod(0o600)
        threading.Thread(target=self._server.serve_forever, args=(_POLL_S,), daemon=True).start()

    def close(self) -> None:
        """Take no more commands and remove the socket."""
        self._server.shutdown()
        self._server.server_close()
        self._supervisor.socket_path.unlink(missing_ok=True)

    def _answer(self, request: Mapping[str, Any]) -> Any:
        commands: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "status": self._status,
            "start": self._start,
            "stop": lambda r: self._supervisor.get(r["name"]).stop(
                grace_s=self._supervisor.stop_total_s
            ),
            "kill": lambda r: self._supervisor.get(r["name"]).kill(),
            "restart": self._restart,
            "add": lambda r: self._supervisor.add_app(AppSpec.from_json(r["app"])).to_json(),
            "remove": lambda r: self._supervisor.remove_app(r["name"]),
            "shutdown": lambda _: self._on_shutdown(),
        }
        word = str(request.get("command"))
        if word not in commands:
            raise InvalidInputError(f"Command '{word}' is not known.", fix=nearest(word, commands))
        return commands[word](request)

    def _status(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        processes = [status.to_json() for status in self._supervisor.statuses()]
        return {"ready": self.ready, "processes": processes}

    def _start(self, request: Mapping[str, Any]) -> dict[str, Any]:
        process = self._supervisor.get(request["name"])
        process.start()
        process.wait_ready()
        return process.status().to_json()

    def _restart(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self._supervisor.get(request["name"]).stop(grace_s=self._supervisor.stop_total_s)
        return self._start(request)


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    answer: Callable[[Mapping[str, Any]], Any]


class _Request(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        try:
            request = json.loads(self.rfile.readline(_LONGEST_LINE))
            body = {"result": self.server.answer(request)}
        except OrionError as error:
            code, fix = error.exit_code, error.fix
            body = {"error": {"text": error.text, "fix": fix, "exit_code": code}}
        except (ValueError, KeyError, AttributeError) as error:
            body = {"error": {"text": f"The request is not usable: {error!r}.", "exit_code": 2}}
        self.wfile.write(json.dumps(body).encode() + b"\n")
