from pathlib import Path

import pytest

from orion.cluster import ShapeChangedError, Storage, plan_nodes, render_properties
from orion.config import KafkaSettings


def rendered(kafka: KafkaSettings, name: str) -> dict[str, str]:
    nodes = plan_nodes(kafka)
    node = next(node for node in nodes if node.name == name)
    text = render_properties(node, nodes, folder=Path("/data"), overrides=kafka.broker_options)
    return dict(line.split("=", 1) for line in text.splitlines())


def test_one_broker_is_its_own_controller() -> None:
    found = rendered(KafkaSettings(ports=(9500,)), "broker-1")
    assert found["process.roles"] == "broker,controller"
    assert found["listeners"] == "PLAINTEXT://127.0.0.1:9500,CONTROLLER://127.0.0.1:9501"
    assert found["controller.quorum.voters"] == "1@127.0.0.1:9501"
    assert found["transaction.state.log.replication.factor"] == "1"


def test_three_brokers_have_three_controllers_of_their_own() -> None:
    nodes = plan_nodes(KafkaSettings(brokers=3))
    assert [(n.name, n.id, n.ports) for n in nodes] == [
        ("controller-1", 1, (29093,)),
        ("controller-2", 2, (39093,)),
        ("controller-3", 3, (49093,)),
        ("broker-1", 101, (19092,)),
        ("broker-2", 102, (29092,)),
        ("broker-3", 103, (39092,)),
    ]


def test_three_brokers_keep_three_copies_and_need_two() -> None:
    found = rendered(KafkaSettings(brokers=3), "broker-2")
    assert found["process.roles"] == "broker"
    assert found["node.id"] == "102"
    assert found["default.replication.factor"] == "3"
    assert found["min.insync.replicas"] == "2"
    assert found["offsets.topic.replication.factor"] == "3"
    assert found["transaction.state.log.min.isr"] == "2"
    voters = "1@127.0.0.1:29093,2@127.0.0.1:39093,3@127.0.0.1:49093"
    assert found["controller.quorum.voters"] == voters


@pytest.mark.parametrize("name", ["controller-1", "broker-1"])
def test_nothing_listens_beyond_this_machine(name: str) -> None:
    found = rendered(KafkaSettings(brokers=3), name)
    addresses = found["listeners"].split(",") + found.get("advertised.listeners", "").split(",")
    assert all("://127.0.0.1:" in address for address in addresses if address)


def test_records_of_ten_megabytes_pass() -> None:
    found = rendered(KafkaSettings(), "broker-1")
    assert int(found["message.max.bytes"]) > 10_485_760
    assert int(found["replica.fetch.max.bytes"]) >= int(found["message.max.bytes"])


def test_the_users_options_win() -> None:
    kafka = KafkaSettings(broker_options={"num.partitions": "6", "log.dirs": "/x\\y"})
    found = rendered(kafka, "broker-1")
    assert found["num.partitions"] == "6"
    assert found["log.dirs"] == "/x\\\\y"


def test_the_cluster_id_stays(tmp_path: Path) -> None:
    first = Storage(tmp_path).cluster_id(brokers=1)
    assert Storage(tmp_path).cluster_id(brokers=1) == first
    assert len(first) == 22


def test_data_of_another_shape_is_refused_with_both_ways_out(tmp_path: Path) -> None:
    Storage(tmp_path).cluster_id(brokers=1)
    with pytest.raises(ShapeChangedError) as caught:
        Storage(tmp_path).cluster_id(brokers=3)
    assert "orion reset" in (caught.value.fix or "")
    assert "--brokers 1" in (caught.value.fix or "")
