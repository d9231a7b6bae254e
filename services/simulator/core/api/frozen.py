"""Objects that cannot be changed: dicts and lists that refuse every mutation.

So what is stored stays as stored. They are real dicts and lists (encoders, comparisons and reads
work at full speed), shared freely between storage, watches and callers. Whoever wants to change one
takes `thaw`. A plain dict would be faster to make and a copy per reader safer to hand out; neither
holds for lists of 100,000 pods.
"""

from typing import Any, NoReturn


def _refuse(*_args: object, **_kwargs: object) -> NoReturn:
    raise TypeError("a stored object cannot be changed; take thaw(object)")


class FrozenDict(dict[str, Any]):
    """A dict without mutators."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __deepcopy__(self, _memo: dict[int, Any]) -> dict[str, Any]:
        thawed: dict[str, Any] = thaw(self)
        return thawed


class FrozenList(list[Any]):
    """A list without mutators."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __deepcopy__(self, _memo: dict[int, Any]) -> list[Any]:
        thawed: list[Any] = thaw(self)
        return thawed


def freeze(value: Any) -> Any:
    """Return the value with every dict and list in it frozen; frozen parts are kept as they are."""
    kind = type(value)
    if kind is dict:
        return FrozenDict(
            {
                key: freeze(item) if type(item) in _CONTAINERS else item
                for key, item in value.items()
            }
        )
    if kind is list:
        return FrozenList([freeze(item) if type(item) in _CONTAINERS else item for item in value])
    return value


def thaw(value: Any) -> Any:
    """Return a deep, changeable copy."""
    if isinstance(value, dict):
        return {
            key: thaw(item) if isinstance(item, _BASES) else item for key, item in value.items()
        }
    if isinstance(value, list):
        return [thaw(item) if isinstance(item, _BASES) else item for item in value]
    return value


_CONTAINERS = (dict, list)
_BASES = (dict, list)
