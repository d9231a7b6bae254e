"""Gangs: pods that are bound together or not at all.

Apart from `placement`, which holds pods back whatever the reason. A gang is a PodGroup of the
scheduler plug-ins (`scheduling.x-k8s.io/v1alpha1`), if its definition is installed; pods name it by
a label. Law: of a gang none is bound before as many as it asks for have a node.

Source: the coscheduling plug-in of Kubernetes' scheduler-plugins.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.errors import ApiError
from services.simulator.core.feed import Change
from services.simulator.core.objects import Object, has_ended, is_deleting, key_of, labels_of
from services.simulator.core.scheduler.view import View

PLUGIN = "Coscheduling"
REJECTED = "0/1 nodes are available: 1 optimistic rejection in PostFilter."
"""What pods are told that had a node until another one of their gang found none."""

_GROUPS = "podgroups.scheduling.x-k8s.io"
_LABEL = "scheduling.x-k8s.io/pod-group"
_WAITS = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """What a PodGroup asks for."""

    key: str
    least: int
    waits: timedelta
    """How long its pods keep their nodes for others that have none yet."""


class Gangs:
    """The gangs of pods that exist."""

    def __init__(self, api: DirectApi, view: View) -> None:
        self._api = api
        self._view = view
        self._members: dict[str, dict[str, None]] = {}

    def see(self, change: Change) -> None:
        """Take in what happened to a pod."""
        if change.old is not None and (group := _group_of(change.old)):
            members = self._members.get(group, {})
            members.pop(change.key, None)
            if not members:
                self._members.pop(group, None)
        new = change.new
        if new is not None and (group := _group_of(new)) and not has_ended(new):
            self._members.setdefault(group, {})[change.key] = None

    def of(self, pod: Object) -> Gang | None:
        """Return the gang that a pod is of, None if it is of none that exists."""
        if not (group := _group_of(pod)):
            return None
        found = None
        with contextlib.suppress(ApiError):  # no such kind of object here
            namespace, _, name = group.partition("/")
            found = self._api.find(_GROUPS, name, namespace)
        spec = (found or {}).get("spec") or {}
        least = int(spec.get("minMember") or 0)
        if least < 1:
            return None
        seconds = spec.get("scheduleTimeoutSeconds")
        waits = _WAITS if seconds is None else timedelta(seconds=seconds)
        return Gang(key=group, least=least, waits=waits)

    def siblings(self, pod: Mapping[str, Any]) -> list[str]:
        """Return the keys of the other pods that name the same group."""
        group, key = _group_of(pod), key_of(pod)
        return [one for one in self._members.get(group, ()) if one != key]

    def lacking(self, gang: Gang, pod: Object) -> str:
        """Return why the gang cannot be whole yet, empty if enough of its pods exist."""
        number = len(self._members.get(gang.key, ()))
        if number >= gang.least:
            return ""
        return (
            f"pre-filter pod {pod['metadata']['name']} cannot find enough sibling pods, "
            f"current pods number: {number}, minMember of group: {gang.least}"
        )

    def waits(self, pod: Object) -> bool:
        """Tell whether a pod has to wait for others of its gang to get nodes."""
        gang = self.of(pod)
        if gang is None:
            return False
        return sum(map(self._has_node, self._members.get(gang.key, ()))) < gang.least

    def _has_node(self, key: str) -> bool:
        pod = self._view.pods.get(key)
        return pod is not None and not is_deleting(pod) and key in self._view.cluster.pods


def _group_of(pod: Mapping[str, Any]) -> str:
    """Return namespace and name of the group that a pod names, empty if it names none."""
    name = labels_of(pod).get(_LABEL)
    return f"{pod['metadata']['namespace']}/{name}" if name else ""
