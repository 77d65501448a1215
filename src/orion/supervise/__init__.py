"""SUPERVISE: keep the processes of a project running; knows neither Kafka nor Spark.

In:  process specs: what to run, how to know that it is ready, when to restart it.
Out: running processes, their states and logs; a control socket for commands.
Never: a process that outlives its supervisor, or two supervisors of one project.
"""

from orion.supervise.appfile import AppSpec, read_apps
from orion.supervise.client import RefusedError, SupervisorClient
from orion.supervise.errors import (
    AlreadyRunningError,
    DiskError,
    DiskFullError,
    NotRunningError,
    PortTakenError,
    StartError,
    UnknownProcessError,
)
from orion.supervise.foreground import Foreground
from orion.supervise.logfile import log_path, open_log, read_tail
from orion.supervise.preflight import check_disk, free_ports, hold_ports, is_free, port_holder
from orion.supervise.process import process_exists
from orion.supervise.runfolder import RunFolder
from orion.supervise.server import ControlServer
from orion.supervise.spec import ProcessSpec, ProcessStatus, RestartPolicy, State
from orion.supervise.supervisor import Supervisor

__all__ = [
    "AlreadyRunningError",
    "AppSpec",
    "ControlServer",
    "DiskError",
    "DiskFullError",
    "Foreground",
    "NotRunningError",
    "PortTakenError",
    "ProcessSpec",
    "ProcessStatus",
    "RefusedError",
    "RestartPolicy",
    "RunFolder",
    "StartError",
    "State",
    "Supervisor",
    "SupervisorClient",
    "UnknownProcessError",
    "check_disk",
    "free_ports",
    "hold_ports",
    "is_free",
    "log_path",
    "open_log",
    "port_holder",
    "process_exists",
    "read_apps",
    "read_tail",
]
