"""The demo's books: what was produced against what topics and tables hold, row by row."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from orion.app import App
from orion.demo.ledger import Ledger, Topic, time_text
from orion.demo.progress import short_name
from orion.demo.project import DemoProject
from orion.demo.recount import (
    Found,
    Key,
    compare,
    count_dead_letters,
    count_topic,
    read_rows,
    read_table,
    read_topic,
)


@dataclass(frozen=True)
class Intake:
    """One input: every record produced is in a table, replaced by a later one, or a dead letter."""

    topic: str
    produced: int
    in_topic: int
    in_table: int
    replaced: int
    dead_letters: int
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """One result: ledger, topic and table hold the same rows."""

    name: str
    ledger: int
    in_topic: int
    in_table: int
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Books:
    """The whole balance sheet."""

    intakes: tuple[Intake, ...]
    results: tuple[Result, ...]

    @property
    def differences(self) -> tuple[str, ...]:
        """Every difference in words; none: the books balance."""
        parts: tuple[Intake | Result, ...] = (*self.intakes, *self.results)
        return tuple(text for part in parts for text in part.differences)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for `--json`."""
        return {
            "balanced": not self.differences,
            "intakes": [asdict(intake) for intake in self.intakes],
            "results": [asdict(result) for result in self.results],
            "differences": list(self.differences),
        }


def check_books(project: DemoProject, ledger: Ledger) -> Books:
    """Count everything again and compare it with the ledger."""
    app, closing = project.app, ledger.closing_topic
    plays = Topic(
        "plays",
        [*ledger.play_topic.records, *closing.records],
        malformed=ledger.play_topic.malformed,
        repeated=ledger.play_topic.repeated,
    )
    return Books(
        (_users(project, ledger), _songs(project, ledger), _plays(app, ledger, plays)),
        (_enriched(app, ledger), _top_songs(app, ledger), _sessions(app, ledger)),
    )


def _users(project: DemoProject, ledger: Ledger) -> Intake:
    expected: dict[Key, Key] = {(u.user_id,): (u.name, u.country) for u in ledger.users.values()}
    return _looked_up(project, ledger.user_topic, expected, ("user_id", "name", "country"))


def _songs(project: DemoProject, ledger: Ledger) -> Intake:
    expected: dict[Key, Key] = {(s.song_id,): (s.title, s.artist) for s in ledger.songs.values()}
    return _looked_up(project, ledger.song_topic, expected, ("song_id", "title", "artist"))


def _looked_up(
    project: DemoProject, topic: Topic, expected: dict[Key, Key], columns: tuple[str, ...]
) -> Intake:
    """Compare a table that plays are looked up in; its first column is the key."""
    found = read_rows(project.ask(f"SELECT * FROM {topic.name};"), columns[:1], columns[1:])
    differences = [*_compare(f"table {topic.name}", expected, found)]
    return _intake(project.app, topic, found.count, ("enriched_plays",), differences)


def _plays(app: App, ledger: Ledger, topic: Topic) -> Intake:
    found = read_table(app, "bronze/plays", ("_partition", "_offset"), ("play_id",))
    copies: dict[Key, Key] = {}
    for (play_id,) in found.rows.values():
        copies[(play_id,)] = (copies.get((play_id,), (0,))[0] + 1,)
    expected = {(play_id,): (times,) for play_id, times in ledger.copies().items()}
    differences = [*compare("table bronze/plays", expected, copies, show=_show)]
    if found.repeated:
        differences.append(f"{found.repeated} rows twice in table bronze/plays")
    # Two queries read the plays; each sets aside what it cannot read.
    queries = ("bronze.plays", "plays_seen")
    return _intake(app, topic, found.count, queries, differences, is_appended=True)


def _intake(
    app: App,
    topic: Topic,
    in_table: int,
    queries: tuple[str, ...],
    differences: list[str],
    *,
    is_appended: bool = False,
) -> Intake:
    produced, in_topic = len(topic.records), count_topic(app, topic.name)
    if in_topic != produced:
        differences.append(f"topic {topic.name} holds {in_topic} records of {produced} produced")
    names = {short_name(name): name for name in app.statuses.read()}
    counts = [count_dead_letters(app, names[query], topic.name) for query in queries]
    for query, count in zip(queries, counts, strict=True):
        if count != topic.malformed:
            text = f"{count} dead letters of query {names[query]} for {topic.malformed}"
            differences.append(f"{text} malformed records in topic {topic.name}")
    replaced = 0 if is_appended else topic.repeated
    accounted = in_table + replaced + counts[0]
    if accounted != produced:
        differences.append(f"{accounted} of {produced} records of topic {topic.name} accounted for")
    return Intake(topic.name, produced, in_topic, in_table, replaced, counts[0], tuple(differences))


def _enriched(app: App, ledger: Ledger) -> Result:
    key, values = ("play_id",), ("played_at", "user_id", "country", "song_id", "title", "secs")
    expected: dict[Key, Key] = {}
    for play in ledger.all_plays:
        country, title = ledger.users[play.user_id].country, ledger.songs[play.song_id].title
        row = (play.at_ms, play.user_id, country, play.song_id, title, play.secs)
        expected[(play.play_id,)] = row
    topic = read_topic(app, "enriched_plays", key, values, keyed_by="play_id")
    table = read_table(app, "silver/plays", key, values)
    differences = [*_compare("topic enriched_plays", expected, topic)]
    differences += _compare("table silver/plays", expected, table)
    name = "plays, each once, with user and song"
    return Result(name, len(expected), topic.count, table.count, tuple(differences))


def _top_songs(app: App, ledger: Ledger) -> Result:
    key, values = ("window_start", "song_id"), ("plays", "secs")
    expected: dict[Key, Key] = {**ledger.song_windows()}
    topic = read_topic(app, "top_songs", key, values)
    table = read_table(app, "gold/top_songs", key, values)
    differences = [*compare("topic top_songs", expected, topic.rows, show=_show)]
    differences += _compare("table gold/top_songs", expected, table)
    name = "plays of each song in each 10 minutes"
    # The topic holds every change of a figure; the last of each key counts.
    return Result(name, len(expected), len(topic.rows), table.count, tuple(differences))


def _sessions(app: App, ledger: Ledger) -> Result:
    key, values = ("user_id", "session_start", "session_end"), ("plays", "secs")
    expected: dict[Key, Key] = {**ledger.sittings()}
    topic = read_topic(app, "sessions", key, values)
    table = read_table(app, "gold/sessions", key, values)
    differences = [*_compare("topic sessions", expected, topic)]
    differences += _compare("table gold/sessions", expected, table)
    name = "listening sessions"
    return Result(name, len(expected), topic.count, table.count, tuple(differences))


def _compare(where: str, expected: dict[Key, Key], found: Found) -> Iterator[str]:
    """Compare rows of which each key must be there once."""
    yield from compare(where, expected, found.rows, show=_show)
    if found.repeated:
        yield f"{found.repeated} rows twice in {where}"


def _show(key: Key) -> str:
    parts = (time_text(part) if isinstance(part, int) else str(part) for part in key)
    return " ".join(parts)
