"""`joiner explain`: why a pod has no place, what a node or a pool is and does, out of files."""

from collections.abc import Mapping
from dataclasses import replace

from cli.choices import load
from cli.clusters import refusals
from cli.explained import explained
from cli.failures import bad_input_exits, end, progress
from cli.formats import Format, print_json, print_notes
from cli.held import held
from cli.options import Asked, Subject
from libs.domain.errors import InvalidRequest, NotFound
from libs.domain.explanation import Explanation, PodSituation
from libs.domain.question import SubjectKind
from libs.domain.snapshot import ClusterSnapshot
from libs.wire.explanation_json import explanation_document
from services.solver.core.explaining.explain import explain


def run(subject: Subject, asked: Asked) -> None:
    """Carry out `joiner explain`."""
    with bad_input_exits(), progress("reading") as status:
        cluster, options = load(asked.files, asked.catalogue, asked.choices)
        status.update("deciding")
        name = _name(cluster.snapshot, subject)
        try:
            answer = explain(cluster.snapshot, options, subject.kind, name)
        except NotFound as error:
            raise InvalidRequest(str(error)) from None
    answer = _with_reason(answer, held(cluster.documents))
    print_notes(cluster.notes)
    if asked.output is Format.JSON:
        print_json(explanation_document(answer))
    else:
        for line in explained(cluster.snapshot, answer):
            print(line)
    end(refusals(cluster))


def _with_reason(answer: Explanation, reasons: Mapping[str, str]) -> Explanation:
    """Return the explanation with what holds the pod, of which the solver knows only that it is."""
    pod = answer.pod
    if pod is None or pod.situation is not PodSituation.HELD or pod.uid not in reasons:
        return answer
    message = f"a pod {reasons[pod.uid]} does not wait for a node"
    return replace(answer, pod=replace(pod, message=message))


def _name(snapshot: ClusterSnapshot, subject: Subject) -> str:
    """Return the name with its namespace: `default`, or the only one that has such a pod."""
    if subject.kind is not SubjectKind.POD_NAME or "/" in subject.name:
        return subject.name
    pods = snapshot.pods
    found = {
        pods.namespaces[index] for index, name in enumerate(pods.names) if name == subject.name
    }
    found |= {
        one.namespace
        for one in snapshot.set_aside.values()
        if one.kind == "Pod" and one.name == subject.name
    }
    if len(found) > 1 and "default" not in found:
        spaces = ", ".join(sorted(found))
        raise InvalidRequest(f'there is a pod "{subject.name}" in {spaces}; write NS/NAME')
    namespace = found.pop() if len(found) == 1 else "default"
    return f"{namespace}/{subject.name}"
