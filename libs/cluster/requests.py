"""The pods that ProvisioningRequests out of files ask room for.

Apart from the replicas of workloads because these pods are asked for by count, and those that are
there already and consume the request take the place of as many of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from libs.kube.convert.pod import CONSUME_ANNOTATIONS, consumed_request
from libs.kube.convert.provisioning import CLASS_ANNOTATION, CLASSES, is_open
from libs.kube.convert.template import Admission, pod_of
from libs.kube.objects.kinds import KubeObject
from libs.kube.objects.metadata import ObjectMeta
from libs.kube.objects.pod import Pod, PodTemplate
from libs.kube.objects.provisioning import ProvisioningRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Requested:
    """The pods that a request still asks room for, and what is to be said of it."""

    pods: tuple[Pod, ...] = ()
    note: str


def requested(objects: Iterable[KubeObject], admission: Admission) -> Iterator[Requested]:
    """Yield what each request, all of them legible, asks for, in order of their names."""
    given = tuple(objects)
    pods = [one for one in given if isinstance(one, Pod)]
    consumers = Counter((one.metadata.namespace, consumed_request(one)) for one in pods)
    templates = {
        (one.metadata.namespace, one.metadata.name): one
        for one in given
        if isinstance(one, PodTemplate)
    }
    requests = [one for one in given if isinstance(one, ProvisioningRequest)]
    for request in sorted(requests, key=lambda one: (one.metadata.namespace, one.metadata.name)):
        shown = f'ProvisioningRequest "{request.metadata.namespace}/{request.metadata.name}"'
        if request.spec.provisioning_class_name not in CLASSES:
            known = " and ".join(CLASSES)
            yield Requested(note=f"{shown} is left to others: planned for are classes {known}")
        elif not is_open(request):
            yield Requested(note=f"{shown} is done: its conditions say so")
        else:
            there = consumers[request.metadata.namespace, request.metadata.name]
            yield _requested(request, shown, templates, there, admission)


def _requested(
    request: ProvisioningRequest,
    shown: str,
    templates: dict[tuple[str, str], PodTemplate],
    there: int,
    admission: Admission,
) -> Requested:
    pods = []
    for index, one in enumerate(request.spec.pod_sets):
        name = one.pod_template_ref.name
        template = templates.get((request.metadata.namespace, name))
        if template is None:
            why = f'podtemplate "{request.metadata.namespace}/{name}" does not exist'
            return Requested(note=f"{shown} is not planned for: {why}")
        pods += [
            pod_of(template.template, _metadata(request, index, number), admission)
            for number in range(one.count)
        ]
    note = f"{shown} asks for room: {max(len(pods) - there, 0)} pending pods assumed"
    return Requested(pods=tuple(pods[there:]), note=note)


def _metadata(request: ProvisioningRequest, index: int, number: int) -> ObjectMeta:
    metadata = request.metadata
    return ObjectMeta(
        name=f"{metadata.name}-{index}-{number}",
        namespace=metadata.namespace,
        uid=f"provisioningrequest/{metadata.namespace}/{metadata.name}/{index}/{number}",
        annotations={
            CONSUME_ANNOTATIONS[0]: metadata.name,
            CLASS_ANNOTATION: request.spec.provisioning_class_name,
        },
        creation_timestamp=metadata.creation_timestamp,
    )
