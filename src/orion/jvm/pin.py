"""The pins: which jar, which version, which SHA-256, in which bundle."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

# Kafka's own programs; what Spark loads; what must be there before Spark reads its first file.
BUNDLES = ("kafka", "spark", "disk")


@dataclass(frozen=True)
class Pin:
    """One jar, exactly."""

    bundle: str
    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file_name(self) -> str:
        """The jar's name in the cache."""
        return f"{self.artifact}-{self.version}.jar"


@cache
def read_pins() -> tuple[Pin, ...]:
    """Return every pinned jar, as `jars.lock` lists them."""
    lines = files("orion.jvm").joinpath("jars.lock").read_text(encoding="utf-8").splitlines()
    pins = []
    for line in lines:
        if not line or line.startswith("#"):
            continue
        bundle, coordinates, sha256 = line.split()
        group, artifact, version = coordinates.split(":")
        pins.append(Pin(bundle, group, artifact, version, sha256))
    return tuple(pins)
