"""Room for volumes that are yet to be made: why there is none, in words.

Apart from the reasons of pools and nodes because both say it; where there is room is a place like
any other (`ask.py`).
"""

from libs.domain.pod import PodShape, StorageRoom
from libs.domain.resources import EPHEMERAL_STORAGE, readable_amount


def too_little(shape: PodShape) -> str:
    """Return that there is no room for the volumes of a pod."""
    return f"not enough free storage for {' and '.join(map(new_volume, shape.storage_rooms))}"


def new_volume(room: StorageRoom) -> str:
    """Return what the room is for."""
    size = readable_amount(EPHEMERAL_STORAGE, room.size, up=True)
    return f'a new volume of {size} of storageclass "{room.storage_class}"'
