"""A snapshot out of files and a catalogue: what every offline command begins with."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cli.formats import counted, few
from cli.gangs import gang_notes
from cli.held import held
from cli.set_aside import set_aside
from libs import catalogues
from libs.cluster import files
from libs.cluster.documents import Refused
from libs.domain import budget, feature_gates
from libs.domain.capacity import Catalogue, NodeClassRef
from libs.domain.errors import InvalidRequest
from libs.domain.feature_gates import FeatureGate
from libs.domain.plan import UnplacedPods
from libs.domain.price import unpriced
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId
from libs.domain.topology import TopologySpread
from libs.kube import document_files
from libs.runtime.clock import SystemClock

_DEFAULT_CLASS = NodeClassRef(group="karpenter.kwok.sh", kind="KWOKNodeClass", name="default")
_FILES = SnapshotId(cluster_id="files", epoch=Epoch(boot_id="files"), revision=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineCluster:
    """What files say, ready for a decision."""

    snapshot: ClusterSnapshot
    notes: tuple[str, ...]
    refused: tuple[Refused, ...]
    """What does not count, being illegible or against the rules."""
    left_out: tuple[UnplacedPods, ...]
    """Waiting pods whose objects, or whose volumes', are broken: no solver sees them."""
    documents: tuple[tuple[str, Mapping[str, Any]], ...]
    """Kind and plain form of every object, those of assumed replicas included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Files, read: standard input can be read but once."""

    names: tuple[str, ...]
    documents: tuple[tuple[str, object], ...]
    """Name of the file, and a document."""

    def and_then(self, other: "Input") -> "Input":
        """Return both, one after the other."""
        return Input(
            names=(*self.names, *other.names), documents=(*self.documents, *other.documents)
        )


def read(names: Sequence[str]) -> Input:
    """Return what files hold; errors are those of `load`."""
    return Input(names=tuple(names), documents=tuple(document_files.read(names)))


def load(
    inputs: Sequence[str] | Input,
    catalogue: str,
    now: datetime,
    *,
    gates: Mapping[str, bool] = feature_gates.NONE_GIVEN,
    default_spread: tuple[TopologySpread, ...] = (),
) -> OfflineCluster:
    """Return the cluster of some files, every node class of which sells one catalogue.

    Args:
        inputs: names of files, `-` for standard input; or what was read of them.
        catalogue: name or file of what is sold.
        now: the instant of the decision.
        gates: feature gates that differ from their defaults.
        default_spread: constraints of pods that have none, without selectors.

    Raises:
        InvalidRequest: bad input; names file, object and field.
        OSError: a file cannot be read.
    """
    types = catalogues.named(catalogue)
    if not types:
        raise InvalidRequest("sells nothing: it has no instance types", field=catalogue)
    found = inputs if isinstance(inputs, Input) else read(inputs)
    loaded = files.load(
        found.documents, default_class=_DEFAULT_CLASS, options=files.reading(gates, default_spread)
    )
    for node_class in loaded.node_classes:
        loaded.state.set_catalogue(
            Catalogue(
                node_class=node_class,
                etag=Path(catalogue).name,
                observed_at=now,
                instance_types=types,
                well_known_keys=catalogues.well_known_keys(catalogue, types),
            )
        )
    snapshot = loaded.state.snapshot(now, _FILES)
    return OfflineCluster(
        snapshot=snapshot,
        notes=(
            *_empty(found),
            *loaded.notes,
            *_left_alone(snapshot, loaded.documents),
            *_broken_budgets(snapshot),
            *_behind_gates(loaded.documents, gates),
            *_waiting_for_devices(snapshot, gates),
            *gang_notes(
                loaded.documents,
                {"/".join(one.key[1:]) for one in loaded.refused if one.kind == "PodGroup"},
            ),
            *set_aside(snapshot.set_aside.values(), loaded.refused),
            *_without_price(snapshot),
            *_held(loaded.state.held()),
        ),
        refused=loaded.refused,
        left_out=loaded.state.left_out(),
        documents=loaded.documents,
    )


def instant(text: str | None) -> datetime:
    """Return an RFC 3339 instant in UTC; None: now.

    Raises:
        InvalidRequest: the text is no instant with an offset.
    """
    if text is None:
        return SystemClock().now()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidRequest(f"{text!r} is not an RFC 3339 instant", field="--now") from None
    if found.tzinfo is None:
        raise InvalidRequest(f"{text!r} has no offset; write 2026-01-01T00:00:00Z", field="--now")
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise InvalidRequest(f"{text!r} is beyond all calendars", field="--now") from None


def refusals(cluster: OfflineCluster) -> list[str]:
    """Return what of the input does not count, and why."""
    return [f"{one.message}; it does not count" for one in cluster.refused]


def virtual_pods(cluster: OfflineCluster) -> frozenset[str]:
    """Return the uids of the virtual pods of buffers."""
    return frozenset(uid for one in cluster.snapshot.buffers.values() for uid in one.pod_uids)


def pod_names(cluster: OfflineCluster) -> dict[str, str]:
    """Return `namespace/name` of every pod by uid."""
    return {uid: _name(metadata) for uid, metadata in _pods(cluster)}


def workloads(cluster: OfflineCluster) -> dict[str, str]:
    """Return kind and `namespace/name` of the controller of every pod that has one, by uid."""
    found = {}
    for uid, metadata in _pods(cluster):
        for one in metadata.get("ownerReferences") or ():
            if one.get("controller"):
                found[uid] = f"{one['kind']} {metadata['namespace']}/{one['name']}"
    return found


def _pods(cluster: OfflineCluster) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield uid and metadata of every pod."""
    for kind, document in cluster.documents:
        if kind == "Pod":
            metadata = document["metadata"]
            yield metadata.get("uid") or _name(metadata), metadata


def _name(metadata: Mapping[str, Any]) -> str:
    return f"{metadata['namespace']}/{metadata['name']}"


def _empty(found: Input) -> Iterator[str]:
    full = {name for name, document in found.documents if _holds_objects(document)}
    yield from (f"{name} holds no objects" for name in found.names if name not in full)


def _holds_objects(document: object) -> bool:
    """Tell whether a document is more than a list of nothing."""
    return bool(document.get("items", True) if isinstance(document, Mapping) else document)


def _left_alone(
    snapshot: ClusterSnapshot, found: Iterable[tuple[str, Mapping[str, Any]]]
) -> Iterator[str]:
    """Say how many pods have no node and are none of an autoscaler's business, and why."""
    whys = held(found)
    counts: Counter[str] = Counter()
    for row in snapshot.pods.rows():
        if row.provisionable or row.node or not row.active:
            continue
        owned = row.owner is not None and (row.owner.is_daemonset or row.owner.is_node)
        why = "of a DaemonSet or of a node" if owned else whys.get(row.uid)
        if why is not None:  # else it is a buffer's, for which planning has its own words
            counts[why] += 1
    for why, count in sorted(counts.items()):
        yield f"not planned for: {counted(count, 'pod')} {why}"


def _broken_budgets(snapshot: ClusterSnapshot) -> Iterator[str]:
    for pool in snapshot.nodepools.values():
        for index, one in enumerate(pool.disruption.budgets):
            if problem := budget.problem(one):
                yield (
                    f'NodePool "{pool.name}": spec.disruption.budgets[{index}]: {problem}; '
                    "until it is mended nothing in this pool is disrupted"
                )


def _behind_gates(found: Iterable[tuple[str, object]], gates: Mapping[str, bool]) -> Iterator[str]:
    """Say which objects are not looked at because a gate is closed."""
    kinds = Counter(kind for kind, _ in found)
    for gate in (FeatureGate.CAPACITY_BUFFER, FeatureGate.NODE_OVERLAY):
        if kinds[gate] and not feature_gates.is_open(gate, gates):
            yield (
                f"not looked at: {counted(kinds[gate], gate)}; "
                f"--feature-gates {gate}=true has them count"
            )


def _waiting_for_devices(snapshot: ClusterSnapshot, gates: Mapping[str, bool]) -> Iterator[str]:
    """Say how many pods wait because their claims of devices are not looked at."""
    gate = FeatureGate.DYNAMIC_RESOURCES
    if feature_gates.is_open(gate, gates):
        return
    claiming = {number for number, shape in snapshot.shapes.items() if shape.device_claims}
    rows = snapshot.pods.rows() if claiming else ()
    waiting = (row for row in rows if row.provisionable and not row.node)
    count = sum(row.shape in claiming for row in waiting)
    if count:
        yield (
            f"not planned for: {counted(count, 'pod')} with claims of devices; "
            f"--feature-gates {gate}=true has them count"
        )


def _without_price(snapshot: ClusterSnapshot) -> Iterator[str]:
    """Say how many nodes count for nothing wherever costs are told."""
    if names := unpriced(snapshot):
        yield (
            f"{counted(len(names), 'node')} without a known price, by type, zone, capacity type "
            f"and NodePool: {few(names)}"
        )


def _held(names: Mapping[str, str]) -> Iterator[str]:
    """Say how many pods run that no change can move, since they could not be placed anew."""
    if names:
        name = min(names)
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield (
            f"{counted(len(names), 'pod')} that could not be placed again stay where they run: "
            f"{name} ({names[name]}){more}"
        )
