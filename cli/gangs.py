"""What is said of gangs in files: which of them, or what about them, planning does not look at.

Apart from reading a cluster because it is about fields that the rest does not even decode.

The gangs that count are PodGroups, those of the scheduler plug-ins as well as those of Kubernetes
1.36 itself, and ProvisioningRequests. Pods of Kubernetes 1.35 refer to a Workload instead, an API
that 1.36 has dropped again.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from cli.formats import counted, few
from libs.kube.convert.pod import POD_GROUP

_MOST_SHOWN = 20
_UNREAD = ("minResources", "schedulingConstraints", "resourceClaims")
"""Fields of a PodGroup that nothing is planned by."""

Document = Mapping[str, Any]


def gang_notes(
    documents: Iterable[tuple[str, Document]], refused: Container[str] = ()
) -> Iterator[str]:
    """Yield what is to be said of the gangs of a cluster.

    Args:
        documents: kind and plain form of objects, all of them legible.
        refused: `namespace/name` of the PodGroups that do not count.
    """
    groups, waiting = {}, []
    for kind, document in documents:
        if kind == "PodGroup":
            groups[_named(document, document["metadata"]["name"])] = document
        elif kind == "Pod" and not _spec(document).get("nodeName"):
            waiting.append(document)
    missing = Counter(name for name in map(_labelled, waiting) if name and name not in groups)
    workloads = Counter(filter(None, map(_workload, waiting)))
    bad = Counter({name: count for name, count in missing.items() if name in refused})
    yield from _in_part("PodGroup", missing - bad, "not in the input")
    yield from _in_part("PodGroup", bad, "refused")
    yield from _in_part("Workload", workloads, "not looked at, Kubernetes 1.36 has PodGroups")
    yield from _unread(groups)


def _labelled(pod: Document) -> str:
    """Return the group that a pod has by label: without a group by field it waits for none."""
    if _spec(pod).get("schedulingGroup"):
        return ""
    return _named(pod, (pod["metadata"].get("labels") or {}).get(POD_GROUP))


def _workload(pod: Document) -> str:
    return _named(pod, (_spec(pod).get("workloadRef") or {}).get("name"))


def _in_part(kind: str, members: Counter[str], why: str) -> Iterator[str]:
    """Say which gangs, to be placed whole or not at all, are only names on their pods."""
    names = sorted(members)
    for name in names[:_MOST_SHOWN]:
        its = f"its {counted(members[name], 'pod')}"
        yield f'{kind} "{name}" is {why}: {its} may be placed in part'
    if len(names) > _MOST_SHOWN:
        yield f"{len(names) - _MOST_SHOWN} more {kind}s are {why}"


def _unread(groups: Mapping[str, Document]) -> Iterator[str]:
    for field in _UNREAD:
        names = sorted(name for name, group in groups.items() if _spec(group).get(field))
        if names:
            which = few(f'"{name}"' for name in names)
            yield f"not looked at: spec.{field} of PodGroup {which}; what pods request counts"


def _named(document: Document, name: str | None) -> str:
    return f"{document['metadata'].get('namespace', '')}/{name}" if name else ""


def _spec(document: Document) -> Document:
    return document.get("spec") or {}
