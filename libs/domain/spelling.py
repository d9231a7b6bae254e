"""Which known name was probably meant by one that nobody knows.

Apart because a wrong guess misleads: it sends people after a label or a node that has nothing to do
with their mistake. So a guess is made only where a slip of the hand explains it.
"""

from collections.abc import Iterable
from heapq import nlargest

_COMPARED = 500
"""Most names that are compared letter by letter: those that begin and end most alike."""
_LETTERS_PER_SLIP = 5
_ALSO_CALLED = {
    "aarch64": "arm64",
    "x64": "amd64",
    "x86-64": "amd64",
    "x86_64": "amd64",
}
"""What kernels and compilers call what Kubernetes knows by another name."""


def nearest(word: str, known: Iterable[str], most: int = 1) -> tuple[str, ...]:
    """Return the names that are a slip away from the word, nearest first; ties by name.

    A slip is a letter too many, too few, wrong, or two that changed places; one is allowed for
    every five letters that are begun, and none in words of less than three. Nearest of all is what
    others call so.

    Args:
        word: what was written; itself is never an answer.
        known: the names that there are, in any order.
        most: how many to return.
    """
    if len(word) < 3:
        return ()
    given = frozenset(known)
    allowed = -(-len(word) // _LETTERS_PER_SLIP)
    near = {name for name in given if abs(len(name) - len(word)) <= allowed and name != word}
    alike = nlargest(_COMPARED, sorted(near), key=lambda name: _shared(word, name))
    found = [(slips(word, name), name) for name in alike]
    meant = _ALSO_CALLED.get(word.lower())
    others = (name for count, name in sorted(found) if count <= allowed and name != meant)
    return (*((meant,) if meant in given else ()), *others)[:most]


def slips(left: str, right: str) -> int:
    """Return the optimal string alignment distance of two words."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, mine in enumerate(left, start=1):
        before, last, row = row, before, [i]
        for j, their in enumerate(right, start=1):
            least = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (mine != their))
            if i > 1 and j > 1 and mine == right[j - 2] and left[i - 2] == their:
                least = min(least, last[j - 2] + 1)
            row.append(least)
    return row[-1]


def _shared(left: str, right: str) -> int:
    """Return how many letters two words have alike at their beginnings and at their ends."""
    return _alike(left, right) + _alike(left[::-1], right[::-1])


def _alike(left: str, right: str) -> int:
    count = 0
    for mine, their in zip(left, right, strict=False):
        if mine != their:
            break
        count += 1
    return count
