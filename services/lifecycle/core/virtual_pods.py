"""Pods that stand for the room of a buffer: no object, a uid of the buffer's with a number."""

import re

_VIRTUAL_UID = re.compile(r".+-[0-9]+")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_virtual(uid: str) -> bool:
    """Tell whether a uid is that of a virtual pod: `<buffer uid>-<number>`.

    Source: `docs/sources.md` B1.4.
    """
    return _UUID.fullmatch(uid) is None and _VIRTUAL_UID.fullmatch(uid) is not None
