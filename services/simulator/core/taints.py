"""Tolerations of NoExecute taints, as kubelets and the taint eviction controller read them.

Source: Kubernetes documentation, "Taints and Tolerations".
"""

from collections.abc import Mapping
from typing import Any


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Tell whether a toleration covers a NoExecute taint."""
    if toleration.get("effect") not in (None, "", "NoExecute"):
        return False
    key = toleration.get("key") or ""
    if toleration.get("operator") == "Exists":
        return key in ("", taint.get("key"))
    return bool(
        key == taint.get("key") and (toleration.get("value") or "") == (taint.get("value") or "")
    )
