"""LOG: the only room that speaks Kafka.

In:  addresses and client options; topic names, records, offsets.
Out: topics, records, consumer groups, transactions.
Never: Spark, SQL or HTTP.
"""

from orion.log.connection import BrokerUnreachableError, Connection
from orion.log.consume import Selection, Start, consume
from orion.log.errors import (
    GroupActiveError,
    GroupNotFoundError,
    KafkaRefusedError,
    OffsetOutOfRangeError,
    PartitionNotFoundError,
    ProtectedTopicError,
    TopicExistsError,
    TopicNotFoundError,
    TopicRefusedError,
    UnknownConfigError,
)
from orion.log.group import Group, GroupPartition, Groups, Member
from orion.log.group_reset import Move, ResetTarget
from orion.log.produce import Failure, ProduceError, produce
from orion.log.record import Header, Record, RecordLineError, decode_line, encode_line
from orion.log.topic import Partition, Topic, Topics, is_internal
from orion.log.topic_config import TopicConfig, format_config, parse_config
from orion.log.topic_risk import Risk, find_risks

__all__ = [
    "BrokerUnreachableError",
    "Connection",
    "Failure",
    "Group",
    "GroupActiveError",
    "GroupNotFoundError",
    "GroupPartition",
    "Groups",
    "Header",
    "KafkaRefusedError",
    "Member",
    "Move",
    "OffsetOutOfRangeError",
    "Partition",
    "PartitionNotFoundError",
    "ProduceError",
    "ProtectedTopicError",
    "Record",
    "RecordLineError",
    "ResetTarget",
    "Risk",
    "Selection",
    "Start",
    "Topic",
    "TopicConfig",
    "TopicExistsError",
    "TopicNotFoundError",
    "TopicRefusedError",
    "Topics",
    "UnknownConfigError",
    "consume",
    "decode_line",
    "encode_line",
    "find_risks",
    "format_config",
    "is_internal",
    "parse_config",
    "produce",
]
