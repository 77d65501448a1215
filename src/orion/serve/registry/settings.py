"""Paths below /config and /mode: how schemas may change, and who may change them."""

from typing import Any

from orion.registry import InvalidModeError, Mode, Registry, parse_level
from orion.serve.registry.call import BadFieldError, Call, read_metadata, read_rules

_CONFIG_FIELDS = (
    "compatibility",
    "compatibilityLevel",
    "alias",
    "normalize",
    "validateFields",
    "compatibilityGroup",
    "compatibilityPolicy",
    "defaultMetadata",
    "overrideMetadata",
    "defaultRuleSet",
    "overrideRuleSet",
)


def get_config(registry: Registry, call: Call) -> Any:
    """Return the configuration of the whole registry or of a subject."""
    subject = _scope(call)
    return dict(registry.config(subject, in_force=subject is None or call.flag("defaultToGlobal")))


def set_config(registry: Registry, call: Call) -> Any:
    """Set the configuration of the whole registry or of a subject."""
    body = call.fields(_CONFIG_FIELDS)
    given = {name: value for name, value in body.items() if name != "compatibility"}
    level = body.get("compatibility", body.get("compatibilityLevel"))
    if level is not None or not given:
        given["compatibilityLevel"] = str(parse_level(level))
    for name in ("defaultMetadata", "overrideMetadata"):
        read_metadata(given.get(name))
    for name in ("defaultRuleSet", "overrideRuleSet"):
        read_rules(given.get(name))
    for name, kind, word in (
        ("alias", str, "a text"),
        ("compatibilityGroup", str, "a text"),
        ("normalize", bool, "true or false"),
    ):
        if not isinstance(given.get(name), kind | None):
            raise BadFieldError(name, f"is {given[name]!r}, expected {word}")
    registry.set_config(_scope(call), given)
    answer = {name: value for name, value in given.items() if name != "compatibilityLevel"}
    return answer | ({"compatibility": given["compatibilityLevel"]} if level is not None else {})


def delete_config(registry: Registry, call: Call) -> Any:
    """Remove a configuration; answers what it was."""
    return dict(registry.unset_config(_scope(call)))


def get_mode(registry: Registry, call: Call) -> Any:
    """Return the mode of the whole registry or of a subject."""
    subject = _scope(call)
    in_force = subject is None or call.flag("defaultToGlobal")
    return {"mode": str(registry.mode(subject, in_force=in_force))}


def set_mode(registry: Registry, call: Call) -> Any:
    """Set the mode of the whole registry or of a subject."""
    word = call.fields(("mode",)).get("mode")
    if not isinstance(word, str) or word.upper() not in list(Mode):
        raise InvalidModeError(word, Mode)
    mode = registry.set_mode(_scope(call), Mode(word.upper()), force=call.flag("force"))
    return {"mode": str(mode)}


def delete_mode(registry: Registry, call: Call) -> Any:
    """Remove a mode; answers what it was."""
    return {"mode": str(registry.unset_mode(_scope(call)))}


def _scope(call: Call) -> str | None:
    """Return the subject or context of the path; None: the whole registry."""
    return call.subject(may_be_context=True) if "subject" in call.path else None
