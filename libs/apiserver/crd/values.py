"""JSON values as the API server holds them: numbers, sameness, correspondence.

Laws: integers are 64 bits wide, anything else is a double; `2.0` is a double until it is stored,
then it is `2` (that is how it is written down); `1`, `1.0` and `true` are three different values.
"""

from typing import Any

from libs.apiserver.crd.schema import MISSING, Schema

_INT_MIN, _INT_MAX = -(2**63), 2**63 - 1


def received(value: Any) -> Any:
    """Return a deep copy of decoded JSON whose integers over 64 bits are doubles."""
    match value:
        case dict():
            return {key: received(item) for key, item in value.items()}
        case list():
            return [received(item) for item in value]
        case int() if not _INT_MIN <= value <= _INT_MAX:
            return float(value)
        case _:
            return value


def stored(value: Any) -> Any:
    """Return a deep copy whose whole doubles are integers, as they read back from storage."""
    match value:
        case dict():
            return {key: stored(item) for key, item in value.items()}
        case list():
            return [stored(item) for item in value]
        case float() if value.is_integer() and _INT_MIN <= value <= _INT_MAX:
            return int(value)
        case _:
            return value


def identical(left: Any, right: Any, schema: Schema | None = None) -> bool:
    """Return whether two values are the same; the order of lists of type `map` does not count."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            identical(item, right[key], child(schema, key)) for key, item in left.items()
        )
    if isinstance(left, list):
        if len(left) != len(right):
            return False
        items = schema.items if schema else None
        return all(
            identical(item, corresponding(schema, left, right, index, positional=True), items)
            for index, item in enumerate(left)
        )
    return bool(left == right)


def child(schema: Schema | None, key: str) -> Schema | None:
    """Return the schema of one member of an object or map."""
    if schema is None:
        return None
    return schema.properties.get(key, schema.additional)


def old_member(schema: Schema, old: Any, key: str) -> Any:
    """Return the stored value that corresponds to a member, or `MISSING`."""
    if not isinstance(old, dict) or schema.is_atomic_map:
        return MISSING
    return old.get(key, MISSING)


def corresponding(
    schema: Schema | None, items: list[Any], old: Any, index: int, *, positional: bool = False
) -> Any:
    """Return the stored item that corresponds to `items[index]`, or `MISSING`.

    Items of lists of type `map` correspond by their keys; others only with `positional`, by place.
    """
    if not isinstance(old, list):
        return MISSING
    if schema is not None and schema.list_type == "map" and isinstance(items[index], dict):
        keys = item_key(schema, items[index])
        same = (item for item in old if isinstance(item, dict) and item_key(schema, item) == keys)
        return next(same, MISSING)
    return old[index] if positional and index < len(old) else MISSING


def item_key(schema: Schema, item: dict[str, Any]) -> dict[str, Any]:
    """Return the part of an item that tells it from the others of its list of type `map`."""
    return {key: item[key] for key in schema.list_keys if key in item}
