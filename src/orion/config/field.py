"""A setting: a dataclass field with a default and a line that says what it means."""

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any

EMPTY: Mapping[str, str] = MappingProxyType({})


def setting(default: Any, meaning: str) -> Any:
    """Declare a setting; the meaning is what `orion config show` and the docs print."""
    return field(default=default, metadata={"meaning": meaning})


def options(meaning: str) -> Any:
    """Declare a table of options that pass through under their own names."""
    return field(default_factory=lambda: EMPTY, metadata={"meaning": meaning})
