"""Names of subjects: `name` in the default context, `:.context:name` in another one."""

from orion.registry.errors import InvalidSubjectError

DEFAULT_CONTEXT = "."
EVERY_CONTEXT = ":*:"


def split_subject(subject: str) -> tuple[str, str]:
    """Return the context and the name within it.

    >>> split_subject("orders-value"), split_subject(":.eu:orders-value")
    (('.', 'orders-value'), ('.eu', 'orders-value'))
    """
    if not subject.startswith(":."):
        return DEFAULT_CONTEXT, subject
    context, colon, name = subject[1:].partition(":")
    return (context, name) if colon else (subject[1:], "")


def join_subject(context: str, name: str) -> str:
    """Return the one spelling of a subject."""
    return name if context == DEFAULT_CONTEXT else f":{context}:{name}"


def check_subject(subject: str, *, may_be_context: bool = False) -> str:
    """Return the one spelling of a subject; raise where it has none.

    Args:
        may_be_context: Whether `:.context:` alone will do, for settings of a whole context.
    """
    context, name = split_subject(subject)
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in subject):
        raise InvalidSubjectError(subject, "it holds control characters")
    if not name.strip() and not (may_be_context and subject.startswith(":.")):
        raise InvalidSubjectError(subject, "it is empty")
    if name in ("__GLOBAL", "__EMPTY"):
        raise InvalidSubjectError(subject, "the name is reserved")
    return join_subject(context, name)
