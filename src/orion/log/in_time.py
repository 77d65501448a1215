"""Calls of librdkafka's that come back in time: it does not keep to the time that it is given."""

import threading
from collections.abc import Callable
from concurrent.futures import Future

from confluent_kafka import KafkaException

from orion.model import UnavailableError

# A call that keeps to its own time is not cut off ahead of it.
_MARGIN_S = 5.0


class CallStuckError(UnavailableError):
    """Raised when a call does not come back; what it belongs to must not be used any more."""

    def __init__(self, act: str, timeout_s: float) -> None:
        self.act, self.timeout_s = act, timeout_s
        super().__init__(
            f"Kafka's client did not come back from a call to {act} in {timeout_s:g} s.",
            fix="It is tried again by itself, with a new client; see whether all brokers are up: "
            "orion status",
        )


def call_in_time(act: str, call: Callable[[float], object], timeout_s: float) -> None:
    """Run a call; one that does not keep to its time is left behind on a thread of its own.

    Args:
        act: What it does, in words that follow "to".
        call: Takes how long it may last, in seconds.
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
        done.result(timeout_s + _MARGIN_S)
    except TimeoutError as error:
        raise CallStuckError(act, timeout_s + _MARGIN_S) from error
