"""LOG: the only room that speaks Kafka.

In:  addresses and client options; topic names, records, offsets.
Out: topics, records, consumer groups, transactions.
Never: Spark, SQL or HTTP.
"""

from orion.log.acl import Acl, AclRefusedError, Acls, AclsDisabledError, AclWordError
from orion.log.broker import (
    Broker,
    BrokerNotFoundError,
    Brokers,
    Cluster,
    Config,
    ConfigRefusedError,
    Synonym,
)
from orion.log.connection import BrokerUnreachableError, Connection
from orion.log.consumer import Selection, Start, consume
from orion.log.dead_letter import (
    NO_PARTITION,
    DeadLetter,
    DeadLetters,
    DeadLetterSummary,
    encode_dead_letters,
)
from orion.log.errors import (
    GroupNotFoundError,
    PartitionNotFoundError,
    ProtectedTopicError,
    TopicExistsError,
    TopicNotFoundError,
    TopicRefusedError,
    UnknownConfigError,
)
from orion.log.group import Group, GroupPartition, Groups, Member
from orion.log.group_commit import GroupCommit
from orion.log.group_reset import Move, ResetTarget
from orion.log.late import LateRecord, encode_late_records, read_places
from orion.log.member import BEGINNING, END, CommittedOffset, GroupMember, MemberStateError
from orion.log.outbox import Outbox, OutboxFullError, Outcome, Refused, Written
from orion.log.processing_log import (
    PROCESSING_LOG_TOPIC,
    encode_processing_log,
)
from orion.log.producer import Failure, ProduceError, produce
from orion.log.record import Record, decode_line, encode_line
from orion.log.request import RequestLog
from orion.log.state_log import StateLog, StateLogError
from orion.log.status import HEARTBEAT_S, OrderLog, StatusLog, create_own_topics
from orion.log.tail import Tail
from orion.log.time_slice import ReadTime, Slice, TimeIndex, TopicTimes, slice_topics
from orion.log.topic import Partition, Topic, Topics, is_internal
from orion.log.topic_config import TopicConfig, parse_config
from orion.log.topic_risk import find_risks
from orion.log.transaction import (
    FencedError,
    Offsets,
    Outgoing,
    Position,
    RecordRefusedError,
    Transaction,
    TransactionalWriter,
    TransactionError,
)

__all__ = [
    "BEGINNING",
    "END",
    "HEARTBEAT_S",
    "NO_PARTITION",
    "PROCESSING_LOG_TOPIC",
    "Acl",
    "AclRefusedError",
    "AclWordError",
    "Acls",
    "AclsDisabledError",
    "Broker",
    "BrokerNotFoundError",
    "BrokerUnreachableError",
    "Brokers",
    "Cluster",
    "CommittedOffset",
    "Config",
    "ConfigRefusedError",
    "Connection",
    "DeadLetter",
    "DeadLetterSummary",
    "DeadLetters",
    "Failure",
    "FencedError",
    "Group",
    "GroupCommit",
    "GroupMember",
    "GroupNotFoundError",
    "GroupPartition",
    "Groups",
    "LateRecord",
    "Member",
    "MemberStateError",
    "Move",
    "Offsets",
    "OrderLog",
    "Outbox",
    "OutboxFullError",
    "Outcome",
    "Outgoing",
    "Partition",
    "PartitionNotFoundError",
    "Position",
    "ProduceError",
    "ProtectedTopicError",
    "ReadTime",
    "Record",
    "RecordRefusedError",
    "Refused",
    "RequestLog",
    "ResetTarget",
    "Selection",
    "Slice",
    "Start",
    "StateLog",
    "StateLogError",
    "StatusLog",
    "Synonym",
    "Tail",
    "TimeIndex",
    "Topic",
    "TopicConfig",
    "TopicExistsError",
    "TopicNotFoundError",
    "TopicRefusedError",
    "TopicTimes",
    "Topics",
    "Transaction",
    "TransactionError",
    "TransactionalWriter",
    "UnknownConfigError",
    "Written",
    "consume",
    "create_own_topics",
    "decode_line",
    "encode_dead_letters",
    "encode_late_records",
    "encode_line",
    "encode_processing_log",
    "find_risks",
    "is_internal",
    "parse_config",
    "produce",
    "read_places",
    "slice_topics",
]
