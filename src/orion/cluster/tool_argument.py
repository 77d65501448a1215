"""Arguments that older Kafkas took and Kafka 4 does not, turned into what it takes."""

import re
from collections.abc import Mapping, Sequence

LEAST_SEGMENT_BYTES = 1 << 20
_SEGMENT_MS = 1000
_SEGMENT_BYTES = re.compile(r"(?<![\w.])segment\.bytes=(\d+)")
# Only where Kafka 4 dropped the word: other tools have a `--broker-list` of broker ids.
_RENAMED: Mapping[str, Mapping[str, str]] = {
    "kafka-console-producer": {
        "--broker-list": "--bootstrap-server",
        # Still taken, but Kafka 4 then warns on standard output, among what scripts read.
        "--property": "--reader-property",
    },
    "kafka-consumer-perf-test": {"--broker-list": "--bootstrap-server"},
    "kafka-get-offsets": {"--broker-list": "--bootstrap-server"},
    "kafka-console-consumer": {"--whitelist": "--include", "--property": "--formatter-property"},
}
_TOPIC_CONFIG = {"kafka-configs": "--add-config", "kafka-topics": "--config"}


def translate(tool: str, arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments Kafka 4 understands, and a note for each one that changed.

    >>> translate("kafka-console-producer", ["--broker-list", "localhost:9092"])[0]
    ['--bootstrap-server', 'localhost:9092']
    """
    renamed, notes = _rename(tool, arguments)
    replaced, more = _replace_small_segments(tool, renamed)
    return replaced, [*notes, *more]


def _rename(tool: str, arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    words, notes = [], []
    for argument in arguments:
        option, equals, value = argument.partition("=")
        new = _RENAMED.get(tool, {}).get(option)
        if new is None:
            words.append(argument)
            continue
        words.append(new + equals + value)
        notes.append(f"Kafka 4 calls {option} now {new}; that was used.")
    return words, list(dict.fromkeys(notes))


def _replace_small_segments(tool: str, arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Replace a topic's segment.bytes below Kafka 4's minimum by a segment of short time."""
    option = _TOPIC_CONFIG.get(tool)
    words, notes = [], []
    previous = ""
    for argument in arguments:
        is_value = option is not None and (previous == option or argument.startswith(f"{option}="))
        found = _SEGMENT_BYTES.search(argument) if is_value else None
        if found and int(found[1]) < LEAST_SEGMENT_BYTES:
            words.append(_SEGMENT_BYTES.sub(f"segment.ms={_SEGMENT_MS}", argument))
            notes.append(
                f"Kafka 4 takes no segment.bytes below {LEAST_SEGMENT_BYTES} (given: {found[1]}); "
                f"segment.ms={_SEGMENT_MS} was set instead: a segment ends after a second."
            )
        else:
            words.append(argument)
        previous = argument
    return words, notes
