"""Media types of the registry: which bodies it reads, and which one an answer has."""

from orion.model import InvalidInputError

KNOWN = (
    "application/vnd.schemaregistry.v1+json",
    "application/vnd.schemaregistry+json",
    "application/json",
)
# Old clients send this one; a body without any type is taken for JSON.
READ = (*KNOWN, "application/octet-stream", "")


class NotAcceptableError(InvalidInputError):
    """Raised when a client takes no media type that there is."""

    def __init__(self, accept: str) -> None:
        self.accept = accept
        super().__init__(
            f"No answer can be of the media types '{accept}'.", fix=f"Send Accept: {KNOWN[0]}"
        )


def choose(accept: str) -> str:
    """Return the media type of an answer, by the weights of an Accept header."""
    if not accept.strip():
        return KNOWN[0]
    found: list[tuple[float, int, str]] = []
    for number, part in enumerate(accept.split(",")):
        name, *parameters = (word.strip().lower() for word in part.split(";"))
        weight = _weight(parameters)
        matches = KNOWN[0] if name in ("*/*", "application/*") else name
        if weight > 0 and matches in KNOWN:
            found.append((-weight, number, matches))
    if not found:
        raise NotAcceptableError(accept)
    return min(found)[2]


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
