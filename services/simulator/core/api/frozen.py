"""Objects that cannot be changed: dicts and lists that refuse every mutation.

So what is stored stays as stored. They are real dicts and lists (encoders, comparisons and reads
work at full speed), shared freely between storage, watches and callers. Whoever wants to change one
takes `thaw`. A plain dict would be faster to make and a copy per reader safer to hand out; neither
holds for lists of 100,000 pods.

What cannot change can also be shared between objects: pods of one template differ in little, and
`Sharing` stores what they have in common once.
"""

from typing import Any, NoReturn

import msgspec


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


class Sharing:
    """Freezes objects, with equal parts of recent ones stored once.

    Parts are told by their JSON: it takes less time than to freeze them again. Two generations of
    parts are remembered, so that what is used stays and what is unique goes.
    """

    def __init__(self, *, generation: int = 8192) -> None:
        self._generation = generation
        self._young: dict[bytes, Any] = {}
        self._old: dict[bytes, Any] = {}

    def freeze(self, obj: dict[str, Any]) -> FrozenDict:
        """Return an object frozen; its top two levels are its own, what is below may be shared."""
        return FrozenDict(
            {
                name: self._member(value) if type(value) is dict else self._part(value)
                for name, value in obj.items()
            }
        )

    def _member(self, value: dict[str, Any]) -> FrozenDict:
        return FrozenDict({name: self._part(item) for name, item in value.items()})

    def _part(self, value: Any) -> Any:
        kind = type(value)
        if kind is not dict and kind is not list:
            return value
        text = msgspec.json.encode(value)
        found = self._young.get(text)
        if found is None:
            found = self._old.get(text)
            if found is None:
                found = self._frozen(value)
            self._remember(text, found)
        return found

    def _frozen(self, value: Any) -> Any:
        if type(value) is dict:
            return FrozenDict({name: self._part(item) for name, item in value.items()})
        return FrozenList([self._part(item) for item in value])

    def _remember(self, text: bytes, part: Any) -> None:
        if len(self._young) >= self._generation:
            self._old, self._young = self._young, {}
        self._young[text] = part


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
