"""Settings of lifecycle."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType

from libs.domain.errors import InvalidRequest
from libs.runtime.leader import LeaderSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each attribute is read from `JOINER_CFG_` and its name in capitals."""

    providers: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({"karpenter.kwok.sh": "127.0.0.1:9005"})
    )
    """Address of the provider by the API group of its node classes."""
    kubeconfig: str = ""
    """Path of a kubeconfig; empty: the pod's service account, or the usual files outside of one."""
    lease_namespace: str = "kube-system"
    """Namespace of the lease that replicas compete for."""
    lease_name: str = "joiner-lifecycle"
    """Name of that lease."""
    leader: LeaderSettings = field(default_factory=LeaderSettings)
    """How replicas compete for it."""
    nomination_window: timedelta = timedelta(seconds=20)
    """How long a node that pods were nominated for is not disrupted; twice the longest batch."""

    def __post_init__(self) -> None:
        if not self.providers:
            raise InvalidRequest("must name at least one provider", field="providers")
        if self.nomination_window < timedelta(0):
            raise InvalidRequest("must not be negative", field="nomination_window")
