"""The pods of a cluster: converted when they change, completed when a snapshot is taken.

Apart from the rest of the state because pods are by far the most objects: a snapshot looks only at
those that changed, and at the few whose row depends on other objects. What all rows depend on, such
as the labels that selectors read, has them all looked at anew when it changes.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from libs.cluster.default_spread import NO_DEFAULTS, DefaultSpread
from libs.cluster.problems import Problems
from libs.cluster.published import Completed, PodRecord, Published
from libs.cluster.resolving import Resolver
from libs.cluster.shapes import Completion, RawShape, Shapes, filtered, held_on
from libs.domain.errors import InvalidRequest
from libs.domain.plan import UnplacedPods
from libs.domain.pod import PodRow, PodShape
from libs.domain.reason import Rule, Unplaceable
from libs.domain.requirements import ANYTHING
from libs.domain.topology import TopologySpread
from libs.kube.convert.absent import absent, was_refused
from libs.kube.convert.inline_disk import disk_names, inline_disks
from libs.kube.convert.pod import claims_of, row
from libs.kube.convert.requests import host_ports, pod_requests
from libs.kube.convert.storage import Storage
from libs.kube.objects.pod import Pod

_NOTHING: frozenset[str] = frozenset()
_SHAPE = PodRow._fields.index("shape")

T = TypeVar("T")

PodKey = tuple[str, str]
"""Namespace, name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """What rows are completed with."""

    nodes: Mapping[str, object]
    """Nodes of the snapshot; a pod on another one waits for its garbage collection."""
    gangs: Mapping[str, object]
    pod_groups: Container[PodKey]
    """All that are there, those whose pods are placed one by one included."""
    tracked: frozenset[str]
    """Label keys that selectors read."""
    resolver: Resolver
    default_spread: DefaultSpread


class Pods:
    """All pods."""

    def __init__(self, shapes: Shapes, *, offline: bool = False) -> None:
        self._shapes = shapes
        self._offline = offline
        self._records: dict[PodKey, PodRecord] = {}
        self._uids: Counter[str] = Counter()
        self._published = Published()
        self._due: dict[PodKey, None] = {}
        """Pods that the next snapshot has to look at."""
        self._surroundings: tuple[object, ...] = ()
        """What all rows depend on, as it was for the last snapshot."""
        self._nodes: frozenset[str] = _NOTHING
        """Nodes of the last snapshot."""
        self._left_out: dict[tuple[Rule, str], list[str]] = {}
        self._held: dict[str, str] = {}
        self._users: Counter[str] = Counter()
        """How many pods use each volume: a claim by `namespace/name`, a disk by its name."""
        self._used_on: Counter[tuple[str, str]] = Counter()
        """The same by node, of pods that have one."""
        self.uses_version = 0
        """Grows with each change of what is used where."""
        self._raws: Counter[RawShape] = Counter()
        """How many pods have each raw shape, of those that matter."""
        self._daemons: dict[PodKey, PodRecord] = {}

    def upsert(self, pod: Pod, refused: InvalidRequest | None = None) -> None:
        """Convert a pod that is new or changed.

        Args:
            pod: the pod.
            refused: what keeps it out although it is legible.
        """
        raw, problem = self._raw(pod)
        if problem is None and refused is not None:
            raw, problem = self._weight(pod) if pod.spec.node_name else None, refused
        key = pod.metadata.namespace, pod.metadata.name
        self.remove(key)
        record = self._records[key] = PodRecord(
            row=row(pod, offline=self._offline),
            labels=pod.metadata.labels,
            raw=raw,
            problem=problem,
            claims=claims_of(pod),
            inline=inline_disks(pod.spec.volumes) if pod.spec.volumes else (),
            pod_group=pod.spec.scheduling_group.pod_group_name if pod.spec.scheduling_group else "",
            resource_claims=pod.spec.resource_claims,
            resource_claim_statuses=pod.status.resource_claim_statuses,
        )
        if used := _used(record):
            self._users.update(used)
            self._used_on.update((record.row.node, one) for one in used)
            self.uses_version += 1
        if not record.matters:
            return
        self._due[key] = None
        self._uids[record.row.uid] += 1
        if raw is not None:
            self._raws[raw] += 1
        if record.row.owner is not None and record.row.owner.is_daemonset:
            self._daemons[key] = record

    def remove(self, key: PodKey) -> None:
        """Forget a pod."""
        record = self._records.pop(key, None)
        if record is None:
            return
        if used := _used(record):
            _subtract(self._users, used)
            _subtract(self._used_on, ((record.row.node, one) for one in used))
            self.uses_version += 1
        self._published.put(record, None)
        if record.matters:
            if self._uids[record.row.uid] > 1:
                self._surroundings = ()
            self._due.pop(key, None)
            self._daemons.pop(key, None)
            _subtract(self._uids, (record.row.uid,))
            _subtract(self._raws, () if record.raw is None else (record.raw,))

    def uses(self, node: str, volume: str) -> bool:
        """Tell whether a pod on a node uses a claim (`namespace/name`) or a disk (by its name)."""
        return (node, volume) in self._used_on

    def keys(self) -> Iterable[PodKey]:
        """Return namespace and name of each pod."""
        return self._records.keys()

    def invalid(self) -> list[tuple[PodKey, InvalidRequest]]:
        """Return the pods that are illegible, by namespace and name."""
        return sorted(
            ((k, one.problem) for k, one in self._records.items() if one.problem is not None),
            key=lambda pair: pair[0],
        )

    def left_out(self, nodes: int) -> tuple[UnplacedPods, ...]:
        """Return the waiting pods that were left out when last completed, by reason.

        Args:
            nodes: how many nodes there were, all of which the reason rules out.
        """
        found = [
            UnplacedPods(
                pod_uids=tuple(sorted(uids)),
                reason=Unplaceable(message=message, existing=((rule, nodes),)),
            )
            for (rule, message), uids in self._left_out.items()
        ]
        return tuple(sorted(found, key=lambda one: one.pod_uids))

    def held(self) -> Mapping[str, str]:
        """Return what keeps pods where they run that could not be placed anew, by their names."""
        return self._held

    def raws(self) -> list[RawShape]:
        """Return the raw shapes of the pods that matter, each once."""
        return list(self._raws)

    def records(self) -> list[PodRecord]:
        """Return the pods that matter: those that take room or need it now or later."""
        return [record for record in self._records.values() if record.matters]

    def daemons(self) -> list[PodRecord]:
        """Return those of them that belong to DaemonSets."""
        return list(self._daemons.values())

    def complete(self, placement: Placement, problems: Problems) -> Completed:
        """Return the pods as they are published; what is wrong is reported and left out."""
        self._left_out, self._held = {}, {}
        for key, record in self._to_look_at(placement):
            shared = self._shared(record, placement.resolver.storage)
            version = placement.resolver.version if record.refers else 0
            spread = spread_by_default(record, placement.default_spread)
            stamp = (placement.tracked, version, shared, spread)
            if record.stamp != stamp:
                self._finish(record, placement, shared, spread)
                record.stamp = stamp
            self._published.put(record, self._checked(record, placement, problems))
            if record.depends:
                self._due[key] = None
        return self._published.completed()

    def _to_look_at(self, placement: Placement) -> list[tuple[PodKey, PodRecord]]:
        """Return the pods whose row may be another than in the last snapshot, by uid."""
        surroundings = placement.tracked, placement.default_spread.configured
        nodes = frozenset(placement.nodes)
        elsewhere = nodes ^ self._nodes
        due, self._due = self._due, {}
        # Of pods that have one uid all are looked at, so that always the same one is published.
        twins = len(self._uids) < self._uids.total()
        if surroundings != self._surroundings or placement.default_spread.configured or twins:
            due = dict.fromkeys(key for key, one in self._records.items() if one.matters)
        elif elsewhere:
            bound = (key for key, one in self._records.items() if one.row.node in elsewhere)
            due |= dict.fromkeys(key for key in bound if self._records[key].matters)
        self._surroundings, self._nodes = surroundings, nodes
        found = [(key, self._records[key]) for key in due]
        found.sort(key=lambda one: (one[1].row.uid, one[0]))
        return found

    def _raw(self, pod: Pod) -> tuple[RawShape | None, InvalidRequest | None]:
        try:
            return self._shapes.raw(pod), None
        except InvalidRequest as error:
            if not pod.spec.node_name:
                return None, error
            return self._weight(pod), error

    def _weight(self, pod: Pod) -> RawShape | None:
        """Return the shape of a bound pod whose constraints are not legible.

        Its weight on its node counts, and it stays there: nobody knows where else it may run.
        """
        try:
            shape = PodShape(
                id=0,
                namespace=pod.metadata.namespace,
                requests=pod_requests(pod),
                node_selector=ANYTHING,
                required_node_terms=held_on(pod.spec.node_name),
                host_ports=host_ports(pod.spec),
            )
        except InvalidRequest:
            return None
        return self._shapes.intern(shape)

    def _shared(self, record: PodRecord, storage: Storage) -> frozenset[str]:
        """Return which of the pod's volumes other pods use, too, or are known by several names."""
        used = _used(record)
        if not used:
            return used
        found = {one for one in used if self._users[one] > 1 or one in storage.volumes_of_disk}
        for disk in storage.disks_of(record.row.namespace, record.claims):
            if storage.volumes_of_disk[disk] > 1 or disk in self._users:
                found.add(disk)
        return frozenset(found)

    def _finish(
        self,
        record: PodRecord,
        placement: Placement,
        shared: frozenset[str],
        spread: tuple[TopologySpread, ...],
    ) -> None:
        raw = record.raw
        if raw is None:
            return
        record.missing = None
        labels = filtered(record.labels, placement.tracked)
        if not (record.refers or spread):
            record.shape = self._shapes.labelled(raw, labels)
        else:
            completion = Completion(labels=labels, default_spread=spread)
            if record.refers:
                completion, record.missing = _completed(
                    completion, record, placement.resolver, shared
                )
                if record.missing is not None:
                    # Its successor could not be placed either, wherever that goes.
                    completion = replace(completion, stays_on=record.row.node)
            record.shape = self._shapes.finish(raw, completion)
        if record.finished is None or record.finished.shape != record.shape.id:
            # Much faster than `_replace`, and done for every pod.
            row = record.row
            record.finished = PodRow._make((*row[:_SHAPE], record.shape.id, *row[_SHAPE + 1 :]))

    def _checked(
        self, record: PodRecord, placement: Placement, problems: Problems
    ) -> PodRow | None:
        """Return the row as it may be published, None where the pod is left out."""
        done = record.finished
        name = record.row.namespace, record.row.name
        gang = "" if record.row.node or not record.row.provisionable else record.row.gang
        if record.problem is not None:
            problems.add("Pod", *name, record.problem, gang)
        if done is None:
            self._leave_out(record, record.problem)
            return None
        if done.node and done.node not in placement.nodes:
            why = absent(problems.refused, "Node", "", done.node)
            error = InvalidRequest(f'node "{done.node}" {why}', field="spec.nodeName")
            problems.add("Pod", *name, error)
            return None
        missing = record.missing or _missing_group(record, placement, problems)
        if missing is not None and done.provisionable:
            problems.add("Pod", *name, missing, gang)
            self._leave_out(record, missing)
            # kube-scheduler keeps its room where a node is nominated for it, whatever it lacks,
            # if only it has looked at it.
            kept = done.nominated and missing is record.missing
            return done._replace(provisionable=False, gang="") if kept else None
        if record.missing is not None and done.node:
            self._held["/".join(name)] = record.missing.detail
        if done.gang and done.gang not in placement.gangs:
            return done._replace(gang="")
        return done

    def _leave_out(self, record: PodRecord, error: InvalidRequest | None) -> None:
        if record.row.provisionable and error is not None:
            self._left_out.setdefault((_rule(error), str(error)), []).append(record.row.uid)


def spread_by_default(record: PodRecord, defaults: DefaultSpread) -> tuple[TopologySpread, ...]:
    """Return the default constraints of a pod that has none of its own."""
    if not defaults.configured or record.raw is None or record.raw.shape.topology_spread:
        return NO_DEFAULTS
    return defaults.of(record.row.namespace, record.labels, record.row.owner)


def _used(record: PodRecord) -> frozenset[str]:
    """Return the volumes that the pod keeps in use, as `Pods` counts them."""
    if not (record.claims or record.inline) or record.row.terminal:
        return _NOTHING
    claims = (f"{record.row.namespace}/{one.name}" for one in record.claims)
    return disk_names(record.inline).union(claims)


def _completed(
    completion: Completion, record: PodRecord, resolver: Resolver, shared: frozenset[str]
) -> tuple[Completion, InvalidRequest | None]:
    """Return the completion, and what keeps the pod out if it waits.

    What a pod that runs has on its node counts, whatever became of all that it refers to.
    """
    found = resolver.volumes(record.row.namespace, record.claims, record.inline, shared)
    completion = replace(completion, volumes=found.volumes)
    try:
        devices = resolver.devices(
            record.row, record.resource_claims, record.resource_claim_statuses
        )
    except InvalidRequest as error:
        return completion, found.problem or error
    return replace(completion, device_claims=devices), found.problem


def _subtract(counter: Counter[T], items: Iterable[T]) -> None:
    """Count items once less, and forget those that are none any more."""
    for item in items:
        counter[item] -= 1
        if not counter[item]:
            del counter[item]


def _missing_group(
    record: PodRecord, placement: Placement, problems: Problems
) -> InvalidRequest | None:
    """Return that the PodGroup of a pod is not there: kube-scheduler does not look at it before.

    Source: kube-scheduler's gang scheduling, before pods are queued (1.36). Groups by label are
    another scheduler's, which lets pods without their group pass.
    """
    key = record.row.namespace, record.pod_group
    if not record.pod_group or key in placement.pod_groups:
        return None
    error = problems.refused.get(("PodGroup", *key))
    why = "is not there" if error is None else was_refused(error)
    return InvalidRequest(
        f'podgroup "{"/".join(key)}" {why}, and kube-scheduler waits for it',
        field="spec.schedulingGroup.podGroupName",
    )


def _rule(error: InvalidRequest) -> Rule:
    """Return the rule that keeps a pod out, by the field that is the problem."""
    if error.field.startswith("spec.volumes"):
        return Rule.VOLUME_CLAIM
    if error.field.startswith("spec.schedulingGroup"):
        return Rule.GANG
    return Rule.DEVICES if error.field.startswith("spec.resourceClaims") else Rule.INVALID_POD
