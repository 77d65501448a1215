"""What a change needs in the log and the registry before it counts: topics, schemas."""

from collections.abc import Iterator
from contextlib import suppress

from orion.command.format import key_spec, register_columns, value_spec
from orion.formats import SchemaSource
from orion.log import TopicExistsError, TopicNotFoundError, Topics
from orion.sql import Change, Declared, Dropped, Source, Started, step

# Rows carry the time of events, the marks of transactions the present one. Kafka takes the distance
# for age, and would begin a segment with every transaction and compact all behind it at once.
_BY_SIZE = {"segment.ms": str(100 * 365 * 86_400_000), "segment.bytes": str(100 * 1024 * 1024)}

_RETENTION = "retention.ms"


class Preparation:
    """Makes the topics and schemas of sources."""

    def __init__(self, topics: Topics, schemas: SchemaSource | None) -> None:
        self._topics = topics
        self._schemas = schemas

    def prepare(self, change: Change) -> None:
        """Make what a change needs; what is there already stays as it is."""
        match change:
            case Declared(source):
                self._declared(source)
                self._register(source, only_first=True)
            case Started(_, plan, sink, creates=True):
                sources = [read.source.topic for read in step.reads_of(plan.step)]
                self._create(sink, partitions=self._most_partitions(sources), like=sources[0])
                self._register(sink)
            case Dropped(source, _, delete_topic=True):
                self._delete(source)

    def _declared(self, source: Source) -> None:
        if source.partitions is not None:
            self._create(source, partitions=1)
        elif not self._topics.exists(source.topic):
            raise TopicNotFoundError(source.topic, self._topics.names())

    def _most_partitions(self, topics: list[str]) -> int:
        return max(self._partitions(topics), default=1)

    def _partitions(self, topics: list[str]) -> Iterator[int]:
        for topic in topics:
            if self._topics.exists(topic):
                yield len(self._topics.get(topic).partitions)

    def _create(self, source: Source, *, partitions: int, like: str | None = None) -> None:
        """Make the topic of a source.

        Args:
            like: The topic that its records come from; those of a stream are kept as long as there.
        """
        if self._topics.exists(source.topic):
            return
        configs = dict(source.topic_configs)
        if like is not None and not source.is_table:
            configs = {**self._retention(like), **configs}
        if source.is_table:
            # Windows too: records carry the time of events, which may be long ago, and Kafka would
            # delete a row for its age as soon as it is written.
            configs.setdefault("cleanup.policy", "compact")
        if configs.get("cleanup.policy") == "compact":
            configs = {**_BY_SIZE, **configs}
        with suppress(TopicExistsError):
            self._topics.create(
                source.topic,
                partitions=source.partitions or partitions,
                replication=source.replicas,
                configs=configs,
                is_open=True,
            )

    def _retention(self, topic: str) -> dict[str, str]:
        """Return how long a topic keeps its records, if it has a rule of its own."""
        found = self._topics.configs(topic).get(_RETENTION) if self._topics.exists(topic) else None
        if found is None or found.value is None or not found.is_overridden:
            return {}
        return {_RETENTION: found.value}

    def _delete(self, source: Source) -> None:
        if self._topics.exists(source.topic):
            self._topics.delete(source.topic)

    def _register(self, source: Source, *, only_first: bool = False) -> None:
        if self._schemas is not None:
            for spec in (key_spec(source), value_spec(source)):
                register_columns(spec, self._schemas, only_first=only_first)
