"""The plan of an answer as a tree that people can read."""

from collections.abc import Iterator

from orion.sql.plan.answer.plan import Derived, Relation, Scan, SelectPlan


def explain_answer(plan: SelectPlan) -> str:
    """Return a plan as indented lines."""
    return "\n".join(_select(plan, 0))


def _select(plan: SelectPlan, depth: int) -> Iterator[str]:
    indent = "  " * depth
    names = ", ".join(item.name for item in plan.items)
    yield f"{indent}> {'SELECT DISTINCT' if plan.is_distinct else 'SELECT'} {names}"
    if plan.order_by:
        yield f"{indent}    ordered by {len(plan.order_by)} expression(s)"
    if plan.overs:
        yield f"{indent}    computed over rows: {len(plan.overs)} column(s)"
    if plan.keys is not None:
        calls = ", ".join(call.function.name for call in plan.calls)
        yield f"{indent}    grouped by {len(plan.keys)} expression(s): {calls or 'no aggregates'}"
    if plan.where is not None:
        yield f"{indent}    filtered"
    yield from _relation(plan.relation, depth + 1)
    for other, is_all in plan.united:
        yield f"{indent}> UNION{' ALL' if is_all else ''}"
        yield from _select(other, depth + 1)
    for inner in plan.inner:
        yield f"{indent}  > {inner.use.value} OF{', FOR EACH ROW' if inner.links else ''}"
        yield from _select(inner.query, depth + 2)


def _relation(relation: Relation, depth: int) -> Iterator[str]:
    indent = "  " * depth
    match relation:
        case Scan(read):
            yield f"{indent}> READ {read.source.kind.value} {read.source.name}"
        case Derived(query):
            yield from _select(query, depth)
        case _:
            how = f"by {len(relation.left_keys)} key(s)" if relation.left_keys else "by every pair"
            yield f"{indent}> {relation.kind.value} JOIN {how}"
            yield from _relation(relation.left, depth + 1)
            yield from _relation(relation.right, depth + 1)
