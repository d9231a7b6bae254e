"""Kubeconfig files that hold a server and at most a token, such as the simulator's.

Apart because they need no authentication library, which takes longer to import than everything else
of a service together. It stays the judge: whatever is not plain, and whatever is wrong, is left to
it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from libs.kube.access import Access

_DOCUMENT = frozenset(
    {"apiVersion", "kind", "preferences", "current-context", "clusters", "contexts", "users"}
)
_CLUSTER = frozenset({"server"})
_CONTEXT = frozenset({"cluster", "user", "namespace"})
_USER = frozenset({"token"})


def read(path: str) -> Access | None:
    """Return what the file says, None if it is not plain.

    Raises:
        OSError: it cannot be read.
    """
    try:
        document = yaml.safe_load(Path(path).read_bytes())
    except (yaml.YAMLError, UnicodeDecodeError):
        return None
    if not isinstance(document, dict) or not document.keys() <= _DOCUMENT:
        return None
    context = _named(document, "context", document.get("current-context"), _CONTEXT)
    if context is None:
        return None
    cluster = _named(document, "cluster", context.get("cluster"), _CLUSTER)
    user = _named(document, "user", context.get("user"), _USER)
    if cluster is None or user is None:
        return None
    server, token = cluster.get("server"), user.get("token", "")
    if not isinstance(server, str) or not isinstance(token, str):
        return None
    header = f"Bearer {token}".strip() if token else None
    return Access(server=server.rstrip("/"), token=lambda: header)


def _named(
    document: Mapping[str, Any], kind: str, name: object, allowed: frozenset[str]
) -> Mapping[str, Any] | None:
    """Return the only entry of a name in the list of a kind, None if it is not plain."""
    entries = document.get(f"{kind}s")
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        return None
    found = [one.get(kind) for one in entries if one.get("name") == name]
    if len(found) != 1 or not isinstance(found[0], dict) or not found[0].keys() <= allowed:
        return None
    return found[0]
