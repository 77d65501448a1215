"""Calls of librdkafka's that come back in time: it does not keep to the time that it is given."""

import threading
from collections.abc import Callable
from concurrent.futures import Future

from confluent_kafka import KafkaException

from orion.model import UnavailableError


class CallStuckError(UnavailableError):
    """Raised when a call does not come back; what it belongs to must not be used any more."""

    def __init__(self, act: str, limit_s: float) -> None:
        self.act, self.limit_s = act, limit_s
        super().__init__(
            f"Kafka's client did not come back from a call to {act} in {limit_s:g} s.",
            fix="It is tried again by itself, with a new client; see whether all brokers are up: "
            "orion status",
        )


def call_in_time(
    act: str, call: Callable[[float], object], timeout_s: float, *, limit_s: float
) -> None:
    """Run a call; one that does not come back is left behind on a thread of its own.

    Args:
        act: What it does, in words that follow "to".
        call: Takes how long it may last, in seconds, and may not keep to it.
        limit_s: How long it is waited for.
    """
    done = Future[object]()

    def run() -> None:
        try:
            done.set_result(call(timeout_s))
        except KafkaException as error:
            done.set_exception(error)

    # The thread holds what it is stuck in: letting go of a client in use ends the process.
    threading.Thread(target=run, name=act, daemon=True).start()
    try:
        done.result(limit_s)
    except TimeoutError as error:
        raise CallStuckError(act, limit_s) from error
