"""What one sees while the demo runs: a live table in a terminal, lines in a log, or nothing."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from orion.demo.progress import Progress, QueryProgress
from orion.model import State, format_count

_LINE_EVERY_S = 5.0
_PATHS = {
    "bronze.plays": ("plays", "table bronze/plays"),
    "plays_seen": ("plays", "topic plays_seen"),
    "enriched_plays": ("plays_seen, users, songs", "topic enriched_plays"),
    "silver.plays": ("enriched_plays", "table silver/plays"),
    "top_songs": ("enriched_plays", "topic top_songs"),
    "sessions": ("enriched_plays", "topic sessions"),
    "gold.top_songs": ("top_songs", "table gold/top_songs"),
    "gold.sessions": ("sessions", "table gold/sessions"),
}


@dataclass(frozen=True)
class Frame:
    """One moment of the demo.

    Args:
        produced: Topic, records delivered, records in all.
    """

    step: str
    produced: Sequence[tuple[str, int, int]] = ()
    progress: Progress | None = None


class View(Protocol):
    """Shows frames and lasting lines; called by one thread."""

    def open(self) -> None:
        """Begin to show."""

    def show(self, frame: Frame) -> None:
        """Show a moment in place of the last one."""

    def note(self, text: str) -> None:
        """Show a line that stays."""

    def close(self) -> None:
        """Leave the screen to others."""


class SilentView:
    """Shows nothing, for `--json`."""

    def open(self) -> None:
        """Begin to show."""

    def show(self, frame: Frame) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Nothing to leave."""


class LinesView:
    """A line every few seconds, for logs and pipes."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console, self._clock = console, clock
        self._started = clock()
        self._last_step, self._last_s = "", 0.0

    def open(self) -> None:
        """Begin to show."""

    def show(self, frame: Frame) -> None:
        """Print a new step at once, and its progress now and then."""
        now = self._clock()
        if frame.step != self._last_step:
            self.note(frame.step)
        elif now - self._last_s < _LINE_EVERY_S:
            return
        elif frame.progress is not None:
            self.note(_line(frame))
        self._last_step, self._last_s = frame.step, now

    def note(self, text: str) -> None:
        """Print a line with the seconds since the start."""
        line = f"{self._clock() - self._started:5.0f}s  {text}"
        self._console.print(line, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Nothing to leave."""


class LiveView:
    """A table that changes in place."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._frame = Frame("")
        self._live = Live(
            console=console, get_renderable=self._render, refresh_per_second=4, transient=True
        )

    def open(self) -> None:
        """Take the lower part of the terminal."""
        self._live.start()

    def show(self, frame: Frame) -> None:
        """Show a moment in place of the last one."""
        self._frame = frame

    def note(self, text: str) -> None:
        """Print a line above the table."""
        self._live.console.print(Text(text))

    def close(self) -> None:
        """Give the terminal back."""
        self._live.stop()

    def _render(self) -> Group:
        frame, seconds = self._frame, int(self._clock() - self._started)
        clock = f"{seconds // 60}:{seconds % 60:02}"
        head = Text.assemble(("Orion music demo", "bold"), f"  {clock}  ", (frame.step, "cyan"))
        parts: list[Text | Table | Padding] = [head]
        if frame.produced:
            parts.append(Padding(_produced(frame.produced), (1, 0)))
        if frame.progress is not None:
            parts.append(_queries(frame.progress))
            if frame.progress.top_songs:
                parts.append(Padding(_top_songs(frame.progress), (1, 0, 0, 0)))
        return Group(*parts)


def _line(frame: Frame) -> str:
    produced = ", ".join(f"{name} {format_count(done)}" for name, done, _ in frame.produced)
    assert frame.progress is not None
    queries = frame.progress.queries
    lag = format_count(sum(query.lag_records or 0 for query in queries))
    # Two queries read the plays and set the same ones aside; they are counted once.
    dead = sum(query.dead_letters for query in queries if query.name != "bronze.plays")
    running = sum(query.state == State.RUNNING for query in queries)
    top = frame.progress.top_songs
    song = f"; in front: {top[0][0]} ({top[0][2]} plays)" if top else ""
    work = f"{running} of {len(queries)} queries run; lag {lag}; dead letters {dead}"
    return f"produced {produced}; {work}{song}"


def _produced(produced: Sequence[tuple[str, int, int]]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, done, total in produced:
        bar = ProgressBar(total=total or 1, completed=done, width=30)
        counts = f"{format_count(done)} of {format_count(total)}"
        table.add_row(Text(f"{name:<6}"), bar, Text(counts, justify="right"))
    return table


def _queries(progress: Progress) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("READS", "WRITES"):
        table.add_column(name)
    for name in ("LAG", "BATCH", "RECORDS/S", "DEAD LETTERS"):
        table.add_column(name, justify="right")
    for query in progress.queries:
        table.add_row(*_cells(query))
    if progress.restarts:
        table.caption = f"the engine was started again: {progress.restarts}"
        table.caption_justify = "left"
    return table


def _cells(query: QueryProgress) -> list[Text]:
    source, sink = _PATHS[query.name]
    lag = "-" if query.lag_records is None else format_count(query.lag_records)
    batch = "-" if query.batch is None else str(query.batch)
    dead = format_count(query.dead_letters) if query.dead_letters else ""
    return [
        Text(source),
        Text(sink),
        Text(lag, style="yellow" if query.lag_records else "green"),
        Text(batch),
        Text(format_count(query.records_per_second)),
        Text(dead, style="red"),
    ]


def _top_songs(progress: Progress) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("MOST HEARD SO FAR")
    table.add_column("BY")
    table.add_column("PLAYS", justify="right")
    for title, artist, plays in progress.top_songs:
        table.add_row(Text(title), Text(artist), Text(format_count(plays)))
    return table
