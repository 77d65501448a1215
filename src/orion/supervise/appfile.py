"""The apps of a project: kept in one JSON file, so that the next `orion up` starts them again."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from orion.model import InvalidInputError
from orion.supervise.spec import ProcessSpec, RestartPolicy

# Apps come after everything they may need, and stop before it.
APP_ORDER = 100


@dataclass(frozen=True)
class AppSpec:
    """A program of the user's that the supervisor keeps running."""

    name: str
    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict)
    max_restarts: int = 5

    def to_process_spec(self) -> ProcessSpec:
        """Return the app as a process that is not required and ends well with code 0."""
        return ProcessSpec(
            name=self.name,
            argv=self.argv,
            env=self.env,
            cwd=Path(self.cwd),
            order=APP_ORDER,
            required=False,
            restart=RestartPolicy(
                max_restarts=self.max_restarts, first_delay_s=1.0, after_success=False
            ),
        )

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "AppSpec":
        """Read an app from a request or from the file."""
        try:
            return cls(**{**body, "argv": tuple(body["argv"])})
        except (TypeError, KeyError) as error:
            raise InvalidInputError(
                f"An app needs name, argv and cwd: {error}.", fix="Give all of them."
            ) from error


def read_apps(path: Path) -> list[AppSpec]:
    """Return the apps of a project."""
    if not path.is_file():
        return []
    try:
        return [AppSpec.from_json(body) for body in json.loads(path.read_text())]
    except ValueError as error:
        raise InvalidInputError(
            f"{path} is not valid JSON: {error}.",
            fix="Correct it, or remove it to forget the apps.",
        ) from error


def write_apps(path: Path, apps: Iterable[AppSpec]) -> None:
    """Replace the file as a whole."""
    scratch = path.with_suffix(".new")
    scratch.write_text(json.dumps([asdict(app) for app in apps], indent=2))
    scratch.replace(path)
