"""Which nodes accept a pod as things are: the question that kube-scheduler's filters answer.

Apart from packing because nothing is placed; the rules are packing's own, so that replaying
verdicts of a real kube-scheduler judges them.
"""

from dataclasses import replace

from libs.domain.feature_gates import FeatureGate
from libs.domain.pod import PodShape
from libs.domain.reason import TargetKind
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import PreferencePolicy, SolveOptions
from services.solver.core.devices.allocating import Grant
from services.solver.core.encode import encode, problem
from services.solver.core.market import NOTHING_REMEMBERED
from services.solver.core.packing import Packer
from services.solver.core.problem import Problem, a_request
from services.solver.core.verdict import verdict


def accepting_nodes(snapshot: ClusterSnapshot, pod_uid: str) -> tuple[str, ...]:
    """Return the names of the nodes that a waiting pod could be bound to now, sorted.

    Args:
        snapshot: the cluster; its pools are not looked at.
        pod_uid: a pod that waits; empty is returned for any other.
    """
    options = SolveOptions(
        preference_policy=PreferencePolicy.IGNORE,
        feature_gates={FeatureGate.DYNAMIC_RESOURCES: True},
    )
    encoded = encode(_as_it_is(snapshot), options, snapshot.observed_at, NOTHING_REMEMBERED)
    groups = tuple(group for group in encoded.work.groups if pod_uid in group.uids)
    if not groups:
        return ()
    made, bins = problem(encoded, groups)
    ask = made.asks[0][-1]
    where = verdict(made.topology, ask)
    if where is None:
        return ()
    packer = Packer(made, bins, lambda: False)
    candidates, counts = packer.standing.room(a_request(0, ask, made.dimensions), where)
    return tuple(
        sorted(
            encoded.standing.names[position]
            for position in candidates[counts > 0].tolist()
            if encoded.standing.kinds[position] is TargetKind.NODE
            and _has_devices(made, ask.shape, position)
        )
    )


def _as_it_is(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return the cluster without what planning adds: kube-scheduler only looks at what is there.

    It binds pods to nodes that are going, and lets a claim that has no volume yet be for each of
    its pods what it is for the first.
    """
    return replace(
        snapshot,
        nodepools={},
        nodeclaims={},
        nodes={name: replace(node, leaving=False) for name, node in snapshot.nodes.items()},
        shapes={
            number: replace(
                shape,
                shared_volumes=tuple(
                    replace(volume, topology_key="") for volume in shape.shared_volumes
                ),
            )
            for number, shape in snapshot.shapes.items()
        },
    )


def _has_devices(made: Problem, shape: PodShape, position: int) -> bool:
    devices = made.devices
    return devices is None or isinstance(devices.on_standing(shape, position), Grant)
