"""What the watcher needs of other services, besides Kubernetes (`libs.kube.api.KubeApi`)."""

from typing import Protocol

from libs.domain.execution import ApplyRequest, ApplyResult
from libs.domain.provider import Capabilities, InstanceTypeListing, NodeClass
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution, SolveOptions


class Solver(Protocol):
    """Decides where waiting pods go."""

    async def solve(self, snapshot: ClusterSnapshot, options: SolveOptions) -> Solution:
        """Return a plan for a snapshot that was published, or for an earlier one: it says which.

        Raises:
            Unavailable: nobody answers now.
        """


class Lifecycle(Protocol):
    """Acts."""

    async def apply_plan(self, request: ApplyRequest) -> ApplyResult:
        """Carry out a plan; repeated, it gives the same answer.

        Raises:
            StaleRevision: the premise is gone, decide again.
            NotReady: lifecycle does not lead or is not synced.
            Unavailable: nobody answers; the plan may have been carried out.
        """


class Rivals(Protocol):
    """Knows whether another autoscaler acts on this cluster."""

    async def look(self) -> str:
        """Return `namespace/name` of its lease as it stands now, empty if there is none.

        Raises:
            JoinerError: nobody knows.
        """


class Catalogues(Protocol):
    """What can be bought."""

    async def settle(self) -> None:
        """Wait, not long, until every look at a catalogue that is due has been taken."""


class InstanceTypes(Protocol):
    """One provider, as far as the watcher asks it."""

    async def get_capabilities(self) -> Capabilities:
        """Return what the provider is."""

    async def list_instance_types(
        self, node_class: NodeClass, *, if_none_match: str = ""
    ) -> InstanceTypeListing:
        """List all types of a class; `if_none_match` is the etag of the last answer."""
