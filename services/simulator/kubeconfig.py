"""The kubeconfig by which clients find the simulated cluster."""

import base64
import os
from pathlib import Path

import yaml

NAME = "joiner-simulator"

_OWNER_ONLY = 0o600


def write(path: Path, address: str, token: str, authority: bytes = b"") -> None:
    """Write the file at once or not at all; who reads it sees the old one or the new one.

    Args:
        path: of the file; its folder must exist.
        address: `host:port` of the API.
        token: bearer token, empty for none.
        authority: certificate (PEM) that vouches for the API; without it, it is plain HTTP.

    Raises:
        OSError: it cannot be written.
    """
    fresh = path.with_name(f"{path.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
    with os.fdopen(descriptor, "w") as file:
        file.write(text(address, token, authority))
    fresh.replace(path)


def text(address: str, token: str, authority: bytes = b"") -> str:
    """Return the content of the file."""
    cluster = {"server": f"{'https' if authority else 'http'}://{address}"}
    if authority:
        cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": NAME,
        "clusters": [{"name": NAME, "cluster": cluster}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "users": [{"name": NAME, "user": {"token": token} if token else {}}],
    }
    return yaml.safe_dump(content, sort_keys=False)
