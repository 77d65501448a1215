"""Which worker gets which tests: a file goes to one, the long ones begin, few share a platform."""

import pytest
from xdist.scheduler import LoadScopeScheduling

# Begun first: what is left for the end is short, so that workers end together. The lab is the very
# first, because its ports are fixed and lie among those that systems give to connections.
FIRST = (
    "test_lab_cluster.py",
    "test_kill.py",
    "test_demo.py",
    "test_lab_sql.py",
    "test_sql.py",
    "test_sql_kill.py",
    "test_cluster.py",
    "test_sql_differential.py",
    "test_sql_differential_live.py",
    "test_sql_state_kill.py",
    "test_broker_kill.py",
    "test_queries_cli.py",
    "test_platform.py",
    "test_sql_baseline.py",
    "test_sql_cases_http.py",
    "test_pages.py",
)
# Files that use one platform, which is started once if one worker has them all.
TOGETHER = dict.fromkeys(("test_lab_sql.py", "test_sql.py", "test_sql_kill.py"), "platform")
# Files whose tests have nothing in common, and take long.
APART = ("test_kill.py", "test_pages.py", "test_demo.py")


class Spread(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out files in their order; it is asked for by `--dist loadfile`."""

    def _split_scope(self, nodeid: str) -> str:
        name = file_name(nodeid)
        return nodeid if name in APART else TOGETHER.get(name, name)


def file_name(nodeid: str) -> str:
    """Return the name of a test's file."""
    return nodeid.partition("::")[0].rpartition("/")[2]


def rank(item: pytest.Item) -> int:
    """Return a test's place in the order of files."""
    name = file_name(item.nodeid)
    return FIRST.index(name) if name in FIRST else len(FIRST)
