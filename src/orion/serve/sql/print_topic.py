"""PRINT: the records of a topic as lines, in formats that are guessed from the bytes."""

import asyncio
import datetime
import json
import struct
from collections.abc import AsyncGenerator

from orion.log import Record, Tail, TopicNotFoundError
from orion.model import OrionError
from orion.registry import RegistryClient, TextCodec
from orion.serve.sql.rooms import SqlRooms
from orion.sql import tree

_STEP_S = 0.25
_NULL = "<null>"


class Guess:
    """Guesses what bytes are, and keeps to it while it fits."""

    def __init__(self, codec: TextCodec) -> None:
        self._codec = codec

    def name_of(self, body: bytes | None) -> str:
        """Return the name of a format that fits."""
        if body is None:
            return "¯\\_(ツ)_/¯ - no data processed"
        if self._framed(body) is not None:
            return "AVRO, PROTOBUF or JSON_SR"
        text = _read_text(body)
        if text is None:
            return {4: "KAFKA_INT", 8: "KAFKA_BIGINT or KAFKA_DOUBLE"}.get(len(body), "BYTES")
        return "JSON or KAFKA_STRING" if _is_json(text) else "KAFKA_STRING"

    def text_of(self, body: bytes | None) -> str:
        """Return the bytes as text."""
        if body is None:
            return _NULL
        framed = self._framed(body)
        if framed is not None:
            return framed
        text = _read_text(body)
        if text is not None:
            return text
        if len(body) in (4, 8):
            return str(struct.unpack(">i" if len(body) == 4 else ">q", body)[0])
        return body.hex()

    def _framed(self, body: bytes) -> str | None:
        """Return the JSON of a record that names its schema."""
        if len(body) < 5 or body[0] != 0:
            return None
        try:
            return self._codec.decode(body)[0]
        except OrionError:
            return None


def _read_text(body: bytes) -> str | None:
    """Return bytes that people would read; a small number is valid UTF-8 too, but begins with 0."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


async def print_lines(
    rooms: SqlRooms, statement: tree.PrintTopic
) -> AsyncGenerator[str | None, None]:
    """Yield the lines of a PRINT statement; None now and then while nothing comes."""
    topic = await asyncio.to_thread(_find, rooms, statement.topic)
    guess = Guess(TextCodec(RegistryClient(rooms.app.settings.registry_url)))
    connection = rooms.app.connection
    begins = statement.from_beginning
    tail = await asyncio.to_thread(lambda: Tail(connection, topic, from_beginning=begins))
    shown, seen, interval = 0, 0, statement.interval or 1
    try:
        while statement.limit is None or shown < statement.limit:
            records = await asyncio.to_thread(tail.read, _STEP_S)
            for record in records:
                if seen == 0:
                    names = await asyncio.to_thread(_formats, guess, record)
                    yield f"Key format: {names[0]}"
                    yield f"Value format: {names[1]}"
                if seen % interval == 0 and (statement.limit is None or shown < statement.limit):
                    yield await asyncio.to_thread(_line, guess, record)
                    shown += 1
                seen += 1
            if not records:
                yield None
    finally:
        await asyncio.shield(asyncio.to_thread(tail.close))


def _find(rooms: SqlRooms, name: str) -> str:
    """Return the topic of a name, also where only its case differs."""
    known = rooms.app.topics.names(internal=True)
    if name in known:
        return name
    same = [topic for topic in known if topic.lower() == name.lower()]
    if len(same) == 1:
        return same[0]
    raise TopicNotFoundError(name, known)


def _formats(guess: Guess, record: Record) -> tuple[str, str]:
    return guess.name_of(record.key), guess.name_of(record.value)


def _line(guess: Guess, record: Record) -> str:
    moment = datetime.datetime.fromtimestamp((record.timestamp_ms or 0) / 1_000, datetime.UTC)
    time = f"{moment:%Y/%m/%d %H:%M:%S}.{moment.microsecond // 1_000:03d} Z"
    key, value = guess.text_of(record.key), guess.text_of(record.value)
    return f"rowtime: {time}, key: {key}, value: {value}, partition: {record.partition}"
