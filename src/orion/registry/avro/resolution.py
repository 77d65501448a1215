"""Avro's schema resolution: what keeps a reader's schema from reading a writer's data."""

from collections.abc import Iterator
from dataclasses import replace

from orion.registry.avro.parse import AvroSchema, branch_label
from orion.registry.avro.tree import (
    Array,
    Definition,
    Enum,
    Field,
    Fixed,
    Map,
    Node,
    Primitive,
    Record,
    Union,
    unqualified,
)
from orion.registry.conflict import Conflict

# What a reader of the key may find in the data.
_PROMOTIONS = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "string": ("bytes",),
    "bytes": ("string",),
}


def find_conflicts(reader: AvroSchema, writer: AvroSchema) -> list[Conflict]:
    """Return every rule that keeps the reader from reading data of the writer."""
    return list(_Resolution(reader, writer).compare(reader.root, writer.root, ""))


class _Resolution:
    """One pass over two schemas; a pair that is being compared is taken to fit."""

    def __init__(self, reader: AvroSchema, writer: AvroSchema) -> None:
        self._reader, self._writer = reader, writer
        self._known: dict[tuple[int, int], list[Conflict]] = {}

    def compare(self, reader: Node, writer: Node, path: str) -> list[Conflict]:
        reader, writer = self._reader.get(reader), self._writer.get(writer)
        pair = (id(reader), id(writer))
        if pair not in self._known:
            # A type that refers to itself meets its own pair again on the way down.
            self._known[pair] = []
            self._known[pair] = list(self._compare(reader, writer, path))
        return self._known[pair]

    def _compare(self, reader: Node, writer: Node, path: str) -> Iterator[Conflict]:
        if isinstance(writer, Union):
            yield from self._compare_branches(reader, writer, path)
        elif isinstance(reader, Union):
            yield from self._choose_branch(reader, writer, path)
        elif isinstance(reader, Primitive) and isinstance(writer, Primitive):
            yield from _compare_primitives(reader, writer, path)
        elif type(reader) is not type(writer):
            yield _mismatch(reader, writer, path)
        elif isinstance(reader, Array) and isinstance(writer, Array):
            yield from self.compare(reader.items, writer.items, f"{path}/items")
        elif isinstance(reader, Map) and isinstance(writer, Map):
            yield from self.compare(reader.values, writer.values, f"{path}/values")
        elif isinstance(reader, Record | Enum | Fixed) and isinstance(
            writer, Record | Enum | Fixed
        ):
            yield from self._compare_named(reader, writer, path)

    def _compare_branches(self, reader: Node, writer: Union, path: str) -> Iterator[Conflict]:
        """Yield what the reader cannot take of each branch the data may have."""
        for branch in writer.branches:
            if isinstance(reader, Union):
                yield from self._choose_branch(reader, branch, path)
            else:
                yield from self.compare(reader, branch, path)

    def _choose_branch(self, reader: Union, writer: Node, path: str) -> Iterator[Conflict]:
        writer = self._writer.get(writer)
        same: list[Conflict] = []
        for number, branch in enumerate(reader.branches):
            found = self.compare(branch, writer, f"{path}/{number}")
            if not found:
                return
            if _label(self._reader.get(branch)) == _label(writer):
                same = found
        # A branch of that name says more than that none fits.
        if same:
            yield from same
            return
        yield Conflict(
            "MISSING_UNION_BRANCH",
            path or "/",
            f"the writer's data may be {_word(writer)}, for which the reader's union has no branch",
        )

    def _compare_named(
        self, reader: Definition, writer: Definition, path: str
    ) -> Iterator[Conflict]:
        if not _same_name(reader, writer):
            yield Conflict(
                "NAME_MISMATCH",
                f"{path}/name",
                f"the {_word(reader)} of the reader was {_word(writer)} of the writer, and no alias"
                " names it",
            )
            return
        if isinstance(reader, Enum) and isinstance(writer, Enum):
            yield from _compare_enums(reader, writer, path)
        elif isinstance(reader, Fixed) and isinstance(writer, Fixed):
            yield from _compare_fixed(reader, writer, path)
        elif isinstance(reader, Record) and isinstance(writer, Record):
            yield from self._compare_records(reader, writer, path)

    def _compare_records(self, reader: Record, writer: Record, path: str) -> Iterator[Conflict]:
        for number, item in enumerate(reader.fields):
            place = f"{path}/fields/{number}"
            found = _find_field(item, writer)
            if found is not None:
                for conflict in self.compare(item.type, found.type, f"{place}/type"):
                    inner = f".{conflict.field}" if conflict.field else ""
                    yield replace(conflict, field=f"{item.name}{inner}")
            elif not item.has_default:
                yield Conflict(
                    "READER_FIELD_MISSING_DEFAULT_VALUE",
                    place,
                    f"field '{item.name}' of record '{reader.fullname}' has no default, and the"
                    " writer's data lacks it",
                )


def _find_field(item: Field, writer: Record) -> Field | None:
    by_name = {field.name: field for field in writer.fields}
    return next((by_name[name] for name in (item.name, *item.aliases) if name in by_name), None)


def _same_name(reader: Definition, writer: Definition) -> bool:
    names = unqualified(reader.fullname) == unqualified(writer.fullname)
    return names or writer.fullname in reader.aliases


def _compare_primitives(reader: Primitive, writer: Primitive, path: str) -> Iterator[Conflict]:
    if reader.name != writer.name and writer.name not in _PROMOTIONS.get(reader.name, ()):
        yield _mismatch(reader, writer, path)
    else:
        yield from _compare_decimals(reader, writer, path)


def _compare_enums(reader: Enum, writer: Enum, path: str) -> Iterator[Conflict]:
    missing = [symbol for symbol in writer.symbols if symbol not in reader.symbols]
    if missing and reader.default is None:
        yield Conflict(
            "MISSING_ENUM_SYMBOLS",
            f"{path}/symbols",
            f"enum '{reader.fullname}' of the reader lacks {', '.join(missing)} of the writer, and"
            " has no default for unknown symbols",
        )


def _compare_fixed(reader: Fixed, writer: Fixed, path: str) -> Iterator[Conflict]:
    if reader.size != writer.size:
        yield Conflict(
            "FIXED_SIZE_MISMATCH",
            f"{path}/size",
            f"fixed '{reader.fullname}' has {reader.size} bytes for the reader, {writer.size} for"
            " the writer",
        )
    else:
        yield from _compare_decimals(reader, writer, path)


def _compare_decimals(
    reader: Primitive | Fixed, writer: Primitive | Fixed, path: str
) -> Iterator[Conflict]:
    """Refuse decimals that would be read as other numbers, or may not fit.

    The specification has decimals match by scale and precision; room for more digits harms nobody.
    """
    if not (_is_decimal(reader) and _is_decimal(writer)):
        return
    scales = [node.attributes.get("scale", 0) for node in (reader, writer)]
    digits = [node.attributes.get("precision", 0) for node in (reader, writer)]
    if scales[0] != scales[1] or digits[0] < digits[1]:
        yield Conflict(
            "TYPE_MISMATCH",
            path or "/",
            f"the reader expects decimal({digits[0]}, {scales[0]}), the writer's data is"
            f" decimal({digits[1]}, {scales[1]})",
        )


def _is_decimal(node: Primitive | Fixed) -> bool:
    return node.attributes.get("logicalType") == "decimal"


def _mismatch(reader: Node, writer: Node, path: str) -> Conflict:
    text = f"the reader expects {_word(reader)}, the writer's data is {_word(writer)}"
    return Conflict("TYPE_MISMATCH", path or "/", text)


def _word(node: Node) -> str:
    if isinstance(node, Record | Enum | Fixed):
        return f"{type(node).__name__.lower()} '{node.fullname}'"
    return branch_label(node)


def _label(node: Node) -> str:
    return unqualified(branch_label(node))
