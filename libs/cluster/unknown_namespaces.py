"""What is to be said where pods select namespaces of which a file says nothing.

Apart because a live cluster has all its namespaces: there nothing is to be said.
"""

from collections.abc import Iterable, Iterator

from libs.kube.objects.kinds import KubeObject
from libs.kube.objects.metadata import LabelSelector
from libs.kube.objects.pod import Pod
from libs.kube.objects.policy import Namespace


def unknown_namespaces(objects: Iterable[KubeObject]) -> Iterator[str]:
    """Yield the note, if there is a reason for it; of a namespace without labels, its name is one.

    Args:
        objects: all of them, those of assumed replicas included.
    """
    given = tuple(objects)
    if any(isinstance(one, Namespace) for one in given):
        return
    asking = sum(isinstance(one, Pod) and _selects(one) for one in given)
    if asking:
        pods = "1 pod selects" if asking == 1 else f"{asking} pods select"
        yield (
            f"no Namespace in the input: {pods} namespaces by labels, and nobody is in them but "
            "by kubernetes.io/metadata.name"
        )


def _selects(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    return any(
        term.namespace_selector is not None and term.namespace_selector != LabelSelector()
        for side in (affinity.pod_affinity, affinity.pod_anti_affinity)
        for term in (*side.required, *(one.pod_affinity_term for one in side.preferred))
    )
