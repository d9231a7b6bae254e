"""Reading and dating stored objects: keys, owners, conditions.

Apart because scheduler, kubelets and controllers all begin with these few questions.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

Object = dict[str, Any]

ENDED = ("Succeeded", "Failed")
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
FAR_AHEAD = datetime(9000, 1, 1, tzinfo=UTC)
_LONGEST_SPAN = 10**9


def key_of(obj: Mapping[str, Any]) -> str:
    """Return `namespace/name`, or the name of an object without a namespace."""
    meta = obj["metadata"]
    namespace = meta.get("namespace")
    return f"{namespace}/{meta['name']}" if namespace else str(meta["name"])


def split_key(key: str) -> tuple[str, str]:
    """Return namespace and name of a key; no namespace is empty."""
    namespace, _, name = key.rpartition("/")
    return namespace, name


def labels_of(obj: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the object's labels, empty if there are none."""
    return obj["metadata"].get("labels") or {}


def controller_of(obj: Mapping[str, Any]) -> Object | None:
    """Return the owner reference of the object's controller, None if it has none."""
    for reference in obj["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return dict(reference)
    return None


def owner_reference(owner: Mapping[str, Any]) -> Object:
    """Return the reference by which a controller's object owns what it creates."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_deleting(obj: Mapping[str, Any]) -> bool:
    """Tell whether the object was deleted and only waits for its end."""
    return "deletionTimestamp" in obj["metadata"]


def has_ended(pod: Mapping[str, Any]) -> bool:
    """Tell whether a pod ran to its end, well or not."""
    return pod["status"].get("phase") in ENDED


def condition_of(obj: Mapping[str, Any], type_: str) -> Object | None:
    """Return the condition of a type, None if it is not set."""
    for condition in obj.get("status", {}).get("conditions") or ():
        if condition["type"] == type_:
            found: Object = condition
            return found
    return None


def is_true(obj: Mapping[str, Any], type_: str) -> bool:
    """Tell whether a condition is set and True."""
    condition = condition_of(obj, type_)
    return condition is not None and condition["status"] == "True"


def with_condition(
    conditions: list[Object], new: Object, now: datetime, *, extra: Mapping[str, Any] | None = None
) -> list[Object]:
    """Return the conditions with one set; its transition time changes only with its status.

    Args:
        conditions: those before; not changed.
        new: type, status, and reason and message if any.
        now: the time of a transition.
        extra: members beside the transition time, such as `lastProbeTime`.
    """
    old = next((entry for entry in conditions if entry["type"] == new["type"]), None)
    kept = old is not None and old["status"] == new["status"]
    transition = (old.get("lastTransitionTime") if kept and old is not None else None) or stamp(now)
    entry = {**(extra or {}), "lastTransitionTime": transition, **new}
    if old is None:
        return [*conditions, entry]
    return [entry if condition is old else condition for condition in conditions]


def stamp(instant: datetime) -> str:
    """Return an instant as Kubernetes writes it, to the second."""
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_stamp(instant: datetime) -> str:
    """Return an instant as Kubernetes writes it where microseconds count."""
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_stamp(text: str | None) -> datetime:
    """Return the instant that a timestamp denotes; none was long ago, what is far is near enough.

    So sums of what users write stay instants.
    """
    return min(max(datetime.fromisoformat(text), LONG_AGO), FAR_AHEAD) if text else LONG_AGO


def span_of(seconds: float) -> timedelta:
    """Return a span of what users write, at most a generation; raises ValueError of no number."""
    return timedelta(seconds=min(max(seconds, -_LONGEST_SPAN), _LONGEST_SPAN))
