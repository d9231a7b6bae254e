"""The annotation by which a NodeClaim says that it is under a command.

Apart because lifecycle writes it, before it taints, and the watcher reads it: the pods of the node
count as moving only when every replacement that it names is in the same snapshot.

Law: `decode(encode(command)) == command`.
"""

from libs.domain.errors import InvalidRequest
from libs.domain.nodeclaim import ClaimCommand

ANNOTATION = "joiner.io/command"

_ID = "id="
_REPLACEMENTS = "replacements="


def encode(command: ClaimCommand) -> str:
    """Return the annotation's text: `id=…;replacements=a,b`.

    Raises:
        InvalidRequest: the id is empty, or a separator is in it or in a name.
    """
    names = command.replacements
    if not command.id or any(mark in text for text in (command.id, *names) for mark in ";,"):
        raise InvalidRequest(f"command {command!r} cannot be written as an annotation")
    return f"{_ID}{command.id};{_REPLACEMENTS}{','.join(names)}"


def decode(text: str) -> ClaimCommand:
    """Return the command that the annotation's text names.

    Raises:
        InvalidRequest: not such a text.
    """
    first, separator, second = text.partition(";")
    known = first.startswith(_ID) and second.startswith(_REPLACEMENTS)
    names = second.removeprefix(_REPLACEMENTS)
    replacements = tuple(names.split(",")) if names else ()
    if not known or not separator or first == _ID or not all(replacements):
        raise InvalidRequest(f"{text!r} is not id=…;replacements=…")
    return ClaimCommand(id=first.removeprefix(_ID), replacements=replacements)
