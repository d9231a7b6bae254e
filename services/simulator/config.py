"""Settings of the simulator."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

from libs.domain.errors import InvalidRequest
from libs.runtime.runtime_settings import is_address


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each attribute is read from `JOINER_CFG_` and its name in capitals."""

    api_listen: str = "127.0.0.1:8001"
    """Where the Kubernetes API is served over plain HTTP; port 0 takes a free one."""
    api_token: str = ""
    """Bearer token that clients have to send; empty asks for none."""
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
        """Refuse addresses without a port and negative limits.

        Raises:
            InvalidRequest: naming the field.
        """
        for name in ("api_listen", "advertise_address"):
            text = getattr(self, name)
            if not is_address(text) and (text or name == "api_listen"):
                raise InvalidRequest(f'"{text}" is not host:port', field=name)
        for driver, limit in self.volume_limits.items():
            if limit < 0:
                raise InvalidRequest(f"{limit} is negative for {driver}", field="volume_limits")
