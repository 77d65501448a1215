"""The archive for executors holds what tasks import."""

import json
import subprocess
import sys
from importlib.metadata import packages_distributions

from orion.process.shipping import DISTRIBUTIONS

PROGRAM = """
import json, sys
import orion.formats, orion.sql, orion.state
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""
# Spark's own Python side, and what is imported only where it happens to be there.
NOT_SHIPPED = {"pyspark", "py4j", "psutil", "idna", "googleapis-common-protos", "orion-streams"}


def test_every_package_that_tasks_import_is_shipped() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    owners = packages_distributions()
    needed = {owner for module in json.loads(done.stdout) for owner in owners.get(module, [])}
    shipped = {name.replace("_", "-") for name in DISTRIBUTIONS}
    assert {name.replace("_", "-") for name in needed} - NOT_SHIPPED <= shipped
