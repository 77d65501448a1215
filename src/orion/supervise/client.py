"""The commands' end of the control socket."""

import json
import socket
from dataclasses import asdict
from typing import Any

from orion.model import OrionError
from orion.supervise.appfile import AppSpec
from orion.supervise.errors import NotRunningError
from orion.supervise.runfolder import RunFolder
from orion.supervise.spec import ProcessStatus

_ANSWER_TIMEOUT_S = 120.0


class RefusedError(OrionError):
    """Raised when the supervisor answered with an error; carries its words and exit code."""

    def __init__(self, text: str, fix: str | None, exit_code: int) -> None:
        super().__init__(text, fix=fix)
        self.exit_code = exit_code


class SupervisorClient:
    """Talk to the running supervisor of a project; raises NotRunningError when there is none."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run

    def statuses(self) -> list[ProcessStatus]:
        """Return every process as it is now."""
        return [ProcessStatus.from_json(body) for body in self._ask("status")["processes"]]

    def is_ready(self) -> bool:
        """Tell whether the platform has started completely."""
        return bool(self._ask("status")["ready"])

    def start(self, name: str) -> ProcessStatus:
        """Start a stopped process and wait until it is ready."""
        return ProcessStatus.from_json(self._ask("start", name=name))

    def stop(self, name: str) -> None:
        """Stop a process and keep it down."""
        self._ask("stop", name=name)

    def kill(self, name: str) -> None:
        """Kill a process as a crash would; the supervisor restarts it."""
        self._ask("kill", name=name)

    def restart(self, name: str) -> ProcessStatus:
        """Stop a process and start it again."""
        return ProcessStatus.from_json(self._ask("restart", name=name))

    def add(self, app: AppSpec) -> ProcessStatus:
        """Start an app, now and with every later start of the platform."""
        return ProcessStatus.from_json(self._ask("add", app=asdict(app)))

    def remove(self, name: str) -> None:
        """Stop an app and forget it."""
        self._ask("remove", name=name)

    def shut_down(self) -> None:
        """Ask the supervisor to stop everything; returns before it has."""
        self._ask("shutdown")

    def _ask(self, command: str, **values: Any) -> Any:
        path = self._run.socket_path()
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(_ANSWER_TIMEOUT_S)
            try:
                link.connect(str(path))
                link.sendall(json.dumps({"command": command, **values}).encode() + b"\n")
                with link.makefile("rb") as answer:
                    line = answer.readline()
            except OSError as error:
                raise NotRunningError(self._run.data_dir.parent) from error
        if not line:
            raise NotRunningError(self._run.data_dir.parent)
        body = json.loads(line)
        if "error" in body:
            refusal = body["error"]
            raise RefusedError(refusal["text"], refusal.get("fix"), refusal["exit_code"])
        return body["result"]
