"""TESTING: what tests of Orion and of pipelines need; real parts, no mocks.

In:  a pytest session: `pytest_plugins = ["orion.testing.kafka", "orion.testing.project"]`.
Out: fixtures `kafka`, `topic`, `project`, `make_project`; `wait_until` instead of sleeping.
Never: imported by the package itself; the fixtures need pytest, so they have modules of their own.
"""

from orion.testing.wait import wait_until

__all__ = ["wait_until"]
