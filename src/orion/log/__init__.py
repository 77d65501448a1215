"""LOG: the only room that speaks Kafka.

In:  addresses and client options; topic names, records, offsets.
Out: topics, records, consumer groups, transactions.
Never: Spark, SQL or HTTP.
"""

from orion.log.connection import BrokerUnreachableError, Connection
from orion.log.consumer import Selection, Start, consume
from orion.log.dead_letter import (
    DeadLetter,
    DeadLetters,
    DeadLetterSummary,
    encode_dead_letters,
)
from orion.log.errors import (
    GroupNotFoundError,
    ProtectedTopicError,
    TopicExistsError,
    TopicNotFoundError,
)
from orion.log.group import Group, GroupPartition, Groups
from orion.log.group_commit import GroupCommit
from orion.log.group_reset import Move, ResetTarget
from orion.log.producer import Failure, ProduceError, produce
from orion.log.record import Record, decode_line, encode_line
from orion.log.request import RequestLog
from orion.log.state_log import StateLog, StateLogError
from orion.log.status import HEARTBEAT_S, OrderLog, StatusLog, create_own_topics
from orion.log.topic import Partition, Topic, Topics, is_internal
from orion.log.topic_config import TopicConfig, parse_config
from orion.log.topic_risk import find_risks
from orion.log.transaction import (
    FencedError,
    Offsets,
    Outgoing,
    Position,
    Transaction,
    TransactionalWriter,
    TransactionError,
)

__all__ = [
    "HEARTBEAT_S",
    "BrokerUnreachableError",
    "Connection",
    "DeadLetter",
    "DeadLetterSummary",
    "DeadLetters",
    "Failure",
    "FencedError",
    "Group",
    "GroupCommit",
    "GroupNotFoundError",
    "GroupPartition",
    "Groups",
    "Move",
    "Offsets",
    "OrderLog",
    "Outgoing",
    "Partition",
    "Position",
    "ProduceError",
    "ProtectedTopicError",
    "Record",
    "RequestLog",
    "ResetTarget",
    "Selection",
    "Start",
    "StateLog",
    "StateLogError",
    "StatusLog",
    "Topic",
    "TopicConfig",
    "TopicExistsError",
    "TopicNotFoundError",
    "Topics",
    "Transaction",
    "TransactionError",
    "TransactionalWriter",
    "consume",
    "create_own_topics",
    "decode_line",
    "encode_dead_letters",
    "encode_line",
    "find_risks",
    "is_internal",
    "parse_config",
    "produce",
]
