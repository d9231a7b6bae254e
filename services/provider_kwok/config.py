"""Settings of the KWOK provider."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each attribute is read from `JOINER_CFG_` and its name in capitals."""

    catalogue: str = "kwok"
    """What is sold: `kwok`, `aws`, or the path of a file in the schema of KWOK's instance types."""
    kubeconfig: str = ""
    """Path of a kubeconfig; empty: the pod's service account, or the usual files outside of one."""
