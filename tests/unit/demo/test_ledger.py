"""The demo's events and the answers that follow from them."""

import json
import re
from collections import Counter
from importlib.resources import files
from random import Random

import pytest

from orion.demo.damage import damage
from orion.demo.ledger import (
    GRACE_MS,
    SESSION_GAP_MS,
    WINDOW_MS,
    Ledger,
    make_ledger,
    time_text,
)
from orion.demo.world import MINUTE_MS, Play, make_songs, make_users
from orion.formats import decoding

NOW_MS = 1_800_000_000_000


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return make_ledger(7, 10_000, now_ms=NOW_MS)


def test_the_same_seed_gives_the_same_records(ledger: Ledger) -> None:
    again = make_ledger(7, 10_000, now_ms=NOW_MS)
    assert again.play_topic.records == ledger.play_topic.records
    assert again.user_topic.records == ledger.user_topic.records
    assert make_ledger(8, 100, now_ms=NOW_MS).plays != ledger.plays[:100]


def test_records_are_plays_repeats_and_malformed_ones(ledger: Ledger) -> None:
    topic = ledger.play_topic
    assert len(ledger.plays) == 10_000
    assert len(topic.records) == 10_000 + topic.repeated + topic.malformed
    assert 0.02 < topic.repeated / 10_000 < 0.04
    assert 0.002 < topic.malformed / 10_000 < 0.008
    assert sum(ledger.copies().values()) == 10_000 + topic.repeated + 1


def test_a_few_songs_get_most_of_the_plays(ledger: Ledger) -> None:
    counts = Counter(play.song_id for play in ledger.plays)
    ten = sum(count for _, count in counts.most_common(10))
    assert ten > 0.4 * len(ledger.plays)
    assert counts.most_common(1)[0][0] == "s0000"


def test_some_plays_come_late_but_never_later_than_the_grace_period(ledger: Ledger) -> None:
    newest_ms, behind_ms = 0, []
    by_id = {play.play_id: play.at_ms for play in ledger.plays}
    for record in ledger.play_topic.records:
        found = re.match(rb'\{"play_id": "(p\d{7})".*\}$', record.value or b"")
        if found and found[1].decode() in by_id:
            at_ms = by_id[found[1].decode()]
            newest_ms = max(newest_ms, at_ms)
            behind_ms.append(newest_ms - at_ms)
    assert max(behind_ms) > 4 * MINUTE_MS
    assert max(behind_ms) < GRACE_MS
    assert 0.03 < sum(ms > MINUTE_MS for ms in behind_ms) / len(behind_ms) < 0.12


def test_times_are_kept_by_kafka(ledger: Ledger) -> None:
    last_ms = ledger.closing.at_ms
    assert last_ms < NOW_MS
    assert ledger.plays[0].at_ms > NOW_MS - 86_400_000


def test_the_closing_play_ends_every_session(ledger: Ledger) -> None:
    closed_ms = ledger.closing.at_ms - GRACE_MS - SESSION_GAP_MS
    assert all(end_ms < closed_ms for _, _, end_ms in ledger.sittings())


def test_windows_and_sessions_hold_every_play(ledger: Ledger) -> None:
    windows, sittings = ledger.song_windows(), ledger.sittings()
    assert sum(count for count, _ in windows.values()) == len(ledger.all_plays)
    assert sum(count for count, _ in sittings.values()) == len(ledger.plays)
    assert all(start_ms % WINDOW_MS == 0 for start_ms, _ in windows)


def test_sessions_end_where_the_next_play_is_more_than_a_gap_away() -> None:
    ledger = make_ledger(1, 100, now_ms=NOW_MS)
    at = [0, SESSION_GAP_MS, 2 * SESSION_GAP_MS + 1]
    ledger.plays = [Play(f"p{n}", "u00000", "s0000", ms, 10) for n, ms in enumerate(at)]
    assert ledger.sittings() == {
        ("u00000", 0, SESSION_GAP_MS): (2, 20),
        ("u00000", at[2], at[2]): (1, 10),
    }


def test_no_pause_is_near_the_gap(ledger: Ledger) -> None:
    last_ms: dict[str, int] = {}
    for play in ledger.plays:
        pause_ms = play.at_ms - last_ms.get(play.user_id, play.at_ms)
        assert pause_ms <= 6 * MINUTE_MS or pause_ms >= 15 * MINUTE_MS
        last_ms[play.user_id] = play.at_ms


def test_damaged_values_are_all_refused_by_the_decoder() -> None:
    import pyarrow as pa

    schema = pa.schema([("play_id", pa.string()), ("secs", pa.int32())])
    value, random = json.dumps({"play_id": "p1", "secs": 200}).encode(), Random(3)
    values = [damage(value, "secs", random) for _ in range(200)]
    decoded = decoding(schema)(pa.array(values, pa.binary()))
    assert decoded.field("_reason").null_count == 0


def test_users_and_titles_are_distinct() -> None:
    random = Random(1)
    users, songs = make_users(random), make_songs(random)
    assert len({user.user_id for user in users}) == len(users)
    assert len({song.title for song in songs}) == len(songs)


def test_the_last_record_of_a_user_is_the_one_in_the_ledger(ledger: Ledger) -> None:
    countries: dict[str, str] = {}
    for record in ledger.user_topic.records:
        try:
            body = json.loads(record.value or b"")
        except ValueError:
            continue
        if isinstance(body["age"], int):
            countries[body["user_id"]] = body["country"]
    assert countries == {user.user_id: user.country for user in ledger.users.values()}


def test_the_sql_and_the_ledger_agree_on_lengths() -> None:
    code = files("orion.demo").joinpath("music.sql").read_text()
    grace = f"GRACE PERIOD {GRACE_MS // (60 * MINUTE_MS)} HOURS"
    assert f"TUMBLING (SIZE {WINDOW_MS // MINUTE_MS} MINUTES, {grace})" in code
    assert f"SESSION ({SESSION_GAP_MS // MINUTE_MS} MINUTES, {grace})" in code


def test_instants_are_written_with_milliseconds() -> None:
    assert time_text(1_700_000_000_005) == "2023-11-14T22:13:20.005Z"
