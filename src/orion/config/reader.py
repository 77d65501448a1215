"""Read settings once: defaults, then orion.toml, then ORION_* variables, then flags."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from orion.config.server import check_server
from orion.config.settings import SECTIONS, Settings, top_fields
from orion.model import InvalidInputError, nearest

FILE_NAME = "orion.toml"
_PREFIX = "ORION_"
# Variables of Orion's own that are not settings of a project.
_NOT_SETTINGS = ("ORION_PROJECT", "ORION_APP", "ORION_STRIKE", "ORION_COMPLETE")


class UnknownSettingError(InvalidInputError):
    """Raised when a key is not a setting; names the nearest one."""

    def __init__(self, key: str, origin: str, known: list[str]) -> None:
        self.key, self.origin = key, origin
        hint = nearest(key, known) or "See every setting with: orion config show"
        super().__init__(f"Setting '{key}' in {origin} is not known.", fix=hint)


class SettingValueError(InvalidInputError):
    """Raised when a setting has a value of the wrong kind."""

    def __init__(self, key: str, value: object, origin: str, expected: str) -> None:
        self.key, self.value, self.origin = key, value, origin
        super().__init__(f"Setting '{key}' in {origin} is {value!r}, expected {expected}.")


def find_project(start: Path) -> Path:
    """Return the nearest folder upwards that holds an orion.toml, or the start itself."""
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder
    return start


def read_settings(
    project: Path, *, environ: Mapping[str, str], flags: Mapping[str, Any] | None = None
) -> Settings:
    """Return the settings of a project.

    Args:
        project: The folder of the project; its orion.toml may be absent.
        environ: The process environment; only ORION_* is looked at.
        flags: Dotted keys given on the command line; None values are left out.
    """
    project = project.resolve()
    settings, origins = Settings(project=project), dict[str, str]()
    layers = (
        _from_file(project / FILE_NAME),
        _from_environment(environ),
        ((key, value, "flag") for key, value in (flags or {}).items() if value is not None),
    )
    for layer in layers:
        for key, value, origin in layer:
            settings = _set(settings, key, value, origin)
            origins[key] = origin
    return _check(replace(settings, origins=origins))


def _from_file(path: Path) -> Iterator[tuple[str, Any, str]]:
    if not path.is_file():
        return
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{FILE_NAME} is not valid TOML: {error}.") from error
    for key, value in content.items():
        if not isinstance(value, dict):
            yield key, value, FILE_NAME
            continue
        for name, inner in value.items():
            yield f"{key}.{name}", inner, FILE_NAME


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    for name, value in environ.items():
        if not name.startswith(_PREFIX) or name.startswith(_NOT_SETTINGS):
            continue
        word = name.removeprefix(_PREFIX).lower()
        section = next((s for s in SECTIONS if word.startswith(f"{s}_")), None)
        key = word if section is None else f"{section}.{word.removeprefix(f'{section}_')}"
        yield key, value, name


def _known(settings: Settings) -> list[str]:
    names = [f"{s}.{f.name}" for s in SECTIONS for f in fields(getattr(settings, s))]
    return [*(f.name for f in top_fields()), *names]


def _set(settings: Settings, key: str, value: Any, origin: str) -> Settings:
    section, _, name = key.partition(".")
    table, _, option = name.partition(".")
    if f"{section}.{table}" in _known(settings) and option:
        current = getattr(getattr(settings, section), table)
        if isinstance(current, Mapping):
            name, value = table, {**current, option: value}
            key = f"{section}.{table}"
    if key not in _known(settings):
        raise UnknownSettingError(key, origin, _known(settings))
    if not name:
        changed = {key: _convert(key, value, "", origin)}
        return replace(settings, **changed)
    part = getattr(settings, section)
    converted = _convert(key, value, getattr(type(part)(), name), origin)
    return replace(settings, **{section: replace(part, **{name: converted})})


def _convert(key: str, value: Any, default: Any, origin: str) -> Any:
    if isinstance(default, Mapping):
        if not isinstance(value, Mapping):
            raise SettingValueError(key, value, origin, "a table of options")
        return {name: _option_text(item) for name, item in value.items()}
    if isinstance(default, tuple):
        items = value.replace(",", " ").split() if isinstance(value, str) else value
        items = [items] if isinstance(items, int) else items
        return tuple(_to_int(key, item, origin) for item in items)
    if isinstance(default, bool):
        return _to_bool(key, value, origin)
    if isinstance(default, int):
        return _to_int(key, value, origin)
    if not isinstance(value, str):
        raise SettingValueError(key, value, origin, "a text")
    return value


def _option_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _to_bool(key: str, value: Any, origin: str) -> bool:
    words = {"true": True, "1": True, "false": False, "0": False}
    found = value if isinstance(value, bool) else words.get(str(value).lower())
    if found is None:
        raise SettingValueError(key, value, origin, "true or false")
    return found


def _to_int(key: str, value: Any, origin: str) -> int:
    try:
        if isinstance(value, bool):
            raise ValueError
        return int(value)
    except (TypeError, ValueError) as error:
        raise SettingValueError(key, value, origin, "a whole number") from error


def _check(settings: Settings) -> Settings:
    """Refuse values that no command could use."""
    kafka, engine = settings.kafka, settings.engine
    where = settings.origins.get
    if kafka.brokers not in (1, 3):
        raise SettingValueError(
            "kafka.brokers", kafka.brokers, where("kafka.brokers", ""), "1 or 3"
        )
    for key, ports in (("ports", kafka.ports), ("controller_ports", kafka.controller_ports)):
        if ports and len(ports) != kafka.brokers:
            expected = f"{kafka.brokers} ports, one for each of kafka.brokers"
            raise SettingValueError(f"kafka.{key}", ports, where(f"kafka.{key}", ""), expected)
    modes = ("exactly_once", "at_least_once", "realtime")
    if engine.mode not in modes:
        raise SettingValueError(
            "engine.mode", engine.mode, where("engine.mode", ""), " or ".join(modes)
        )
    check_server(settings.server)
    return settings
