"""The properties that a session may set, with what counts where they are not."""

from collections.abc import Mapping

from orion.model import InvalidInputError, nearest

PROPERTIES: Mapping[str, str] = {
    "auto.offset.reset": "latest",
    "cache.max.bytes.buffering": "0",
    "commit.interval.ms": "2000",
    "max.task.idle.ms": "0",
    "num.stream.threads": "1",
    "processing.guarantee": "exactly_once_v2",
    "ksql.streams.auto.offset.reset": "latest",
    "ksql.streams.cache.max.bytes.buffering": "0",
    "ksql.streams.num.stream.threads": "1",
    "ksql.streams.processing.guarantee": "exactly_once_v2",
    "ksql.fail.on.deserialization.error": "false",
    "ksql.idle.connection.timeout.seconds": "600",
    "ksql.insert.into.values.enabled": "true",
    "ksql.max.push.queries": "100",
    "ksql.output.topic.name.prefix": "",
    "ksql.persistence.default.format.key": "KAFKA",
    "ksql.persistence.default.format.value": "",
    "ksql.persistence.wrap.single.values": "",
    "ksql.query.pull.enable.standby.reads": "false",
    "ksql.query.pull.interpreter.enabled": "true",
    "ksql.query.pull.limit.clause.enabled": "true",
    "ksql.query.pull.max.allowed.offset.lag": "9223372036854775807",
    "ksql.query.pull.range.scan.enabled": "true",
    "ksql.query.pull.table.scan.enabled": "true",
    "orion.query.pull.fresh": "false",
    "ksql.query.push.v2.enabled": "false",
    "ksql.query.push.v2.new.latest.delay.ms": "5000",
    "ksql.query.push.v2.registry.installed": "false",
    "ksql.query.retry.backoff.initial.ms": "15000",
    "ksql.query.retry.backoff.max.ms": "900000",
    "ksql.suppress.enabled": "true",
    "ksql.timestamp.throw.on.invalid": "false",
    "ksql.variable.substitution.enable": "true",
}


class UnknownPropertyError(InvalidInputError):
    """Raised when a session sets what nobody knows."""

    def __init__(self, name: str) -> None:
        self.name = name
        hint = nearest(name, PROPERTIES) or "See the known ones with: SHOW PROPERTIES;"
        super().__init__(f"Property '{name}' cannot be set.", fix=hint)


def check_property(name: str) -> None:
    """Raise unless a session may set the property."""
    if name not in PROPERTIES:
        raise UnknownPropertyError(name)


def starts_at(properties: Mapping[str, str]) -> str:
    """Return where a query without a past begins."""
    given = properties.get("auto.offset.reset") or properties.get("ksql.streams.auto.offset.reset")
    return given or PROPERTIES["auto.offset.reset"]
