"""Settings of disruption."""

from dataclasses import dataclass, field
from datetime import timedelta

from libs.domain.errors import InvalidRequest
from libs.runtime.authorization import LOCAL
from libs.runtime.leader import LeaderSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each attribute is read from `JOINER_CFG_` and its name in capitals."""

    kubeconfig: str = ""
    """Path of a kubeconfig; empty: the pod's service account, or the usual files outside of one."""
    lease_namespace: str = "kube-system"
    """Namespace of the lease that replicas compete for."""
    lease_name: str = "joiner-disruption"
    """Name of that lease."""
    leader: LeaderSettings = field(default_factory=LeaderSettings)
    """Election of the one replica that sends commands."""
    lifecycle_address: str = "127.0.0.1:9003"
    """`host:port` of lifecycle; where it stands for several, the leader among them is found."""
    watcher_identity: str = LOCAL
    """Identity of the watcher, who alone may push the home cluster; `local` is plaintext."""
    poll_period: timedelta = timedelta(seconds=10)
    """Between passes; after one that started something the next follows at once."""
    validation_delay: timedelta = timedelta(seconds=15)
    """From a decision to the second look that it has to survive."""
    nomination_window: timedelta = timedelta(seconds=20)
    """How long nothing is started after another watcher has taken over, which does not know what
    its predecessor nominated: twice the longest batch, at least 10 s."""
    stale_after: timedelta = timedelta(seconds=60)
    """A watcher that was silent for longer is not relied on: nothing is started."""

    def __post_init__(self) -> None:
        if self.poll_period <= timedelta():
            raise InvalidRequest("must be longer than zero", field="poll_period")
        if self.stale_after <= timedelta():
            raise InvalidRequest("must be longer than zero", field="stale_after")
