"""Names the shell completes; quick, and silent where no broker answers."""

from orion.model import OrionError

# A person waits for the shell: rather no names than late ones.
_TIMEOUT_S = 0.8


def complete_topic(incomplete: str) -> list[str]:
    """Return the topics that begin so; internal ones only after a `_`."""
    from orion.app import App, load_settings

    try:
        topics = App(load_settings()).topics
        names = topics.names(internal=incomplete.startswith("_"), timeout_s=_TIMEOUT_S)
    except OrionError:
        return []
    return [name for name in names if name.startswith(incomplete)]


def complete_group(incomplete: str) -> list[str]:
    """Return the consumer groups that begin so."""
    from orion.app import App, load_settings

    try:
        names = App(load_settings()).groups.names(timeout_s=_TIMEOUT_S)
    except OrionError:
        return []
    return [name for name in names if name.startswith(incomplete)]


def complete_subject(incomplete: str) -> list[str]:
    """Return the subjects of the schema registry that begin so."""
    from orion.app import App, load_settings
    from orion.registry import RegistryClient

    try:
        names = RegistryClient(App(load_settings()).settings.registry_url).subjects()
    except OrionError:
        return []
    return [name for name in names if name.startswith(incomplete)]


def complete_level(incomplete: str) -> list[str]:
    """Return the compatibility levels that begin so."""
    from orion.registry import Level

    return [str(level) for level in Level if level.startswith(incomplete.upper())]
