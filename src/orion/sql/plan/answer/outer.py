"""Columns of the query around a query inside of an expression."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orion.model import Scalar
from orion.sql.plan.errors import StatementError, UnknownColumnError
from orion.sql.plan.typed import Typed, Variable

if TYPE_CHECKING:
    from orion.sql.parse import tree
    from orion.sql.plan.resolve import Scope


@dataclass
class OuterScope:
    """Finds columns in a query's own sources, then in those of the query around it.

    Args:
        links: What was found around it: the variable that stands for it, and its expression there.
    """

    own: "Scope"
    outer: "Scope"
    links: dict[Variable, Typed] = field(default_factory=dict)

    def find(self, reference: "tree.ColumnRef") -> Typed:
        """Return the column, or the variable of one around; its own sources go first."""
        try:
            return self.own.find(reference)
        except StatementError as error:
            if reference.source is None and not isinstance(error, UnknownColumnError):
                raise
            try:
                found = self.outer.find(reference)
            except StatementError:
                raise error from None
        known = {expression: variable for variable, expression in self.links.items()}
        if found not in known:
            known[found] = Variable(found.type or Scalar.STRING, f"^{len(self.links)}")
            self.links[known[found]] = found
        return known[found]
