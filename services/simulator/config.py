"""Settings of the simulator."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

from libs.domain.errors import InvalidRequest
from libs.runtime.runtime_settings import is_address
from services.simulator.core.api.access.audit import Level
from services.simulator.core.api.access.gate import Mode
from services.simulator.core.api.gates import GATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each attribute is read from `JOINER_CFG_` and its name in capitals."""

    api_listen: str = "127.0.0.1:8001"
    """Where the Kubernetes API is served; port 0 takes a free one."""
    api_token: str = ""
    """Bearer token that clients have to send; empty asks for none."""
    api_tokens: Path | None = None
    """File of further tokens, a line each: `token,user,uid,"group1,group2"`; unset: none."""
    api_tls_dir: Path | None = None
    """Folder of `tls.crt`, `tls.key` and `ca.crt` of the API; unset: plain HTTP."""
    authorization_mode: Mode = Mode.ALWAYS_ALLOW
    """`AlwaysAllow`, or `RBAC`: roles and bindings hold, who shows no token is anonymous."""
    audit_log: Path | None = None
    """File that a JSON line is added to at each stage of each request; unset: none."""
    audit_level: Level = Level.METADATA
    """What those lines tell: `Metadata`, `Request` (bodies sent), `RequestResponse`."""
    feature_gates: tuple[str, ...] = ()
    """Feature gates of Kubernetes to switch on: `TaintTolerationComparisonOperators`."""
    advertise_address: str = ""
    """`host:port` that the kubeconfig names, if clients reach the API by another address."""
    kubeconfig: Path | None = None
    """File that is written at the start, for `kubectl --kubeconfig`; unset: none."""
    crds: Path | None = None
    """Folder of CRDs that are installed at the start; unset: those of this repository."""
    state: Path | None = None
    """Dump or other file of objects that the cluster begins with (docs/capture.md); unset: none."""
    save_state: Path | None = None
    """Dump that is written when the simulator ends; unset: none."""
    state_managed_fields: bool = True
    """Whether loaded objects keep their `metadata.managedFields`."""
    script: Path | None = None
    """Scenario script that is played from the start on (docs/scenarios.md); unset: none."""
    boot_delay: timedelta = timedelta(seconds=1)
    """From the appearance of a simulated Node to its readiness."""
    pod_start_delay: timedelta = timedelta(milliseconds=300)
    """From a pod's binding to its readiness."""
    pod_stop_delay: timedelta = timedelta(milliseconds=200)
    """From a pod's deletion to its end, unless its grace period is shorter."""
    job_run_time: timedelta = timedelta(seconds=5)
    """How long pods of Jobs run, unless their annotation `simulator.joiner.io/run-seconds` says."""
    volume_limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """How many volumes a node attaches, by CSI driver (`ebs.csi.aws.com=25`)."""

    def __post_init__(self) -> None:
        """Refuse what is no address, limit or gate, and RBAC without tokens.

        Raises:
            InvalidRequest: naming the field.
        """
        for name in ("api_listen", "advertise_address"):
            text = getattr(self, name)
            if not is_address(text) and (text or name == "api_listen"):
                raise InvalidRequest(f'"{text}" is not host:port', field=name)
        if self.authorization_mode is Mode.RBAC and not (self.api_token or self.api_tokens):
            why = "must be set, or `api_tokens`, where RBAC decides: nobody else could do anything"
            raise InvalidRequest(why, field="api_token")
        for gate in self.feature_gates:
            if gate not in GATES:
                known = ", ".join(sorted(GATES))
                raise InvalidRequest(f'"{gate}" is none of {known}', field="feature_gates")
        for driver, limit in self.volume_limits.items():
            if limit < 0:
                raise InvalidRequest(f"{limit} is negative for {driver}", field="volume_limits")
