"""CLUSTER: a local KRaft Kafka, and Kafka's own command line tools.

In:  Kafka settings, a folder, java and the class path of the Kafka bundle.
Out: configured and formatted nodes as processes to run; tools as commands to run.
Never: a process of its own that keeps running; that is supervise's work.
"""

from orion.cluster.local import LocalKafka, NodeProcess
from orion.cluster.node import Node, plan_nodes
from orion.cluster.probe import accepts_connections, knows_broker
from orion.cluster.properties import render_properties
from orion.cluster.storage import FormatError, ShapeChangedError, Storage

__all__ = [
    "FormatError",
    "LocalKafka",
    "Node",
    "NodeProcess",
    "ShapeChangedError",
    "Storage",
    "accepts_connections",
    "knows_broker",
    "plan_nodes",
    "render_properties",
]
