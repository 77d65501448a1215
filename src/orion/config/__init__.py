"""One frozen settings class a room, read once: defaults < orion.toml < ORION_* < flags.

In:  an orion.toml, the environment, the flags of a command.
Out: `Settings`, passed down as arguments; where each value came from.
Never: read again later, guess an unknown key, or print a secret.
"""

from orion.config.cluster import KafkaSettings
from orion.config.lake import LakeSettings
from orion.config.process import EngineSettings, SparkSettings
from orion.config.reader import FILE_NAME, find_project, read_settings
from orion.config.registry import RegistrySettings
from orion.config.server import OpenDoorError, ServerSettings
from orion.config.settings import Described, JarSettings, Settings, describe

__all__ = [
    "FILE_NAME",
    "Described",
    "EngineSettings",
    "JarSettings",
    "KafkaSettings",
    "LakeSettings",
    "OpenDoorError",
    "RegistrySettings",
    "ServerSettings",
    "Settings",
    "SparkSettings",
    "describe",
    "find_project",
    "read_settings",
]
