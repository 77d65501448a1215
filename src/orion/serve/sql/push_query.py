"""A push query: what it selects, from where on, and for how long."""

from dataclasses import dataclass

from orion.model import Type
from orion.sql import QueryPlan


@dataclass(frozen=True)
class PushQuery:
    """A query whose rows go to the client that asked."""

    id: str
    text: str
    plan: QueryPlan
    limit: int | None
    start: str

    @property
    def columns(self) -> list[tuple[str, Type | None]]:
        """The selected columns in their order."""
        types = {named.name: named.type for named in (*self.plan.key, *self.plan.value)}
        return [(name, types.get(name)) for name in self.plan.order]

    @property
    def schema_text(self) -> str:
        """The columns as the older endpoint shows them."""
        return ", ".join(f"`{name}` {kind or 'STRING'}" for name, kind in self.columns)
