"""What the demo has produced, kept apart from the platform: the truth its results must meet."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice, pairwise
from random import Random
from typing import Any

from orion.demo.damage import damage
from orion.demo.world import MINUTE_MS, Play, Song, User, make_plays, make_songs, make_users
from orion.log import Record

# The SQL names the same lengths; a unit test holds the two together.
WINDOW_MS = 10 * MINUTE_MS
SESSION_GAP_MS = 10 * MINUTE_MS
GRACE_MS = 120 * MINUTE_MS

_REPEATED, _MALFORMED, _LATE, _MOVED = 0.03, 0.005, 0.05, 0.05
_LATEST_MS = 5 * MINUTE_MS
_REPEAT_WITHIN_MS = 3 * MINUTE_MS

Window = tuple[int, str]
Sitting = tuple[str, int, int]


@dataclass
class Topic:
    """The records for one topic, in their order, and what they are."""

    name: str
    records: list[Record] = field(default_factory=list)
    malformed: int = 0
    repeated: int = 0


@dataclass
class Ledger:
    """Everything the demo produces, and the answers that follow from it."""

    users: dict[str, User]
    songs: dict[str, Song]
    plays: list[Play]
    closing: Play
    user_topic: Topic
    song_topic: Topic
    play_topic: Topic
    closing_topic: Topic
    repeated_plays: list[str]

    def copies(self) -> dict[str, int]:
        """Return how often each play was sent in a form that can be read."""
        return Counter([*(play.play_id for play in self.all_plays), *self.repeated_plays])

    @property
    def all_plays(self) -> list[Play]:
        """Every play once, the one that closes the books included."""
        return [*self.plays, self.closing]

    def song_windows(self) -> dict[Window, tuple[int, int]]:
        """Return plays and seconds by the window's start and the song."""
        plays: Counter[Window] = Counter()
        seconds: Counter[Window] = Counter()
        for play in self.all_plays:
            window = (play.at_ms - play.at_ms % WINDOW_MS, play.song_id)
            plays[window] += 1
            seconds[window] += play.secs
        return {window: (count, seconds[window]) for window, count in plays.items()}

    def sittings(self) -> dict[Sitting, tuple[int, int]]:
        """Return plays and seconds by user, start and end of a sitting.

        A sitting ends with its last play. The closing play's own one stays open.
        """
        by_user: dict[str, list[Play]] = {}
        for play in sorted(self.plays, key=lambda play: play.at_ms):
            by_user.setdefault(play.user_id, []).append(play)
        return dict(_sitting(run) for heard in by_user.values() for run in _runs(heard))


def make_ledger(seed: int, plays: int, *, now_ms: int) -> Ledger:
    """Return what a run produces; the same seed and hour give the same records.

    The last play lies some hours before now: Kafka keeps a record by its time, and refuses one from
    the future.
    """
    random = Random(seed)
    users, songs = make_users(random), make_songs(random)
    heard = list(islice(make_plays(random, users, songs), plays))
    hour_ms = 60 * MINUTE_MS
    start_ms = now_ms - heard[-1].at_ms - 4 * hour_ms
    start_ms -= start_ms % hour_ms
    heard = [Play(p.play_id, p.user_id, p.song_id, p.at_ms + start_ms, p.secs) for p in heard]
    closing = _closing(heard, users[0], songs[0])
    user_topic, moved = _user_topic(users, random)
    song_topic = _song_topic(songs, random)
    # Users and songs were there before the first play, by their own time too.
    for topic in (user_topic, song_topic):
        topic.records = [replace(r, timestamp_ms=start_ms) for r in topic.records]
    play_topic, repeated = _play_topic(heard, random)
    return Ledger(
        users={user.user_id: user for user in moved},
        songs={song.song_id: song for song in songs},
        plays=heard,
        closing=closing,
        user_topic=user_topic,
        song_topic=song_topic,
        play_topic=play_topic,
        closing_topic=Topic("plays", [_play_record(closing)]),
        repeated_plays=repeated,
    )


def time_text(at_ms: int) -> str:
    """Return an instant as the events spell it."""
    at = datetime.fromtimestamp(at_ms / 1_000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _closing(heard: Sequence[Play], user: User, song: Song) -> Play:
    """Return a play so late that every window before it ends."""
    at_ms = max(play.at_ms for play in heard) + GRACE_MS + 2 * SESSION_GAP_MS
    return Play("closing", user.user_id, song.song_id, at_ms, 30)


def _user_topic(users: Sequence[User], random: Random) -> tuple[Topic, list[User]]:
    """Return the users' records, some followed by a later one that replaces it."""
    topic, last = Topic("users"), []
    for user in users:
        _add(topic, user.user_id, {**vars(user), "age": random.randint(16, 90)}, "age", random)
    for user in users:
        moved = random.random() < _MOVED
        found = User(user.user_id, user.name, "NO") if moved else user
        if moved:
            topic.repeated += 1
            body = {**vars(found), "age": random.randint(16, 90)}
            topic.records.append(_record(user.user_id, body))
        last.append(found)
    return topic, last


def _song_topic(songs: Sequence[Song], random: Random) -> Topic:
    topic = Topic("songs")
    for song in songs:
        body = {**vars(song), "year": random.randint(1965, 2025)}
        _add(topic, song.song_id, body, "year", random)
    return topic


def _play_topic(plays: Sequence[Play], random: Random) -> tuple[Topic, list[str]]:
    """Return the plays' records as they arrive, some late, and which of them come twice."""
    arrivals: list[tuple[int, int, Record]] = []
    topic, repeated = Topic("plays"), list[str]()
    for play in plays:
        late_ms = random.randrange(_LATEST_MS) if random.random() < _LATE else 0
        record, arrived_ms = _play_record(play), play.at_ms + late_ms
        arrivals.append((arrived_ms, len(arrivals), record))
        if random.random() < _REPEATED:
            again_ms = arrived_ms + random.randrange(_REPEAT_WITHIN_MS)
            arrivals.append((again_ms, len(arrivals), record))
            repeated.append(play.play_id)
        if random.random() < _MALFORMED:
            broken = Record(damage(record.value or b"", "secs", random), key=record.key)
            arrivals.append((arrived_ms, len(arrivals), broken))
            topic.malformed += 1
    arrivals.sort(key=lambda arrival: arrival[:2])
    topic.records = [record for _, _, record in arrivals]
    topic.repeated = len(repeated)
    return topic, repeated


def _add(topic: Topic, key: str, body: dict[str, Any], number: str, random: Random) -> None:
    record = _record(key, body)
    topic.records.append(record)
    if random.random() < _MALFORMED:
        topic.records.append(Record(damage(record.value or b"", number, random), key=record.key))
        topic.malformed += 1


def _play_record(play: Play) -> Record:
    body = {**vars(play), "played_at": time_text(play.at_ms)}
    del body["at_ms"]
    return _record(play.user_id, body)


def _record(key: str, body: dict[str, Any]) -> Record:
    return Record(json.dumps(body).encode(), key=key.encode())


def _runs(heard: Sequence[Play]) -> list[list[Play]]:
    """Split one user's plays where the next comes more than a gap later."""
    runs = [[heard[0]]]
    for before, play in pairwise(heard):
        if play.at_ms - before.at_ms > SESSION_GAP_MS:
            runs.append([])
        runs[-1].append(play)
    return runs


def _sitting(run: Sequence[Play]) -> tuple[Sitting, tuple[int, int]]:
    first, last = run[0], run[-1]
    key = (first.user_id, first.at_ms, last.at_ms)
    return key, (len(run), sum(play.secs for play in run))
