"""The stamp in committed offsets' metadata: which batch of which checkpoint they belong to."""

import json


def encode_stamp(checkpoint: str, batch: int) -> str:
    """Return the metadata of a batch's offsets."""
    return json.dumps({"checkpoint": checkpoint, "batch": batch})


def decode_stamp(metadata: str | None) -> tuple[str, int]:
    """Return checkpoint and batch; an empty checkpoint and -1 where another tool committed.

    >>> decode_stamp(encode_stamp("c", 3)), decode_stamp("")
    (('c', 3), ('', -1))
    """
    try:
        found = json.loads(metadata or "")
        return str(found["checkpoint"]), int(found["batch"])
    except (ValueError, KeyError, TypeError):
        return "", -1


def is_stamped(metadata: str | None) -> bool:
    """Tell whether offsets were committed by an Orion query."""
    return bool(decode_stamp(metadata)[0])
