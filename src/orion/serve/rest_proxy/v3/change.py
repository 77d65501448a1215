"""Changes of configurations as bodies give them."""

from typing import Any

from orion.serve.rest_proxy.call import Call, text
from orion.serve.rest_proxy.errors import BadFieldError

_OPERATIONS = ("SET", "DELETE")


def new_value(call: Call) -> str:
    """Return the value that a configuration is to have."""
    value = call.fields().get("value")
    if not isinstance(value, str):
        raise BadFieldError("value", "a text")
    return value


def changes(call: Call) -> dict[str, str | None]:
    """Return new values by name; None resets one."""
    found = {}
    for each in call.objects("data"):
        operation = each.get("operation") or "SET"
        if operation not in _OPERATIONS:
            raise BadFieldError("operation", "SET or DELETE")
        found[text(each.get("name"), "name")] = _value(each) if operation == "SET" else None
    return found


def _value(each: Any) -> str:
    value = each.get("value")
    if not isinstance(value, str):
        raise BadFieldError("value", "a text, or the operation DELETE")
    return value


def configs_of(given: Any) -> dict[str, str]:
    """Return the configurations of a new topic."""
    if given is None:
        return {}
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise BadFieldError("configs", "a list of objects")
    return {text(each.get("name"), "name"): _value(each) for each in given}
