"""How schemas of a subject may change: the levels, and what breaks them in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from orion.registry.conflict import Conflict
from orion.registry.errors import InvalidCompatibilityError
from orion.registry.parsed import Parsed, find_conflicts


class Level(StrEnum):
    """Who must be able to read whose data."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def is_transitive(self) -> bool:
        """Whether every earlier version counts, not the latest alone."""
        return self.endswith("_TRANSITIVE")

    @property
    def reads_old(self) -> bool:
        """Whether the new schema must read the data of old ones."""
        return self.startswith(("BACKWARD", "FULL"))

    @property
    def is_read_by_old(self) -> bool:
        """Whether old schemas must read the data of the new one."""
        return self.startswith(("FORWARD", "FULL"))

    @property
    def advice(self) -> str:
        """Which side is upgraded first."""
        if self.startswith("FULL"):
            return "Consumers and producers may be upgraded in any order."
        if self.startswith("BACKWARD"):
            return "Upgrade the consumers first, then the producers."
        if self.startswith("FORWARD"):
            return "Upgrade the producers first, then the consumers."
        return "Nothing is checked: upgrade both sides at once, or keep them apart."


def parse_level(text: object) -> Level:
    """Return the level of a name, in any case."""
    if isinstance(text, str) and text.upper() in list(Level):
        return Level(text.upper())
    raise InvalidCompatibilityError(text, Level)


@dataclass(frozen=True)
class Earlier:
    """An earlier version to compare with."""

    version: int
    parsed: Parsed


@dataclass(frozen=True)
class Breach:
    """A rule that a new schema breaks towards an earlier version.

    Args:
        is_backward: Whether the new schema fails to read old data; else the old one new data.
    """

    version: int
    is_backward: bool
    conflict: Conflict

    @property
    def text(self) -> str:
        """The breach in a sentence: the rule, the place, what changed."""
        new, old = "the new schema", f"version {self.version}"
        reader, writer = (new, old) if self.is_backward else (old, new)
        words = self.conflict.text.replace("the reader", reader).replace("the writer", writer)
        kind = "BACKWARD" if self.is_backward else "FORWARD"
        place = f"{self.conflict.rule} at {self.conflict.path}"
        if self.conflict.field:
            return f"{kind} ({place}): In field '{self.conflict.field}', {words}."
        return f"{kind} ({place}): {words[0].upper()}{words[1:]}."

    @property
    def advice(self) -> str:
        """What to do about it."""
        if self.is_backward:
            return (
                "New consumers could not read data that is there already: give new fields a"
                " default, keep types readable, or register under another subject."
            )
        return (
            "Consumers that run now could not read new data: keep the fields they need or give"
            " those a default first, or register under another subject."
        )


def find_breaches(new: Parsed, earlier: Sequence[Earlier], level: Level) -> list[Breach]:
    """Return what a new schema breaks, newest version first.

    Args:
        earlier: Versions in their order; those that count are chosen by the level.
    """
    counted = list(reversed(earlier)) if level.is_transitive else list(earlier[-1:])
    found: list[Breach] = []
    for item in counted:
        if level.reads_old:
            conflicts = find_conflicts(new, item.parsed)
            found += [Breach(item.version, True, conflict) for conflict in conflicts]
        if level.is_read_by_old:
            conflicts = find_conflicts(item.parsed, new)
            found += [Breach(item.version, False, conflict) for conflict in conflicts]
    return found
