"""ProvisioningRequests as gangs.

Source: `docs/sources.md`, "Cluster Autoscaler": classes, conditions, and the
annotations of the pods that consume a request.
"""

from libs.domain.errors import InvalidRequest
from libs.domain.workload import Gang
from libs.kube.convert.pod import request_gang
from libs.kube.objects.provisioning import ProvisioningRequest

ATOMIC = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
"""All pods get a place, new nodes included, or none of them."""
CHECK_CAPACITY = "check-capacity.autoscaling.x-k8s.io"
"""As above, on what is there: nothing is bought."""
CLASSES = (ATOMIC, CHECK_CAPACITY)
"""Classes that are planned for; any other one is another autoscaler's."""
CLASS_ANNOTATION = "autoscaling.x-k8s.io/provisioning-class-name"

_MOST_SETS = 32
_MOST_PODS = 10_000
_OVER = ("Provisioned", "Failed", "BookingExpired")
"""Conditions after which nothing more is planned for the request itself."""


def is_open(request: ProvisioningRequest) -> bool:
    """Tell whether room is still to be found for a request of a class that is planned for."""
    done = any(one.type in _OVER and one.status == "True" for one in request.status.conditions)
    return request.spec.provisioning_class_name in CLASSES and not done


def wanted(request: ProvisioningRequest) -> int:
    """Return how many pods are asked for.

    Raises:
        InvalidRequest: no sets, too many, or a count that may not be.
    """
    sets = request.spec.pod_sets
    if not 1 <= len(sets) <= _MOST_SETS:
        raise InvalidRequest(
            f"{len(sets)} sets are not within 1 to {_MOST_SETS}", field="spec.podSets"
        )
    for index, one in enumerate(sets):
        if not 1 <= one.count <= _MOST_PODS:
            raise InvalidRequest(
                f"{one.count} is not within 1 to {_MOST_PODS}", field=f"spec.podSets[{index}].count"
            )
    return sum(one.count for one in sets)


def request_as_gang(request: ProvisioningRequest) -> Gang | None:
    """Return the gang of all pods of a request; None where each is on its own.

    Pods that consume a request which only asks for room that is there never have a node bought for
    them, not even after it was granted.

    Raises:
        InvalidRequest: as `wanted`.
    """
    existing_only = request.spec.provisioning_class_name == CHECK_CAPACITY
    if not is_open(request) and not existing_only:
        return None
    return Gang(
        namespace=request.metadata.namespace,
        name=request_gang(request.metadata.name),
        min_members=wanted(request) if is_open(request) else 0,
        existing_only=existing_only,
    )
