"""Terms of pod affinity and anti-affinity: which pods a term means.

Apart because bound pods carry them in the cluster's index, and pending pods in the filter.

A term's namespaceSelector is evaluated against the labels of the other pod's namespace, as
documented. (kube-scheduler 1.36 lets a pending pod's selector that also matches no labels at all
match every namespace; there the documentation is followed.)

Source: kube-scheduler's InterPodAffinity; the Kubernetes API documentation of `PodAffinityTerm`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from libs.oracle.objects import KubeObject, labels_of, namespace_of, spec_of
from libs.oracle.selectors import LabelSelector, read_selector, with_label_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class AffinityTerm:
    """One term; equal terms mean the same pods and the same domains."""

    topology_key: str
    selector: LabelSelector | None
    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None

    def matches(
        self, namespace: str, labels: Mapping[str, str], namespace_labels: Mapping[str, str]
    ) -> bool:
        """Tell whether the term means a pod with these labels in this namespace."""
        if self.selector is None or not self.selector.matches(labels):
            return False
        return namespace in self.namespaces or (
            self.namespace_selector is not None
            and self.namespace_selector.matches(namespace_labels)
        )


def required_affinity(pod: KubeObject) -> tuple[AffinityTerm, ...]:
    """Return the pod's required pod affinity terms."""
    return _required(pod, "podAffinity")


def required_anti_affinity(pod: KubeObject) -> tuple[AffinityTerm, ...]:
    """Return the pod's required pod anti-affinity terms."""
    return _required(pod, "podAntiAffinity")


def preferences(pod: KubeObject) -> tuple[tuple[int, AffinityTerm], ...]:
    """Return the pod's preferred terms with their weights, those of anti-affinity negative."""
    affinity = spec_of(pod).get("affinity")
    if not affinity:
        return ()
    return tuple(
        (sign * int(preferred.get("weight", 0)), _read(preferred.get("podAffinityTerm") or {}, pod))
        for kind, sign in (("podAffinity", 1), ("podAntiAffinity", -1))
        for preferred in (affinity.get(kind) or {}).get(
            "preferredDuringSchedulingIgnoredDuringExecution"
        )
        or ()
    )


def _required(pod: KubeObject, kind: str) -> tuple[AffinityTerm, ...]:
    affinity = spec_of(pod).get("affinity")
    if not affinity:
        return ()
    terms: Iterable[KubeObject] = (affinity.get(kind) or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or ()
    return tuple(_read(term, pod) for term in terms)


def _read(term: KubeObject, pod: KubeObject) -> AffinityTerm:
    namespaces = frozenset(term.get("namespaces") or ())
    namespace_selector = term.get("namespaceSelector")
    if not namespaces and namespace_selector is None:
        namespaces = frozenset((namespace_of(pod),))
    return AffinityTerm(
        topology_key=term.get("topologyKey", ""),
        selector=with_label_keys(
            read_selector(term.get("labelSelector")),
            labels_of(pod),
            same=term.get("matchLabelKeys") or (),
            different=term.get("mismatchLabelKeys") or (),
        ),
        namespaces=namespaces,
        namespace_selector=read_selector(namespace_selector),
    )
