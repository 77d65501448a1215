-- A music service: raw plays in; each play once, top songs and listening sessions out.
-- An ordinary script: orion run music.sql

-- Who and what: the last record of a key counts.
CREATE SOURCE TABLE users (user_id STRING PRIMARY KEY, name STRING, country STRING, age INT)
  WITH (KAFKA_TOPIC='users', VALUE_FORMAT='JSON');
CREATE SOURCE TABLE songs (song_id STRING PRIMARY KEY, title STRING, artist STRING, year INT)
  WITH (KAFKA_TOPIC='songs', VALUE_FORMAT='JSON');

-- Plays as they come: late, some of them twice, some unreadable. Their own time counts.
CREATE STREAM plays (play_id STRING, user_id STRING, song_id STRING, secs INT, played_at STRING)
  WITH (KAFKA_TOPIC='plays', VALUE_FORMAT='JSON',
        TIMESTAMP='played_at', TIMESTAMP_FORMAT='yyyy-MM-dd''T''HH:mm:ss.SSSX');

-- How often each play came. Every change of this table is a record of its topic …
CREATE TABLE plays_seen WITH (KAFKA_TOPIC='plays_seen', PARTITIONS=1) AS
  SELECT play_id,
         COUNT(*) AS copies,
         EARLIEST_BY_OFFSET(user_id) AS user_id,
         EARLIEST_BY_OFFSET(song_id) AS song_id,
         EARLIEST_BY_OFFSET(secs) AS secs,
         EARLIEST_BY_OFFSET(played_at) AS played_at
  FROM plays
  GROUP BY play_id;

-- … so the changes to one copy are the plays, each once.
CREATE STREAM play_sightings
  (play_id STRING KEY, copies BIGINT, user_id STRING, song_id STRING, secs INT, played_at STRING)
  WITH (KAFKA_TOPIC='plays_seen', VALUE_FORMAT='JSON');

-- Each play with its user and its song.
CREATE STREAM enriched_plays WITH (KAFKA_TOPIC='enriched_plays', PARTITIONS=1) AS
  SELECT p.play_id AS play_id, p.played_at AS played_at, p.user_id AS user_id, u.country AS country,
         p.song_id AS song_id, s.title AS title, s.artist AS artist, p.secs AS secs
  FROM play_sightings p
  LEFT JOIN users u ON p.user_id = u.user_id
  LEFT JOIN songs s ON p.song_id = s.song_id
  WHERE p.copies = 1
  PARTITION BY p.play_id;

-- How often each song was heard in each ten minutes; a new figure replaces the last.
CREATE TABLE top_songs WITH (KAFKA_TOPIC='top_songs', PARTITIONS=1) AS
  SELECT song_id AS song,
         AS_VALUE(song_id) AS song_id,
         WINDOWSTART AS window_start,
         LATEST_BY_OFFSET(title) AS title,
         LATEST_BY_OFFSET(artist) AS artist,
         COUNT(*) AS plays,
         SUM(secs) AS secs
  FROM enriched_plays
  WINDOW TUMBLING (SIZE 10 MINUTES, GRACE PERIOD 2 HOURS)
  GROUP BY song_id;

-- Listening sessions: songs with less than ten minutes between their beginnings. Each is told
-- once, when events two hours newer say that nothing more can come.
CREATE TABLE sessions WITH (KAFKA_TOPIC='sessions', PARTITIONS=1) AS
  SELECT user_id AS listener,
         AS_VALUE(user_id) AS user_id,
         WINDOWSTART AS session_start,
         WINDOWEND AS session_end,
         COUNT(*) AS plays,
         SUM(secs) AS secs
  FROM enriched_plays
  WINDOW SESSION (10 MINUTES, GRACE PERIOD 2 HOURS)
  GROUP BY user_id
  EMIT FINAL;
