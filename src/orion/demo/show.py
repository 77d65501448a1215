"""The demo from start to end: produce, watch, strike if asked to, close, check the books."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orion.demo.books import Books, check_books
from orion.demo.feed import Feed
from orion.demo.ledger import Ledger, Topic, make_ledger
from orion.demo.progress import LEVELS, PipelineFailedError, Progress, ProgressReader
from orion.demo.project import SCRIPT, DemoProject
from orion.demo.view import Frame, View
from orion.log import create_own_topics

# The plays come over about this time, however many they are.
_FEED_S = 10
_FRAME_S = 0.5
_STALLED_AFTER_S = 120.0
_PARTITIONS = {"users": 1, "songs": 1, "plays": 2}


@dataclass(frozen=True)
class Options:
    """What a run of the demo is asked for."""

    plays: int = 80_000
    seed: int = 7
    project: Path | None = None
    kill: bool = False


@dataclass(frozen=True)
class Outcome:
    """How a run went."""

    books: Books
    options: Options
    folder: Path
    seconds: float
    strikes: int
    restarts: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values for `--json`."""
        return {
            **self.books.to_json(),
            "plays": self.options.plays,
            "seed": self.options.seed,
            "strikes": self.strikes,
            "restarts": self.restarts,
            "seconds": round(self.seconds, 1),
            "project": str(self.folder),
        }


class MusicDemo:
    """One run. `run` may be interrupted at any point; `stop` must follow it in any case."""

    def __init__(self, options: Options, view: View) -> None:
        self._options, self._view = options, view
        self.project = DemoProject.create(options.project)
        self._reader = ProgressReader(self.project.app)
        self._feeds: list[Feed] = []
        self._step = ""
        self._strikes = 0
        self._progress = Progress()

    def run(self) -> Outcome:
        """Play the whole demo and return its books."""
        started = time.monotonic()
        self._view.open()
        try:
            ledger = self._start()
            self._load_catalogue(ledger)
            self._play(ledger)
            self._close(ledger)
            self._enter("Counting everything again …")
            books = check_books(self.project, ledger)
        finally:
            self._view.close()
        seconds = time.monotonic() - started
        return Outcome(
            books,
            self._options,
            self.project.folder,
            seconds,
            self._strikes,
            self._progress.restarts,
        )

    def stop(self, *, remove: bool) -> None:
        """Stop the platform and what else runs."""
        for feed in self._feeds:
            feed.stop()
        self.project.stop(remove=remove)

    def _start(self) -> Ledger:
        self._enter("Starting the platform: Kafka, the engine, the HTTP server …")
        self.project.begin_start()
        # Made while the platform starts.
        now_ms = int(time.time() * 1_000)
        ledger = make_ledger(self._options.seed, self._options.plays, now_ms=now_ms)
        self.project.finish_start()
        app = self.project.app
        create_own_topics(app.connection)
        for name, partitions in _PARTITIONS.items():
            app.topics.create(name, partitions=partitions)
        return ledger

    def _load_catalogue(self, ledger: Ledger) -> None:
        """Bring users and songs into their tables, so that the first play finds them there."""
        self._enter(f"Starting the queries of {SCRIPT} and the lake …")
        self._view.note(f"The SQL is {self.project.folder / SCRIPT}")
        for topic in (ledger.user_topic, ledger.song_topic):
            self._feed(topic)
        self.project.start_lake()
        self.project.start_queries()
        self._wait_read(("enriched_plays",))

    def _play(self, ledger: Ledger) -> None:
        self._enter("Plays are coming in: late, repeated, some of them broken")
        feed = self._feed(ledger.play_topic, per_second=max(self._options.plays // _FEED_S, 100))
        if self._options.kill:
            quarter = len(ledger.play_topic.records) // 4
            self._wait(lambda progress: _consumed(feed, progress) >= quarter)
            self._strike()
        self._wait(lambda _: feed.is_done())
        self._wait_all()

    def _strike(self) -> None:
        """Kill the engine in the middle of its work, and wait until it runs again."""
        self.project.kill_engine()
        self._strikes += 1
        self._view.note("Killed the engine with SIGKILL; the supervisor starts it again.")
        self._enter("Recovering from the kill; plays keep coming in")
        self._wait(lambda progress: progress.restarts > 0)

    def _close(self, ledger: Ledger) -> None:
        """Send the play that ends every open session."""
        self._enter("Closing: a play, hours later, ends every open session")
        feed = self._feed(ledger.closing_topic)
        self._wait(lambda _: feed.is_done())
        self._wait_all()

    def _feed(self, topic: Topic, *, per_second: int = 0) -> Feed:
        connection = self.project.app.connection
        feed = Feed(connection, topic.name, topic.records, per_second=per_second)
        self._feeds.append(feed)
        feed.start()
        return feed

    def _wait_all(self) -> None:
        for level in LEVELS:
            self._wait_read(level)

    def _wait_read(self, queries: tuple[str, ...]) -> None:
        """Wait until the queries have read all that is there now."""
        self._wait(lambda progress: all(progress.lag(name) == 0 for name in queries))

    def _wait(self, done: Callable[[Progress], bool]) -> None:
        changed = time.monotonic()
        while True:
            progress = self._reader.read()
            if progress != self._progress:
                self._progress, changed = progress, time.monotonic()
            self._show()
            if done(progress):
                return
            if time.monotonic() - changed > _STALLED_AFTER_S:
                reason = f"nothing has moved for {_STALLED_AFTER_S:.0f} s"
                raise PipelineFailedError(reason, str(self.project.folder))
            # Paces the view; every step above waits for a condition.
            time.sleep(_FRAME_S)

    def _enter(self, step: str) -> None:
        self._step = step
        self._show()

    def _show(self) -> None:
        totals: dict[str, list[int]] = {}
        for feed in self._feeds:
            count = totals.setdefault(feed.topic, [0, 0])
            count[0] += feed.delivered
            count[1] += feed.total
        produced = [(topic, done, total) for topic, (done, total) in totals.items()]
        self._view.show(Frame(self._step, produced, self._progress if produced else None))


def _consumed(feed: Feed, progress: Progress) -> int:
    lag = progress.lag("plays_seen")
    return 0 if lag is None else feed.delivered - lag
