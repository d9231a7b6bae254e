"""The kubeconfig by which clients find the simulated cluster."""

import os
from pathlib import Path

import yaml

NAME = "joiner-simulator"

_OWNER_ONLY = 0o600


def write(path: Path, address: str, token: str) -> None:
    """Write the file at once or not at all; who reads it sees the old one or the new one.

    Args:
        path: of the file; its folder must exist.
        address: `host:port` of the API, reached over plain HTTP.
        token: bearer token, empty for none.

    Raises:
        OSError: it cannot be written.
    """
    fresh = path.with_name(f"{path.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
    with os.fdopen(descriptor, "w") as file:
        file.write(text(address, token))
    fresh.replace(path)


def text(address: str, token: str) -> str:
    """Return the content of the file."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": NAME,
        "clusters": [{"name": NAME, "cluster": {"server": f"http://{address}"}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "users": [{"name": NAME, "user": {"token": token} if token else {}}],
    }
    return yaml.safe_dump(content, sort_keys=False)
