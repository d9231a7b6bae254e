"""What is said of an object that others refer to and that does not count.

Apart because whoever refers to it says so in words of his own, and all have to tell what is not
there from what is there and was refused: of that it is known what to mend.
"""

from collections.abc import Mapping

from libs.domain.errors import InvalidRequest

RefusedObjects = Mapping[tuple[str, str, str], InvalidRequest]
"""What was refused, by kind, namespace and name."""


def absent(refused: RefusedObjects, kind: str, namespace: str, name: str) -> str:
    """Return why an object does not count, to be put after what it is called."""
    error = refused.get((kind, namespace, name))
    return "does not exist" if error is None else was_refused(error)


def was_refused(error: InvalidRequest) -> str:
    """Return that an object was refused, and why, to be put after what it is called."""
    return f"was refused: {error}"
