"""The users, songs and plays of an invented music service, the same for the same seed."""

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

MINUTE_MS = 60_000
SONGS = 400
USERS = 3_000
# Popularity falls with the rank to this power: a few songs get most of the plays.
_ZIPF = 1.1
_LAST_PLAY_OF_SITTING = 0.16
_IDLE_LEAST_MS, _IDLE_MEAN_MS = 15 * MINUTE_MS, 25 * MINUTE_MS

_FIRST = ("Silver", "Hidden", "Velvet", "Burning", "Quiet", "Electric", "Broken", "Golden")
_MIDDLE = ("Harbour", "Winter", "Mirror", "Signal", "Garden", "Thunder", "Paper", "Midnight")
_LAST = ("Song", "Road", "Letters", "Lights", "Parade", "Machine", "Tide", "Avenue")
_BANDS = ("The Offsets", "Quorum", "Late Arrivals", "Static Join", "Night Shift", "Watermark")
_NAMES = ("Ada", "Ben", "Chloe", "Dev", "Emma", "Finn", "Grace", "Hugo", "Iris", "Jonas", "Kira")
_COUNTRIES = ("DE", "FR", "GB", "IN", "IT", "JP", "PL", "SE", "US")


@dataclass(frozen=True)
class User:
    """Someone who listens."""

    user_id: str
    name: str
    country: str


@dataclass(frozen=True)
class Song:
    """Something to listen to."""

    song_id: str
    title: str
    artist: str


@dataclass(frozen=True)
class Play:
    """A user heard a song: from when, for how long."""

    play_id: str
    user_id: str
    song_id: str
    at_ms: int
    secs: int


def make_users(random: Random, count: int = USERS) -> list[User]:
    """Return users with names and countries."""
    return [
        User(f"u{number:05}", f"{random.choice(_NAMES)} {number}", random.choice(_COUNTRIES))
        for number in range(count)
    ]


def make_songs(random: Random, count: int = SONGS) -> list[Song]:
    """Return songs, the most popular first; no two have the same title."""
    titles = [" ".join(words) for words in itertools.product(_FIRST, _MIDDLE, _LAST)]
    random.shuffle(titles)
    return [
        Song(f"s{number:04}", title, random.choice(_BANDS))
        for number, title in enumerate(titles[:count])
    ]


def make_plays(random: Random, users: Sequence[User], songs: Sequence[Song]) -> Iterator[Play]:
    """Yield plays without end, in the order of their times, which begin near 0.

    Users listen song after song, then pause. A pause is at least 15 minutes and no song is longer
    than 5, so that it is never in doubt where a sitting ends.
    """
    ranks = itertools.accumulate(1 / rank**_ZIPF for rank in range(1, len(songs) + 1))
    weights = list(ranks)
    listening = [(random.randrange(30 * MINUTE_MS), number) for number in range(len(users))]
    heapq.heapify(listening)
    for number in itertools.count():
        at_ms, listener = listening[0]
        song = random.choices(songs, cum_weights=weights)[0]
        secs = random.randint(30, 300)
        yield Play(f"p{number:07}", users[listener].user_id, song.song_id, at_ms, secs)
        next_ms = at_ms + secs * 1_000 + random.randrange(10_000)
        if random.random() < _LAST_PLAY_OF_SITTING:
            next_ms += _IDLE_LEAST_MS + int(random.expovariate(1 / _IDLE_MEAN_MS))
        heapq.heapreplace(listening, (next_ms, listener))
