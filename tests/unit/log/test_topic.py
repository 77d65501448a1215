"""What a topic says of itself from its partitions."""

from orion.log.topic import Partition, Topic, is_internal


def test_totals_are_sums_of_the_partitions() -> None:
    topic = Topic(
        "t", (Partition(0, 1, (1, 2), (1,), 5, 9, 10), Partition(1, 1, (1,), (1,), 0, 1, 2))
    )
    assert (topic.records, topic.size_bytes, topic.replication) == (5, 12, 1)


def test_a_total_with_an_unknown_part_is_unknown() -> None:
    topic = Topic("t", (Partition(0, None, (1,), ()), Partition(1, 1, (1,), (1,), 0, 1, 2)))
    assert topic.records is None
    assert topic.size_bytes is None


def test_names_with_a_leading_underscore_are_internal() -> None:
    assert is_internal("__consumer_offsets")
    assert is_internal("_orion_status")
    assert not is_internal("orders_")
