"""Write records: POST /topics/{topic}, with a partition or without."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orion.log import Outcome, Record, Written
from orion.serve.rest_proxy.call import Call, whole
from orion.serve.rest_proxy.embedded import (
    KINDS,
    UnusableDocumentError,
    encode_plain,
    encode_registered,
    schema_id_of,
)
from orion.serve.rest_proxy.errors import BadFieldError, BadRecordError, NoSuchPartitionError
from orion.serve.rest_proxy.media import format_of_body
from orion.serve.rest_proxy.proxy import Proxy

_NOT_RETRIABLE, _RETRIABLE = 50002, 50003


@dataclass(frozen=True)
class _Batch:
    records: list[Record]
    key_schema_id: int | None = None
    value_schema_id: int | None = None


async def produce(proxy: Proxy, call: Call) -> Any:
    """Write records to a topic and tell where each lies."""
    topic = call.word("topic")
    format = format_of_body(call.headers.get("content-type", ""))
    given = call.objects("records")
    await proxy.require_topic(topic)
    partition = call.number("partition") if "partition" in call.path else None
    if partition is not None:
        await _require_partition(proxy, topic, partition)
    if format in KINDS:
        # Schemas may have to be asked for over HTTP.
        batch = await proxy.run(_registered, proxy, call, format, partition)
    else:
        batch = _Batch([_plain(each, n, format, partition) for n, each in enumerate(given)])
    outcomes = await proxy.write(topic, batch.records)
    return {
        "offsets": [_offset(outcome) for outcome in outcomes],
        "key_schema_id": batch.key_schema_id,
        "value_schema_id": batch.value_schema_id,
    }


async def _require_partition(proxy: Proxy, topic: str, partition: int) -> None:
    found = await proxy.run(proxy.topics.get, topic)
    if partition >= len(found.partitions):
        raise NoSuchPartitionError(topic, partition)


def _plain(given: Mapping[str, Any], position: int, format: str, partition: int | None) -> Record:
    try:
        key = encode_plain(given.get("key"), format)
        value = encode_plain(given.get("value"), format)
    except UnusableDocumentError as error:
        raise BadRecordError(position, str(error)) from error
    return _record(given, key, value, partition)


def _record(
    given: Mapping[str, Any], key: bytes | None, value: bytes | None, partition: int | None
) -> Record:
    own = given.get("partition")
    if own is not None:
        partition = whole(own, "partition")
        if partition >= 1 << 31:
            raise BadFieldError("partition", "the number of a partition")
    return Record(value, key, partition=partition)


def _registered(proxy: Proxy, call: Call, format: str, partition: int | None) -> _Batch:
    given, topic, documents = call.objects("records"), call.word("topic"), proxy.documents
    ids: dict[str, int | None] = {"key": None, "value": None}
    for part in ids:
        if any(each.get(part) is not None for each in given):
            ids[part] = schema_id_of(
                documents, call.fields(), part, subject=f"{topic}-{part}", format=format
            )
    records = []
    for position, each in enumerate(given):
        try:
            key, value = (
                None if schema_id is None else encode_registered(documents, schema_id, each.get(p))
                for p, schema_id in ids.items()
            )
        except UnusableDocumentError as error:
            raise BadRecordError(position, str(error)) from error
        records.append(_record(each, key, value, partition))
    return _Batch(records, ids["key"], ids["value"])


def _offset(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Written):
        return {
            "partition": outcome.partition,
            "offset": outcome.offset,
            "error_code": None,
            "error": None,
        }
    code = _RETRIABLE if outcome.can_retry else _NOT_RETRIABLE
    return {"partition": None, "offset": None, "error_code": code, "error": outcome.reason}
