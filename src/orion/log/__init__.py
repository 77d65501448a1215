"""LOG: the only room that speaks Kafka.

In:  addresses and client options; topic names, records, offsets.
Out: topics, records, consumer groups, transactions.
Never: Spark, SQL or HTTP.
"""

from orion.log.connection import BrokerUnreachableError, Connection

__all__ = ["BrokerUnreachableError", "Connection"]
