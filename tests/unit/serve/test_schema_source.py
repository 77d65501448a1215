"""The registry of the process answers formats as any other source of schemas."""

import pytest

from orion.formats import Schema, SchemaKind, SchemaNotFoundError, SchemaReference, SchemaSource
from orion.model import ConflictError
from orion.registry import Registry
from orion.serve.schema_source import RegistrySchemas

ITEM = '{"type":"record","name":"Item","fields":[{"name":"n","type":"int"}]}'
CART = '{"type":"record","name":"Cart","fields":[{"name":"i","type":"Item"}]}'


@pytest.fixture
def schemas() -> SchemaSource:
    return RegistrySchemas(Registry.in_memory())


def test_schemas_are_registered_and_found(schemas: SchemaSource) -> None:
    item = Schema(SchemaKind.AVRO, ITEM)
    assert schemas.register("item", item) == 1
    assert schemas.register("item", item) == 1
    cart = Schema(SchemaKind.AVRO, CART, (SchemaReference("Item", "item", 1),))
    assert schemas.register("cart", cart) == 2
    assert schemas.schema(2) == cart
    assert schemas.version("cart", 1).schema == cart
    assert [each.id for each in schemas.versions("item")] == [1]
    latest = schemas.latest("item")
    assert latest is not None
    assert (latest.id, latest.schema) == (1, item)


def test_what_is_not_there_is_told_in_the_words_of_formats(schemas: SchemaSource) -> None:
    assert schemas.latest("nobody") is None
    assert schemas.versions("nobody") == ()
    with pytest.raises(SchemaNotFoundError):
        schemas.schema(9)
    with pytest.raises(SchemaNotFoundError):
        schemas.version("nobody", 1)


def test_a_refusal_is_an_error_of_the_registry(schemas: SchemaSource) -> None:
    schemas.register("item", Schema(SchemaKind.AVRO, ITEM))
    with pytest.raises(ConflictError, match="incompatible"):
        schemas.register("item", Schema(SchemaKind.AVRO, '"string"'))
