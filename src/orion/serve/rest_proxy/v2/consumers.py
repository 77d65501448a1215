"""What clients do with consumer instances: subscribe, assign, move, read, commit, delete."""

import asyncio
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from orion.log import BEGINNING, END, CommittedOffset, Record
from orion.serve.rest_proxy.call import Call, text, whole
from orion.serve.rest_proxy.embedded import (
    KINDS,
    UnusableDocumentError,
    decode_plain,
    decode_registered,
)
from orion.serve.rest_proxy.errors import BadFieldError, UndecodableRecordError
from orion.serve.rest_proxy.media import require_format
from orion.serve.rest_proxy.proxy import Proxy
from orion.serve.rest_proxy.v2.instance import Instance, Instances

_BATCH_RECORDS = 500
_MAX_BYTES = 64 << 20
_MAX_TIMEOUT_MS = 60_000
# Between two looks at the client's queue.
_PAUSE_S = 0.02
# A group takes some seconds to give its partitions out; that does not count as waiting.
_JOIN_S = 10.0


class Consumers:
    """The consumer instances of one proxy."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy, self._instances = proxy, Instances(proxy)

    async def create(self, _proxy: Proxy, call: Call) -> Any:
        """Make a consumer instance in a group."""
        group = text(call.word("group"), "group")
        instance = await self._instances.create(group, {} if call.body is None else call.fields())
        path = f"{call.base}/consumers/{instance.group}/instances/{instance.name}"
        return {"instance_id": instance.name, "base_uri": path}

    async def delete(self, _proxy: Proxy, call: Call) -> Any:
        """Delete a consumer instance."""
        await self._instances.delete(call.word("group"), call.word("instance"))

    async def subscribe(self, _proxy: Proxy, call: Call) -> Any:
        """Subscribe to topics, or to those that match a pattern."""
        topics = _topics(call.fields())
        async with self._hold(call) as instance:
            instance.forget()
            await self._proxy.run(instance.member.subscribe, topics)

    async def get_subscription(self, _proxy: Proxy, call: Call) -> Any:
        """Return the topics that an instance is subscribed to."""
        async with self._hold(call) as instance:
            return {"topics": list(instance.member.topics)}

    async def unsubscribe(self, _proxy: Proxy, call: Call) -> Any:
        """Unsubscribe from everything."""
        async with self._hold(call) as instance:
            instance.forget()
            await self._proxy.run(instance.member.unsubscribe)

    async def assign(self, _proxy: Proxy, call: Call) -> Any:
        """Assign partitions by hand."""
        partitions = _partitions(call)
        async with self._hold(call) as instance:
            instance.forget()
            await self._proxy.run(instance.member.assign, partitions)

    async def get_assignments(self, _proxy: Proxy, call: Call) -> Any:
        """Return the partitions that an instance reads."""
        async with self._hold(call) as instance:
            found = await self._proxy.run(instance.member.assignment)
        return {"partitions": [{"topic": t, "partition": p} for t, p in found]}

    async def seek(self, _proxy: Proxy, call: Call) -> Any:
        """Go on reading at given offsets."""
        offsets = _offsets(call)
        async with self._hold(call) as instance:
            for each in offsets:
                await self._move(instance, (each.topic, each.partition), each.offset or 0)

    async def seek_to_beginning(self, _proxy: Proxy, call: Call) -> Any:
        """Go on reading at the first records."""
        await self._seek_to(call, BEGINNING)

    async def seek_to_end(self, _proxy: Proxy, call: Call) -> Any:
        """Go on reading after the last records."""
        await self._seek_to(call, END)

    async def commit(self, _proxy: Proxy, call: Call) -> Any:
        """Commit given offsets, or those of all records that were handed out."""
        offsets = _offsets(call) if call.body else None
        async with self._hold(call) as instance:
            if offsets is None:
                await self._proxy.run(instance.commit_handed)
            else:
                # Clients name the last record they have dealt with, Kafka the next one to read.
                after = [replace(each, offset=(each.offset or 0) + 1) for each in offsets]
                await self._proxy.run(instance.member.commit, after)
        return {}

    async def get_offsets(self, _proxy: Proxy, call: Call) -> Any:
        """Return the offsets that the group has committed."""
        partitions = _partitions(call)
        async with self._hold(call) as instance:
            found = await self._proxy.run(instance.member.committed, partitions)
        return {
            "offsets": [
                {
                    "topic": each.topic,
                    "partition": each.partition,
                    "offset": each.offset,
                    "metadata": each.metadata,
                }
                for each in found
                if each.offset is not None
            ]
        }

    async def read(self, proxy: Proxy, call: Call) -> Any:
        """Return the next records."""
        async with self._hold(call) as instance:
            require_format(call.headers.get("accept", ""), instance.settings.format)
            timeout_ms = call.number("timeout", instance.settings.timeout_ms)
            max_bytes = min(call.number("max_bytes", _MAX_BYTES), _MAX_BYTES)
            if instance.settings.auto_commit:
                await proxy.run(instance.commit_handed)
            await self._fill(instance, min(timeout_ms, _MAX_TIMEOUT_MS) / 1_000)
            return await proxy.run(_take, proxy, instance, max_bytes)

    async def _fill(self, instance: Instance, timeout_s: float) -> None:
        """Wait until there are records, or the time is over."""
        start = time.monotonic()
        while not instance.waiting:
            found = await self._proxy.run(instance.member.read, _BATCH_RECORDS)
            instance.waiting.extend(found)
            passed = time.monotonic() - start
            allowed = timeout_s
            # Only once: a topic that is not there would keep every request waiting.
            if instance.member.is_waiting and not instance.has_waited:
                allowed = max(timeout_s, _JOIN_S)
            if found or passed >= allowed:
                instance.has_waited = True
                return
            await asyncio.sleep(_PAUSE_S)

    async def _seek_to(self, call: Call, offset: int) -> None:
        partitions = _partitions(call)
        async with self._hold(call) as instance:
            for partition in partitions:
                await self._move(instance, partition, offset)

    async def _move(self, instance: Instance, partition: tuple[str, int], offset: int) -> None:
        await self._proxy.run(instance.member.seek, partition, offset)
        instance.forget(partition)

    def _hold(self, call: Call) -> Any:
        return self._instances.hold(call.word("group"), call.word("instance"))


def _take(proxy: Proxy, instance: Instance, max_bytes: int) -> list[Any]:
    """Hand records out up to a size; the first one whatever its size."""
    taken: list[Any] = []
    size = 0
    while instance.waiting and len(taken) < _BATCH_RECORDS:
        record = instance.waiting[0]
        size += len(record.key or b"") + len(record.value or b"")
        if taken and size > max_bytes:
            break
        try:
            document = _document(proxy, record, instance.settings.format)
        except UnusableDocumentError as error:
            if taken:
                break
            place = (record.topic, record.partition or 0, record.offset or 0)
            raise UndecodableRecordError(place, str(error)) from error
        instance.waiting.popleft()
        taken.append(document)
        instance.handed[record.topic, record.partition or 0] = (record.offset or 0) + 1
        instance.unconfirmed = True
    return taken


def _document(proxy: Proxy, record: Record, format: str) -> dict[str, Any]:
    if format in KINDS:
        key = decode_registered(proxy.documents, record.key)
        value = decode_registered(proxy.documents, record.value)
    else:
        key, value = decode_plain(record.key, format), decode_plain(record.value, format)
    return {
        "topic": record.topic,
        "key": key,
        "value": value,
        "partition": record.partition,
        "offset": record.offset,
    }


def _topics(fields: Mapping[str, Any]) -> list[str]:
    pattern = fields.get("topic_pattern")
    if pattern is not None:
        try:
            re.compile(text(pattern, "topic_pattern"))
        except re.error as error:
            raise BadFieldError("topic_pattern", f"a regular expression ({error})") from error
        return [pattern if pattern.startswith("^") else f"^{pattern}$"]
    topics = fields.get("topics")
    if not isinstance(topics, list) or not topics:
        raise BadFieldError("topics", "a list of topics, or give topic_pattern")
    return [text(topic, "topics") for topic in topics]


def _partitions(call: Call) -> list[tuple[str, int]]:
    return [_partition(each) for each in call.objects("partitions")]


def _partition(given: Mapping[str, Any]) -> tuple[str, int]:
    return text(given.get("topic"), "topic"), _int32(given.get("partition"), "partition")


def _int32(value: Any, name: str) -> int:
    number = whole(value, name)
    if number >= 1 << 31:
        raise BadFieldError(name, "a number below 2147483648")
    return number


def _offsets(call: Call) -> Iterable[CommittedOffset]:
    found = []
    for each in call.objects("offsets"):
        given = each.get("metadata")
        metadata = text(given, "metadata") if given else ""
        topic, partition = _partition(each)
        offset = whole(each.get("offset"), "offset")
        found.append(CommittedOffset(topic, partition, offset, metadata))
    return found
