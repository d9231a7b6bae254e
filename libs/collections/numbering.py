"""Small numbers for contents, from which the contents are found again."""

from collections.abc import Hashable
from itertools import count
from typing import Generic, TypeVar

H = TypeVar("H", bound=Hashable)


class Numbering(Generic[H]):
    """Gives equal contents one number, and no other content that one.

    Several threads may share it: a number may be left out, but none is given twice. Who gets which
    one depends on who came first, so that nothing may be ordered by them.
    """

    def __init__(self) -> None:
        self._numbers: dict[H, int] = {}
        self._contents: dict[int, H] = {}
        self._spare = count()

    def number(self, content: H) -> int:
        """Return the number of a content; a new one gets its own."""
        found = self._numbers.get(content)
        if found is None:
            spare = next(self._spare)
            # Before anybody can be told of it.
            self._contents[spare] = content
            found = self._numbers.setdefault(content, spare)
        return found

    def content(self, number: int) -> H:
        """Return what has a number."""
        return self._contents[number]

    def __len__(self) -> int:
        return len(self._numbers)
