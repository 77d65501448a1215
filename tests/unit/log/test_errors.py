"""Errors keep their values, name the fix and translate the client's codes."""

import pytest
from confluent_kafka import KafkaError, KafkaException

from orion.log.connection import BrokerUnreachableError
from orion.log.errors import (
    GroupActiveError,
    KafkaRefusedError,
    PartitionNotFoundError,
    TopicNotFoundError,
    refuse,
)


def test_a_missing_topic_suggests_the_nearest_and_how_to_create_it() -> None:
    error = TopicNotFoundError("ordes", ["orders", "users"])
    assert error.topic == "ordes"
    assert error.fix == "Did you mean 'orders'? Create it with: orion topics create ordes"


def test_active_members_are_named() -> None:
    error = GroupActiveError("g", ["a on h", "b on h", "c on h", "d on h"])
    assert "4 active member(s): a on h, b on h, c on h and 1 more" in error.text


def test_the_only_partition_is_named() -> None:
    assert PartitionNotFoundError("t", 3, 1).fix == "Its only partition is 0."


def test_a_lost_broker_may_be_retried() -> None:
    with pytest.raises(BrokerUnreachableError):
        refuse(KafkaException(KafkaError(KafkaError._TRANSPORT)), "read", addresses="a:1")


def test_other_refusals_keep_the_code() -> None:
    with pytest.raises(KafkaRefusedError, match="Kafka could not read") as caught:
        refuse(KafkaException(KafkaError(KafkaError.INVALID_MSG)), "read", addresses="a:1")
    assert caught.value.code == "INVALID_MSG"
