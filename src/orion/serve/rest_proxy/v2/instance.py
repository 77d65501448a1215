"""Consumer instances: members of groups that HTTP clients own for a while."""

import asyncio
import contextlib
import logging
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from orion.log import CommittedOffset, GroupMember, Record
from orion.model import OrionError
from orion.serve.rest_proxy.call import text
from orion.serve.rest_proxy.errors import (
    ConsumerConfigError,
    InstanceExistsError,
    NoSuchInstanceError,
    TooManyInstancesError,
)
from orion.serve.rest_proxy.media import FORMATS
from orion.serve.rest_proxy.proxy import Proxy

logger = logging.getLogger(__name__)

DEFAULT_TIMEOUT_MS = 1_000
_MAX_TIMEOUT_MS = 60_000
_RESETS = ("earliest", "latest", "none")
_ISOLATION = ("read_committed", "read_uncommitted")
_SWEEPS = 4


@dataclass(frozen=True)
class InstanceSettings:
    """How an instance reads, as the client asked for it."""

    format: str = "binary"
    reset: str = "latest"
    auto_commit: bool = True
    timeout_ms: int = DEFAULT_TIMEOUT_MS
    isolation: str = "read_committed"


def parse_settings(fields: Mapping[str, Any]) -> InstanceSettings:
    """Read the settings of a new instance."""
    format = str(fields.get("format") or "binary").lower()
    if format not in FORMATS:
        raise ConsumerConfigError("format", format, f"one of {', '.join(FORMATS)}")
    reset = str(fields.get("auto.offset.reset") or "latest")
    if reset not in _RESETS:
        raise ConsumerConfigError("auto.offset.reset", reset, f"one of {', '.join(_RESETS)}")
    commit = str(fields.get("auto.commit.enable", "true")).lower()
    if commit not in ("true", "false"):
        raise ConsumerConfigError("auto.commit.enable", commit, "true or false")
    timeout = str(fields.get("consumer.request.timeout.ms", DEFAULT_TIMEOUT_MS))
    if not timeout.isdigit() or int(timeout) > _MAX_TIMEOUT_MS:
        expected = f"milliseconds up to {_MAX_TIMEOUT_MS}"
        raise ConsumerConfigError("consumer.request.timeout.ms", timeout, expected)
    isolation = str(fields.get("isolation.level") or "read_committed")
    if isolation not in _ISOLATION:
        raise ConsumerConfigError("isolation.level", isolation, f"one of {', '.join(_ISOLATION)}")
    return InstanceSettings(format, reset, commit == "true", int(timeout), isolation)


@dataclass
class Instance:
    """One instance; its lock is held by whoever moves it.

    Args:
        waiting: Records that were read and not handed out yet.
        handed: Where each partition stands after what was handed out.
        unconfirmed: Whether something was handed out since the last commit.
        has_waited: Whether a request has waited for the group to give its partitions out.
    """

    group: str
    name: str
    member: GroupMember
    settings: InstanceSettings
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: deque[Record] = field(default_factory=deque)
    handed: dict[tuple[str, int], int] = field(default_factory=dict)
    unconfirmed: bool = False
    has_waited: bool = False
    used_s: float = field(default_factory=time.monotonic)

    def positions(self) -> list[CommittedOffset]:
        """Return where it stands: after the records that were handed out."""
        return [CommittedOffset(topic, n, offset) for (topic, n), offset in self.handed.items()]

    def commit_handed(self) -> None:
        """Commit what was handed out, if anything."""
        if self.unconfirmed:
            self.member.commit(self.positions())
            self.unconfirmed = False

    def forget(self, partition: tuple[str, int] | None = None) -> None:
        """Drop what was read ahead, of one partition or of all."""
        kept = [r for r in self.waiting if partition and (r.topic, r.partition) != partition]
        self.waiting = deque(kept)
        if partition is None:
            self.handed.clear()
        else:
            self.handed.pop(partition, None)


class Instances:
    """Every instance of one proxy; used from the event loop alone."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._instances: dict[tuple[str, str], Instance | None] = {}
        self._sweeper: asyncio.Task[None] | None = None

    async def create(self, group: str, fields: Mapping[str, Any]) -> Instance:
        """Make an instance; its name may be left out."""
        settings = parse_settings(fields)
        name = text(fields.get("name") or f"rest-consumer-{uuid.uuid4()}", "name")
        if (group, name) in self._instances:
            raise InstanceExistsError(group, name)
        if len(self._instances) >= self._proxy.limits.instances:
            raise TooManyInstancesError(self._proxy.limits.instances)
        # The name is taken while Kafka's client is being made.
        self._instances[group, name] = None
        try:
            member = await self._proxy.run(self._join, group, name, settings)
        except BaseException:
            del self._instances[group, name]
            raise
        instance = Instance(group, name, member, settings)
        self._instances[group, name] = instance
        if self._sweeper is None:
            self._sweeper = asyncio.create_task(self._sweep())
        return instance

    def _join(self, group: str, name: str, settings: InstanceSettings) -> GroupMember:
        return GroupMember(
            self._proxy.connection,
            group,
            client_id=name,
            auto_offset_reset="error" if settings.reset == "none" else settings.reset,
            isolation_level=settings.isolation,
            session_timeout_ms=45_000,
        )

    @asynccontextmanager
    async def hold(self, group: str, name: str) -> AsyncIterator[Instance]:
        """Give an instance to one caller at a time."""
        instance = self._instances.get((group, name))
        if instance is None:
            raise NoSuchInstanceError(group, name)
        async with instance.lock:
            if self._instances.get((group, name)) is not instance:
                raise NoSuchInstanceError(group, name)
            instance.used_s = time.monotonic()
            try:
                yield instance
            finally:
                instance.used_s = time.monotonic()

    async def delete(self, group: str, name: str) -> None:
        """Leave the group; what was handed out is committed if the instance does so by itself."""
        async with self.hold(group, name) as instance:
            del self._instances[group, name]
            if instance.settings.auto_commit:
                with contextlib.suppress(OrionError):
                    await self._proxy.run(instance.commit_handed)
            await self._proxy.run(instance.member.close)

    async def _sweep(self) -> None:
        """Delete instances that nobody uses; what they were given last is read again by others."""
        idle_s = self._proxy.limits.idle_s
        while self._instances:
            await asyncio.sleep(idle_s / _SWEEPS)
            limit = time.monotonic() - idle_s
            for key, instance in list(self._instances.items()):
                if instance is None or instance.used_s > limit or instance.lock.locked():
                    continue
                del self._instances[key]
                logger.info("consumer instance %s of group %s expired", key[1], key[0])
                await self._proxy.run(instance.member.close)
        self._sweeper = None
