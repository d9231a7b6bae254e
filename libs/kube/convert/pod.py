"""A pod in its two parts: the shape says where it may run, the row which pod it is.

Apart from the cluster state because everything that a pod alone decides is decided here. A shape
made here is raw: its id is 0, its labels are missing, volumes and devices are not resolved; the
cluster state, which knows all other objects, completes it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from libs.domain import do_not_disrupt
from libs.domain.errors import InvalidRequest
from libs.domain.pod import NOWHERE, NodeTerm, Owner, PodPhase, PodRow, PodShape
from libs.domain.resources import NOTHING
from libs.domain.taint import Effect, Toleration, TolerationOperator
from libs.domain.topology import PreferredNodeTerm
from libs.domain.workload import REQUEST_SUFFIX
from libs.kube.convert import selectors, topology
from libs.kube.convert.request_fields import request_fields
from libs.kube.convert.requests import host_ports, pod_requests
from libs.kube.convert.storage import PodClaim
from libs.kube.objects import pod as objects
from libs.kube.objects.metadata import ObjectMeta
from libs.kube.objects.pod import Pod, PodSpec, PodStatus

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
POD_GROUP = "scheduling.x-k8s.io/pod-group"
CONSUME_ANNOTATIONS = (
    "autoscaling.x-k8s.io/consume-provisioning-request",
    "cluster-autoscaler.kubernetes.io/consume-provisioning-request",
)
"""Which ProvisioningRequest a pod consumes; the second one is what the first was called before."""

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_INT32 = 2**31
_MOST_KNOWN = 4096
_PHASES = {"": PodPhase.PENDING} | {phase.value: phase for phase in PodPhase}


def raw_shape(pod: Pod) -> PodShape:
    """Return the pod's shape without id, labels, volumes and devices.

    Raises:
        InvalidRequest: a field that Kubernetes refuses; with its path.
    """
    return sized(constraints(pod), pod)


def sized(shape: PodShape, pod: Pod) -> PodShape:
    """Return the shape with what the containers of the pod add: requests, ports, features.

    Raises:
        InvalidRequest: a field that Kubernetes refuses; with its path.
    """
    requests = pod_requests(pod)
    return replace(
        shape,
        requests=requests,
        request_fields=request_fields(pod, requests),
        host_ports=host_ports(pod.spec),
        required_features=tuple(_required_features(pod.spec)),
    )


def constraints(pod: Pod) -> PodShape:
    """Return the pod's raw shape without what its containers add.

    Raises:
        InvalidRequest: a field that Kubernetes refuses; with its path.
    """
    spec, labels, namespace = pod.spec, pod.metadata.labels, pod.metadata.namespace
    affinity = spec.affinity
    near, apart = "spec.affinity.podAffinity", "spec.affinity.podAntiAffinity"
    return PodShape(
        id=0,
        namespace=namespace,
        requests=NOTHING,
        node_selector=selectors.node_selector(spec.node_selector, "spec.nodeSelector"),
        required_node_terms=required_node_terms(spec),
        preferred_node_terms=_preferred_node_terms(spec),
        tolerations=tolerations(spec.tolerations, "spec.tolerations"),
        topology_spread=tuple(
            topology.topology_spread(one, labels, f"spec.topologySpreadConstraints[{index}]")
            for index, one in enumerate(spec.topology_spread_constraints)
        ),
        affinity=tuple(
            topology.pod_affinity_term(one, namespace, labels, f"{near}.{_REQUIRED}[{index}]")
            for index, one in enumerate(affinity.pod_affinity.required)
        ),
        anti_affinity=tuple(
            topology.pod_affinity_term(one, namespace, labels, f"{apart}.{_REQUIRED}[{index}]")
            for index, one in enumerate(affinity.pod_anti_affinity.required)
        ),
        preferred_affinity=topology.weighted_terms(
            affinity.pod_affinity.preferred, namespace, labels, f"{near}.{_PREFERRED}"
        ),
        preferred_anti_affinity=topology.weighted_terms(
            affinity.pod_anti_affinity.preferred, namespace, labels, f"{apart}.{_PREFERRED}"
        ),
    )


def _required_features(spec: PodSpec) -> Iterator[str]:
    """Yield what the kubelet has to say that it can do (NodeDeclaredFeatures), sorted."""
    containers = (*spec.containers, *spec.init_containers)
    rules = (rule for one in containers for rule in one.restart_policy_rules)
    if any(rule.action == "RestartAllContainers" for rule in rules):
        yield "RestartAllContainersOnContainerExits"
    if spec.host_network and spec.host_users is False:
        yield "UserNamespacesHostNetworkSupport"


def required_node_terms(spec: PodSpec) -> tuple[NodeTerm, ...]:
    """Return the terms of the required node affinity, empty if there is none.

    Where no term matches anything, as Kubernetes allows, it is one that contradicts itself.

    Raises:
        InvalidRequest: an expression that Kubernetes refuses.
    """
    required = spec.affinity.node_affinity.required
    if required is None:
        return ()
    path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    return selectors.node_terms(required.node_selector_terms, path) or (NOWHERE,)


def tolerations(given: tuple[objects.Toleration, ...], path: str) -> tuple[Toleration, ...]:
    """Return the tolerations, sorted, each once.

    How long a taint is borne is left out: it does not decide where a pod may run.

    Raises:
        InvalidRequest: an operator or effect that there is not.
    """
    found = {_toleration(one, f"{path}[{index}]") for index, one in enumerate(given)}
    return tuple(sorted(found, key=_toleration_order))


def row(pod: Pod, *, offline: bool = False) -> PodRow:
    """Return the pod's row; the shape is yet to be filled in.

    Args:
        pod: the pod.
        offline: the pod comes from a file that no scheduler saw: it needs no condition to be
            provisionable, only to be unbound and without scheduling gates.
    """
    metadata, spec, status = pod.metadata, pod.spec, pod.status
    annotations = metadata.annotations
    owner = owner_of(metadata)
    phase = _PHASES.get(status.phase, PodPhase.UNKNOWN)
    deleting_ms = milliseconds(metadata.deletion_timestamp)
    ending = bool(deleting_ms) or phase is PodPhase.SUCCEEDED or phase is PodPhase.FAILED
    waits = not ending and _is_provisionable(pod, owner, offline=offline)
    return PodRow(
        uid=uid_of(metadata),
        namespace=metadata.namespace,
        name=metadata.name,
        shape=0,
        node=spec.node_name,
        phase=phase,
        ready=_has_condition(status, "Ready", status="True"),
        created_ms=milliseconds(metadata.creation_timestamp),
        started_ms=milliseconds(status.start_time),
        deleting_ms=deleting_ms,
        provisionable=waits,
        priority=spec.priority or 0,
        deletion_cost=_deletion_cost(annotations) if annotations else 0,
        do_not_disrupt_ms=do_not_disrupt.parse(annotations).span_ms if annotations else 0,
        owner=owner,
        volume_claims=_claim_names(pod) if spec.volumes else (),
        gang=gang_of(pod),
        nominated=status.nominated_node_name if waits else "",
    )


def _has_condition(pod_status: PodStatus, kind: str, *, status: str) -> bool:
    for one in pod_status.conditions:  # noqa: SIM110  # for every pod: a generator takes four times
        if one.type == kind and one.status == status:
            return True
    return False


def _claim_names(pod: Pod) -> tuple[str, ...]:
    return tuple(sorted({one.name for one in claims_of(pod)}))


def uid_of(metadata: ObjectMeta) -> str:
    """Return the uid of a pod; one out of a file has its namespace and name instead."""
    return metadata.uid or f"{metadata.namespace}/{metadata.name}"


def claims_of(pod: Pod) -> tuple[PodClaim, ...]:
    """Return the volume claims of the pod, ephemeral ones included."""
    found = []
    for index, volume in enumerate(pod.spec.volumes):
        path = f"spec.volumes[{index}]"
        if volume.persistent_volume_claim is not None:
            name = volume.persistent_volume_claim.claim_name
            found.append(PodClaim(f"{path}.persistentVolumeClaim.claimName", name))
        elif volume.ephemeral is not None:
            name = f"{pod.metadata.name}-{volume.name}"
            found.append(PodClaim(f"{path}.ephemeral", name, pod.metadata.uid))
    return tuple(found)


def owner_of(metadata: ObjectMeta) -> Owner | None:
    """Return the controller of an object, None where it is not even named."""
    reference = metadata.controller
    if reference is None or not (reference.api_version and reference.kind and reference.name):
        return None
    uid = reference.uid or f"{reference.kind}/{reference.name}"
    return _owner(reference.api_version, reference.kind, reference.name, uid)


@lru_cache(maxsize=_MOST_KNOWN)
def _owner(api_version: str, kind: str, name: str, uid: str) -> Owner:
    """Return the owner: one object for all its pods, as far as they come near each other."""
    return Owner(api_version=api_version, kind=kind, name=name, uid=uid)


def gang_of(pod: Pod) -> str:
    """Return `namespace/name` of the group that the pod belongs to, empty if there is none.

    A pod without a group of its own belongs to the ProvisioningRequest that it consumes.
    """
    group = pod.spec.scheduling_group
    name = group.pod_group_name if group is not None else pod.metadata.labels.get(POD_GROUP, "")
    if not name and (request := consumed_request(pod)):
        name = request_gang(request)
    return f"{pod.metadata.namespace}/{name}" if name else ""


def consumed_request(pod: Pod) -> str:
    """Return the name of the ProvisioningRequest that the pod consumes, empty if there is none."""
    annotations = pod.metadata.annotations
    if not annotations:
        return ""
    return next(filter(None, (annotations.get(key, "") for key in CONSUME_ANNOTATIONS)), "")


def request_gang(name: str) -> str:
    """Return the name of a ProvisioningRequest as a gang: one that no PodGroup can have."""
    return f"{name}{REQUEST_SUFFIX}"


def milliseconds(instant: datetime | None) -> int:
    """Return the milliseconds since 1970 UTC, 0 for none."""
    return 0 if instant is None else int(instant.timestamp() * 1000)


def _is_provisionable(pod: Pod, owner: Owner | None, *, offline: bool) -> bool:
    """Tell whether a pod that goes on waits for a node that nobody else will bring.

    One for which a node is nominated does, too: it is planned for, and no node is bought for it.
    A terminating or ended pod does not, though Karpenter's predicate leaves that open: no scheduler
    would bind it.
    """
    if pod.spec.node_name:
        return False
    if owner is not None and (owner.is_daemonset or owner.is_node):
        return False
    if offline or pod.status.nominated_node_name:
        return not pod.spec.scheduling_gates
    for one in pod.status.conditions:
        if one.type == "PodScheduled" and one.reason == "Unschedulable":
            return True
    return False


def _preferred_node_terms(spec: PodSpec) -> tuple[PreferredNodeTerm, ...]:
    path = f"spec.affinity.nodeAffinity.{_PREFERRED}"
    found = [
        PreferredNodeTerm(
            weight=topology.weight(one.weight, f"{path}[{index}].weight"),
            requirements=selectors.node_requirements(
                one.preference.match_expressions, f"{path}[{index}].preference.matchExpressions"
            ),
        )
        for index, one in enumerate(spec.affinity.node_affinity.preferred)
        # An empty preference likes every node alike; one by name is of no use for a new node.
        if one.preference.match_expressions and not one.preference.match_fields
    ]
    return tuple(sorted(found, key=lambda one: -one.weight))


def _toleration(given: objects.Toleration, path: str) -> Toleration:
    try:
        return _parsed_toleration(given.key, given.operator, given.value, given.effect)
    except InvalidRequest as error:
        raise error.under(path) from None


@lru_cache(maxsize=_MOST_KNOWN)
def _parsed_toleration(key: str, given_operator: str, value: str, given_effect: str) -> Toleration:
    try:
        operator = TolerationOperator(given_operator or "Equal")
    except ValueError:
        known = ", ".join(TolerationOperator)
        raise InvalidRequest(
            f"unknown operator {given_operator!r}, not one of {known}", field="operator"
        ) from None
    try:
        effect = Effect(given_effect) if given_effect else None
    except ValueError:
        known = ", ".join(Effect)
        raise InvalidRequest(
            f"unknown effect {given_effect!r}, not one of {known}", field="effect"
        ) from None
    if not key and operator is not TolerationOperator.EXISTS:
        raise InvalidRequest("without a key the operator must be Exists", field="operator")
    return Toleration(
        key=key,
        operator=operator,
        value=value,
        effect=effect,
    )


def _toleration_order(one: Toleration) -> tuple[str, str, str, str]:
    return one.key, one.operator, one.value, one.effect or ""


def _deletion_cost(annotations: Mapping[str, str]) -> int:
    """Return the cost, 0 for what is not an int32, as the ReplicaSet controller reads it."""
    text = annotations.get(DELETION_COST, "")
    digits = text[1:] if text[:1] in ("-", "+") else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
        return 0
    cost = int(text)
    return cost if -_INT32 <= cost < _INT32 else 0
